"""The questions of this package ask whether the noise depends on the data."""
