"""This package holds the ledger of the papers' claims, with the evidence for and against them.

entries  : the claims, one TOML file for every paper
checks   : the machine checks on which they rest; evidence.py says what a check is
ledger   : the claims with their status, and the gate that holds entries, checks, proofs and code together
render   : the ledger on a screen and as Markdown
kernel   : the proofs in proofs/rocq, audited by asking the kernel of Rocq
rates    : whether the error of a mechanism shrinks at the rate that its theorem states
"""
