"""Negative controls of CoinPress with the mistakes of its published code: matrices are multiplied in the wrong order,
and rows are not clipped before their mean is taken.
"""

import math
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, as_rows, second_moment
from covassay.reference.mechanisms.gaussian_estimation import coinpress_covariance as covariance
from covassay.reference.mechanisms.gaussian_estimation import coinpress_mean as mean
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import Constants
from tests.negative_controls.negative_control import from_function


def published_order(
    x: Matrix, noise: Matrix, *, rho: float, constants: Constants, u: float, steps: int, beta: float
) -> Matrix:
    """Map rows by x ↦ Aᵀx in place of Ax, and release A⁻¹ZA⁻¹ for the noisy moment Z."""
    rows = as_rows(x)
    n, d = rows.shape
    a = np.eye(d) / math.sqrt(u)
    z = np.zeros((d, d))
    squared = covariance.squared_radius(n, d, beta / steps, constants)
    for step, budget in enumerate(covariance.budgets(rho, steps)):
        moment = second_moment(covariance.pressed(rows, a.T, math.sqrt(squared)))
        sigma = covariance.noise_scale(squared, n, budget)
        values, vectors = np.linalg.eigh(moment + sigma * noise[step])
        levels = np.maximum(values, 0.0)
        z = (vectors * levels) @ vectors.T
        if step < steps - 1:
            roots = np.sqrt(levels + covariance.offset(n, d, beta / steps, sigma, constants))
            a = (vectors / roots) @ vectors.T @ a
    inverse = np.linalg.inv(a)
    return inverse @ z @ inverse


def draw_published_order(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Multiply the matrices of the steps in the wrong order."""
    noise = covariance.draw_noise(as_rows(x).shape[1], rng, steps=3)
    return published_order(x, noise, rho=rho, constants="paper", u=10.0, steps=3, beta=0.1)


def fine_mean(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Compute the mean of the rows without clipping them."""
    rows = as_rows(x)
    n, d = rows.shape
    tau = mean.clip_radius(10.0, mean.row_bound(n, d, 0.1, "paper"), "paper")
    return np.asarray(rows.mean(axis=0) + mean.noise_scale(tau, n, rho) * rng.standard_normal(d))


SEEN = "coin-press 9c74725"
_covariance = partial(from_function, mechanism="coinpress-covariance", seen_in=f"{SEEN}, cov_est_step")
_mean = partial(from_function, mechanism="coinpress-mean", seen_in=f"{SEEN}, fineMeanEst")
NEGATIVE_CONTROLS = (
    _covariance(draw_published_order, ("contract", "symmetry"), name="coinpress-order"),
    _mean(fine_mean, ("privacy", "event"), ("law", "norm"), ("law", "component 1"), name="unclipped-mean"),
)
