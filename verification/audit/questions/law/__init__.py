"""Questions on the distribution of the outputs."""
