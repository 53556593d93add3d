"""Questions on whether the noise depends on the data."""
