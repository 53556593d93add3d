"""How to audit a mechanism whose law has no closed form: its draws against draws of the reference.

Two-sample tests of one-dimensional statistics, on a data set where the noise is larger than the signal and on one where
it is smaller. For the reference's own mechanisms both sides are one code, and these tests show nothing: what is known
of their laws is in tests/reference.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import two_sample

SIZES = (6, 3), (400, 2)  # (n, d)

Feature = Callable[[Matrix], Vector]  # of outputs, (size, …) -> (size,)


def features(released: str, dimension: int) -> dict[str, Feature]:
    """One-dimensional statistics of an output of that form."""
    if released == "matrix":
        return {
            "nuclear norm": lambda y: np.linalg.norm(y, "nuc", axis=(1, 2)),
            "spectral norm": lambda y: np.linalg.norm(y, 2, axis=(1, 2)),
            "trace": lambda y: np.trace(y, axis1=1, axis2=2),
            "entry (1, 1)": lambda y: y[:, 0, 0],
            "entry (1, 2)": lambda y: y[:, 0, -1],
        }
    if released == "direction":
        return {f"component {i + 1}": lambda y, i=i: y[:, i] ** 2 for i in range(dimension)}  # type: ignore[misc]
    if released in ("number", "level"):
        return {"value": lambda y: y}
    if released == "gaussian":
        return {
            "mean 1": lambda y: y[:, 0, 0],
            "norm of the mean": lambda y: np.linalg.norm(y[:, 0], axis=1),
            "trace": lambda y: np.trace(y[:, 1:], axis1=1, axis2=2),
            "covariance (1, 2)": lambda y: y[:, 1, -1],
        }
    return {"component 1": lambda y: y[:, 0], "norm": lambda y: np.linalg.norm(y, axis=1)}


def scenario(claim: ClaimUnderAudit, n: int, d: int, weight: float) -> Scenario:
    """Every feature of the outputs on one data set, as in the reference's draws."""
    x = example_rows(n, d)

    @lru_cache(maxsize=4)
    def reference(size: int) -> Matrix:
        rng = np.random.default_rng(stream(claim.seed, "reference", n, d, size))
        return np.array([claim.about.sample(x, rng, **claim.budget, **claim.options) for _ in range(size)])

    def against_reference(name: str, feature: Feature) -> Test:
        null = f"{name} as in the reference's draws"
        return lambda outputs: two_sample(feature(outputs), feature(reference(len(outputs))), null)

    tests = {name: against_reference(name, f) for name, f in features(claim.about.released, d).items()}
    return Scenario(f"n={n}, d={d}", x, tests, weight=weight)


def profile(claim: ClaimUnderAudit, weight: float = 0.5) -> Profile:
    """Scenarios and the pairs that serve any mechanism."""
    d = max(2, claim.about.smallest_dimension)
    scenarios = tuple(scenario(claim, n, max(d, columns), weight) for n, columns in SIZES)
    return Profile(claim.form, scenarios, lambda _: common_pairs(claim.about.released, dimensions=(d,)))
