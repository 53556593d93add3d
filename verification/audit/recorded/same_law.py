"""Decide whether two targets have the same law on a data set, if the outputs of both are affine in the recorded draws.

Affine images of independent normal draws have the same law if and only if their means and covariances agree. For
independent Laplace draws, and for other draws that are not normal, the law determines the columns of the linear map up
to their order and signs (Kagan, Linnik, Rao 1973, theorem 10.3.1). The laws of affine images can therefore be compared
without sampling.
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.engine.same_noise import TOLERANCE_FLOAT32
from covassay.verification.audit.recorded.affine import AffineNoise, NotAffine, measured
from covassay.verification.audit.recorded.exact_loss import NotDecided, OutOfTime, fresh_copy, ready
from covassay.verification.audit.recorded.losses import joined
from covassay.verification.audit.recorded.recorder import Recorder

# a difference below this share of the noise scale of an entry may come from a rounded constant
TELLING = 1e-3
# a difference of two centres below this fraction of the largest centre may come from rounding
BARE = 1e-9
# the law is the same if a column of the linear map is replaced by its negative
SYMMETRIC = {"normal", "laplace", "logistic", "whole laplace"}
# for these families, a linear image of variables from one family never has the law of another family
OTHERS = {"flat", "one-sided exponential"}
MOST = 45  # the largest number of variables
SECONDS = 2.0  # the time limit for one data set, in seconds


@dataclass(frozen=True)
class Compared:
    """The result of a comparison of two laws.

    `difference` says how the laws differ, and is empty if no difference was proven. `reason` says why the comparison of
    the laws is undecided. `factor` is the ratio of the noise scales if the scales differ, and otherwise 0. `left_out`
    says whether the comparison stopped because it needs too many draws or too much time. `related` is true if outputs
    for equal draws differ, but their differences do not show whether the two laws are equal.
    """

    difference: str = ""
    reason: str = ""
    left_out: bool = False
    related: bool = False
    factor: float = 0.0


def compared(target: Recorder, reference: Recorder, x: Matrix, seed: int, seconds: float = SECONDS) -> Compared:
    """Compare the laws of two targets on a data set.

    A difference is confirmed on a changed copy of the data that the target has not seen.
    """
    found = Compared()
    for data, number in ((x, seed), (fresh_copy(x, None, seed), seed + 1)):
        try:
            laws = [_law(made, data, number, seconds) for made in (target, reference)]
        except NotDecided as error:
            return Compared(reason=str(error), left_out=isinstance(error, TooMany | OutOfTime))
        found = _difference(laws[0], laws[1], of_single_precision(x))
        if not found.difference:
            return found
    return found


class TooMany(NotDecided):
    """Raised if there are more draws than the comparison of two laws allows."""


def _law(made: Recorder, x: Matrix, seed: int, seconds: float) -> AffineNoise:
    with made.standing():
        at = ready(made, x, x, seed, seconds)
        if len(at.variables) > MOST:
            raise TooMany(f"{len(at.variables)} numbers are drawn, more than {MOST}")
        found = measured(at.first.run, at.first.base, at.variables, np.random.default_rng([seed, 4]), at.seeding)
    if isinstance(found, NotAffine):
        raise NotDecided(found.reason)
    return found


def of_single_precision(x: Matrix) -> float:
    """Return a bound on the relative error of a statistic of these rows whose sums are computed in float32."""
    return float(TOLERANCE_FLOAT32 * (1 + len(x) ** 0.5 / 8))


def _difference(first: AffineNoise, second: AffineNoise, single: float = 0.0) -> Compared:
    """Compare two laws.

    Describe how the laws of two outputs differ; shifts of at most `single` times the largest number may come from
    float32 sums.
    """
    if len(first.centre) != len(second.centre):
        return Compared(reason="the outputs have different sizes")
    if not any(second.used):
        return Compared(reason="no draw of the reference reaches the output")
    if not any(first.used):  # `ready` has checked that a second call draws again, so no stored noise is used
        return Compared("the output has no noise, and the reference has noise")
    (a, one, s), (b, two, t) = joined(first), joined(second)
    if len(set(one)) != 1 or len(set(two)) != 1 or not {*one, *two} <= {*SYMMETRIC, *OTHERS}:
        return Compared(reason=f"draws of several kinds ({', '.join(sorted({*one, *two}))})")
    if set(one) != set(two):
        return Compared(f"the noise is {one[0]} in place of {two[0]}".replace("flat", "uniform"))
    if one[0] not in SYMMETRIC:
        return Compared(reason=f"{one[0]} draws on both sides")
    a, b = a * np.array(s), b * np.array(t)
    size = np.sqrt((a**2).sum(axis=1)), np.sqrt((b**2).sum(axis=1))
    rounding = first.rounding + second.rounding + BARE * np.abs(np.concatenate([first.centre, second.centre])).max()
    moved = np.abs(first.centre - second.centre)
    off = moved > np.maximum(TELLING * np.maximum(*size) + rounding, single * np.abs(second.centre).max())
    if off.any():
        row = int(np.argmax(moved * off))
        return Compared(
            f"entry {row + 1} has its centre at {first.centre[row]:.6g} in place of {second.centre[row]:.6g}"
        )
    scales = np.abs(size[0] - size[1]) > TELLING * size[1] + rounding
    if scales.any():
        row = int(np.argmax(scales))
        if not size[1][row]:
            return Compared(f"entry {row + 1} has noise, and has none in the reference")
        factor = float(size[0][row] / size[1][row])
        return Compared(f"the noise of entry {row + 1} has {factor:.6g} times the scale", factor=factor)
    return _joint(a, b, size[1], one[0])


def _joint(a: Matrix, b: Matrix, size: Vector, family: str) -> Compared:
    """Describe how the joint laws of two noises differ. Each entry of the first noise has the same scale as in the
    second.
    """
    safe = np.where(size > 0, size, 1.0)
    a, b = a / safe[:, None], b / safe[:, None]
    if family == "normal":
        one, two = a @ a.T, b @ b.T
        i, j = np.unravel_index(int(np.argmax(np.abs(one - two))), one.shape)
        if abs(one[i, j] - two[i, j]) <= 2 * TELLING:
            return Compared()
        told = f"{one[i, j]:.4g} in place of {two[i, j]:.4g}"
        return Compared(f"the noises of entries {i + 1} and {j + 1} have the correlation {told}")
    left = list(b.T)
    for column in a.T:
        near = [k for k, c in enumerate(left) if min(np.abs(column - c).max(), np.abs(column + c).max()) <= 2 * TELLING]
        if not near:
            return Compared("one draw changes the entries by factors that no draw of the reference has")
        left.pop(near[0])
    return Compared("the reference has more draws" if left else "")
