"""Estimate principal components of a data set, from one private release (`moments`)."""

import sys
from typing import Any, Self

import numpy as np

from covassay.reference.accounting import Account
from covassay.reference.domain import Matrix, Vector
from covassay.reference.downstream.pca import principal_components
from covassay.reference.errors import InvalidInput
from covassay.reference.estimators.base import FrameOutput, as_matrix
from covassay.reference.estimators.moment_estimator import MomentEstimator
from covassay.reference.estimators.moments import SHARE


class PrivatePCA(FrameOutput, MomentEstimator):
    """An estimator of principal components with differential privacy.

    Only `fit` spends budget; `transform` and `inverse_transform` use what was released. What `transform` returns for a
    record is a function of that record, and is as confidential as the record.

    Parameters
    ----------
    n_components : the number of components; None takes as many as there are columns.
    epsilon, rho, row_bound, bounds, mechanism, rounded, random_state, accountant : as for `PrivateCovariance`.

    Attributes
    ----------
    components_ : shape (k, d), orthonormal rows, strongest first.
    explained_variance_, explained_variance_ratio_ : shape (k,), their variances, and the shares of the total variance.
    mean_ : shape (d,).
    n_components_ : k.
    spend_, mechanism_, n_features_in_, feature_names_in_ : as for `PrivateCovariance`.

    >>> x = np.random.default_rng(1).normal(size=(5000, 3)) * [3, 1, 0.5]
    >>> pca = PrivatePCA(1, epsilon=2, row_bound=10, random_state=0).fit(x)
    >>> bool(abs(pca.components_[0, 0]) > 0.9), pca.transform(x).shape
    (True, (5000, 1))
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        row_bound: float | None = None,
        bounds: Any = None,
        mechanism: str | None = None,
        rounded: bool = False,
        random_state: Any = None,
        accountant: Account | None = None,
    ) -> None:
        super().__init__(epsilon, rho, row_bound, bounds, mechanism, rounded, random_state, accountant)
        self.n_components = n_components

    components_: Matrix
    explained_variance_: Vector
    explained_variance_ratio_: Vector
    mean_: Vector
    n_components_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = sys.modules["sklearn.utils"].TransformerTags()
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the moments of X, (n, d), and find the components; y is ignored."""
        x = self._read(X, reset=True)
        kept = x.shape[1] if self.n_components is None else self.n_components
        if isinstance(kept, bool) or not isinstance(kept, int | np.integer) or not 1 <= kept <= x.shape[1]:
            raise InvalidInput(f"n_components = {kept!r}: must be a whole number from 1 to {x.shape[1]}, or None")
        units, moments = self._release(x, self._box(x.shape[1]), SHARE)
        found = principal_components(np.outer(units.scale, units.scale) * moments.covariance, int(kept))
        self.components_ = found.directions
        self.explained_variance_ = found.variances
        self.explained_variance_ratio_ = found.shares
        self.mean_ = units.location(moments)
        self.n_components_ = len(found.directions)
        return self

    def transform(self, X: Any) -> Any:
        """Return the coordinates of the rows of X along the components, (n, d) -> (n, k)."""
        self._require_fitted()
        x = self._read(X, reset=False)
        return self._framed((x - self.mean_) @ self.components_.T, self.get_feature_names_out(), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return the coordinates of the rows to which the components are fitted."""
        return self.fit(X).transform(X)

    def inverse_transform(self, X: Any) -> Matrix:
        """Return the points that have the given coordinates, (n, k) -> (n, d)."""
        self._require_fitted()
        coordinates = as_matrix(X)
        if coordinates.shape[1] != self.n_components_:
            raise InvalidInput(f"X has {coordinates.shape[1]} columns: must have one for each of {self.n_components_}")
        points: Matrix = coordinates @ self.components_ + self.mean_
        return points

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Return the names of the components: privatepca0, privatepca1, …"""
        self._require_fitted()
        self._input_names(input_features)
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(self.n_components_)], dtype=object)
