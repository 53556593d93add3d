"""Negative controls in which every noise has the right law, but two noises depend on each other.

The two noises are entries of one draw, successive draws of one generator, or noises of two steps of a mechanism. In the
last controls of this module, a generator with few seeds repeats whole outputs.
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
Batch = Callable[[Matrix, np.random.Generator], Matrix]  # maps (noises of many draws, rng) to noises of many draws
BY_SIGNS, BY_SIZES, BY_SUCCESSION = (("law", SIGNS),), (("law", SIZES),), (("law", SUCCESSIVE),)
BY_STEP_SIGNS, BY_STEP_SIZES = (("law", STEP_SIGNS),), (("law", STEP_SIZES),)

BY_REPEATS = (("data path", NAME_SEEN),)

# ADDITIVE NOISE: THE OUTPUT MINUS THE OUTPUT WITH ZERO NOISE


def changed(
    name: str, mistake: str, declared: Declared, change: Batch, caught_by: tuple[tuple[str, str], ...]
) -> NegativeControl:
    """Make a control of the reference in which the noises of many draws are changed together."""

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
    """Gives the last diagonal entry the correlation 0.35 with the first; both remain Gaussian."""
    if noises.shape[-1] > 1:
        noises[:, -1, -1] = 0.35 * noises[:, 0, 0] + np.sqrt(1 - 0.35**2) * noises[:, -1, -1]
    return noises


def one_size_two_signs(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """Gives the first two numbers the same absolute value in two draws of three, with independent signs."""
    flat = noises.reshape(len(noises), -1)
    if flat.shape[1] > 1:
        tied = rng.random(len(flat)) < 2 / 3
        fresh = 1 + 1e-3 * rng.random(len(flat))  # no two numbers are equal
        flat[:, -1] = np.where(tied, np.sign(flat[:, -1]) * np.abs(flat[:, 0]) * fresh, flat[:, -1])
    return flat.reshape(noises.shape)


def one_sign(noises: Vector, rng: np.random.Generator) -> Vector:
    """Gives the second number the sign of the first."""
    flat = noises.reshape(len(noises), -1)
    if flat.shape[1] > 1:
        flat[:, 1] = np.abs(flat[:, 1]) * np.sign(flat[:, 0])
    return flat.reshape(noises.shape)


def signs_agree_often(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """Makes the signs of mirrored entries off the diagonal agree in three draws of four."""
    if noises.shape[-1] > 1:
        agree = rng.random(len(noises)) < 0.5
        signs = np.sign(noises[:, 0, 1])
        noises[:, 1, 0] = np.where(agree, np.abs(noises[:, 1, 0]) * signs, noises[:, 1, 0])
    return noises


def autoregressive(weight: float) -> Batch:
    """Make Gaussian noise that contains a share of the previous noise, at the right variance."""

    def change(noises: Matrix, rng: np.random.Generator) -> Matrix:
        for before, now in pairwise(noises):
            now *= np.sqrt(1 - weight**2)
            now += weight * before
        return noises

    return change


def signs_alternate(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """Gives a draw the opposite sign of the previous draw, in two draws of three."""
    flat = noises.reshape(len(noises), -1)
    for before, now in pairwise(flat):
        if rng.random() < 2 / 3 and now[0] * before[0] > 0:
            now *= -1
    return flat.reshape(noises.shape)


def size_kept_for_four(noises: Matrix, rng: np.random.Generator) -> Matrix:
    """Draws the norm of the noise once for four draws, and the direction every time."""
    norms = np.sqrt((noises.reshape(len(noises), -1) ** 2).sum(axis=1))
    kept = norms[4 * (np.arange(len(noises)) // 4)] * (1 + 1e-3 * rng.random(len(noises)))
    return np.asarray(noises * (kept / norms).reshape(-1, *[1] * (noises.ndim - 1)))


# SAMPLERS OF THIS FILE


def nuclear_with_one_rotation_sign(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Draws nuclear-Laplace noise whose first two entries have equal signs more often than not."""
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
    """Draws K-norm noise whose entry (1, 2) has the sign of the entry (1, 1)."""
    rows = unit_rows(x)
    n, d = rows.shape
    z = k_norm.sample(body, d, rng, size)
    if d > 1:
        turn = z[:, 0, 0] * z[:, 0, 1] < 0
        z[turn, :, 1] *= -1
        z[turn, 1, :] *= -1
    return np.asarray(second_moment(rows) + k_norm_scale(k_norm_sensitivity(body, n, d), epsilon) * z)


