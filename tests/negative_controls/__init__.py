"""Negative controls: implementations with one named mistake each. Each names the checks of the audit that must reject
it.

An audit is no evidence if its checks have never failed on a known mistake. The command `covassay audit mutant:NAME`
audits the negative control NAME. The test suite audits all negative controls.
"""
