"""Negative controls of the Bingham mechanism and of iterative eigenvector sampling."""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.pure import bingham, iterative_eigenvectors
from covassay.verification.audit.known_bugs import bingham_accepts_all, bingham_wrong_sign
from tests.negative_controls.negative_control import from_function, vectorised


def rejection(log_acceptance: Callable[[Vector, float, float], Vector]) -> Callable[..., Matrix]:
    """Return a rejection sampler for the Bingham law. The logarithm of its acceptance probability is the given function
    of y = uᵀAu, of the parameter b of the envelope, and of the dimension q.
    """

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        rows = unit_rows(x)
        a, vectors = law.decompose(bingham.exponent(epsilon, "paper") * len(rows) * second_moment(rows))
        b, q = law.envelope_parameter(a), len(a)
        accepted = np.empty((0, q))
        while len(accepted) < size:
            z = rng.standard_normal((4096 if size > 1 else 64, q)) / np.sqrt(1 + 2 * a / b)
            u = z / np.linalg.norm(z, axis=1, keepdims=True)
            keep = np.log(rng.random(len(u))) < log_acceptance(u**2 @ a, b, q)
            accepted = np.concatenate([accepted, u[keep]])
        return accepted[:size] @ vectors.T

    return draw_many


ACG_SIGN = rejection(lambda y, b, q: -y - q / 2 * np.log1p(2 * y / b) - law.log_envelope_bound(b, q))
ACCEPT_ALL = rejection(lambda y, b, q: np.zeros_like(y))


def quadruple_exponent(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Use ε as the exponent in place of ε/4."""
    return bingham.sample(x, rng, epsilon=4 * epsilon)


def sorted_entries(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Sort the entries of the released vector."""
    return np.sort(bingham.sample(x, rng, epsilon=epsilon))


def _with_levels(x: Matrix, levels: tuple[int, ...]) -> Matrix:
    """Return XᵀX with the eigenvalues at the positions `levels` replaced by their mean. The largest eigenvalue has
    position 0.
    """
    values, vectors = np.linalg.eigh(unit_rows(x).T @ unit_rows(x))
    order = [len(values) - 1 - i for i in levels if i < len(values)]
    if order:
        values[order] = values[order].mean()
    return (vectors * values) @ vectors.T


def blurs_the_tail(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Replace the second to the fifth largest eigenvalue by their mean."""
    return law.sample(epsilon / 4 * _with_levels(x, (1, 2, 3, 4)), rng)


def blurs_the_top(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Replace the two largest eigenvalues by their mean."""
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
    """Run iterative eigenvector sampling with its noise scale and its exponents multiplied by factors."""
    d = x.shape[1]
    laplace = laplace_factor * (np.full(d, rng.laplace()) if shared else rng.laplace(size=d))
    factors = iter((*exponents, *[1.0] * d))
    noise = iterative_eigenvectors.IterativeEigenvectorsNoise(
        np.asarray(laplace), lambda m, step: law.sample(next(factors) * m, rng)
    )
    return iterative_eigenvectors.release(x, noise, epsilon=epsilon)


def half_eigenvalue_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Calibrate the eigenvalue noise to the sensitivity 1 in place of 2."""
    return _iterate(x, rng, epsilon, laplace_factor=0.5)


def shared_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add the same Laplace variable to every eigenvalue."""
    return _iterate(x, rng, epsilon, shared=True)


def exponents_times_eight(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Use the exponents 2ε_i in place of ε_i/4."""
    return _iterate(x, rng, epsilon, exponents=(8.0,) * 2)


def second_direction_uniform(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draw the second direction uniformly, independently of the data."""
    return _iterate(x, rng, epsilon, exponents=(1.0, 0.0))


_bingham_many = partial(vectorised, mechanism="bingham", options=(("calibration", "paper"),))
_bingham = partial(from_function, mechanism="bingham", options=(("calibration", "paper"),))
_iterative = partial(
    from_function, mechanism="iterative-eigenvectors", options=(("calibration", "paper"), ("budget", "uniform"))
)
LEADING = ("law", "leading component")
NEGATIVE_CONTROLS = (
    _bingham_many(
        "acg-sign",
        "Divide the acceptance ratio by (uᵀΩu)^{q/2} in place of multiplying it by this power.",
        (LEADING,),
        ACG_SIGN,
        diagnosis="wrong sign",
        seen_in=bingham_wrong_sign.BUG.seen_in,
    ),
    _bingham_many(
        "accept-all",
        "Accept every proposal.",
        (LEADING,),
        ACCEPT_ALL,
        diagnosis="every proposal",
        seen_in=bingham_accepts_all.BUG.seen_in,
    ),
    _bingham(quadruple_exponent, LEADING, diagnosis="four times"),
    _bingham(sorted_entries, ("law", "around it"), ("law", "component 3")),
    _bingham(blurs_the_tail, ("law", "component 2")),
    _bingham(blurs_the_top, ("law", "component 1")),
    _iterative(
        half_eigenvalue_noise,
        ("law", "eigenvalue 1"),
        ("law", "eigenvalue 2"),
        ("law", "eigenvalue 3"),
        diagnosis="half the calibrated scale",
    ),
    _iterative(shared_noise, ("law", "independence")),
    _iterative(exponents_times_eight, ("law", "direction 1"), seen_in="google-research, private_covariance_estimation"),
    _iterative(second_direction_uniform, ("law", "direction 2")),
)
