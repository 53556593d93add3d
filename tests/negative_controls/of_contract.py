"""Negative controls that break a rule for the input or output of a release, such as the shape of the output."""

import math
import time

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.pure import entrywise_laplace, lap_cov, nuclear_laplace, nuclear_laplace_symmetric
from covassay.verification.audit.engine.law import ANSWERS
from tests.negative_controls.negative_control import NegativeControl, perturbation, vectorised


def upper_triangle_only(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Return the d(d+1)/2 numbers of the upper triangle in place of a matrix."""
    y = nuclear_laplace.sample(x, rng, epsilon=epsilon)
    return y[np.triu_indices(len(y))]


def asymmetric(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add noise that is not symmetric, although the output should be a symmetric matrix."""
    return nuclear_laplace.sample(x, rng, epsilon=epsilon)


def clips_in_place(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Change the caller's array in place."""
    x *= 0.5
    return nuclear_laplace.sample(x, rng, epsilon=epsilon)


def global_state(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draw from a new generator without a seed in place of rng."""
    return nuclear_laplace.sample(x, np.random.default_rng(), epsilon=epsilon)


def fixed_seed(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draw from default_rng(0), so that anybody can compute the noise."""
    return nuclear_laplace.sample(x, np.random.default_rng(0), epsilon=epsilon)


def silences_numpy(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Turn off numpy's warnings for the whole process."""
    np.seterr(all="ignore")
    return lap_cov.sample(x, rng, epsilon=epsilon)


def first_row(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Drop the first row as if it were a header."""
    return nuclear_laplace.sample(x[1:] if len(x) > 1 else x, rng, epsilon=epsilon)


def fails_on_zero(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Raise an exception if all data are zero, because of the logarithm of the largest norm."""
    math.log2(np.linalg.norm(x, axis=1).max())
    return entrywise_laplace.sample(x, rng, epsilon=epsilon)


def accepts_anything(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Do not validate the input."""
    rows = np.asarray(x) / np.maximum(1, np.linalg.norm(np.atleast_2d(x), axis=1))[:, None]
    scale = lap_cov.noise_scale(len(rows), rows.shape[1], np.float64(epsilon), "paper")
    return second_moment(rows) + scale * wigner.sample_laplace(rows.shape[1], rng)


def slow(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Never return if there are ten columns or more."""
    while x.shape[1] >= 10:
        time.sleep(0.01)
    return lap_cov.sample(x, rng, epsilon=epsilon)


def gives_up_on_large_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Raise an exception if the noise is large, so that the remaining outputs have less noise."""
    y = nuclear_laplace.sample(x, rng, epsilon=epsilon)
    if np.linalg.norm(y - second_moment(x), "nuc") > nuclear_laplace.noise_scale(len(x), epsilon) * 2.2 * len(y) ** 2:
        raise ArithmeticError("out of range")
    return y


def fails_at_random(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Raise an exception with a probability that depends on the data."""
    if rng.random() < 0.3 * float(np.trace(x.T @ x)) / len(x):
        raise ArithmeticError("did not converge")
    return nuclear_laplace_symmetric.sample(x, rng, epsilon=epsilon)


UNCLIPPED = perturbation(clip=False)
FULL = "nuclear-laplace"
# An audit of the mechanism `QUICK` is 50 times faster than an audit of `FULL`. The mechanism `QUICK` is used for
# mistakes that are not in the noise.
QUICK = "lap-cov"
NEGATIVE_CONTROLS = (
    NegativeControl(
        "upper-triangle-only",
        upper_triangle_only.__doc__ or "",
        FULL,
        (("contract", "output form"),),
        upper_triangle_only,
    ),
    NegativeControl(
        "asymmetric", asymmetric.__doc__ or "", "nuclear-laplace-symmetric", (("contract", "symmetry"),), asymmetric
    ),
    NegativeControl(
        "overwrites-input",
        clips_in_place.__doc__ or "",
        FULL,
        (("contract", "input unchanged"),),
        clips_in_place,
        seen_in="diffprivlib 0.6.6, PCA.fit",
    ),
    NegativeControl(
        "global-state", global_state.__doc__ or "", FULL, (("contract", "same seed, same output"),), global_state
    ),
    NegativeControl("fixed-seed", fixed_seed.__doc__ or "", FULL, (("contract", "new seed, new output"),), fixed_seed),
    NegativeControl("drops-first-row", first_row.__doc__ or "", FULL, (("contract", "row order"),), first_row),
    NegativeControl(
        "fails-on-zero",
        fails_on_zero.__doc__ or "",
        "entrywise-laplace",
        (("contract", "edge cases"), ("privacy", "failures")),
        fails_on_zero,
        seen_in="hkustDB/PrivateCovariance dafcdfe, AdaptiveCov",
    ),
    NegativeControl(
        "accepts-anything", accepts_anything.__doc__ or "", QUICK, (("contract", "bad input"),), accepts_anything
    ),
    NegativeControl(
        "silences-numpy", silences_numpy.__doc__ or "", QUICK, (("contract", "process state"),), silences_numpy
    ),
    NegativeControl("slow-in-high-dimension", slow.__doc__ or "", QUICK, (("contract", "running time"),), slow),
    NegativeControl(
        "gives-up-on-large-noise",
        gives_up_on_large_noise.__doc__ or "",
        FULL,
        (("law", ANSWERS),),
        gives_up_on_large_noise,
    ),
    NegativeControl(
        "fails-at-random",
        fails_at_random.__doc__ or "",
        "nuclear-laplace-symmetric",
        (("privacy", "failures"),),
        fails_at_random,
    ),
    vectorised(
        "unclipped",
        "Assume without a check that every row has norm at most 1.",
        (("privacy", "event"),),
        UNCLIPPED,
        mechanism=FULL,
        seen_in="hkustDB/PrivateCovariance dafcdfe, GaussCov",
    ),
)
