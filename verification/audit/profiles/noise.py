"""Tests of additive nuclear-Laplace noise, for every mechanism that adds it.

With the data set known, the noise E = (Y − Σ)/ρ is observed. Its law is known exactly: nuclear norm Gamma, spectral
norm by a Pfaffian, both independent of where the singular vectors point, which are Haar.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import gammainc

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law
from covassay.verification.audit.engine.law import Suspect, Test
from covassay.verification.statistics.tests import (
    TestResult,
    binomial,
    gamma_scale,
    independence,
    kolmogorov_smirnov,
)

CONFIDENCE = 0.999


def residuals(outputs: Matrix, x: Matrix, scale: float) -> Matrix:
    """E = (Y − Σ)/ρ for every output."""
    noise: Matrix = (outputs - second_moment(x)) / scale
    return noise


@lru_cache(maxsize=32)
def spectral_cdf(d: int, symmetric: bool) -> Callable[[Vector], Vector]:
    """The exact distribution function through a table: its error, below 1e-6, is far below any test's resolution."""
    top = 2 * law.spectral_norm_quantile(d, 1 - 1e-8, symmetric)
    grid = top * np.linspace(0, 1, 600) ** 1.5
    table = PchipInterpolator(grid, law.spectral_norm_cdf(d, grid, symmetric))
    return lambda t: np.clip(table(np.clip(t, 0.0, top)), 0.0, 1.0)


def noise_tests(x: Matrix, scale: float, symmetric: bool) -> dict[str, Test]:
    """The tests by name."""
    d = x.shape[1]
    kind = "symmetric nuclear-Laplace" if symmetric else "nuclear-Laplace"

    def singular(outputs: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        u, s, vt = np.linalg.svd(residuals(outputs, x, scale))
        return u, s, np.swapaxes(vt, 1, 2)

    def radius(outputs: Matrix) -> TestResult:
        s = singular(outputs)[1].sum(axis=1)
        null = f"‖E‖_* ~ Gamma({law.radius_shape(d, symmetric):g})"
        return kolmogorov_smirnov(s, lambda t: law.nuclear_norm_cdf(d, t, symmetric), null)

    def spectral(outputs: Matrix) -> TestResult:
        s = singular(outputs)[1].max(axis=1)
        return kolmogorov_smirnov(s, spectral_cdf(d, symmetric), f"‖E‖ follows the exact {kind} law")

    def apart(outputs: Matrix) -> TestResult:
        s = singular(outputs)[1]
        total = s.sum(axis=1)
        return independence(total, s.max(axis=1) / total, "‖E‖_* and ‖E‖/‖E‖_* are independent")

    def side(index: int, name: str) -> Test:
        def test(outputs: Matrix) -> TestResult:
            vectors = singular(outputs)[index][:, :, 0]
            return kolmogorov_smirnov(
                vectors[:, 0] ** 2,
                lambda w: haar.squared_coordinate_cdf(w, d),
                f"the first {name} singular vector is uniform on the sphere",
            )

        return test

    def common_sign(outputs: Matrix) -> TestResult:
        u, _, v = singular(outputs)
        positive = int((u[:, 0, 0] * v[:, 0, 0] > 0).sum())
        return binomial(positive, len(outputs), 0.5, "the first singular pair has a sign of its own")

    def determinant(outputs: Matrix) -> TestResult:
        positive = int((np.linalg.det(residuals(outputs, x, scale)) > 0).sum())
        return binomial(positive, len(outputs), 0.5, "det E is positive half of the time")

    def trace(outputs: Matrix) -> TestResult:
        positive = int((np.trace(residuals(outputs, x, scale), axis1=1, axis2=2) > 0).sum())
        return binomial(positive, len(outputs), 0.5, "tr E is positive half of the time")

    tests: dict[str, Test] = {"nuclear norm": radius, "spectral norm": spectral, "trace sign": trace}
    if d > 1:
        tests |= {"independence": apart, "left vectors": side(0, "left")}
    if d > 1 and not symmetric:
        tests |= {"right vectors": side(2, "right"), "pair sign": common_sign, "determinant sign": determinant}
    return tests


def noise_suspects(x: Matrix, scale: float, symmetric: bool) -> tuple[Suspect, ...]:
    """Laws of known mistakes in the nuclear norm of the noise."""
    d = x.shape[1]
    shape = float(law.radius_shape(d, symmetric))
    other = float(law.radius_shape(d, not symmetric))

    def gamma(shape: float, factor: float) -> Test:
        def test(outputs: Matrix) -> TestResult:
            s = law.nuclear_norm(residuals(outputs, x, scale)) / factor
            return kolmogorov_smirnov(
                s, lambda t: gammainc(shape, np.maximum(t, 0)), f"Gamma({shape:g}), {factor:g} times the scale"
            )

        return test

    names = ("d(d+1)/2", "d²") if not symmetric else ("d²", "d(d+1)/2")
    suspects = [
        Suspect("half-scale", "the noise has half the calibrated scale: too little noise", gamma(shape, 0.5)),
        Suspect("double-scale", "the noise has twice the calibrated scale: private but wasteful", gamma(shape, 2.0)),
        Suspect(
            "n-forgotten",
            f"the scale was not divided by n = {len(x)}: private but wasteful",
            gamma(shape, float(len(x))),
        ),
        Suspect(
            "rate-for-scale",
            "the Gamma law was given the inverse scale: its rate in place of its scale",
            gamma(shape, 1 / scale**2),
        ),
    ]
    if other != shape:
        suspects.append(
            Suspect(
                "gamma-shape", f"the nuclear norm has Gamma shape {names[0]} in place of {names[1]}", gamma(other, 1.0)
            )
        )
    return tuple(suspects)


def scale_estimate(x: Matrix, scale: float, symmetric: bool) -> Callable[[Matrix], str]:
    """A sentence with the confidence interval of the noise scale, as a multiple of the calibrated one."""

    def sentence(outputs: Matrix) -> str:
        shape = float(law.radius_shape(x.shape[1], symmetric))
        interval = gamma_scale(law.nuclear_norm(residuals(outputs, x, scale)), shape, CONFIDENCE)
        meaning = ""
        if interval.upper < 1:
            meaning = ": too small, a privacy defect"
        if interval.lower > 1:
            meaning = ": too large, a utility defect"
        return (
            f"noise scale, if Gamma({shape:g}): {interval.lower:.3f} to {interval.upper:.3f} times the calibrated one "
            f"at {CONFIDENCE:.1%}{meaning}"
        )

    return sentence
