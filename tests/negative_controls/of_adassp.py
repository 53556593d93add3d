"""Negative controls of AdaSSP with missing or wrong noise, a wrong budget or a wrong penalty."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.building_blocks.private_trace import gaussian_margin
from covassay.reference.mechanisms.concentrated.adassp import AdaSSPNoise
from tests.negative_controls.broken import bare, broken, other_noise, part, times
from tests.negative_controls.negative_control import by_law

BETA = 0.05
_ada = partial(other_noise, mechanism_name="adassp", options=(("calibration", "paper"),))


def shared(noise: AdaSSPNoise, rng: np.random.Generator, x: Matrix) -> AdaSSPNoise:
    """Use the first row of the noise of Σ aaᵀ as the noise of Σ ya."""
    return replace(noise, vector=noise.matrix[0])


def of_means(noise: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Add the noise for a mean to a sum, so that the noise is n times too small."""
    return times(1 / len(x))(noise, rng, x)


NEGATIVE_CONTROLS = (
    _ada("adassp-vector-bare", mistake="Add no noise to Σ ya.", noise=bare("vector"), caught_by=by_law("coefficient")),
    _ada("adassp-matrix-bare", mistake="Add no noise to Σ aaᵀ.", noise=bare("matrix"),
         caught_by=by_law("coefficient")),
    _ada("adassp-eigenvalue-bare", mistake="Add no noise to the smallest eigenvalue.", noise=bare("eigenvalue"),
         caught_by=by_law("total scale")),
    _ada("adassp-eigenvalue-half", mistake="Halve the noise of the smallest eigenvalue.",
         noise=part("eigenvalue", lambda z: z / 2)),
    _ada("adassp-vector-half", mistake="Halve the noise of Σ ya.", noise=part("vector", lambda z: z / 2),
         caught_by=by_law("coefficient"), diagnosis="half the calibrated scale"),
    _ada("adassp-no-margin", mistake="Use the noisy smallest eigenvalue itself as a lower bound on the eigenvalue.",
         noise=part("eigenvalue", lambda z: z + gaussian_margin(BETA)), caught_by=by_law("penalised coefficient")),
    _ada("adassp-never-adapts", mistake="Use the largest penalty for all data, as if the smallest eigenvalue were 0.",
         noise=part("eigenvalue", lambda z: -1e9), caught_by=by_law("coefficient")),
    _ada("adassp-one-noise", mistake=shared.__doc__ or "", noise=shared, caught_by=by_law("total scale")),
    _ada("adassp-noise-of-means", mistake=of_means.__doc__ or "", noise=of_means, caught_by=by_law("coefficient")),
    _ada("adassp-80", mistake="Multiply the noise by 0.8.",
         noise=times(0.8), caught_by=by_law("total scale")),
    broken("adassp-thrice", "adassp", "Spend the whole budget in each of the three steps.", budget=3.0,
           options=(("calibration", "paper"),), caught_by=by_law("coefficient")),
)  # fmt: skip
