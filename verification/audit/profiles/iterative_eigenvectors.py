"""How to audit iterative eigenvector sampling.

On data whose eigenvalues lie many noise scales apart, the sorted eigenvalues of the output are λ̂_1 > … > λ̂_d in
that order, and its eigenvectors are θ_1, …, θ_d: the whole draw is seen. λ̂_i − λ_i are independent Laplace
variables. θ_1 is a Bingham draw with an exact law, and given θ_1 so is θ_2: its probability integral transform is
uniform, whatever θ_1 was.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import i0e

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import iterative_eigenvectors as mechanism
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.privacy import Pair, Statistic
from covassay.verification.audit.profiles import reference_draws
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.tests import TestResult, independence, kolmogorov_smirnov

SEPARATION = 60.0  # gap between eigenvalues in noise scales: out of order with probability below e^{-60} each
BETA = 0.1


def laplace_cdf(t: Vector) -> Vector:
    """Distribution function of Laplace(1)."""
    return np.where(t < 0, np.exp(np.minimum(t, 0)) / 2, 1 - np.exp(-np.maximum(t, 0)) / 2)


def circle_cdf(w: Vector, decay: Vector) -> Vector:
    """P(sin²θ ≤ w) for the density ∝ exp(−decay sin²θ) on the circle, elementwise.

    The Bingham law in dimension 2. The normaliser is a Bessel function: ∫_0^{π/2} = (π/2) e^{−a/2} I₀(a/2).
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    top = np.arcsin(np.sqrt(np.clip(w, 0.0, 1.0)))
    theta = top[:, None] * (nodes + 1) / 2
    integral = top / 2 * (np.exp(-decay[:, None] * np.sin(theta) ** 2) @ weights)
    values: Vector = np.clip(integral / (math.pi / 2 * i0e(decay / 2)), 0.0, 1.0)
    return values


def uniform_cdf(t: Vector) -> Vector:
    """Distribution function of the uniform law on (0, 1)."""
    return np.clip(t, 0.0, 1.0)


def separated(
    d: int, scale: float, cdf: Callable[[Vector], Vector], null: str, exponents: Callable[[Matrix, int], Matrix]
) -> Scenario:
    """Rows along the axes, in numbers that put the eigenvalues far apart.

    λ̂_i − λ_i is `scale` times a draw of the law with that `cdf`. `exponents` of the eigenvalues (size, d) of the draws
    and of n are η_1, …, η_{d−1} of every draw, (size, d − 1).
    """
    gap = math.ceil(SEPARATION * scale)
    counts = gap * np.arange(d, 0, -1)
    n = int(counts.sum())
    x = np.repeat(np.eye(d), counts, axis=0)

    def spectrum(outputs: Matrix) -> tuple[Matrix, Matrix]:
        values, vectors = np.linalg.eigh((outputs + np.swapaxes(outputs, 1, 2)) / 2 * n)
        return values[:, ::-1], vectors[:, :, ::-1]

    def eigenvalue(i: int, factor: float = 1.0) -> Test:
        def test(outputs: Matrix) -> TestResult:
            values, _ = spectrum(outputs)
            return kolmogorov_smirnov(
                (values[:, i] - counts[i]) / (scale * factor), cdf, f"λ̂{i + 1} − λ{i + 1} ~ {null}"
            )

        return test

    def apart(outputs: Matrix) -> TestResult:
        values, _ = spectrum(outputs)
        return independence(values[:, 0], values[:, 1], "λ̂1 and λ̂2 are independent")

    def direction(i: int, factor: float = 1.0) -> Test:
        """The probability integral transform of θ_i given θ_1, …, θ_{i−1}."""

        def test(outputs: Matrix) -> TestResult:
            values, vectors = spectrum(outputs)
            eta = exponents(values, n)[:, i] * factor
            law_given = f"direction {i + 1} follows the exact Bingham law given those before"
            if d - i == 2:  # what is left is a circle: eigenvectors of C on it, and the component along the weaker
                left = vectors[:, :, i:]
                reduced = np.einsum("nji,j,njk->nik", left, counts.astype(np.float64), left)
                levels, axes = np.linalg.eigh(reduced)
                return kolmogorov_smirnov(
                    circle_cdf(axes[:, 0, 0] ** 2, eta * (levels[:, 1] - levels[:, 0])), uniform_cdf, law_given
                )
            projection = law.projection_cdf(eta[0] * np.diag(counts.astype(np.float64)), range(1, d))
            return kolmogorov_smirnov(1 - vectors[:, 0, 0] ** 2, projection, law_given)

        return test

    tests: dict[str, Test] = {f"eigenvalue {i + 1}": eigenvalue(i) for i in range(d)}
    tests["independence"] = apart
    tests |= {f"direction {i + 1}": direction(i) for i in range(d - 1)}
    suspects = (
        Suspect("half-eigenvalue-noise", "the eigenvalue noise has half the calibrated scale", eigenvalue(0, 0.5)),
        Suspect("double-eigenvalue-noise", "the eigenvalue noise has twice the calibrated scale", eigenvalue(0, 2.0)),
        Suspect("quadruple-exponent", "the exponents are four times the calibrated ones", direction(0, 4.0)),
        Suspect("double-exponent", "the exponents are twice the calibrated ones", direction(0, 2.0)),
    )
    return Scenario(f"separated eigenvalues, d={d}", x, tests, suspects)


def eigenvalue_pair(gap: int) -> Pair:
    """Neighbours with eigenvalues far apart that move by 1 and −1: gaps of `gap` + 1 against `gap` − 1.

    The event is chosen in advance, between the two: the most likely one on which they differ, as zCDP has it.
    """
    first, second = neighbours(np.repeat(np.eye(2), [2 * gap, gap], axis=0), *orthonormal_pair(2))

    def gaps(y: Matrix) -> Vector:
        differences: Vector = np.ptp(np.linalg.eigvalsh((y + np.swapaxes(y, 1, 2)) / 2), axis=1) * len(first)
        return differences

    return Pair("separated eigenvalues, d=2", first, second, (Statistic("n(λ̂1 − λ̂2)", gaps, float(gap)),))


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs. The adaptive budget is followed at d = 2, where η_1 differs from draw to draw.

    Rank k is compared with draws of the reference.
    """
    if claim.options.get("rank", 0):
        return reference_draws.profile(claim)
    epsilon = claim.budget["epsilon"]
    budget, calibration = claim.options["budget"], claim.options["calibration"]

    def exponents(values: Matrix, n: int) -> Matrix:
        d = values.shape[1]
        if budget == "uniform":
            return np.tile(mechanism.uniform_exponents(epsilon, d, calibration), (len(values), 1))
        weights = np.sqrt(np.clip(values, 0, n) + mechanism.adaptive_offset(epsilon, d, BETA))
        return np.array([mechanism.adaptive_exponents(epsilon, list(w), calibration) for w in weights])

    scale = mechanism.eigenvalue_scale(epsilon)
    dimensions = (2, 3) if budget == "uniform" else (2,)
    scenarios = tuple(separated(d, scale, laplace_cdf, "Laplace(2/ε₀)", exponents) for d in dimensions)
    return Profile(claim.form, scenarios, lambda _: common_pairs(OUTPUTS["matrix"]))
