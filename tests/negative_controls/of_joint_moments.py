"""Negative controls of joint moments with too little noise, dependent noise or a wrong query."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import joint_moments
from covassay.reference.mechanisms.concentrated.joint_moments import JointMomentsNoise
from tests.negative_controls.broken import bare, other_noise, other_output, part, times
from tests.negative_controls.negative_control import NegativeControl, by_law, by_privacy

MEAN, MOMENT = "total scale of the mean", "total scale of the second moment"
WEIGHT = 4.0
_joint = partial(other_noise, mechanism_name="joint-moments")


def shared(noise: JointMomentsNoise, rng: np.random.Generator, x: Matrix) -> JointMomentsNoise:
    """Use the noise of the mean also as the noise of the diagonal of the second moment."""
    return replace(noise, moment=np.where(np.eye(x.shape[1], dtype=bool), noise.mean, noise.moment))


def one_seed(noise: JointMomentsNoise, rng: np.random.Generator, x: Matrix) -> JointMomentsNoise:
    """Draw the noise of the mean and of the second moment from generators with the same seed."""
    seed, d = int(rng.integers(2**63)), x.shape[1]
    mean, moment = (np.random.default_rng(seed) for _ in range(2))
    return JointMomentsNoise(mean.standard_normal(d), wigner.sample_goe(d, moment))


def entries_of_variance_one(noise: JointMomentsNoise, rng: np.random.Generator, x: Matrix) -> JointMomentsNoise:
    """Draw noise of variance 1 above the diagonal in place of 1/2, which is private but has too much noise."""
    return replace(noise, moment=wigner.sample_wigner(x.shape[1], rng))


def one_column(noise: JointMomentsNoise, rng: np.random.Generator, x: Matrix) -> JointMomentsNoise:
    """Use the weight of the second moment that is correct for a single column."""
    lam, other = (float(joint_moments.moment_weight(d, 1.0)) for d in (x.shape[1], 1))
    return replace(noise, moment=noise.moment * math.sqrt(lam / other))


def one_diagonal(noise: JointMomentsNoise, rng: np.random.Generator, x: Matrix) -> JointMomentsNoise:
    """Use one number as the noise of the whole diagonal of the second moment."""
    return replace(noise, moment=np.where(np.eye(x.shape[1], dtype=bool), noise.moment[0, 0], noise.moment))


def random_size(noise: JointMomentsNoise, rng: np.random.Generator, x: Matrix) -> JointMomentsNoise:
    """Multiply the noise of the second moment by √½ or √1.5 at random, which keeps its variance."""
    return replace(noise, moment=noise.moment * math.sqrt(rng.choice([0.5, 1.5])))


def uniform(noise: JointMomentsNoise, rng: np.random.Generator, x: Matrix) -> JointMomentsNoise:
    """Draw uniform noise in place of normal noise."""
    d = x.shape[1]
    entries = wigner.unsvec(rng.uniform(-math.sqrt(3), math.sqrt(3), d * (d + 1) // 2))
    return JointMomentsNoise(rng.uniform(-math.sqrt(3), math.sqrt(3), size=(d,)), entries)


def centred(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Release the covariance around the exact mean in place of the second moment."""
    mean = x.mean(axis=0)
    return np.vstack([y[:1], y[1:] - np.outer(mean, mean)])


def square_of_the_mean(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Add the square of the noise of the mean to the second moment."""
    noise = y[0] - x.mean(axis=0)
    return np.vstack([y[:1], y[1:] + np.outer(noise, noise)])


def not_mirrored(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw noise that is not symmetric for the second moment."""
    n, d = x.shape
    scale = joint_moments.moment_scale(n, d, 0.5, 1.0)
    skew = rng.standard_normal((d, d)) * scale / 2
    return np.vstack([y[:1], y[1:] + skew - skew.T])


def free_at_any_weight(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Calibrate the noise to the joint sensitivity 2, although the weight of the second moment is four times the
    largest weight for which the joint sensitivity is 2.
    """
    noise = joint_moments.draw_noise(np.shape(x)[1], rng)
    squared = float(joint_moments.change_squared(np.shape(x)[1], WEIGHT))
    scaled = times(2 / math.sqrt(squared))(noise, rng, x)
    return joint_moments.release(x, scaled, rho=rho, weight=WEIGHT)


NEGATIVE_CONTROLS = (
    _joint("joint-mean-bare", mistake="Add no noise to the mean.", noise=bare("mean"), caught_by=by_law("mean 1")),
    _joint("joint-moment-bare", mistake="Add no noise to the second moment.", noise=bare("moment"),
           caught_by=by_law(MOMENT)),
    _joint("joint-mean-half", mistake="Use the sensitivity 1/n of the mean in place of 2/n.",
           noise=part("mean", lambda z: z / 2), caught_by=by_law(MEAN), diagnosis="the mean has half"),
    _joint("joint-really-free", mistake="Halve the noise of the second moment, as if it had a whole budget of its own.",
           noise=part("moment", lambda z: z / 2), caught_by=by_law(MOMENT), diagnosis="the second moment has half"),
    _joint("joint-unweighted", mistake="Omit the factor 1/√λ, so that both moments have the same noise scale.",
           noise=part("moment", lambda z: z * math.sqrt(0.5)), caught_by=by_law(MOMENT)),
    _joint("joint-one-column", mistake=one_column.__doc__ or "", noise=one_column, caught_by=by_law(MOMENT),
           diagnosis="the weight for one column"),
    _joint("joint-add-remove", mistake="Use the noise for adding or removing a row, although a row is replaced.",
           noise=times(math.sqrt(0.375)), caught_by=by_law(MEAN, MOMENT, "total scale"),
           diagnosis="adding or removing one row"),
    _joint("joint-mean-97", mistake="Multiply the noise of the mean by 0.97.", noise=part("mean", lambda z: 0.97 * z)),
    _joint("joint-moment-97", mistake="Multiply the noise of the second moment by 0.97.",
           noise=part("moment", lambda z: 0.97 * z)),
    _joint("joint-97", mistake="Multiply all noise by 0.97, because a constant was rounded.", noise=times(0.97)),
    _joint("joint-one-noise", mistake=shared.__doc__ or "", noise=shared,
           caught_by=by_law("both squared norms") + by_privacy("event")),
    _joint("joint-one-seed", mistake=one_seed.__doc__ or "", noise=one_seed, caught_by=by_privacy("event")),
    _joint("joint-one-diagonal", mistake=one_diagonal.__doc__ or "", noise=one_diagonal,
           caught_by=by_law("turned entry of the second moment")),
    _joint("joint-random-size", mistake=random_size.__doc__ or "", noise=random_size,
           caught_by=by_law("squared norm of the second moment")),
    _joint("joint-uniform", mistake=uniform.__doc__ or "", noise=uniform,
           caught_by=by_law("all entries of the second moment", "all numbers")),
    _joint("joint-wigner", mistake=entries_of_variance_one.__doc__ or "", noise=entries_of_variance_one,
           caught_by=by_law(MOMENT)),
    other_output("joint-centred", "joint-moments", centred.__doc__ or "", centred),
    other_output("joint-squared-noise", "joint-moments", square_of_the_mean.__doc__ or "", square_of_the_mean),
    other_output("joint-not-mirrored", "joint-moments", not_mirrored.__doc__ or "", not_mirrored),
    NegativeControl("joint-free-at-any-weight", free_at_any_weight.__doc__ or "", "joint-moments",
                    by_law("total scale"), free_at_any_weight, (("weight", "4"),)),
)  # fmt: skip
