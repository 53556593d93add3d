"""The questions of this package ask for the privacy loss between neighbouring data sets."""
