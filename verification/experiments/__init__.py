"""Measurements: what the papers' rates look like when they are run, on data made here."""
