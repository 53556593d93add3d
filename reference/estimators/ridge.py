"""Fit a ridge regression, from one private release of the moments of the features and the target (`moments`)."""

import sys
import warnings
from typing import Any, Self

import numpy as np

from covassay.reference.accounting import Account
from covassay.reference.domain import Matrix, Vector, require_positive
from covassay.reference.domain.box import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.estimators.base import as_matrix, box_of
from covassay.reference.estimators.moment_estimator import MomentEstimator
from covassay.reference.estimators.moments import SHARE
from covassay.reference.recommendation import Setting, recommend


class PrivateRidge(MomentEstimator):
    """An estimator of a ridge regression with differential privacy.

    The coefficients minimise ‖y − Xw − c‖² + alpha ‖w‖², as in scikit-learn, with the released moments in place of
    those of the data. With `noise_penalty`, the penalty λ n Σ_j s_j² w_j² is added, where λ is the predicted spectral
    norm of the noise, and s_j is the scale of feature j in the map to the unit ball. Both are public. For `box-gauss`
    and `box-laplace`, λ is predicted for the mechanism itself. For other mechanisms λ is the prediction for the
    mechanism that `reference.recommendation` recommends, even if the parameter `mechanism` names another one. Without
    the penalty for noise, noise in directions with little variance would decide the coefficients.

    Parameters
    ----------
    alpha : > 0, the penalty.
    epsilon, rho, mechanism, rounded, random_state, accountant : as for `PrivateCovariance`.
    row_bound : a public bound on the norm of a row of features and target together, (x, y).
    bounds, target_bounds : public bounds on the features, and (low, high) for the target, in place of a row bound.
    fit_intercept : whether the model has a constant c. Without a constant, X and y are taken to be centred at 0.
    noise_penalty : whether the penalty for noise is added.

    Attributes
    ----------
    coef_, intercept_ : w, (d,), and c.
    spend_, mechanism_, n_features_in_, feature_names_in_ : as for `PrivateCovariance`.

    >>> rng = np.random.default_rng(1)
    >>> x = rng.uniform(-1, 1, (20_000, 2))
    >>> ridge = PrivateRidge(epsilon=2, bounds=(-1, 1), target_bounds=(-3, 3), random_state=0).fit(x, x @ [1, -2])
    >>> bool(np.abs(ridge.coef_ - [1, -2]).max() < 0.2)
    True
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        row_bound: float | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        mechanism: str | None = None,
        fit_intercept: bool = True,
        noise_penalty: bool = True,
        rounded: bool = False,
        random_state: Any = None,
        accountant: Account | None = None,
    ) -> None:
        super().__init__(epsilon, rho, row_bound, bounds, mechanism, rounded, random_state, accountant)
        self.alpha = alpha
        self.target_bounds = target_bounds
        self.fit_intercept = fit_intercept
        self.noise_penalty = noise_penalty

    coef_: Vector
    intercept_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        module = sys.modules["sklearn.utils"]
        tags.estimator_type = "regressor"
        tags.target_tags = module.TargetTags(required=True)
        # scikit-learn must not expect a high R²: on small data the noise makes R² low
        tags.regressor_tags = module.RegressorTags(poor_score=True)
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Release the moments of (X, y), (n, d) and (n,), and find the coefficients."""
        require_positive("alpha", self.alpha)
        x = self._read(X, reset=True)
        target = _target(y, len(x), type(self).__name__)
        n, d = x.shape
        box = self._whole_box(d)
        units, moments = self._release(np.column_stack([x, target]), box, SHARE if self.fit_intercept else None)
        scale, moment = units.scale, moments.covariance
        penalty = self.alpha / n / scale[:-1] ** 2
        if self.noise_penalty:
            noise = moments.noise
            penalty = penalty + (self._noise(n, d + 1 + int(self.fit_intercept)) if noise is None else noise)
        weights = np.linalg.solve(moment[:-1, :-1] + np.diag(penalty), moment[:-1, -1])
        location = units.location(moments)
        self.coef_ = weights * scale[-1] / scale[:-1]
        self.intercept_ = float(location[-1] - location[:-1] @ self.coef_) if self.fit_intercept else 0.0
        return self

    def predict(self, X: Any) -> Vector:
        """Return the predicted targets, (n, d) -> (n,)."""
        self._require_fitted()
        predicted: Vector = self._read(X, reset=False) @ self.coef_ + self.intercept_
        return predicted

    def score(self, X: Any, y: Any) -> float:
        """Return the coefficient of determination R², which is 1 − (mean squared error)/(variance of y).

        The score itself is not private.
        """
        target = _target(y, len(as_matrix(X)), type(self).__name__)
        left = float(((target - self.predict(X)) ** 2).sum())
        total = float(((target - target.mean()) ** 2).sum())
        return 1 - left / total if total > 0 else float(left == 0)

    def _whole_box(self, features: int) -> Box | None:
        """Return the bounds of the features and of the target, or None if there is a row bound."""
        box = self._box(features)
        if (box is None) != (self.target_bounds is None):
            raise InvalidInput("target_bounds: must be given with bounds, and not with row_bound, which bounds (x, y)")
        if box is None:
            return None
        if not self.fit_intercept:
            raise InvalidInput(
                "fit_intercept = False: must be True if bounds are given, because bounds move the origin of X and y to "
                "the middle of the bounds; or give row_bound in place of bounds"
            )
        return Box((*box.bounds, *box_of(self.target_bounds, 1, None).bounds))

    def _noise(self, rows: int, dimension: int) -> float:
        """Return the predicted spectral error, on S, of the recommended mechanism for the second moment of unit rows.
        The number is public.
        """
        setting = Setting(rows, dimension, self._budget())
        return recommend(setting, "spectral").best.error / (SHARE if self.fit_intercept else 1.0)


def _target(y: Any, rows: int, name: str) -> Vector:
    """Return y as a vector with one number for every row. The error messages have the words that scikit-learn's tests
    of estimators require.
    """
    if y is None:
        raise InvalidInput(f"{name} requires y to be passed, but the target y is None")
    column = np.asarray(y)
    if column.ndim == 2 and column.shape[1] == 1:
        exceptions = sys.modules.get("sklearn.exceptions")
        category = UserWarning if exceptions is None else exceptions.DataConversionWarning
        warnings.warn("A column-vector y was passed when a 1d array was expected", category, stacklevel=3)
        column = column[:, 0]
    if column.ndim != 1:
        raise InvalidInput(f"y should be a 1d array, got an array of shape {column.shape} instead.")
    if len(column) != rows:
        raise InvalidInput(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(column)}]")
    try:
        target: Matrix = np.array(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"y has an entry that is no number ({error})") from None
    if not np.isfinite(target).all():
        raise InvalidInput("Input y contains NaN or inf: every entry must be a finite number")
    return target
