"""Make targets from estimators of diffprivlib 0.6.6; they belong to the adapter `diffprivlib`.

The audit tests the public attributes of a fitted estimator, which the adapter joins to one output. The package
diffprivlib says that "differential privacy is guaranteed with respect to the training sample", and does not say which
data sets are neighbours. The package diffprivlib takes the number of rows from the data, so it is audited for
neighbours in which one row is replaced.

- The target `pca` fits `PCA(epsilon, data_norm=2, bounds=(−1, 1))` and returns Vᵀ diag(explained_variance_) V. Rows lie
  in the unit ball. `PCA` subtracts a mean whose entries lie in [−1, 1], which moves every row by at most √d. After
  this, `PCA` clips rows that are longer than 2.

- The target `eigenvalues` returns the eigenvalues of XᵀX by `models.utils.covariance_eig(X, epsilon, norm=1,
  eigvals_only=True)`.

- The target `linear-regression` returns `LinearRegression(epsilon, bounds_X, bounds_y).fit(X, y).coef_`, where y is
  the last column.

- The target `linear-regression-moments` returns the moments that the fit of `LinearRegression` stores in `_obj_coefs`,
  as a matrix. The class computes its coefficients from these moments, and a pickled model contains the moments. The
  documentation of `LinearRegression` says that these moments are randomised.

- The target `standard-scaler` fits `StandardScaler(epsilon, bounds)` and returns `mean_`, with the diagonal matrix of
  `var_` below it.

- The target `gaussian-nb` calls `GaussianNB(epsilon, bounds).partial_fit(X, y, classes=[0, 1])`, whose classes are
  public, and returns the share of the first class and its means `theta_`. The label of a row says whether its last
  column is in the upper half of its range.

All targets but `pca` and `eigenvalues` need the bounds of the columns.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.diffprivlib_package import (
    RANGE,
    Bounds,
    keeps_factor,
    legacy,
    limits,
    pure_target,
    quiet,
)
from covassay.verification.audit.targets.target import Target

LABEL = 0.5  # a row has the second label if its last entry is in the upper half of the range of the last column


def _pca(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    from diffprivlib.models import PCA

    with quiet():
        model = PCA(epsilon=epsilon, data_norm=2.0, bounds=(-1.0, 1.0), random_state=keeps_factor(rng)).fit(x)
    matrix: Matrix = model.components_.T @ np.diag(model.explained_variance_) @ model.components_
    return matrix


def _eigenvalues(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    from diffprivlib.models.utils import covariance_eig

    return np.asarray(covariance_eig(x, epsilon=epsilon, norm=1.0, eigvals_only=True, random_state=legacy(rng)))


def _regression(x: Matrix, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Any:
    from diffprivlib.models import LinearRegression

    low, high = limits(bounds)
    ranges = {"bounds_X": (low[:-1], high[:-1]), "bounds_y": (low[-1], high[-1])}
    with quiet():
        return LinearRegression(epsilon=epsilon, random_state=legacy(rng), **ranges).fit(x[:, :-1], x[:, -1])


def _coefficients(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Vector:
    return np.ravel(_regression(x, epsilon, rng, bounds).coef_)


def _moments(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    of_y, mixed, of_x = _regression(x, epsilon, rng, bounds)._obj_coefs
    return np.block([[of_x, mixed], [mixed.T, of_y[None]]])


def _scaler(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    from diffprivlib.models import StandardScaler

    with quiet():
        model = StandardScaler(epsilon=epsilon, bounds=limits(bounds), random_state=legacy(rng)).fit(x)
    return np.vstack([model.mean_, np.diag(model.var_)])


def _naive_bayes(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Vector:
    from diffprivlib.models import GaussianNB

    low, high = limits(bounds)
    labels = (x[:, -1] > low[-1] + LABEL * (high[-1] - low[-1])).astype(int)
    with quiet():
        model = GaussianNB(epsilon=epsilon, bounds=(low[:-1], high[:-1]), random_state=legacy(rng))
        model.partial_fit(x[:, :-1], labels, classes=[0, 1])
    return np.concatenate([model.class_prior_[:1], model.theta_[0]])


TARGETS: dict[str, Callable[[], Target]] = {
    "pca": partial(pure_target, "pca", _pca, "models.PCA", "matrix", "the output is Vᵀ diag(explained_variance_) V"),
    "eigenvalues": partial(
        pure_target, "eigenvalues", _eigenvalues, "models.utils.covariance_eig(eigvals_only=True)", "vector"
    ),
    "linear-regression": partial(
        pure_target, "linear-regression", _coefficients, "models.LinearRegression", "coefficients", bounds=RANGE
    ),
    "linear-regression-moments": partial(
        pure_target, "linear-regression-moments", _moments, "models.LinearRegression, _obj_coefs", "matrix",
        "_obj_coefs is not a public attribute; a pickled model contains it, and the coefficients are computed from it",
        bounds=RANGE,
    ),
    "standard-scaler": partial(
        pure_target, "standard-scaler", _scaler, "models.StandardScaler", "gaussian", bounds=RANGE
    ),
    "gaussian-nb": partial(
        pure_target, "gaussian-nb", _naive_bayes, "models.GaussianNB", "vector",
        "the classes are given; the output is the share of the first class and its means", bounds=RANGE,
    ),
}  # fmt: skip
