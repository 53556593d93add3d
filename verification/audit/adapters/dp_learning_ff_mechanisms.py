"""Make targets from the least squares of dp-learning-ff 0.0.8, its noisy second moment, and its copy of coin-press.

- The target `least-squares` makes `LeastSquaresClassifier(epsilon, delta, clipping_norm=1, reg_lambda=1,
  weight_alpha=1, seed)` with a mechanism of the audited budget. The target calls `fit(A, y)` with one public class, so
  that `theta` is one vector. The class does not say which data sets are neighbours.

- The target `covariance` calls `utils.dp_covariance(X_clip, noise_std, rng)`, the step of least squares that adds noise
  to XᵀX. The accountant of the package takes clipping_norm² as the sensitivity. The sensitivity clipping_norm² is right
  when one row is added or removed, so the target has add-remove adjacency.

- The targets `coinpress-mean` and `coinpress-covariance` use `coinpress.algos`, whose functions the module
  `coinpress_calls` calls.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import brentq

from covassay.reference.domain import Matrix, Vector, unit_rows
from covassay.reference.privacy import ZCDP, ApproximateDP
from covassay.verification.audit.adapters import coinpress_calls
from covassay.verification.audit.adapters.numbers import gaussian_deviation
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=("dp-learning-ff==0.0.8", "torch==2.13.0", "autodp==0.2.3.1", "scikit-learn==1.6.1"),
    modules=("dp_learning_ff",),
)

MULTIPLIERS = 0.5, 1000.0  # the noise multiplier is searched in this interval


@lru_cache(maxsize=64)
def _calibrated(epsilon: float, delta: float) -> Any:
    """Return the package's mechanism with the noise multiplier for which the package's own accountant reports this
    budget.

    The package's own `LeastSquaresClassifier.calibrate` raises ZeroDivisionError, because its search assumes that the
    loss grows with the noise multiplier.
    """
    from dp_learning_ff.mechanisms import LeastSquaresCDPM

    def excess(multiplier: float) -> float:
        return float(LeastSquaresCDPM(multiplier).get_approxDP(delta)) - epsilon

    return LeastSquaresCDPM(brentq(excess, *MULTIPLIERS))


def _least_squares(x: Matrix, *, epsilon: float, delta: float, rng: np.random.Generator) -> Vector:
    from dp_learning_ff import LeastSquaresClassifier

    model = LeastSquaresClassifier(epsilon, delta, 1.0, 1.0, 1.0, seed=1 + int(rng.integers(2**31)))
    model.mechanism = _calibrated(epsilon, delta)
    model.fit(x, np.zeros(len(x)))
    return np.ravel(model.theta)


def _covariance(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    from dp_learning_ff.utils import dp_covariance

    matrix: Matrix = dp_covariance(unit_rows(x), gaussian_deviation(1.0, rho), rng)
    return matrix


def _coinpress_mean(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    from dp_learning_ff.coinpress import algos

    return coinpress_calls.mean(algos, x, rng, rho)


def _coinpress_covariance(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    from dp_learning_ff.coinpress import algos

    return coinpress_calls.covariance(algos, x, rng, rho)


def _target(name: str, draw: Callable[..., Any], part: str, **more: Any) -> Target:
    return Target(f"dp-learning-ff:{name}", draw, version=told_version(PACKAGE, part), **more)


TARGETS: dict[str, Callable[[], Target]] = {
    "least-squares": partial(
        _target, "least-squares", _least_squares, "LeastSquaresClassifier", released="vector",
        claim=ApproximateDP(1.0, 1e-5), notes=("the adapter gives all rows the same label, which is public",),
    ),
    "covariance": partial(
        _target, "covariance", _covariance, "utils.dp_covariance", released="matrix", claim=ZCDP(0.5),
        adjacency="add-remove", notes=("it takes clipped rows, so the adapter clips them",),
    ),
    "coinpress-mean": partial(
        _target, "coinpress-mean", _coinpress_mean, "coinpress.algos.multivariate_mean_iterative", released="vector",
        claim=ZCDP(0.5),
    ),
    "coinpress-covariance": partial(
        _target, "coinpress-covariance", _coinpress_covariance, "coinpress.algos.cov_est, t = 2", released="matrix",
        claim=ZCDP(0.5),
    ),
}  # fmt: skip
