"""How to audit entrywise Laplace noise, full or on the triangle, and LapCov.

With the data known, the noise E = (Y − Σ)/b is observed: independent Laplace(1) entries, so ‖E‖₁ ~ Gamma(k, 1) for k of
them.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import entrywise_laplace, lap_cov
from covassay.reference.sensitivity import block_pair, hadamard_pair, neighbours
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.privacy import Pair, Statistic, generic_statistics
from covassay.verification.audit.profiles.iterative_eigenvectors import laplace_cdf
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.tests import TestResult, gamma_scale, independence, kolmogorov_smirnov

N = 12
DIMENSIONS = (1, 2, 4)
CONFIDENCE = 0.999


def own_entries(d: int, full: bool) -> tuple[NDArray[np.intp], ...]:
    """Indices of the entries with noise of their own."""
    return tuple(np.indices((d, d)).reshape(2, -1)) if full else np.triu_indices(d)


def scenario(d: int, scale: float, epsilon: float, full: bool) -> Scenario:
    """The tests on one data set."""
    x = example_rows(N, d)
    own = own_entries(d, full)

    def noise(outputs: Matrix) -> Matrix:
        residuals: Matrix = (outputs - second_moment(x)) / scale
        return residuals

    def l1(outputs: Matrix) -> Vector:
        total: Vector = np.abs(noise(outputs)[:, own[0], own[1]]).sum(axis=1)
        return total

    def norm(factor: float) -> Test:
        k = len(own[0])
        null = f"‖E‖₁ ~ Gamma({k})"
        return lambda outputs: kolmogorov_smirnov(l1(outputs) / factor, lambda t: gammainc(k, np.maximum(t, 0)), null)

    def entry(i: int, j: int) -> Test:
        null = f"entry ({i + 1}, {j + 1}) of E ~ Laplace(1)"
        return lambda outputs: kolmogorov_smirnov(noise(outputs)[:, i, j], laplace_cdf, null)

    def apart(outputs: Matrix) -> TestResult:
        e = noise(outputs)
        other = e[:, 1, 0] if full else e[:, 0, 0]
        return independence(e[:, 0, 1], other, f"entries (1, 2) and {'(2, 1)' if full else '(1, 1)'} are independent")

    tests: dict[str, Test] = {"entrywise norm": norm(1.0), "entry (1, 1)": entry(0, 0)}
    if d > 1:
        tests |= {"entry (1, 2)": entry(0, 1), "independence": apart}
    if d > 1 and full:
        tests["entry (2, 1)"] = entry(1, 0)
    suspects = (
        Suspect("half-scale", "the noise has half the calibrated scale: too little noise", norm(0.5)),
        Suspect("double-scale", "the noise has twice the calibrated scale: private but wasteful", norm(2.0)),
        Suspect(
            "frobenius-sensitivity",
            "the scale is the Frobenius sensitivity √2 over nε, for noise that needs the ℓ1 sensitivity",
            norm(np.sqrt(2) / (N * epsilon) / scale),
        ),
    )

    def estimate(outputs: Matrix) -> str:
        interval = gamma_scale(l1(outputs), len(own[0]), CONFIDENCE)
        return f"noise scale: {interval.lower:.3f} to {interval.upper:.3f} times the calibrated one at {CONFIDENCE:.1%}"

    return Scenario(f"d={d}", x, tests, suspects, (estimate,))


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs of either mechanism."""
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]
    entries = claim.options.get("entries", "triangle")
    full = entries == "full"

    def scale(n: int, d: int) -> float:
        if claim.mechanism.name == "lap-cov":
            return float(lap_cov.noise_scale(n, d, epsilon, calibration))
        return float(entrywise_laplace.noise_scale(n, d, epsilon, entries, calibration))

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        a, b = second_moment(first), second_moment(second)
        own = own_entries(first.shape[1], full)

        def ratio(y: Matrix) -> Vector:
            gap: Vector = (np.abs(y - b) - np.abs(y - a))[:, own[0], own[1]].sum(axis=1) / scale(*first.shape)
            return gap

        return (Statistic("log likelihood ratio", ratio), *generic_statistics(first, second, OUTPUTS["matrix"])[:1])

    def pairs(_: frozenset[str]) -> tuple[Pair, ...]:
        first, second = neighbours(np.zeros((1, 4)), *(hadamard_pair if full else block_pair)(4))
        worst = Pair("the worst rows, d=4", first, second, statistics(first, second))
        return (worst, *common_pairs(OUTPUTS["matrix"], statistics, (1, 2)))

    scenarios = tuple(scenario(d, scale(N, d), epsilon, full) for d in DIMENSIONS)
    return Profile(claim.form, scenarios, pairs)
