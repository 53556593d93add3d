"""The verification: how we know, and whether yours does it.

Runs the formulas and samplers of `covassay.reference` against exact laws, and audits other
implementations. Imports the reference; the reference never imports it.
"""
