"""Targets by name. An adapter module has `TARGETS`, a mapping from a name to a function that makes the target.

Nothing of another package is imported before its target is asked for. Other distributions add adapters through the
entry-point group `covassay.adapters`.
"""
