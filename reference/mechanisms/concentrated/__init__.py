"""This package has covariance mechanisms that satisfy ρ-zero-concentrated differential privacy (zCDP)."""
