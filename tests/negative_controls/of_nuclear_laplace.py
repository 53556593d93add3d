"""Negative controls of nuclear-Laplace noise: one part of its law is wrong."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import nuclear_laplace
from tests.negative_controls.negative_control import by_law, by_privacy, perturbation, vectorised


def gamma_shape(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw a nuclear norm with Gamma shape d(d+1)/2 in place of d²."""
    s = law.sample_spectrum(d, rng, size)
    return s / s.sum(axis=1, keepdims=True) * rng.gamma(d * (d + 1) / 2, size=(size, 1))


def no_repulsion(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw the right nuclear norm, with singular values that do not repel one another."""
    return rng.dirichlet(np.ones(d), size) * rng.gamma(d**2, size=(size, 1))


def coupled(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw spectra whose shape depends on their size: of two drawn shapes, a large nuclear norm gets the wider one."""
    radius = rng.gamma(d**2, size=(size, 1))
    shapes = [s / s.sum(axis=1, keepdims=True) for s in (law.sample_spectrum(d, rng, size) for _ in range(2))]
    first_larger = shapes[0].max(axis=1, keepdims=True) > shapes[1].max(axis=1, keepdims=True)
    return radius * np.where(first_larger == (radius > d**2), shapes[0], shapes[1])


def no_rotation(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Return the identity in place of a rotation."""
    return np.tile(np.eye(d), (size, 1, 1))


def unsigned_qr(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Return the factor Q of LAPACK's QR without the sign correction, which is not Haar."""
    return np.linalg.qr(rng.standard_normal((size, d, d)))[0]


def special(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw rotations without reflections: SO(d) in place of O(d)."""
    q = haar.sample(d, rng, size)
    q[:, :, 0] *= np.sign(np.linalg.det(q))[:, None]
    return q


def symmetrised(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Make full noise symmetric, (Z + Zᵀ)/2."""
    y = np.array([nuclear_laplace.release(x, z, epsilon=epsilon) for z in law.sample(x.shape[1], rng, size)])
    return (y + np.swapaxes(y, 1, 2)) / 2


RADIUS, EVENT = by_law("nuclear norm"), by_privacy("event")


_control = partial(vectorised, mechanism="nuclear-laplace")
NEGATIVE_CONTROLS = (
    _control(
        "half-scale",
        "Calibrates to the sensitivity 1/n of adding or removing a row, in place of 2/n: half the noise.",
        RADIUS + by_law("total scale"),
        perturbation(factor=0.5),
        diagnosis="half the calibrated scale",
    ),
    _control(
        "quarter-scale",
        "Forgets the factor 2 of the sensitivity twice: a quarter of the noise.",
        RADIUS + EVENT,
        perturbation(factor=0.25),
    ),
    _control(
        "double-scale",
        "Uses twice the sensitivity: private but wasteful.",
        RADIUS,
        perturbation(factor=2.0),
        diagnosis="twice the calibrated scale",
    ),
    _control(
        "gamma-shape",
        "Draws the nuclear norm with Gamma shape d(d+1)/2 in place of d².",
        RADIUS,
        perturbation(spectrum=gamma_shape),
        diagnosis="d(d+1)/2 in place of d²",
    ),
    _control(
        "no-repulsion",
        "Forgets the Jacobian of the SVD: the singular values are independent.",
        by_law("spectral norm"),
        perturbation(spectrum=no_repulsion),
    ),
    _control(
        "coupled-spectrum",
        "Lets the shape of the spectrum depend on its size.",
        by_law("independence"),
        perturbation(spectrum=coupled),
    ),
    _control(
        "left-fixed", "Leaves out the rotation on the left.", by_law("left vectors"), perturbation(left=no_rotation)
    ),
    _control(
        "right-fixed", "Leaves out the rotation on the right.", by_law("right vectors"), perturbation(right=no_rotation)
    ),
    _control(
        "unsigned-qr",
        "Uses the factor Q of a QR decomposition as a Haar matrix without correcting its signs.",
        by_law("pair sign"),
        perturbation(left=unsigned_qr, right=unsigned_qr),
    ),
    _control(
        "rotations-only",
        "Draws from SO(d) in place of O(d).",
        by_law("determinant sign"),
        perturbation(left=special, right=special),
    ),
    _control(
        "positive-noise",
        "Makes the noise positive semidefinite, so that the support of the output depends on the data.",
        by_law("trace sign") + EVENT,
        perturbation(right=None),
        seen_in="the Wishart mechanism",
    ),
    vectorised(
        "symmetrised",
        "Adds full noise made symmetric, (Z + Zᵀ)/2, in place of noise from the symmetric law.",
        RADIUS,
        symmetrised,
        mechanism="nuclear-laplace-symmetric",
    ),
)
