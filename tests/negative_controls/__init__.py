"""Negative controls: implementations with one named mistake each. Many negative controls name the checks of the audit
that must reject them.

An audit is no evidence if its checks have never failed on a known mistake. The command `covassay audit mutant:NAME`
audits the negative control NAME. The test suite audits all negative controls.
"""
