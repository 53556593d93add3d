"""Compare covassay with other auditors of differential privacy. All auditors get the same functions, the same
neighbouring inputs, the same number of draws and the same level."""
