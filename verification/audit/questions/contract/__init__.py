"""Each module of this package asks one question about the contract, which is what every caller of a target may expect,
such as equal outputs for equal seeds.
"""
