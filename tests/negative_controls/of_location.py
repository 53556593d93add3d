"""Negative controls whose outputs are centred on a wrong value or are not symmetric.

The noise around a wrong centre has the correct law.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.mechanisms.building_blocks import gaussian, laplace
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.gaussian_estimation import gaussian_learner
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import (
    centred_covariance,
    entrywise_laplace,
    k_norm,
    lap_cov,
    nuclear_laplace_symmetric,
)
from covassay.verification.audit.engine.same_noise import NAME
from covassay.verification.audit.engine.symmetry import NAME as SYMMETRY
from covassay.verification.audit.engine.symmetry import NAME_SEEN
from tests.negative_controls.negative_control import NegativeControl

Declared = Mechanism[Any, ..., Any]
Centre = Callable[[Matrix], Any]  # a function that maps the clipped rows to the centre of the outputs
OTHER_DATA, NOT_SYMMETRIC = (("data path", NAME),), (("contract", SYMMETRY),)
NOT_SYMMETRIC_AT_TIMES = (("data path", NAME_SEEN),)


# OUTPUTS CENTRED ELSEWHERE


def columns_divided(x: Matrix) -> Matrix:
    """Return XᵀX divided by the number of columns."""
    return np.asarray(x.T @ x / x.shape[1])


def degrees_of_freedom(x: Matrix) -> Matrix:
    """Return XᵀX divided by n − 1."""
    return np.asarray(x.T @ x / max(len(x) - 1, 1))


def numpy_covariance(x: Matrix) -> Matrix:
    """Return the covariance by numpy.cov, which subtracts the mean and divides by n − 1."""
    return np.asarray(np.atleast_2d(np.cov(x.T))) if len(x) > 1 else np.zeros((x.shape[1],) * 2)


def twice_divided(x: Matrix) -> Matrix:
    """Return XᵀX divided by n²."""
    return second_moment(x / len(x) ** 0.5)


def diagonal_twice(x: Matrix) -> Matrix:
    """Return the second moment with a doubled diagonal."""
    upper = np.triu(second_moment(x))
    return np.asarray(upper + upper.T)


def diagonal_alone(x: Matrix) -> Matrix:
    """Return the second moment with zeros off the diagonal."""
    return np.asarray(np.diag((x**2).mean(axis=0)))


def distances(x: Matrix) -> Matrix:
    """Return the second moment with the wrong sign."""
    return -second_moment(x)


def uncentred(x: Matrix) -> Matrix:
    """Return the second moment in place of the centred covariance."""
    return second_moment(x)


def three_quarters(x: Matrix) -> Matrix:
    """Return three quarters of the second moment."""
    return 0.75 * second_moment(x)


def column_sums(x: Matrix) -> Vector:
    """Return the sums of the squares in place of their means."""
    return np.asarray((x**2).sum(axis=0))


def column_means(x: Matrix) -> Vector:
    """Return the means of the columns in place of their mean squares."""
    return np.asarray(x.mean(axis=0))


def centred(
    name: str, declared: Declared, centre: Centre, diagnosis: str, caught_by: tuple[tuple[str, str], ...] = OTHER_DATA
) -> NegativeControl:
    """Return a negative control that adds the correct noise to a wrong statistic."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        rows = unit_rows(x)
        return centre(rows) + declared.sample(np.zeros_like(rows), rng, **budget)

    return NegativeControl(name, centre.__doc__ or "", declared.name, caught_by, draw, diagnosis=diagnosis)


