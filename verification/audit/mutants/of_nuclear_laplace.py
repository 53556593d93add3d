"""Mutants of nuclear-Laplace noise: one part of its law is wrong."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms import nuclear_laplace
from covassay.verification.audit.mutants.mutant import Mutant, noisy


def half_scale(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Calibrates to the sensitivity 1/n of add/remove in place of 2/n: half the noise."""
    return noisy(x, rng, epsilon, factor=0.5)


def double_scale(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Doubles the sensitivity once more: private but wasteful."""
    return noisy(x, rng, epsilon, factor=2.0)


def gamma_shape(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draws the nuclear norm with Gamma shape d(d+1)/2 in place of d²."""

    def spectrum(d: int, rng: np.random.Generator) -> Vector:
        s = law.sample_spectrum(d, rng, 1)[0]
        drawn: Vector = s / s.sum() * rng.gamma(d * (d + 1) / 2)
        return drawn

    return noisy(x, rng, epsilon, spectrum=spectrum)


def no_repulsion(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Forgets the Jacobian of the SVD: right nuclear norm, independent singular values."""

    def spectrum(d: int, rng: np.random.Generator) -> Vector:
        drawn: Vector = rng.dirichlet(np.ones(d)) * rng.gamma(d**2)
        return drawn

    return noisy(x, rng, epsilon, spectrum=spectrum)


def coupled(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Lets the shape of the spectrum depend on its size."""

    def spectrum(d: int, rng: np.random.Generator) -> Vector:
        radius = rng.gamma(d**2)
        shapes = [s / s.sum() for s in law.sample_spectrum(d, rng, 2)]
        shapes.sort(key=lambda w: float(w.max()))
        drawn: Vector = radius * shapes[int(radius > d**2)]
        return drawn

    return noisy(x, rng, epsilon, spectrum=spectrum)


def _identity(d: int, rng: np.random.Generator) -> Matrix:
    return np.eye(d)


def _raw_q(d: int, rng: np.random.Generator) -> Matrix:
    """Q of LAPACK's QR, without the sign correction: not Haar."""
    q: Matrix = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return q


def _rotation(d: int, rng: np.random.Generator) -> Matrix:
    q = haar.sample(d, rng)
    q[:, 0] *= np.sign(np.linalg.det(q))
    return q


def left_fixed(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Leaves out the rotation on the left."""
    return noisy(x, rng, epsilon, left=_identity)


def right_fixed(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Leaves out the rotation on the right."""
    return noisy(x, rng, epsilon, right=_identity)


def unsigned_qr(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Takes Q of a QR decomposition for a Haar matrix without fixing its signs."""
    return noisy(x, rng, epsilon, left=_raw_q, right=_raw_q)


def rotations_only(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draws from SO(d) in place of O(d)."""
    return noisy(x, rng, epsilon, left=_rotation, right=_rotation)


def positive_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Makes the noise positive semidefinite, as Wishart noise is: the support then depends on the data."""
    rows = unit_rows(x)
    n, d = rows.shape
    q = haar.sample(d, rng)
    released: Matrix = second_moment(rows) + 2 / (n * epsilon) * (q * law.sample_spectrum(d, rng, 1)[0]) @ q.T
    return released


def symmetrised(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Symmetrises full noise, (Z + Zᵀ)/2, and calls it the symmetric mechanism."""
    y = nuclear_laplace.sample(x, rng, epsilon=epsilon)
    return (y + y.T) / 2


_mutant = partial(Mutant, mechanism="nuclear-laplace")
RADIUS = ("law", "nuclear norm")
MUTANTS = (
    _mutant("half-scale", half_scale.__doc__ or "", caught_by=(RADIUS, ("privacy", "event")), draw=half_scale,
            diagnosis="half the calibrated scale"),
    _mutant("double-scale", double_scale.__doc__ or "", caught_by=(RADIUS,), draw=double_scale,
            diagnosis="twice the calibrated scale"),
    _mutant("gamma-shape", gamma_shape.__doc__ or "", caught_by=(RADIUS, ("privacy", "event")), draw=gamma_shape,
            diagnosis="d(d+1)/2 in place of d²"),
    _mutant("no-repulsion", no_repulsion.__doc__ or "", caught_by=(("law", "spectral norm"),), draw=no_repulsion),
    _mutant("coupled-spectrum", coupled.__doc__ or "", caught_by=(("law", "independence"),), draw=coupled),
    _mutant("left-fixed", left_fixed.__doc__ or "", caught_by=(("law", "left vectors"),), draw=left_fixed),
    _mutant("right-fixed", right_fixed.__doc__ or "", caught_by=(("law", "right vectors"),), draw=right_fixed),
    _mutant("unsigned-qr", unsigned_qr.__doc__ or "", caught_by=(("law", "pair sign"),), draw=unsigned_qr),
    _mutant("rotations-only", rotations_only.__doc__ or "", caught_by=(("law", "determinant sign"),), draw=rotations_only),
    _mutant("positive-noise", positive_noise.__doc__ or "", caught_by=(("law", "trace sign"), ("privacy", "event")),
            draw=positive_noise, seen_in="the Wishart mechanism"),
    Mutant("symmetrised", symmetrised.__doc__ or "", "nuclear-laplace-symmetric", (RADIUS,), symmetrised),
)  # fmt: skip
