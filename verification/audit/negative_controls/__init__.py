"""Negative controls: implementations with one named mistake each, and the check that must catch it.

An audit whose checks have not been seen to fail proves nothing. `covassay audit mutant:NAME` runs any of these; the
test suite runs all of them.
"""
