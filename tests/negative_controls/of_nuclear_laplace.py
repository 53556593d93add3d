"""Negative controls of nuclear-Laplace noise in which one part of the law is wrong."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import nuclear_laplace
from tests.negative_controls.negative_control import by_law, by_privacy, perturbation, vectorised


def gamma_shape(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw singular values whose sum has the Gamma shape d(d+1)/2 in place of d²."""
    s = law.sample_spectrum(d, rng, size)
    return s / s.sum(axis=1, keepdims=True) * rng.gamma(d * (d + 1) / 2, size=(size, 1))


def no_repulsion(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw singular values with the right sum but without the repulsion between them."""
    return rng.dirichlet(np.ones(d), size) * rng.gamma(d**2, size=(size, 1))


def coupled(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw singular values whose relative sizes depend on their sum."""
    radius = rng.gamma(d**2, size=(size, 1))
    shapes = [s / s.sum(axis=1, keepdims=True) for s in (law.sample_spectrum(d, rng, size) for _ in range(2))]
    first_larger = shapes[0].max(axis=1, keepdims=True) > shapes[1].max(axis=1, keepdims=True)
    return radius * np.where(first_larger == (radius > d**2), shapes[0], shapes[1])


def no_rotation(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Return identity matrices in place of random rotations."""
    return np.tile(np.eye(d), (size, 1, 1))


def unsigned_qr(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Return the factor Q of a QR decomposition without the correction of signs that makes it Haar distributed."""
    return np.linalg.qr(rng.standard_normal((size, d, d)))[0]


def special(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw rotations from SO(d) in place of O(d)."""
    q = haar.sample(d, rng, size)
    q[:, :, 0] *= np.sign(np.linalg.det(q))[:, None]
    return q


def symmetrised(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Add (Z + Zᵀ)/2 for nuclear-Laplace noise Z that is not symmetric."""
    y = np.array([nuclear_laplace.release(x, z, epsilon=epsilon) for z in law.sample(x.shape[1], rng, size)])
    return (y + np.swapaxes(y, 1, 2)) / 2


RADIUS, EVENT = by_law("nuclear norm"), by_privacy("event")


_control = partial(vectorised, mechanism="nuclear-laplace")
NEGATIVE_CONTROLS = (
    _control(
        "half-scale",
        "Calibrate the noise to 1/n, the sensitivity for adding or removing a row, in place of 2/n.",
        RADIUS + by_law("total scale"),
        perturbation(factor=0.5),
        diagnosis="half the calibrated scale",
    ),
    _control(
        "quarter-scale",
        "Divide the noise by 4, as if the factor 2 of the sensitivity had been omitted in two places.",
        RADIUS + EVENT,
        perturbation(factor=0.25),
    ),
    _control(
        "double-scale",
        "Use twice the sensitivity, which is private but adds too much noise.",
        RADIUS,
        perturbation(factor=2.0),
        diagnosis="twice the calibrated scale",
    ),
    _control(
        "gamma-shape",
        "Draw the nuclear norm of the noise with the Gamma shape d(d+1)/2 in place of d².",
        RADIUS,
        perturbation(spectrum=gamma_shape),
        diagnosis="d(d+1)/2 in place of d²",
    ),
    _control(
        "no-repulsion",
        "Omit the Jacobian of the singular value decomposition, so that the singular values do not repel one another.",
        by_law("spectral norm"),
        perturbation(spectrum=no_repulsion),
    ),
    _control(
        "coupled-spectrum",
        "Let the relative sizes of the singular values depend on their sum.",
        by_law("independence"),
        perturbation(spectrum=coupled),
    ),
    _control("left-fixed", "Omit the rotation on the left.", by_law("left vectors"), perturbation(left=no_rotation)),
    _control(
        "right-fixed", "Omit the rotation on the right.", by_law("right vectors"), perturbation(right=no_rotation)
    ),
    _control(
        "unsigned-qr",
        "Use the factor Q of a QR decomposition as a Haar matrix without correcting its signs.",
        by_law("pair sign"),
        perturbation(left=unsigned_qr, right=unsigned_qr),
    ),
    _control(
        "rotations-only",
        "Draw rotations from SO(d) in place of O(d).",
        by_law("determinant sign"),
        perturbation(left=special, right=special),
    ),
    _control(
        "positive-noise",
        "Add positive semidefinite noise, so that the support of the output depends on the data.",
        by_law("trace sign") + EVENT,
        perturbation(right=None),
        seen_in="the Wishart mechanism",
    ),
    vectorised(
        "symmetrised",
        "Add (Z + Zᵀ)/2 for nuclear-Laplace noise Z in place of noise from the law on symmetric matrices.",
        RADIUS,
        symmetrised,
        mechanism="nuclear-laplace-symmetric",
    ),
)
