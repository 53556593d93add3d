"""This package holds the ledger of the papers' claims, with the evidence for and against them.

entries  : the claims, one TOML file for every paper
checks   : the machine checks on which the claims rest; evidence.py defines what a check is
ledger   : the claims with their status, and a gate: it fails if entries, checks, proofs and code disagree
render   : the output of the ledger on a screen and as Markdown
kernel   : the audit of the proofs in proofs/rocq, which asks the kernel of Rocq
rates    : whether the error of a mechanism shrinks at the rate that its theorem states
"""
