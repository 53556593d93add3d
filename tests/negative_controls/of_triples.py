"""Negative controls in which any two noise variables are independent, but three of them are dependent."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri

from covassay.reference.domain import Matrix
from covassay.verification.audit.knowledge.shared.noise_entries import TRIPLES
from covassay.verification.statistics.laws import LAPLACE, NORMAL, Law
from tests.negative_controls.broken import other_noise
from tests.negative_controls.negative_control import NegativeControl

BY_TRIPLES = (("law", TRIPLES),)


def parity(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Replace the sign of the third noise variable by the product of the signs of the first two."""
    z = np.array(z, dtype=np.float64)
    if z.ndim == 1 and len(z) > 2:
        z[2] = abs(z[2]) * np.sign(z[0] * z[1])
    if z.ndim == 2 and len(z) > 1:
        z[1, 1] = abs(z[1, 1]) * np.sign(z[0, 0] * z[0, 1])
    return z


def _laplace_quantile(u: float) -> float:
    return float(np.sign(u - 0.5) * -np.log1p(-2 * abs(u - 0.5)))


def added(law: Law, quantile: Callable[[float], float]) -> Callable[[Any, np.random.Generator, Matrix], Any]:
    """Return a function that computes one noise variable from two others, a and b.

    The variable is the quantile at F(a) + F(b) modulo 1, where F is the distribution function `law`.
    """

    def change(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        z = np.array(z, dtype=np.float64)
        if z.ndim == 1 and len(z) > 2:
            z[2] = quantile(float((law(z[:1]) + law(z[1:2]))[0] % 1))
        if z.ndim == 2 and len(z) > 2:
            place = float((law(z[0, 1:2]) + law(z[0, 2:3]))[0] % 1)
            z[1, 2] = z[2, 1] = quantile(place)
        return z

    return change


def _parity(name: str, mechanism_name: str) -> NegativeControl:
    return other_noise(name, mechanism_name, parity.__doc__ or "", parity, caught_by=BY_TRIPLES)


NEGATIVE_CONTROLS = (
    _parity("parity-of-signs", "lap-cov"),
    _parity("parity-of-normal-signs", "gauss-cov"),
    _parity("parity-of-all-signs", "entrywise-laplace"),
    _parity("parity-of-signs-approximate", "gauss-cov-approximate"),
    other_noise("places-added", "lap-cov", "Compute the third of three noise variables from the other two.",
                added(LAPLACE, _laplace_quantile), caught_by=BY_TRIPLES),
    other_noise("normal-places-added", "gauss-cov", "Compute the third of three noise variables from the other two.",
                added(NORMAL, lambda u: float(ndtri(u))), caught_by=BY_TRIPLES),
)  # fmt: skip
