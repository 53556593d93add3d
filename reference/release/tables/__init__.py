"""This package has readers of data files: CSV, NumPy and Parquet, whole or in chunks."""
