"""The data sets and settings of the papers' experiments."""
