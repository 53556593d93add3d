"""Mutants of the Bingham mechanism and of iterative eigenvector sampling."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms import bingham, iterative_eigenvectors
from covassay.verification.audit.mutants.mutant import Mutant


def _proposals(x: Matrix, epsilon: float, rng: np.random.Generator) -> tuple[Vector, float, Vector, float]:
    """One proposal of the rejection sampler: the direction, y = uᵀAu, and (b, q)."""
    rows = unit_rows(x)
    a, vectors = law.decompose(bingham.exponent(epsilon, "paper") * len(rows) * second_moment(rows))
    b = law.envelope_parameter(a)
    z = rng.standard_normal(len(a)) / np.sqrt(1 + 2 * a / b)
    z /= np.linalg.norm(z)
    return vectors @ z, float(z**2 @ a), np.array([b]), float(len(a))


def acg_sign(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Divides by (uᵀΩu)^{q/2} in the acceptance ratio where it should multiply."""
    while True:
        u, y, (b,), q = _proposals(x, epsilon, rng)
        log_ratio = -y - q / 2 * np.log1p(2 * y / b) - law.log_envelope_bound(b, q)
        if np.log(rng.random()) < log_ratio:
            return u


def accept_all(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Accepts every proposal."""
    return _proposals(x, epsilon, rng)[0]


def quadruple_exponent(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Uses ε as the exponent in place of ε/4."""
    return bingham.sample(x, rng, epsilon=4 * epsilon)


def positive_entries(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Fixes the sign of every entry in place of the sign of the vector."""
    return np.abs(bingham.sample(x, rng, epsilon=epsilon))


def _with_levels(x: Matrix, levels: tuple[int, ...]) -> Matrix:
    """XᵀX with the eigenvalues at these positions (descending) replaced by their mean."""
    values, vectors = np.linalg.eigh(unit_rows(x).T @ unit_rows(x))
    order = [len(values) - 1 - i for i in levels if i < len(values)]
    values[order] = values[order].mean()
    matrix: Matrix = (vectors * values) @ vectors.T
    return matrix


def blurs_the_tail(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Keeps the first eigenvalue and replaces the others by their mean."""
    return law.sample(epsilon / 4 * _with_levels(x, (1, 2, 3, 4)), rng)


def blurs_the_top(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Replaces the first two eigenvalues by their mean."""
    return law.sample(epsilon / 4 * _with_levels(x, (0, 1)), rng)


def _iterate(
    x: Matrix,
    rng: np.random.Generator,
    epsilon: float,
    *,
    laplace_factor: float = 1.0,
    shared: bool = False,
    exponents: tuple[float, ...] = (1.0, 1.0),
) -> Matrix:
    """Iterative eigenvector sampling with its noise or its exponents multiplied."""
    d = x.shape[1]
    laplace = laplace_factor * (np.full(d, rng.laplace()) if shared else rng.laplace(size=d))
    factors = iter((*exponents, *[1.0] * d))
    noise = iterative_eigenvectors.Noise(laplace, lambda m: law.sample(next(factors) * m, rng))
    return iterative_eigenvectors.release(x, noise, epsilon=epsilon)


def half_eigenvalue_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Calibrates the eigenvalue noise to the sensitivity 1 in place of 2."""
    return _iterate(x, rng, epsilon, laplace_factor=0.5)


def shared_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Adds one and the same Laplace variable to every eigenvalue."""
    return _iterate(x, rng, epsilon, shared=True)


def exponents_times_eight(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Uses the exponents 2ε_i in place of ε_i/4."""
    return _iterate(x, rng, epsilon, exponents=(8.0,) * 2)


def second_direction_uniform(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Spends the whole exponent on the first direction and draws the second uniformly."""
    return _iterate(x, rng, epsilon, exponents=(1.0, 0.0))


_bingham = partial(Mutant, mechanism="bingham", options=(("calibration", "paper"),))
_iterative = partial(
    Mutant, mechanism="iterative-eigenvectors", options=(("calibration", "paper"), ("budget", "uniform"))
)
LEADING = ("law", "leading component")
MUTANTS = (
    _bingham("acg-sign", acg_sign.__doc__ or "", caught_by=(LEADING,), draw=acg_sign, diagnosis="wrong sign",
             seen_in="diffprivlib 0.6.6, OpenDP 0.16.0"),
    _bingham("accept-all", accept_all.__doc__ or "", caught_by=(LEADING,), draw=accept_all, diagnosis="every proposal",
             seen_in="OpenDP, February 2024 to July 2025"),
    _bingham("quadruple-exponent", quadruple_exponent.__doc__ or "", caught_by=(LEADING, ("privacy", "event")),
             draw=quadruple_exponent, diagnosis="four times"),
    _bingham("positive-entries", positive_entries.__doc__ or "", caught_by=(("law", "around it"),), draw=positive_entries),
    _bingham("blurs-the-tail", blurs_the_tail.__doc__ or "", caught_by=(("law", "component 2"), ("law", "component 3")),
             draw=blurs_the_tail),
    _bingham("blurs-the-top", blurs_the_top.__doc__ or "", caught_by=(("law", "component 1"),), draw=blurs_the_top),
    _iterative("half-eigenvalue-noise", half_eigenvalue_noise.__doc__ or "",
               caught_by=(("law", "eigenvalue 1"), ("law", "eigenvalue 2"), ("law", "eigenvalue 3")),
               draw=half_eigenvalue_noise, diagnosis="half the calibrated scale"),
    _iterative("shared-noise", shared_noise.__doc__ or "", caught_by=(("law", "independence"),), draw=shared_noise),
    _iterative("exponents-times-eight", exponents_times_eight.__doc__ or "", caught_by=(("law", "direction 1"),),
               draw=exponents_times_eight, seen_in="google-research, private_covariance_estimation"),
    _iterative("second-direction-uniform", second_direction_uniform.__doc__ or "", caught_by=(("law", "direction 2"),),
               draw=second_direction_uniform),
)  # fmt: skip
