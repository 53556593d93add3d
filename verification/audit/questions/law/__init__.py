"""The questions of this package ask about the distribution of the outputs."""
