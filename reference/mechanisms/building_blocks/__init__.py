"""Mechanisms that the others are built from: scalar and vector noise, selection, private thresholds."""
