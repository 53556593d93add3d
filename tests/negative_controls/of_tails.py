"""Negative controls whose noise has wrong tails, has another law in a few draws, or is rounded to a grid."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws.nuclear_laplace import nuclear_norm
from covassay.reference.mechanisms.building_blocks import gaussian, gaussian_approximate, laplace, private_trace
from covassay.reference.mechanisms.concentrated import gauss_cov, projection_mechanism, separate_cov
from covassay.reference.mechanisms.gaussian_estimation import kv_mean, naive_pce
from covassay.reference.mechanisms.pure import (
    centred_covariance,
    entrywise_laplace,
    johnson_lindenstrauss,
    k_norm,
    lap_cov,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
)
from covassay.verification.audit.engine.coincidences import NAME_SEEN
from covassay.verification.audit.engine.shapes import NAMES
from covassay.verification.audit.engine.tails import RARE_BRANCHES, TAILS
from tests.negative_controls.changed_noise import Change, at_times, of_numbers, redrawn_beyond, redrawn_if, with_noise

TAIL, RARE, GRID = (("law", TAILS),), (("law", RARE_BRANCHES),), (("data path", NAME_SEEN),)
ANY_SHAPE = (("law", NAMES[""]),)


def normal(rng: np.random.Generator, size: int) -> Vector:
    """Draw standard normal numbers."""
    return rng.standard_normal(size)


def laplace_numbers(rng: np.random.Generator, size: int) -> Vector:
    """Draw Laplace(1) numbers."""
    return rng.laplace(size=size)


def student(degrees: float) -> Change:
    """Return a function that replaces normal numbers by Student's t with variance 1."""
    return of_numbers(lambda z, rng: z * np.sqrt((degrees - 2) / rng.chisquare(degrees, len(z))))


def logistic(z: Vector, rng: np.random.Generator) -> Vector:
    """Draw logistic numbers of variance 1."""
    return rng.logistic(scale=math.sqrt(3) / math.pi, size=len(z))


def triangular(z: Vector, rng: np.random.Generator) -> Vector:
    """Draw triangular numbers with the variance 2 of Laplace numbers."""
    return rng.triangular(-math.sqrt(12), 0, math.sqrt(12), size=len(z))


def sum_of_four(z: Vector, rng: np.random.Generator) -> Vector:
    """Draw sums of four uniform numbers, with variance 1, in place of normal numbers."""
    return math.sqrt(3) * (rng.random((len(z), 4)).sum(axis=1) - 2)


def rounded(step: float) -> Change:
    """Return a function that rounds the noise to multiples of a step."""
    return of_numbers(lambda z, rng: step * np.rint(z / step))


