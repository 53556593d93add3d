"""Covariance mechanisms that satisfy ρ-zero-concentrated differential privacy (zCDP)."""
