"""This package has the programs of the maintainers for tables, pages, pictures, the site, and mutants of proofs and of
formulas.

    python -P -m covassay.verification.maintain COMMAND …

The commands of this package need a clone of the repository, and users need none of them. Every command is a module of
this package with a function `configure(parser)`.
"""
