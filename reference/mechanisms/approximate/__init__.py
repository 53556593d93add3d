"""This package has covariance mechanisms that satisfy (ε, δ)-differential privacy."""
