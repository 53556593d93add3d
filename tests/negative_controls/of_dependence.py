"""Negative controls in which every noise variable has the correct law, but two of them are dependent.

The two variables are entries of one draw, entries of successive draws, or entries of the noise of two steps of a
mechanism. Some negative controls seed their generator from so few seeds that whole outputs repeat.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import haar, k_norm, wigner
from covassay.reference.laws import nuclear_laplace as nuclear
from covassay.reference.mechanisms.building_blocks import gaussian, laplace, private_trace
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.gaussian_estimation import kv_mean
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import (
    bingham,
    centred_covariance,
    entrywise_laplace,
    lap_cov,
    nuclear_laplace,
    output_perturbation,
    separate_cov_pure,
)
from covassay.reference.mechanisms.pure.k_norm import noise_scale as k_norm_scale
from covassay.reference.mechanisms.pure.k_norm import sensitivity as k_norm_sensitivity
from covassay.verification.audit.engine.coincidences import NAME_SEEN
from covassay.verification.audit.knowledge.shared.noise_entries import SIGNS, SIZES, STEP_SIGNS, STEP_SIZES, SUCCESSIVE
from tests.negative_controls.negative_control import NegativeControl

Declared = Mechanism[Any, ..., Any]
# a function that maps (the noise of many draws, rng) to the changed noise
Batch = Callable[[Matrix, np.random.Generator], Matrix]
BY_SIGNS, BY_SIZES, BY_SUCCESSION = (("law", SIGNS),), (("law", SIZES),), (("law", SUCCESSIVE),)
BY_STEP_SIGNS, BY_STEP_SIZES = (("law", STEP_SIGNS),), (("law", STEP_SIZES),)

BY_REPEATS = (("data path", NAME_SEEN),)

# ADDITIVE NOISE: THE OUTPUT MINUS THE OUTPUT WITH ZERO NOISE


def changed(
    name: str, mistake: str, declared: Declared, change: Batch, caught_by: tuple[tuple[str, str], ...]
) -> NegativeControl:
    """Return a negative control: a mechanism whose noise in many draws is changed by one call of `change`."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        noises = np.array([declared.sample(np.zeros_like(x), rng, **budget) for _ in range(size)])
        state = np.random.default_rng(0)
        query = declared.sample(x, np.random.default_rng(0), **budget) - declared.sample(
            np.zeros_like(x), state, **budget
        )
        return np.asarray(query + change(noises, rng))

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return draw_many(x, 1, rng=rng, **budget)[0]

    return NegativeControl(name, mistake, declared.name, caught_by, draw, draw_many=draw_many)


