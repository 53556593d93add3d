"""Estimate the time of an exact release, for mechanisms whose time increases fast with the number of columns.

For every listed mechanism there are two numbers: the seconds at d = 30, and the power of d with which they increase.
They were measured on one core of a machine of 2026, with up to 100 columns for separate-cov, 200 for bingham, and 30
for all others. Times for more columns are extrapolated. Mechanisms that are not
listed were measured to take less than a second at d = 200.
"""

PATIENCE = 20.0  # a release that is expected to take at least so many seconds is announced beforehand
SECONDS = {
    "nuclear-laplace": (3.8, 6.7),
    "nuclear-ball-projection": (3.8, 6.7),
    "nuclear-laplace-symmetric": (0.7, 4.7),
    "centred-covariance": (0.7, 4.7),
    "k-norm": (0.7, 4.7),
    "iterative-eigenvectors": (2.4, 4.7),
    "separate-cov-pure": (0.25, 3.3),
    "separate-cov": (0.25, 3.4),
    "bingham": (0.021, 3.6),
}


def expected_seconds(mechanism_name: str, d: int) -> float:
    """Return the approximate number of seconds for the noise of an exact release, which is 0 for fast mechanisms."""
    seconds, power = SECONDS.get(mechanism_name, (0.0, 1.0))
    return float(seconds * (d / 30) ** power)


def warning(mechanism_name: str, d: int) -> str:
    """Return a message for the user before a slow release begins, or an empty text if the release is not slow."""
    seconds = expected_seconds(mechanism_name, d)
    if seconds < PATIENCE:
        return ""
    said = f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:.1f} hours"
    return (
        f"drawing the exact noise of {mechanism_name} for d = {d} columns will take about {said}, by extrapolation. "
        "The option --float draws the noise in floating point instead, which is not for production. "
        "The mechanisms box-gauss and gauss-cov, and those on a lattice, take about a second."
    )
