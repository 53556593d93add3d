"""This package has the programs of the maintainers. Some programs make tables, pages, pictures and the web site. Other
programs change a proof or a formula slightly, and report whether the checks of proofs and formulas detect the change.

    python -P -m covassay.verification.maintain COMMAND …

The commands of this package need a clone of the repository, and users need none of them. Every command is a module of
this package with a function `configure(parser)`.
"""
