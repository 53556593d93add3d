"""Mistakes in released software, and the law that each of them samples in place of the right one.

A bug is named in a report when the claimed law was refuted and the law of the bug fits the draws. The right laws are in
`knowledge`, and every bug has a module in this package.
"""
