"""What the audit knows: one file a mechanism, named as the mechanism; `known` finds it and makes the audit's profile.

Each file declares one object, `KNOWN = Known(...)`. What several mechanisms have in common stands in `shared`.
"""
