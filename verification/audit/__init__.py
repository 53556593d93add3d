"""The auditor: does an implementation do what its mechanism says?

It finds a violation or finds none; it never certifies.
"""
