"""Each file of this package states what the audit knows of one mechanism, and has the name of the mechanism.

The module `known` finds the file of a mechanism and makes from it what the audit expects of an implementation.

Each file declares one object, `KNOWN = Known(...)`. The package `shared` has code that several mechanisms use.
"""
