"""The audit's knowledge of mechanisms: one file for each mechanism, with its name.

The module `known` finds this file and makes the audit's profile.

Each file declares one object, `KNOWN = Known(...)`. Code that several mechanisms share is in `shared`.
"""
