"""The questions of this package concern the privacy loss between neighbouring data sets."""
