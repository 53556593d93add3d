"""This package has statistical tests with a stated false-alarm probability and power."""