def eigen_sum(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Multiply the output of SeparateCov by n, as if the sum of x xᵀ were released in place of the mean."""
    return len(x) * separate_cov.sample(x, rng, rho=rho)


# MATRICES THAT ARE NOT SYMMETRIC


def own_noise_below(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Draw independent noise for the entries below the diagonal."""
    above, below = (entrywise_laplace.sample(x, rng, epsilon=epsilon, entries="triangle") for _ in range(2))
    return np.asarray(np.triu(above) + np.tril(below, -1))


def bare_below(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Add no noise to the entries below the diagonal."""
    y = lap_cov.sample(x, rng, epsilon=epsilon)
    return np.asarray(np.triu(y) + np.tril(second_moment(unit_rows(x)), -1))


def skewed_at_seven(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Add extra noise to one entry below the diagonal if there are seven columns."""
    y = gauss_cov.sample(x, rng, rho=rho)
    if len(y) == 7:
        y[5, 2] += 0.03 * rng.standard_normal() / (len(x) * rho**0.5)
    return y


def skewed_at_times(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """In one draw of 100, add noise that is not symmetric."""
    y, other = (gauss_cov.sample(x, rng, rho=rho) for _ in range(2))
    return np.asarray(np.triu(y) + np.tril(other, -1)) if rng.random() < 0.01 else y


def learner_triangle(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Set the entries below the diagonal of the released covariance to zero."""
    y = np.asarray(gaussian_learner.sample(x, rng, rho=rho)).copy()
    y[1:] = np.triu(y[1:])
    return np.asarray(y)


def learner_doubled(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Multiply the output of the Gaussian learner by 2."""
    return np.asarray(2 * gaussian_learner.sample(x, rng, rho=rho))


def learner_absolute(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Return the absolute values of the output of the Gaussian learner."""
    return np.asarray(np.abs(gaussian_learner.sample(x, rng, rho=rho)))


NEGATIVE_CONTROLS = (
    centred("divided-by-columns", gauss_cov.MECHANISM, columns_divided, "divided by the number of columns"),
    centred("degrees-of-freedom", lap_cov.MECHANISM, degrees_of_freedom, "n − 1 in place of n"),
    centred("numpy-covariance", gauss_cov.MECHANISM, numpy_covariance, "as in numpy.cov"),
    centred("divided-twice", nuclear_laplace_symmetric.MECHANISM, twice_divided, "divided by n twice"),
    centred("diagonal-twice", k_norm.MECHANISM, diagonal_twice, "its diagonal counted twice"),
    centred("diagonal-alone", entrywise_laplace.MECHANISM, diagonal_alone, "the diagonal of Σ"),
    centred("wrong-sign", lap_cov.MECHANISM, distances, "the wrong sign"),
    centred("mean-not-taken-off", centred_covariance.MECHANISM, uncentred, "is the mean not subtracted"),
    centred("three-quarters", gauss_cov.MECHANISM, three_quarters, "0.75·Σ"),
    centred("squares-summed", laplace.MECHANISM, column_sums, "is a division by n missing"),
    centred("not-squared", gaussian.MECHANISM, column_means, "are the entries averaged without being squared"),
    NegativeControl("eigenvalues-of-the-sum", eigen_sum.__doc__ or "", "separate-cov", (("law", "eigenvalue 1"),),
                    eigen_sum, diagnosis="is a division by n missing"),
    NegativeControl("own-noise-below", own_noise_below.__doc__ or "", "entrywise-laplace", NOT_SYMMETRIC,
                    own_noise_below, options=(("entries", "triangle"),)),
    NegativeControl("bare-below", bare_below.__doc__ or "", "lap-cov", NOT_SYMMETRIC, bare_below),
    NegativeControl("skewed-at-seven", skewed_at_seven.__doc__ or "", "gauss-cov", NOT_SYMMETRIC, skewed_at_seven),
    NegativeControl("skewed-at-times", skewed_at_times.__doc__ or "", "gauss-cov", NOT_SYMMETRIC_AT_TIMES,
                    skewed_at_times),
    NegativeControl("learner-triangle", learner_triangle.__doc__ or "", "gaussian-learner", NOT_SYMMETRIC,
                    learner_triangle),
    NegativeControl("learner-doubled", learner_doubled.__doc__ or "", "gaussian-learner",
                    (("law", "norm of the mean"),), learner_doubled),
    NegativeControl("learner-absolute", learner_absolute.__doc__ or "", "gaussian-learner",
                    (("law", "mean 1"), ("law", "covariance (1, 2)")), learner_absolute),
)  # fmt: skip
