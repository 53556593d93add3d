"""Questions on the loss that low-order bits show."""
