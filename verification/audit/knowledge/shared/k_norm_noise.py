"""K-norm noise has a radius with a Gamma law in every dimension. In dimension 2 the law of the direction of K-norm
noise is also known.

The audit knows the data, so it observes the noise for any numbers of rows and columns. The entries of the noise are
independent for some convex bodies only.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import haar
from covassay.reference.laws import k_norm as k_norm_law
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import ONE_FOR_ROOT_TWO, scale_suspects
from covassay.verification.statistics.laws import LAPLACE
from covassay.verification.statistics.laws import gamma as gamma_law
from covassay.verification.statistics.tests import TestResult, binomial, gamma_total, kolmogorov_smirnov

Cdf = Callable[[Vector], Vector]


def _tilt(z: Matrix) -> Vector:
    """Return |tr Z|/‖Z‖_* for each matrix Z, which is exactly 1 if all eigenvalues have the same sign."""
    values = np.linalg.eigvalsh(z)
    tilt: Vector = np.round(np.abs(values.sum(axis=1)) / np.abs(values).sum(axis=1), 9)
    return tilt


def _direction(body: str) -> tuple[Callable[[Matrix], Vector], Cdf]:
    """Return a statistic of the direction of the noise in dimension 2, and the distribution function of this
    statistic.
    """
    if body == "schatten1":  # the law gives both eigenvalues the same sign with probability 1/3
        return _tilt, lambda t: np.where(t >= 1, 1.0, np.clip(t, 0, 1) * 2 / 3)
    # after weighting with (1 + |tr Z|/‖Z‖_*)^{−3}, both eigenvalues have the same sign with probability 1/7
    if body == "covariance":
        return _tilt, lambda t: np.where(t >= 1, 1.0, 6 / 7 * (1 - (1 + np.clip(t, 0, 1)) ** -2) / 0.75)
    if body == "l1":
        return lambda z: z[:, 0, 1], LAPLACE
    if body == "l2":
        return lambda z: 2 * z[:, 0, 1] ** 2 / (z**2).sum(axis=(1, 2)), lambda w: haar.squared_coordinate_cdf(w, 3)
    return lambda z: np.abs(z[:, 0, 1]), lambda t: np.where(t > 0, gammainc(4, t) + t / 3 * gammaincc(3, t), 0.0)


@dataclass(frozen=True)
class KNormNoise:
    """The noise on one data set, and its tests."""

    x: Matrix
    scale: float
    body: k_norm_law.Body

    def residuals(self, outputs: Matrix) -> Matrix:
        """Return the standardised noise of every output."""
        z: Matrix = (outputs - second_moment(self.x)) / self.scale
        return z

    def radius(self, factor: float) -> Test:
        """Return the test that the K-norm of the noise has its Gamma law, if the noise scale is multiplied by
        `factor`.
        """
        d = self.x.shape[1]
        return lambda y: kolmogorov_smirnov(
            k_norm_law.norm(self.residuals(y), self.body) / factor,
            gamma_law(float(k_norm_law.degrees_of_freedom(d))),
            f"‖Z‖_K ~ Gamma({k_norm_law.degrees_of_freedom(d):g})",
        )

    def total(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the K-norms of the noise over all draws has its Gamma law."""
        shape = k_norm_law.degrees_of_freedom(self.x.shape[1])
        norms = k_norm_law.norm(self.residuals(outputs), self.body)
        return gamma_total(norms, shape, f"the sum of ‖Z‖_K over n draws ~ Gamma({shape:g} n)")

    def direction(self, outputs: Matrix) -> TestResult:
        """Test the law of the direction of the noise in dimension 2."""
        statistic, cdf = _direction(self.body)
        null = "the direction of the noise has its exact law"
        return kolmogorov_smirnov(statistic(self.residuals(outputs)), cdf, null)

    def orientation(self, outputs: Matrix) -> TestResult:
        """Test that the noise of the entry off the diagonal is positive with probability ½."""
        positive = int((self.residuals(outputs)[:, 0, 1] > 0).sum())
        return binomial(positive, len(outputs), 0.5, "the off-diagonal entry is positive with probability 1/2")


def scenario(x: Matrix, scale: float, body: k_norm_law.Body) -> Scenario:
    """Return the rows x with tests of the K-norm noise that a mechanism adds to their second moment."""
    n, d = x.shape
    noise = KNormNoise(x, scale, body)
    tests: dict[str, Test] = {"radius": noise.radius(1.0), "total scale": noise.total}
    if d == 2:
        tests |= {"direction": noise.direction, "orientation": noise.orientation}
    return Scenario(
        f"n={n}, d={d}", x, tests, scale_suspects(noise.radius, ONE_FOR_ROOT_TWO), weight=1.0 if d == 2 else 0.3
    )


def law(
    body: Callable[[ClaimUnderAudit], k_norm_law.Body], scale: Callable[[ClaimUnderAudit, int, int], float]
) -> Callable[[ClaimUnderAudit], KnownLaw]:
    """Return the law of Σ + scale · Z, with tests of the radius of Z and, in dimension 2, of its direction.

    `scale` is a function of the claim, the number n of rows and the number d of columns.
    """

    def of(claim: ClaimUnderAudit) -> KnownLaw:
        chosen = body(claim)

        def on_examples(n: int, d: int) -> Scenario:
            return scenario(example_rows(n, d), scale(claim, n, d), chosen)

        def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
            a, b = second_moment(first), second_moment(second)
            closer = Statistic(
                "‖Y − Σ'‖_K − ‖Y − Σ‖_K", lambda y: k_norm_law.norm(y - b, chosen) - k_norm_law.norm(y - a, chosen)
            )
            return (*generic_statistics(first, second, OUTPUTS["matrix"]), closer)

        units = k_norm_law.degrees_of_freedom
        return KnownLaw(
            tuple(on_examples(6, d) for d in (2, 3)),
            common_pairs(OUTPUTS["matrix"], statistics, dimensions=(1, 2)),
            Shapes(on_examples, ("radius", "total scale"), lambda d: float(units(d)), grid()),
        )

    return of
