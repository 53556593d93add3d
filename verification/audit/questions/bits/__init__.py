"""Questions on the privacy loss through low-order bits."""
