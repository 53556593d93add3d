"""Negative controls with half of the required noise. Tests on pairs of neighbouring data sets must reject these
controls, even if the law of the noise is not tested.

Each negative control calls the mechanism with twice the budget ε, or with four times the budget ρ.
"""

from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from tests.negative_controls.negative_control import NegativeControl

TIMES = {"epsilon": 2.0, "rho": 4.0}
TIGHT = {"calibration": "tight"}


def half(mechanism_name: str, check: str = "event", **options: str) -> NegativeControl:
    """Return a negative control that calls the mechanism with a larger budget."""
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return declared.sample(x, rng, **{key: TIMES[key] * value for key, value in budget.items()}, **options)

    name, mistake = f"half-noise-{declared.name}", f"Halve the noise of {declared.title}."
    return NegativeControl(name, mistake, declared.name, (("privacy", check),), draw, options=tuple(options.items()))


NEGATIVE_CONTROLS = (
    half("centred-covariance"),
    half("entrywise-laplace", **TIGHT),
    half("exponential"),
    half("k-norm"),
    half("laplace"),
    half("nuclear-ball-projection", **TIGHT),
    half("output-perturbation", **TIGHT),
    half("private-trace"),
    half("adaptive-cov", "divergence"),
    half("coinpress-covariance", "divergence"),
    half("coinpress-mean", "divergence"),
    half("clipped-cov", "divergence"),
    half("em-cov", "divergence", **TIGHT),
    half("gauss-cov", "divergence"),
    half("gaussian", "divergence"),
    half("kv-mean", "divergence"),
    half("naive-pce", "divergence", **TIGHT),
    half("ppde", "divergence", **TIGHT),
    half("projection-mechanism", "divergence"),
    half("separate-cov", "divergence"),
)
