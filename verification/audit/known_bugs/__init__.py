"""This package describes mistakes in released software, and the law that each mistake samples in place of the right
law.

A report names a bug if the claimed law was refuted and the law of the bug fits the draws. Every bug has a module in
this package. The right laws are in the package `knowledge`.
"""
