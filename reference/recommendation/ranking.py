"""Predict the error of every candidate, and rank the candidates by their predicted errors.

The error is the root mean square of ‖Σ̂ − Σ‖ in the Frobenius or the spectral norm, for rows in the unit ball. Every
prediction states its kind (`additive.KINDS`), and by how much it may differ from a simulation.

The error of a mechanism that searches for a clipping norm depends on how the norms of the rows vary. The module
predicts every error under two assumptions, rows of equal norm and correlated Gaussian rows, and ranks mechanisms by the
larger prediction. For a mechanism without a search the predictions under both assumptions are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference.domain import require_choice
from covassay.reference.downstream.pca import lost_variance_bound
from covassay.reference.downstream.ridge import error_bound, projected_error
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham
from covassay.reference.mechanisms.pure import output_perturbation
from covassay.reference.mechanisms.pure.bingham import exponent as bingham_exponent
from covassay.reference.recommendation.additive import ADDITIVE, Figure
from covassay.reference.recommendation.candidates import CANDIDATES, LEFT_OUT, Candidate
from covassay.reference.recommendation.measured import OF_GAUSSIAN_ROWS, measured, relative_size
from covassay.reference.recommendation.setting import Setting, model_spectrum

Norm = Literal["frobenius", "spectral"]
RowsAre = Literal["equal", "gaussian"]
ROWS: tuple[RowsAre, ...] = ("equal", "gaussian")
Goal = Literal["covariance", "pca", "regression"]
GOALS: dict[Goal, Norm] = {"covariance": "frobenius", "pca": "spectral", "regression": "spectral"}
NORM_SIGNS: dict[Norm, str] = {"frobenius": "‖·‖_F", "spectral": "‖·‖"}
NEAR = 0.03  # the relative difference below which predictions are called about equal
# the number of standard errors on either side of a measured figure; the true value is outside in 6e-7 of the cases
STANDARD_ERRORS = 5
LARGEST_BINGHAM = 64  # the largest number of columns for which the exact moments of the Bingham law are fast and finite
WORTH = 0.9  # a release is called useless if its predicted error is at least this share of the error of the zero matrix
PENALTY = 0.1  # the penalty α of the ridge regression whose error is bounded
UNPROJECTED = {
    "nuclear-symmetric-projected": "nuclear-symmetric",
    "covariance-body-projected": "covariance-body",
    "l2-ball-projected": "l2-ball",
    "projection-goe": "goe",
}


@dataclass(frozen=True)
class Prediction:
    """The predicted error of one candidate, in one norm.

    equal, gaussian : the figure for rows of equal norm, and for correlated Gaussian rows.
    allowance : the relative error of the prediction itself, in both directions. The allowance is 0 if the predicted
        error was not measured.
    """

    candidate: Candidate
    norm: Norm
    equal: Figure
    gaussian: Figure

    @property
    def figure(self) -> Figure:
        """Return the larger of the two predicted errors, for rows of equal norm and for Gaussian rows."""
        return max(self.equal, self.gaussian, key=lambda figure: figure.value)

    @property
    def error(self) -> float:
        """Return the predicted root mean square error, under the worse of the two assumptions on the rows."""
        return self.figure.value

    @property
    def allowance(self) -> float:
        """Return the largest relative deviation from the prediction that a simulation on the model data should show."""
        if self.figure.kind != "measured":
            return 0.0
        return STANDARD_ERRORS * self.figure.error + interpolation_allowance(self.candidate)


def interpolation_allowance(candidate: Candidate) -> float:
    """Return the largest relative error that is expected of the interpolation between measured points.

    The number is largest for a mechanism that searches for a clipping norm. The error of such a mechanism jumps when
    the clipping norm changes from one power of 2 to another, and the measured points are far apart.
    """
    return 0.01 if candidate.law in ADDITIVE else 0.25 if candidate.searches else 0.05


@dataclass(frozen=True)
class Recommendation:
    """The candidates for one setting, ordered so that the one with the least predicted error comes first.

    unknown : candidates of the same notion of privacy without a prediction, with the reason.
    left_out : mechanisms that are no candidates, with the reason.
    alternative : for the goals "pca" and "regression", a sentence that bounds the error of principal components or of
        regression coefficients that are computed from the released matrix, or empty. Some mechanisms release a
        principal direction or regression coefficients only. If the error of one of them is known, the sentence states
        this error, too.
    """

    setting: Setting
    norm: Norm
    goal: Goal
    ranked: tuple[Prediction, ...]
    unknown: dict[str, str]
    left_out: dict[str, str]
    alternative: str = ""

    @property
    def best(self) -> Prediction:
        """Return the prediction with the smallest error."""
        return self.ranked[0]

    @property
    def near(self) -> tuple[Prediction, ...]:
        """Return the other predictions whose error is close to that of the best one."""
        return tuple(p for p in self.ranked[1:] if p.error <= (1 + NEAR) * self.best.error)

    @property
    def nothing(self) -> float:
        """Return the error of releasing the zero matrix, which is the norm of the second moment of the model data."""
        return self.setting.norms[self.norm]

    @property
    def useless(self) -> bool:
        """Return whether the best candidate is predicted to be hardly better than the zero matrix."""
        return self.best.error >= WORTH * self.nothing


def recommend(
    setting: Setting,
    norm: Norm | None = None,
    goal: Goal = "covariance",
    candidates: Sequence[Candidate] = CANDIDATES,
    rows: RowsAre | None = None,
) -> Recommendation:
    """Rank the candidates of the budget's notion of privacy by their predicted error.

    Parameters
    ----------
    norm : the norm of the error. The default is the Frobenius norm for the covariance. For principal components and
        regression the default is the spectral norm, because it bounds their errors.
    rows : the assumption on the rows. Both figures of every prediction then use this assumption. If `rows` is None, the
        figure `equal` assumes rows of equal norm, and the figure `gaussian` assumes correlated Gaussian rows.

    >>> from covassay.reference.privacy import ZCDP
    >>> recommend(Setting(200, 20, ZCDP(0.5))).best.candidate.name
    'projection-mechanism ensemble=goe'
    """
    require_choice("goal", goal, tuple(GOALS))
    chosen: Norm = GOALS[goal] if norm is None else norm
    require_choice("norm", chosen, tuple(NORM_SIGNS))
    found, unknown = [], {}
    for candidate in candidates:
        if candidate.pure != setting.pure:
            continue
        equal, gaussian = (predict(candidate, setting, chosen, rows or assumed) for assumed in ROWS)
        if equal is None or gaussian is None:
            unknown[candidate.name] = (
                "the error of this mechanism was not measured for this dimension, trace and budget"
            )
        else:
            found.append(Prediction(candidate, chosen, equal, gaussian))
    if not found:
        raise InvalidInput(
            f"norm = {chosen!r}, d = {setting.dimension}: no candidate has a predicted error for this norm and this d"
        )
    found.sort(key=lambda p: (float(f"{p.error:.9g}"), p.candidate.law not in UNPROJECTED))
    return Recommendation(setting, chosen, goal, tuple(found), unknown, LEFT_OUT, _alternative(setting, goal, found))


def predict(candidate: Candidate, setting: Setting, norm: Norm, rows: RowsAre = "equal") -> Figure | None:
    """Return the predicted error, or None if it was not measured for the setting and no formula bounds it."""
    n, d, law = setting.rows, setting.dimension, candidate.law
    if d == 1:
        norm = "frobenius"  # both norms of a 1 × 1 matrix are the absolute value of its entry
    if law in ADDITIVE:
        unit = getattr(ADDITIVE[law], norm)(d)
        return None if unit is None else unit.times(ADDITIVE[law].scale(n, d, setting.amount))
    q = relative_size(d, setting.size, setting.trace, setting.pure)
    table = measured().get(law + OF_GAUSSIAN_ROWS if candidate.searches and rows == "gaussian" else law)
    found = None if table is None else table.at(norm, d=d, q=q, trace=setting.trace)
    if found is not None:
        return Figure(found[0] / setting.size, "measured", found[1])
    # a projection on a set that contains the true matrix never increases the error
    if law in UNPROJECTED and norm == "frobenius":
        noise = ADDITIVE[UNPROJECTED[law]]
        unit = noise.frobenius(d)
        return None if unit is None else Figure(unit.value * noise.scale(n, d, setting.amount), "bound")
    return None


def _alternative(setting: Setting, goal: Goal, found: Sequence[Prediction]) -> str:
    """Return the text `Recommendation.alternative`. It is empty if the goal is the covariance, or if the predictions
    are not in the default norm of the goal.
    """
    if goal == "covariance" or not found or GOALS[goal] != found[0].norm:
        return ""
    d, error = setting.dimension, found[0].error
    if goal == "pca":
        text = (
            "k principal directions of the released matrix capture less variance than the best k directions: on "
            f"average, the difference is at most {lost_variance_bound(1, error):.3g} times k"
        )
        missed = _missed_by_bingham(setting)
        if missed is None:
            return text
        return (
            f"{text}; one direction drawn by bingham with calibration=tight captures less variance than the best "
            f"direction: on average, the difference is {missed:.3g}"
        )
    norm = float(output_perturbation.largest_norm(PENALTY, "tight"))
    # `ridge` projects the release; this changes nothing if the release is a projection already
    used = error if found[0].candidate.project else float(projected_error(error))
    bound = float(error_bound(used, used, norm, 0, PENALTY))
    text = (
        f"for every target, the coefficients of a ridge regression at α = {PENALTY:g} that are computed from the "
        f"released matrix have a root mean square error of at most {bound:.3g}"
    )
    if not setting.pure or d < 2:
        return text
    scale = float(output_perturbation.noise_scale(setting.rows, PENALTY, setting.amount, "tight"))
    spread = scale * ((d - 1) * d) ** 0.5
    return f"{text}; for one target, output-perturbation with calibration=tight has the exact error {spread:.3g}"


def _missed_by_bingham(setting: Setting) -> float | None:
    """Return the mean of λ_1 − uᵀΣu on the model data, for a direction u drawn by the Bingham mechanism. λ_1 is the
    largest eigenvalue of Σ. Return None if the mean is unknown.
    """
    if not setting.pure or not 2 <= setting.dimension <= LARGEST_BINGHAM:
        return None
    spectrum = model_spectrum(setting.dimension, setting.trace)
    factor = setting.rows * float(bingham_exponent(setting.amount, "tight"))
    shares = np.sort(bingham.second_moments(np.diag(factor * spectrum)))[::-1]
    return float(spectrum[0] - spectrum @ shares)
