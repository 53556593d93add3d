"""Reference values are computed by rational or interval arithmetic, independently of the reference, and compared
with it.
"""
