"""Make targets from OpenDP 0.16.0 for a mean, the largest of several sums, a regression, and the moments of bounded
columns. The targets belong to the adapter `opendp`.

- The target `mean` calls `extras.numpy._make_np_mean.make_private_np_mean` on rows of norm at most 1. The noise scale
  is the one for which OpenDP's own privacy map gives ρ for one replaced row.

- The target `noisy-max` computes the sum of squares of every column, and calls `make_noisy_max` on these sums. The
  output is the index of a column. Replacing a row of norm at most 1 changes each sum by at most 1.

- The target `theil-sen` calls `sklearn.linear_model.LinearRegression(max_divergence(), x_bounds, y_bounds,
  scale).fit(X, y)`, and returns the slope and the intercept. The noise scale is the one for which OpenDP's own privacy
  map gives ε for one replaced row. The regression shuffles the rows by NumPy's global generator, which the adapter
  seeds.

- The targets `box-gauss` and `box-laplace` add noise by `make_gaussian` and `make_laplace` to the weighted sums that
  `covassay.reference.box_moments` defines for bounded columns. The sums form one vector, and the noise scale is the one
  for which OpenDP's own privacy map gives the budget at the sensitivity of this vector. OpenDP has no function that
  computes these sums together: it has a function for each sum, and the budgets of these functions add up under
  composition. The adapter itself computes the sums, and afterwards the mean and the covariance from the noisy sums.

The ε of a privacy map is proportional to 1/scale, and its ρ to 1/scale². The adapter finds the noise scales by this
rule. OpenDP's Rust library draws the noise, so the audit cannot seed these targets of OpenDP.
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from covassay.reference.box_moments import (
    estimates,
    gauss_weights,
    l1,
    l2_squared,
    laplace_weights,
    moment_sums,
    spreads,
)
from covassay.reference.domain import Box, Matrix, Vector, scaled_rows, unit_rows
from covassay.reference.privacy import PureDP
from covassay.verification.audit.adapters.numbers import CONCENTRATED, PURE, UNSEEDED
from covassay.verification.audit.adapters.opendp_package import PACKAGE
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import told_version
from covassay.verification.audit.targets.target import Target

Bounds = tuple[tuple[float, float], ...]
RANGE = (0.0, 10.0), (0.0, 10.0)  # the ranges of x and y are those of an example in the documentation
SQUARE = ((0.0, 4.0), (-1.0, 1.0))
SUMS = "the adapter computes the weighted sums of bounded columns, and afterwards the estimates from the noisy sums"
KEPT = "its input domain promises rows of norm at most 1; the adapter keeps this promise"
REPLACED = 2  # two data sets in which one row is replaced have this symmetric distance


def _library() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    return dp


@lru_cache(maxsize=64)
def _mean_measurement(n: int, d: int, rho: float) -> Any:
    dp = _library()
    from opendp.extras.numpy import array2_domain
    from opendp.extras.numpy._make_np_mean import make_private_np_mean

    domain = array2_domain(norm=1.0, p=2, origin=0.0, size=n, num_columns=d, nan=False, T=float)
    make: Any = partial(make_private_np_mean, domain, dp.symmetric_distance())
    return make(math.sqrt(make(1.0).map(REPLACED) / rho))


def _mean(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    return np.asarray(_mean_measurement(*x.shape, float(rho))(unit_rows(x)))


@lru_cache(maxsize=64)
def _noisy_max_measurement(epsilon: float) -> Any:
    dp = _library()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    make = partial(dp.m.make_noisy_max, *space, dp.max_divergence())
    return make(make(1.0).map(1.0) / epsilon)


def _noisy_max(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    return float(_noisy_max_measurement(float(epsilon))((unit_rows(x) ** 2).sum(axis=0)))


@lru_cache(maxsize=64)
def _theil_sen_model(bounds: Bounds, epsilon: float) -> Any:
    dp = _library()
    model = partial(dp.sklearn.linear_model.LinearRegression, dp.max_divergence(), [bounds[0]], bounds[1])
    return model(scale=model(scale=1.0).measurement.map(REPLACED) / epsilon)


def _theil_sen(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Vector:
    model = _theil_sen_model(tuple(map(tuple, bounds)), float(epsilon))
    with numpy_seeded(rng), np.errstate(all="ignore"):
        fitted = model.fit(x[:, :1], x[:, 1])
    return np.array([fitted.coef_[0], fitted.intercept_])


@lru_cache(maxsize=64)
def _noise_on_vector(gaussian: bool, length: int, change: float, budget: float) -> Any:
    dp = _library()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=length)
    distance = dp.l2_distance(T=float) if gaussian else dp.l1_distance(T=float)
    make = partial(dp.m.make_gaussian if gaussian else dp.m.make_laplace, space, distance)
    ratio = make(scale=1.0).map(change) / budget
    return make(scale=math.sqrt(ratio) if gaussian else ratio)


def _of_sums(x: Matrix, bounds: Bounds, gaussian: bool, budget: float) -> Matrix:
    """Return the number of rows, the mean and the covariance from noisy weighted sums of the scaled columns."""
    box = Box.of(bounds)
    rows, n, d = scaled_rows(x, box)
    weights = (gauss_weights if gaussian else laplace_weights)(d, "replace-one")
    change = math.sqrt(l2_squared(d, weights, "replace-one")) if gaussian else float(l1(d, weights, "replace-one"))
    sums, units = moment_sums(rows, n, d), spreads(1.0, weights, d)
    i, j = np.nonzero(np.triu(units))  # the number of rows is public and gets no noise
    noisy = _noise_on_vector(gaussian, len(i), change, budget)((sums[i, j] / units[i, j]).tolist())
    sums[i, j] = sums[j, i] = np.asarray(noisy) * units[i, j]
    return estimates(sums, box)


def _box_gauss(x: Matrix, *, rho: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    return _of_sums(x, bounds, True, float(rho))


def _box_laplace(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    return _of_sums(x, bounds, False, float(epsilon))


def _target(name: str, draw: Callable[..., Any], part: str, *notes: str, **more: Any) -> Target:
    _library()
    told = told_version(PACKAGE, part)
    return Target(f"opendp:{name}", draw, version=told, seeded=False, notes=(UNSEEDED, *notes), **more)


TARGETS: dict[str, Callable[[], Target]] = {
    "mean": partial(
        _target, "mean", _mean, "make_private_np_mean", KEPT, released="vector", claim=CONCENTRATED,
    ),
    "noisy-max": partial(
        _target, "noisy-max", _noisy_max, "make_noisy_max", "the adapter clips the rows and computes the scores",
        released="number", claim=PURE,
    ),
    "theil-sen": partial(
        _target, "theil-sen", _theil_sen, "sklearn.linear_model.LinearRegression",
        "its privacy map counts added and removed rows; a replaced row counts as two", released="vector",
        claim=PureDP(1.0), bounds=RANGE,
    ),
    "box-gauss": partial(
        _target, "box-gauss", _box_gauss, "make_gaussian", SUMS, mechanism="box-gauss", claim=CONCENTRATED,
        bounds=SQUARE,
    ),
    "box-laplace": partial(
        _target, "box-laplace", _box_laplace, "make_laplace", SUMS, mechanism="box-laplace", claim=PURE, bounds=SQUARE,
    ),
}  # fmt: skip
