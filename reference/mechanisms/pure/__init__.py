"""This package has covariance mechanisms that satisfy ε-differential privacy (pure DP)."""
