"""Statistical tests with a stated false-alarm probability and power. Nothing here knows about privacy."""
