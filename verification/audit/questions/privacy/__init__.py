"""Questions on the loss between neighbouring data sets."""
