"""Targets by name. An adapter module has `TARGETS`, a mapping from a name to a function that makes the target.

An adapter imports the package that it adapts when one of its targets is made, not before. Other distributions add
adapters through the entry-point group `covassay.adapters`.
"""
