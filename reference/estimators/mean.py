"""Estimate the mean of a data set, from one private release (`moments`)."""

from typing import Any, Self

from covassay.reference.accounting import Account
from covassay.reference.domain import Vector
from covassay.reference.estimators.moment_estimator import MomentEstimator
from covassay.reference.estimators.moments import SHARE_OF_MEAN


class PrivateMean(MomentEstimator):
    """An estimator of a mean with differential privacy.

    The mean is released together with a second moment that the estimator discards, by a mechanism whose noise does not
    depend on the data. Under zCDP the error of the mean is exactly that of adding Gaussian noise to the mean alone.
    Under pure DP the error of the mean was not compared with that of mechanisms which release a mean alone. With bounds
    the rows are scaled into a ball. Under zCDP the noise on the mean is then at most that of `box-gauss`, whose weights
    are chosen for a small error of the covariance.

    Parameters
    ----------
    epsilon, rho, row_bound, bounds, mechanism, rounded, random_state, accountant : as for `PrivateCovariance`.

    Attributes
    ----------
    location_ : shape (d,), the mean, in the units of the data.
    spend_, mechanism_, n_features_in_, feature_names_in_ : as for `PrivateCovariance`.

    >>> import numpy as np
    >>> x = np.random.default_rng(1).uniform(0, 10, (2000, 2))
    >>> bool(np.abs(PrivateMean(rho=1, bounds=(0, 10), random_state=0).fit(x).location_ - 5).max() < 0.5)
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
        rounded: bool = False,
        random_state: Any = None,
        accountant: Account | None = None,
    ) -> None:
        super().__init__(epsilon, rho, row_bound, bounds, mechanism, rounded, random_state, accountant)

    location_: Vector

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the mean of X, (n, d); y is ignored."""
        x = self._read(X, reset=True)
        units, moments = self._release(x, self._box(x.shape[1]), SHARE_OF_MEAN, additive=True)
        self.location_ = units.location(moments)
        return self
