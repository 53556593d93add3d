"""Mutants of nuclear-Laplace noise: one part of its law is wrong."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import nuclear_laplace
from covassay.verification.audit.negative_controls.negative_control import perturbation, vectorised


def gamma_shape(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """The nuclear norm with Gamma shape d(d+1)/2 in place of d²."""
    s = law.sample_spectrum(d, rng, size)
    spectrum: Matrix = s / s.sum(axis=1, keepdims=True) * rng.gamma(d * (d + 1) / 2, size=(size, 1))
    return spectrum


def no_repulsion(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """The right nuclear norm, and singular values that do not know of one another."""
    spectrum: Matrix = rng.dirichlet(np.ones(d), size) * rng.gamma(d**2, size=(size, 1))
    return spectrum


def coupled(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """The larger of two shapes of the spectrum when the nuclear norm is large, the smaller when it is small."""
    radius = rng.gamma(d**2, size=(size, 1))
    shapes = [s / s.sum(axis=1, keepdims=True) for s in (law.sample_spectrum(d, rng, size) for _ in range(2))]
    first_larger = shapes[0].max(axis=1, keepdims=True) > shapes[1].max(axis=1, keepdims=True)
    spectrum: Matrix = radius * np.where(first_larger == (radius > d**2), shapes[0], shapes[1])
    return spectrum


def no_rotation(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """The identity."""
    return np.tile(np.eye(d), (size, 1, 1))


def unsigned_qr(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Q of LAPACK's QR without the sign correction: not Haar."""
    q: Matrix = np.linalg.qr(rng.standard_normal((size, d, d)))[0]
    return q


def special(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Rotations without reflections: SO(d) in place of O(d)."""
    q = haar.sample(d, rng, size)
    q[:, :, 0] *= np.sign(np.linalg.det(q))[:, None]
    return q


def symmetrised(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Full noise made symmetric, (Z + Zᵀ)/2."""
    y = np.array([nuclear_laplace.release(x, z, epsilon=epsilon) for z in law.sample(x.shape[1], rng, size)])
    drawn: Matrix = (y + np.swapaxes(y, 1, 2)) / 2
    return drawn


RADIUS, EVENT = ("law", "nuclear norm"), ("privacy", "event")
FULL = "nuclear-laplace"


_mutant = partial(vectorised, mechanism=FULL)
NEGATIVE_CONTROLS = (
    _mutant("half-scale", "Calibrated to the sensitivity 1/n of add/remove in place of 2/n: half the noise.",
            (RADIUS,), perturbation(factor=0.5), diagnosis="half the calibrated scale"),
    _mutant("quarter-scale", "Loses the sensitivity 2 twice: a quarter of the noise.",
            (RADIUS, EVENT), perturbation(factor=0.25)),
    _mutant("double-scale", "Doubles the sensitivity once more: private but wasteful.",
            (RADIUS,), perturbation(factor=2.0), diagnosis="twice the calibrated scale"),
    _mutant("gamma-shape", "Draws the nuclear norm with Gamma shape d(d+1)/2 in place of d².",
            (RADIUS,), perturbation(spectrum=gamma_shape), diagnosis="d(d+1)/2 in place of d²"),
    _mutant("no-repulsion", "Forgets the Jacobian of the SVD: the singular values are independent.",
            (("law", "spectral norm"),), perturbation(spectrum=no_repulsion)),
    _mutant("coupled-spectrum", "Lets the shape of the spectrum depend on its size.",
            (("law", "independence"),), perturbation(spectrum=coupled)),
    _mutant("left-fixed", "Leaves out the rotation on the left.", (("law", "left vectors"),),
            perturbation(left=no_rotation)),
    _mutant("right-fixed", "Leaves out the rotation on the right.", (("law", "right vectors"),),
            perturbation(right=no_rotation)),
    _mutant("unsigned-qr", "Takes Q of a QR decomposition for a Haar matrix without fixing its signs.",
            (("law", "pair sign"),), perturbation(left=unsigned_qr, right=unsigned_qr)),
    _mutant("rotations-only", "Draws from SO(d) in place of O(d).", (("law", "determinant sign"),),
            perturbation(left=special, right=special)),
    _mutant("positive-noise", "Makes the noise positive semidefinite: its support then depends on the data.",
            (("law", "trace sign"), EVENT), perturbation(right=None), seen_in="the Wishart mechanism"),
    vectorised("symmetrised", "Symmetrises full noise, (Z + Zᵀ)/2, and calls it the symmetric mechanism.",
               (RADIUS,), symmetrised, mechanism="nuclear-laplace-symmetric"),
)  # fmt: skip
