"""Negative controls: implementations with one named mistake each, and the checks that must catch it.

An audit is no evidence if its checks have never failed on a known mistake. `covassay audit mutant:NAME` audits the
control of that name; the test suite audits all negative controls.
"""
