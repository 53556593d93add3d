"""The questions of this package ask for the privacy loss through low-order bits."""
