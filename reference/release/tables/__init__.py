"""This package has readers of data files in the formats CSV, NumPy and Parquet, whole or in chunks."""
