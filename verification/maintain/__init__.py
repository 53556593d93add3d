"""This package has the programs of the maintainers: tables, pages, pictures, the site, and the mutants of proofs and of
formulas.

    python -P -m covassay.verification.maintain COMMAND …

The commands need a clone of the repository; users need none of the commands. Every command is a module of this package
with a function `configure(parser)`.
"""
