"""The questions of this package concern the privacy loss that low-order bits of the outputs cause."""
