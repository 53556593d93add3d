"""This package has the programs of the maintainers. They make tables, pages, pictures and the web site, and they test
the checks of proofs and formulas by small changes (mutants).

    python -P -m covassay.verification.maintain COMMAND …

The commands of this package need a clone of the repository, and users need none of them. Every command is a module of
this package with a function `configure(parser)`.
"""
