"""This package has building blocks of other mechanisms: scalar and vector noise, selection, private thresholds."""
