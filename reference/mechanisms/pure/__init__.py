"""Covariance mechanisms that satisfy ε-differential privacy (pure DP)."""
