"""The auditor: does an implementation do what its mechanism says?

It finds a violation or finds none; it never certifies. `from covassay.verification import audit` gives the function
that runs an audit, and not this package: see `covassay.verification`.
"""
