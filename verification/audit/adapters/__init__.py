"""An adapter lets an audit call functions of another package. An adapter is a module with a mapping `TARGETS`, from
names to functions that make targets.

An adapter imports the package only when one of its targets is made. Other packages add adapters through entry points
in the group `covassay.adapters`.
"""
