"""Negative controls: implementations with one named mistake each, and the checks that must catch it.

An audit proves nothing if its checks have never been seen to fail. `covassay audit mutant:NAME` audits any of these
controls; the test suite audits all of them.
"""