def correlated_corners(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """Give the first and the last diagonal entry of Gaussian noise the correlation 0.35."""
    if noises.shape[-1] > 1:
        noises[:, -1, -1] = 0.35 * noises[:, 0, 0] + np.sqrt(1 - 0.35**2) * noises[:, -1, -1]
    return noises


def one_size_two_signs(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """In two draws of three, give the first and the last entry of the noise almost the same absolute value."""
    flat = noises.reshape(len(noises), -1)
    if flat.shape[1] > 1:
        tied = rng.random(len(flat)) < 2 / 3
        # with these factors, the two absolute values are not exactly equal
        fresh = 1 + 1e-3 * rng.random(len(flat))
        flat[:, -1] = np.where(tied, np.sign(flat[:, -1]) * np.abs(flat[:, 0]) * fresh, flat[:, -1])
    return flat.reshape(noises.shape)


def one_sign(noises: Vector, rng: np.random.Generator) -> Vector:
    """Give the second entry of the noise the sign of the first entry."""
    flat = noises.reshape(len(noises), -1)
    if flat.shape[1] > 1:
        flat[:, 1] = np.abs(flat[:, 1]) * np.sign(flat[:, 0])
    return flat.reshape(noises.shape)


def signs_agree_often(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """Give the entries (1, 2) and (2, 1) the same sign in three draws of four."""
    if noises.shape[-1] > 1:
        agree = rng.random(len(noises)) < 0.5
        signs = np.sign(noises[:, 0, 1])
        noises[:, 1, 0] = np.where(agree, np.abs(noises[:, 1, 0]) * signs, noises[:, 1, 0])
    return noises


def autoregressive(weight: float) -> Batch:
    """Return a function that mixes Gaussian noise with `weight` times the noise of the previous draw, and keeps the
    variance.
    """

    def change(noises: Matrix, rng: np.random.Generator) -> Matrix:
        for before, now in pairwise(noises):
            now *= np.sqrt(1 - weight**2)
            now += weight * before
        return noises

    return change


def signs_alternate(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """With probability 2/3, flip the sign of a draw whose sign is that of the previous draw."""
    flat = noises.reshape(len(noises), -1)
    for before, now in pairwise(flat):
        if rng.random() < 2 / 3 and now[0] * before[0] > 0:
            now *= -1
    return flat.reshape(noises.shape)


def size_kept_for_four(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """Use almost the same norm of the noise for four draws, with independent directions."""
    norms = np.sqrt((noises.reshape(len(noises), -1) ** 2).sum(axis=1))
    kept = norms[4 * (np.arange(len(noises)) // 4)] * (1 + 1e-3 * rng.random(len(noises)))
    return np.asarray(noises * (kept / norms).reshape(-1, *[1] * (noises.ndim - 1)))


# SAMPLERS OF THIS FILE


def nuclear_with_one_rotation_sign(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Draw nuclear-Laplace noise in which the entries (1, 1) and (1, 2) have equal signs in three draws of four."""
    rows = unit_rows(x)
    n, d = rows.shape
    u, v, s = haar.sample(d, rng, size), haar.sample(d, rng, size), nuclear.sample_spectrum(d, rng, size)
    z = (u * s[:, None, :]) @ np.swapaxes(v, 1, 2)
    if d > 1:
        turn = (z[:, 0, 0] * z[:, 0, 1] < 0) & (rng.random(size) < 0.5)
        z[turn, :, 1] *= -1
    return np.asarray(second_moment(rows) + nuclear_laplace.noise_scale(n, epsilon) * z)


def k_norm_with_signs_of_its_corner(
    x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, body: k_norm.Body = "schatten1"
) -> Matrix:
    """Draw K-norm noise in which the entry (1, 2) has the sign of the entry (1, 1)."""
    rows = unit_rows(x)
    n, d = rows.shape
    z = k_norm.sample(body, d, rng, size)
    if d > 1:
        turn = z[:, 0, 0] * z[:, 0, 1] < 0
        z[turn, :, 1] *= -1
        z[turn, 1, :] *= -1
    return np.asarray(second_moment(rows) + k_norm_scale(k_norm_sensitivity(body, n, d), epsilon) * z)


def one(many: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Return a function that calls `many` for one draw at a time."""
    return lambda x, *, rng, **budget: many(x, 1, rng=rng, **budget)[0]


# STEPS THAT SHARE A STREAM


def _put_together(vectors: Matrix, values: Matrix) -> Matrix:
    matrices = (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return np.asarray((matrices + np.swapaxes(matrices, 1, 2)) / 2)


def _separate(x: Matrix, size: int, rng: np.random.Generator, rho: float, second: Callable[[Matrix], Matrix]) -> Matrix:
    """Run SeparateCov with second(W) as the noise of the eigenvalues, where W is the noise of the matrix."""
    rows = unit_rows(x)
    n, d = rows.shape
    moment, scale = second_moment(rows), separate_cov.noise_scale(n, rho)
    w = wigner.sample_wigner(d, rng, size)
    vectors = np.linalg.eigh(moment + scale * w)[1][:, :, ::-1]
    return _put_together(vectors, np.linalg.eigvalsh(moment)[::-1] + scale * second(w))


def restarted(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Use the first row of the matrix noise of SeparateCov also as the noise of its eigenvalues."""
    return _separate(x, size, rng, rho, lambda w: w[:, 0, :])


def sizes_restarted(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Use the first row of the matrix noise of SeparateCov, with new random signs, as the noise of its eigenvalues."""
    return _separate(x, size, rng, rho, lambda w: np.abs(w[:, 0, :]) * rng.choice([-1.0, 1.0], (size, x.shape[1])))


def pure_restarted(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Give the eigenvalue noise of SeparateCov (pure DP) the signs of the first row of the matrix noise."""
    rows = unit_rows(x)
    n, d = rows.shape
    moment = second_moment(rows)
    upper = np.triu(rng.laplace(size=(size, d, d)))
    w = upper + np.swapaxes(np.triu(upper, 1), 1, 2)
    vectors = np.linalg.eigh(moment + separate_cov_pure.matrix_scale(n, d, epsilon, "paper") * w)[1][:, :, ::-1]
    noise = np.abs(rng.laplace(size=(size, d))) * np.sign(w[:, 0, :])
    return _put_together(
        vectors, np.linalg.eigvalsh(moment)[::-1] + separate_cov_pure.eigenvalue_scale(n, epsilon) * noise
    )


def few_seeds(declared: Declared, seeds: int) -> Callable[..., Any]:
    """Return the mechanism with a generator whose seed is drawn from only `seeds` different numbers."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return declared.sample(x, np.random.default_rng(int(rng.integers(seeds))), **budget)

    return draw


def _vectorised(
    name: str, mistake: str, mechanism: str, caught_by: tuple[tuple[str, str], ...], many: Callable[..., Matrix],
    **more: Any,
) -> NegativeControl:  # fmt: skip
    return NegativeControl(name, mistake, mechanism, caught_by, one(many), draw_many=many, **more)


_wigner = partial(_vectorised, options=(("ensemble", "wigner"),))
NEGATIVE_CONTROLS = (
    changed("correlated-corners", "Correlate the noise of the first and the last diagonal entry.", gauss_cov.MECHANISM,
            correlated_corners, BY_SIGNS),
    changed("one-size-two-signs", "Give the noise of two entries almost the same absolute value in two draws of three.",
            lap_cov.MECHANISM, one_size_two_signs, BY_SIZES),
    changed("one-size-two-features",
            "Give the noise of two features almost the same absolute value in two draws of three.", gaussian.MECHANISM,
            one_size_two_signs, BY_SIZES),
    changed("one-sign-of-coefficients", "Give the noise of two coefficients the same sign.",
            output_perturbation.MECHANISM, one_sign, BY_SIGNS),
    changed("one-sign-of-means", "Give the noise of two features the same sign.", laplace.MECHANISM,
            one_sign, BY_SIGNS),
    changed("mirrored-signs", "Give the noise of two mirrored entries the same sign in three draws of four.",
            entrywise_laplace.MECHANISM, signs_agree_often, BY_SIGNS),
    changed("noise-of-the-last-draw", "Let the noise contain 0.4 times the noise of the previous draw.",
            gauss_cov.MECHANISM, autoregressive(0.4), BY_SUCCESSION),
    changed("noise-of-the-last-draw-vector", "Let the noise contain 0.4 times the noise of the previous draw.",
            gaussian.MECHANISM, autoregressive(0.4), BY_SUCCESSION),
    changed("signs-alternate", "With probability 2/3, negate a draw that has the sign of the previous draw.",
            private_trace.MECHANISM, signs_alternate, BY_SUCCESSION),
    changed("size-for-four-draws", "Use the same norm of the noise in four successive draws.",
            centred_covariance.MECHANISM, size_kept_for_four, BY_SUCCESSION),
    _vectorised("nuclear-one-sign", "Give the noise of two entries the same sign in three draws of four.",
                "nuclear-laplace", BY_SIGNS, nuclear_with_one_rotation_sign),
    _vectorised("k-norm-one-sign", "Give the noise of the entries (1, 1) and (1, 2) the same sign.", "k-norm", BY_SIGNS,
                k_norm_with_signs_of_its_corner, options=(("body", "schatten1"),)),
    _wigner("separate-restarted", "Reuse the random numbers of the first step in the second step.", "separate-cov",
            BY_STEP_SIGNS, restarted),
    _wigner("separate-sizes-restarted", "Reuse the absolute values of the noise of the first step.",
            "separate-cov", BY_STEP_SIZES, sizes_restarted),
    _vectorised("separate-pure-restarted", "Reuse the signs of the noise of the first step in the second step.",
                "separate-cov-pure", BY_STEP_SIGNS, pure_restarted, options=(("calibration", "paper"),)),
    NegativeControl("few-seeds-bingham", "Seed the generator with a number below 2¹⁶.", "bingham", BY_REPEATS,
                    few_seeds(bingham.MECHANISM, 2**16)),
    NegativeControl("few-seeds-separate", "Seed the generator with a number below 2¹⁵.", "separate-cov", BY_REPEATS,
                    few_seeds(separate_cov.MECHANISM, 2**15)),
    NegativeControl("few-seeds-mean", "Seed the generator with a number below 2¹⁶.", "kv-mean", BY_REPEATS,
                    few_seeds(kv_mean.MECHANISM, 2**16)),
    changed("one-sign-of-columns", "Give the noise of two columns the same sign.", kv_mean.MECHANISM, one_sign,
            BY_SIGNS),
)  # fmt: skip
