"""Mechanisms that estimate the mean, the covariance or a preconditioner of Gaussian data."""
