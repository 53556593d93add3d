"""Questions on whether the noise moves with the data."""
