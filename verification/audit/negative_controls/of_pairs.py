"""Negative controls with half the noise, which pairs of neighbours alone must show, without a test of the law.

Half the noise is the noise for twice the budget ε, or for four times the budget ρ.
"""

from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.building_blocks import exponential, gaussian, laplace, private_trace
from covassay.reference.mechanisms.concentrated import (
    adaptive_cov,
    clipped_cov,
    em_cov,
    gauss_cov,
    projection_mechanism,
    separate_cov,
)
from covassay.reference.mechanisms.gaussian_estimation import (
    coinpress_covariance,
    coinpress_mean,
    kv_mean,
    naive_pce,
    ppde,
)
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import (
    centred_covariance,
    entrywise_laplace,
    k_norm,
    nuclear_ball_projection,
    output_perturbation,
)
from covassay.verification.audit.negative_controls.negative_control import NegativeControl

TIMES = {"epsilon": 2.0, "rho": 4.0}
TIGHT = {"calibration": "tight"}


def half(declared: Mechanism[Any, ..., Any], check: str = "event", **options: str) -> NegativeControl:
    """The mechanism with the noise for a larger budget."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return declared.sample(x, rng, **{key: TIMES[key] * value for key, value in budget.items()}, **options)

    name, mistake = f"half-noise-{declared.name}", f"Half the noise of {declared.title}."
    return NegativeControl(name, mistake, declared.name, (("privacy", check),), draw, options=tuple(options.items()))


NEGATIVE_CONTROLS = (
    half(centred_covariance.MECHANISM),
    half(entrywise_laplace.MECHANISM, **TIGHT),
    half(exponential.MECHANISM),
    half(k_norm.MECHANISM),
    half(laplace.MECHANISM),
    half(nuclear_ball_projection.MECHANISM, **TIGHT),
    half(output_perturbation.MECHANISM, **TIGHT),
    half(private_trace.MECHANISM),
    half(adaptive_cov.MECHANISM, "divergence"),
    half(coinpress_covariance.MECHANISM, "divergence"),
    half(coinpress_mean.MECHANISM, "divergence"),
    half(clipped_cov.MECHANISM, "divergence"),
    half(em_cov.MECHANISM, "divergence", **TIGHT),
    half(gauss_cov.MECHANISM, "divergence"),
    half(gaussian.MECHANISM, "divergence"),
    half(kv_mean.MECHANISM, "divergence"),
    half(naive_pce.MECHANISM, "divergence", **TIGHT),
    half(ppde.MECHANISM, "divergence", **TIGHT),
    half(projection_mechanism.MECHANISM, "divergence"),
    half(separate_cov.MECHANISM, "divergence"),
)
