"""The audit's knowledge of mechanisms, one file for each, with its name.

`known` finds it and makes the audit's profile.

Each file declares one object, `KNOWN = Known(...)`. Code that several mechanisms share is in `shared`.
"""
