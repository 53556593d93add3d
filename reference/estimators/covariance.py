"""Estimate the covariance and the mean of a data set, from one private release (`moments`)."""

from typing import Any, Self

import numpy as np

from covassay.reference.accounting import Account
from covassay.reference.domain import Matrix, Vector
from covassay.reference.estimators.base import frame
from covassay.reference.estimators.moment_estimator import MomentEstimator
from covassay.reference.estimators.moments import SHARE


class PrivateCovariance(MomentEstimator):
    """An estimator of a covariance matrix and a mean with differential privacy.

    Parameters
    ----------
    epsilon, rho : the budget, of ε-DP or of ρ-zCDP; exactly one is given.
    row_bound : a public bound on the Euclidean norm of a row; longer rows are clipped.
    bounds : public bounds on the columns in place of `row_bound`: one pair (low, high) for all columns, a list with a
        pair for each column, a tuple (minima, maxima), or a dictionary from the names of a data frame's columns to
        pairs. Entries beyond the bounds are clipped. The bounds must be chosen without reading them from the data.
    mechanism : the name of a mechanism for the second moment. If `bounds` is given, a mechanism for bounded columns may
        be named, too. If no mechanism is named, the estimator chooses one. If `bounds` and `rho` are given and the mean
        is not known, the estimator chooses `box-gauss`, for the reason in the module `bounded_columns`. Otherwise the
        estimator chooses the mechanism with the least predicted error for the shape of the data and the budget
        (`reference.recommendation`). Mechanisms that search for a clipping norm are not chosen.
    assume_centered : whether the mean is known. The known mean is 0 or, if `bounds` is given, the middle of the bounds.
        With `assume_centered` no mean is estimated, and the second moment about the known mean has less noise.
    rounded : release through `reference.rounded`, so that the guarantee covers every bit. Rounded releases need
        python-flint.
    random_state : the source of the noise; None gives noise that nobody knows. A seed or a generator is for tests:
        whoever knows the seed can compute the noise, and nothing is private.
    accountant : an `Account` of the data set that several estimators share. The account is charged before noise is
        drawn. A fit that would exceed the total budget raises `OverBudget`.

    Attributes
    ----------
    covariance_ : shape (d, d), positive semidefinite, in the units of the data squared.
    location_ : shape (d,), the mean; with `assume_centered` the known centre.
    spend_ : the claimed and the proven budget of the mechanism.
    mechanism_ : the mechanism with its options, in words.
    n_features_in_, feature_names_in_ : the number of the columns and, for a data frame, their names.

    >>> import numpy as np
    >>> x = np.random.default_rng(1).uniform(0, 10, (2000, 2))
    >>> private = PrivateCovariance(epsilon=2, bounds=(0, 10), random_state=0).fit(x)
    >>> bool(np.abs(private.covariance_ - np.cov(x.T)).max() < 1)
    True
    """

    def __init__(
        self,
        epsilon: float | None = None,
        rho: float | None = None,
        *,
        row_bound: float | None = None,
        bounds: Any = None,
        mechanism: str | None = None,
        assume_centered: bool = False,
        rounded: bool = False,
        random_state: Any = None,
        accountant: Account | None = None,
    ) -> None:
        super().__init__(epsilon, rho, row_bound, bounds, mechanism, rounded, random_state, accountant)
        self.assume_centered = assume_centered

    covariance_: Matrix
    location_: Vector

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the moments of X, (n, d); y is ignored."""
        x = self._read(X, reset=True)
        box = self._box(x.shape[1])
        units, moments = self._release(x, box, None if self.assume_centered else SHARE)
        self.covariance_ = np.outer(units.scale, units.scale) * moments.covariance
        self.location_ = units.location(moments)
        return self

    def covariance_frame(self, library: str = "pandas") -> Any:
        """Return the covariance as a data frame of "pandas" or "polars" with the names of the columns."""
        self._require_fitted()
        names = self._input_names()
        return frame(self.covariance_, names, library, index=list(names))