def one(many: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Make the target that calls `many` for one draw at a time."""
    return lambda x, *, rng, **budget: many(x, 1, rng=rng, **budget)[0]


# STEPS THAT SHARE A STREAM


def _put_together(vectors: Matrix, values: Matrix) -> Matrix:
    matrices = (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return np.asarray((matrices + np.swapaxes(matrices, 1, 2)) / 2)


def _separate(x: Matrix, size: int, rng: np.random.Generator, rho: float, second: Callable[[Matrix], Matrix]) -> Matrix:
    """Run SeparateCov with noise of the eigenvalues that is made from the noise W of the matrix."""
    rows = unit_rows(x)
    n, d = rows.shape
    moment, scale = second_moment(rows), separate_cov.noise_scale(n, rho)
    w = wigner.sample_wigner(d, rng, size)
    vectors = np.linalg.eigh(moment + scale * w)[1][:, :, ::-1]
    return _put_together(vectors, np.linalg.eigvalsh(moment)[::-1] + scale * second(w))


def restarted(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Restarts in the second step of SeparateCov the random stream of the first: eigenvalue i gets the noise W_1i."""
    return _separate(x, size, rng, rho, lambda w: w[:, 0, :])


def sizes_restarted(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Uses in the second step of SeparateCov the absolute values of the first step once more, with fresh signs."""
    return _separate(x, size, rng, rho, lambda w: np.abs(w[:, 0, :]) * rng.choice([-1.0, 1.0], (size, x.shape[1])))


def pure_restarted(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Repeats in the eigenvalue noise of the pure SeparateCov the signs of the entries of the matrix noise."""
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
    """Make a control that runs the reference with a generator of few seeds."""

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
    changed("correlated-corners", "Makes the last diagonal noise depend on the first.", gauss_cov.MECHANISM,
            correlated_corners, BY_SIGNS),
    changed("one-size-two-signs", "Uses one size for two entries, with two signs.", lap_cov.MECHANISM,
            one_size_two_signs, BY_SIZES),
    changed("one-size-two-features", "Uses one size for two features, with two signs.", gaussian.MECHANISM,
            one_size_two_signs, BY_SIZES),
    changed("one-sign-of-coefficients", "Uses one sign for two coefficients.", output_perturbation.MECHANISM,
            one_sign, BY_SIGNS),
    changed("one-sign-of-means", "Uses one sign for two features.", laplace.MECHANISM, one_sign, BY_SIGNS),
    changed("mirrored-signs", "Lets mirrored entries agree in sign in three draws of four.",
            entrywise_laplace.MECHANISM, signs_agree_often, BY_SIGNS),
    changed("noise-of-the-last-draw", "Adds 0.4 times the noise of the previous draw.", gauss_cov.MECHANISM,
            autoregressive(0.4), BY_SUCCESSION),
    changed("noise-of-the-last-draw-vector", "Adds 0.4 times the noise of the previous draw.", gaussian.MECHANISM,
            autoregressive(0.4), BY_SUCCESSION),
    changed("signs-alternate", "Alternates the sign from draw to draw.", private_trace.MECHANISM, signs_alternate,
            BY_SUCCESSION),
    changed("size-for-four-draws", "Draws the norm once for four draws.", centred_covariance.MECHANISM,
            size_kept_for_four, BY_SUCCESSION),
    _vectorised("nuclear-one-sign", "Ties the signs of two entries.", "nuclear-laplace", BY_SIGNS,
                nuclear_with_one_rotation_sign),
    _vectorised("k-norm-one-sign", "Gives one sign to the entries (1, 1) and (1, 2).", "k-norm", BY_SIGNS,
                k_norm_with_signs_of_its_corner, options=(("body", "schatten1"),)),
    _wigner("separate-restarted", "Restarts the random stream of the first step in the second.", "separate-cov",
            BY_STEP_SIGNS, restarted),
    _wigner("separate-sizes-restarted", "Uses the sizes of the first step again in the second.", "separate-cov",
            BY_STEP_SIZES, sizes_restarted),
    _vectorised("separate-pure-restarted", "Uses the signs of the first step again in the second.",
                "separate-cov-pure", BY_STEP_SIGNS, pure_restarted, options=(("calibration", "paper"),)),
    NegativeControl("few-seeds-bingham", "Draws from 2¹⁶ seeds.", "bingham", BY_REPEATS,
                    few_seeds(bingham.MECHANISM, 2**16)),
    NegativeControl("few-seeds-separate", "Draws from 2¹⁵ seeds.", "separate-cov", BY_REPEATS,
                    few_seeds(separate_cov.MECHANISM, 2**15)),
    NegativeControl("few-seeds-mean", "Draws from 2¹⁶ seeds.", "kv-mean", BY_REPEATS,
                    few_seeds(kv_mean.MECHANISM, 2**16)),
    changed("one-sign-of-columns", "Uses one sign for the noise of two columns.", kv_mean.MECHANISM, one_sign,
            BY_SIGNS),
)  # fmt: skip
