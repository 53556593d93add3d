"""Covariance mechanisms that satisfy (ε, δ)-differential privacy."""