def uniform_part(part: str) -> Change:
    """Return a function that replaces one part of the noise by uniform numbers of variance 1."""

    def change(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
        noise = again()
        return replace(noise, **{part: math.sqrt(12) * (rng.random(np.shape(getattr(noise, part))) - 0.5)})

    return change


def eigenvalues_clipped(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Clip the noise of the eigenvalues at 2.5 standard deviations."""
    noise = again()
    return replace(noise, eigenvalues=np.clip(noise.eigenvalues, -2.5, 2.5))


NEGATIVE_CONTROLS = (
    # TRUNCATED TAILS
    with_noise(
        "redrawn-at-three", "Draw an entry again while it is beyond three standard deviations.", gauss_cov.MECHANISM,
        of_numbers(redrawn_beyond(3, normal)), TAIL,
    ),
    with_noise(
        "clipped-at-five", "Clip the Laplace noise at five scales.", entrywise_laplace.MECHANISM,
        of_numbers(lambda z, rng: np.clip(z, -5, 5)), TAIL,
    ),
    with_noise(
        "redrawn-at-four-scales", "Draw a Laplace number again while it is beyond four scales.", laplace.MECHANISM,
        of_numbers(redrawn_beyond(4, laplace_numbers)), TAIL,
    ),
    with_noise(
        "large-matrices-redrawn",
        "Draw the noise matrix again while its nuclear norm is over 2.3 standard deviations above the mean.",
        nuclear_laplace.MECHANISM,
        redrawn_if(lambda z: bool(nuclear_norm(z) > len(z) ** 2 + 2.3 * len(z))), TAIL,
    ),
    with_noise(
        "upper-tail-cut", "Cap the noise at three times its scale.", private_trace.MECHANISM,
        lambda again, x, rng: min(again(), 3.0), TAIL,
    ),
    with_noise(
        "large-vectors-redrawn", "Draw the noise again while its norm exceeds the mean norm by more than 4 scales.",
        output_perturbation.MECHANISM,
        redrawn_if(lambda v: bool(np.linalg.norm(v) > len(v) + 4)), TAIL,
    ),
    with_noise(
        "eigenvalue-tails-cut", "Clip the noise of the eigenvalues at 2.5 standard deviations.", separate_cov.MECHANISM,
        eigenvalues_clipped, TAIL,
    ),
    # LAWS OF ANOTHER SHAPE WITH THE SAME VARIANCE
    with_noise(
        "student-for-normal", "Draw Student's t with 5 degrees of freedom, scaled to the right variance.",
        gaussian.MECHANISM, student(5), TAIL,
    ),
    with_noise(
        "student-entries", "Draw Student's t with 6 degrees of freedom in every entry, scaled to the right variance.",
        gauss_cov.MECHANISM, student(6), TAIL,
    ),
    with_noise(
        "logistic-for-normal", "Draw logistic noise of the right variance.", gaussian_approximate.MECHANISM,
        of_numbers(logistic), ANY_SHAPE,
    ),
    with_noise(
        "triangular-for-laplace", "Draw noise with a triangular density of the right variance.", lap_cov.MECHANISM,
        of_numbers(triangular), (*TAIL, ("law", "all entries")),
    ),
    with_noise(
        "normal-for-laplace", "Draw normal noise of the right variance.", laplace.MECHANISM,
        of_numbers(lambda z, rng: math.sqrt(2) * normal(rng, len(z))), (*TAIL, ("law", "all coordinates")),
    ),
    with_noise(
        "uniform-eigenvalues", "Draw uniform noise of the right variance for the eigenvalues.",
        separate_cov.MECHANISM, uniform_part("eigenvalues"), (*TAIL, ("law", "all eigenvalues")),
    ),
    with_noise(
        "uniform-mean", "Draw uniform noise of the right variance for the mean.", kv_mean.MECHANISM,
        uniform_part("mean"), (*TAIL, ("law", "all components")),
    ),
    with_noise(
        "four-uniforms", "Draw sums of four uniform numbers in place of normal numbers.", naive_pce.MECHANISM,
        of_numbers(sum_of_four), TAIL,
    ),
    # A FEW DRAWS FROM ANOTHER LAW
    with_noise(
        "ten-times-at-times", "Multiply the noise by ten in 1 % of the draws.", output_perturbation.MECHANISM,
        at_times(0.01, 10), RARE,
    ),
    with_noise(
        "thirty-times-at-times", "Multiply the noise by 30 in one draw of 500.", k_norm.MECHANISM,
        at_times(0.002, 30), RARE,
    ),
    with_noise(
        "twelve-times-at-times", "Multiply the noise by 12 in 0.3 % of the draws.",
        nuclear_laplace_symmetric.MECHANISM,
        at_times(0.003, 12), RARE,
    ),
    with_noise(
        "a-thousandth-at-times", "Divide the noise by a thousand in 3 % of the draws.", lap_cov.MECHANISM,
        at_times(0.03, 1e-3), RARE,
    ),
    with_noise(
        "hundredth-at-times", "Divide the noise by a hundred in 1 % of the draws.", centred_covariance.MECHANISM,
        at_times(0.01, 1e-2), RARE,
    ),
    with_noise(
        "eight-times-at-times", "Multiply the noise by eight in 1 % of the draws.", projection_mechanism.MECHANISM,
        at_times(0.01, 8), RARE,
    ),
    with_noise(
        "twenty-times-at-times", "Multiply the noise by 20 in 0.5 % of the draws.", kv_mean.MECHANISM,
        at_times(0.005, 20, "mean"), RARE,
    ),
    with_noise(
        "no-eigenvalue-noise-at-times", "Add almost no noise to the eigenvalues in 3 % of the draws.",
        separate_cov.MECHANISM, at_times(0.03, 1e-9, "eigenvalues"), TAIL,
    ),
    with_noise(
        "four-times-at-times", "Multiply the noise by four in 5 % of the draws.", johnson_lindenstrauss.MECHANISM,
        at_times(0.05, 4), TAIL,
    ),
    # A COARSE GRID
    with_noise("grid-of-a-tenth", "Round the noise to tenths of its scale.", gaussian.MECHANISM, rounded(0.1), GRID),
    with_noise(
        "grid-of-a-hundredth", "Round the noise to hundredths of its scale.", entrywise_laplace.MECHANISM,
        rounded(0.01), GRID,
    ),
    with_noise(
        "grid-of-matrices", "Round the noise to hundredths of its scale.", gauss_cov.MECHANISM, rounded(0.01), GRID
    ),
    with_noise(
        "half-precision", "Draw the noise in half precision.", lap_cov.MECHANISM,
        of_numbers(lambda z, rng: z.astype(np.float16).astype(np.float64)), GRID,
    ),
)  # fmt: skip
