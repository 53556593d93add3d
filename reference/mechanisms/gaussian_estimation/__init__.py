"""This package has mechanisms that estimate the mean, the covariance or a preconditioner of Gaussian data."""
