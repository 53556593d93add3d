"""Test the Gaussian noise that SeparateCov adds to the eigenvalues. The eigenvalues of the data are many noise scales
apart, so that the eigenvalues of the output show this noise.
"""

import math
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import separate_cov
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes
from covassay.verification.audit.knowledge.shared.gaussian_noise import SEPARATED_MOST
from covassay.verification.audit.knowledge.shared.noise_entries import of_steps
from covassay.verification.audit.knowledge.shared.separated_eigenvalues import eigenvalue_pair
from covassay.verification.statistics.laws import NORMAL
from covassay.verification.statistics.tests import TestResult, gamma_total, independence, kolmogorov_smirnov

# eigenvalues of the data are this many noise scales apart; noise changes their order with probability below 1e-100
SEPARATION = 40.0


def gap(rho: float) -> int:
    """Return the difference of successive eigenvalues of XᵀX. It is an integer, because the rows are unit vectors along
    the axes.
    """
    return math.ceil(SEPARATION * float(separate_cov.noise_scale(1, rho)))


def scenario(rho: float, clip_norm: float = 1.0, d: int = 3) -> Scenario:
    """Return the tests of the eigenvalues of SeparateCov, whose noises are independent Gaussians.

    The rows of this data set lie along the axes and have norm 1. If SeparateCov clips the rows to norm τ, the noise
    scale is multiplied by τ².
    """
    counts = gap(rho) * np.arange(d, 0, -1)
    n = int(counts.sum())
    scale = separate_cov.noise_scale(n, rho) * clip_norm**2
    x = np.repeat(np.eye(d), counts, axis=0)

    def standard(outputs: Matrix) -> Matrix:
        values = np.linalg.eigvalsh((outputs + np.swapaxes(outputs, 1, 2)) / 2)[:, ::-1]
        noise: Matrix = (values - counts / n * clip_norm**2) / scale
        return noise

    def eigenvalue(k: int, factor: float = 1.0) -> Test:
        null = f"λ̃{k + 1} − λ{k + 1} is Gaussian with the calibrated scale"
        return lambda outputs: kolmogorov_smirnov(standard(outputs)[:, k] / factor, NORMAL, null)

    def all_eigenvalues(outputs: Matrix) -> TestResult:
        return kolmogorov_smirnov(standard(outputs).ravel(), NORMAL, "λ̃i − λi is Gaussian for every i")

    def total(outputs: Matrix) -> TestResult:
        null = f"the sum of the squares of the eigenvalue noises over n draws ~ χ²({d} n)"
        return gamma_total((standard(outputs) ** 2).sum(axis=1) / 2, d / 2, null, power=2)

    def apart(outputs: Matrix) -> TestResult:
        values = standard(outputs)
        return independence(values[:, 0], values[:, 1], "λ̃1 and λ̃2 are independent")

    def vectors(outputs: Matrix) -> Matrix:
        turned: Matrix = np.linalg.eigh((outputs + np.swapaxes(outputs, 1, 2)) / 2)[1][:, :, ::-1]
        return turned

    suspects = (
        Suspect.times("sensitivity-one", "the eigenvalue noise is for a sensitivity of 1 in place of √2",
                      math.sqrt(0.5), partial(eigenvalue, 0)),
        Suspect.times("double-eigenvalue-noise", "the eigenvalue noise has twice the calibrated scale",
                      2.0, partial(eigenvalue, 0)),
    )  # fmt: skip
    tests: dict[str, Test] = {f"eigenvalue {k + 1}": eigenvalue(k) for k in range(d)}
    tests |= {"independence": apart, "all eigenvalues": all_eigenvalues, "total scale": total}
    tests |= of_steps(d, standard, vectors)
    return Scenario(f"separated eigenvalues, d={d}", x, tests, suspects)


def shapes(rho: float, clip_norm: float = 1.0) -> Shapes:
    """Return data with separated eigenvalues in two or more dimensions."""
    return Shapes(
        lambda n, d: scenario(rho, clip_norm, d),
        ("all eigenvalues", "total scale"),
        lambda d: d / 5,
        tuple((gap(rho) * d * (d + 1) // 2, d) for d in COLUMNS if 1 < d <= SEPARATED_MOST),
    )


def pair(rho: float) -> Pair:
    """Return neighbours whose eigenvalues lie far apart."""
    return eigenvalue_pair(gap(rho))
