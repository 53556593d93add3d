"""Make a target `gaussian` from the noise that privatizers of jax-privacy 2.0.0 add to a sum of gradients.

The target calls `update` of `noise_addition.gaussian_privatizer(stddev, prng_key)`, which returns the sum with noise,
in float32 as jax computes by default. The package jax-privacy takes a standard deviation and no budget. The adapter
chooses the standard deviation that makes the query ρ-zCDP.
"""

from collections.abc import Callable

import numpy as np

from covassay.verification.audit.adapters.numbers import CONCENTRATED, gaussian_deviation, number_target
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("jax-privacy==2.0.0", "jax==0.10.2"), modules=("jax_privacy.noise_addition",))


def _gaussian(query: float, sensitivity: float, *, rng: np.random.Generator, rho: float) -> float:
    import jax
    from jax_privacy import noise_addition

    key = jax.random.key(int(rng.integers(2**31)))
    privatizer = noise_addition.gaussian_privatizer(stddev=gaussian_deviation(sensitivity, rho), prng_key=key)
    summed = jax.numpy.array([query])
    noisy, _ = privatizer.update(summed, privatizer.init(summed))
    return float(noisy[0])


def gaussian() -> Target:
    """`noise_addition.gaussian_privatizer`."""
    told = told_version(PACKAGE, "noise_addition.gaussian_privatizer")
    return number_target("jax-privacy:gaussian", _gaussian, told, CONCENTRATED)


TARGETS: dict[str, Callable[[], Target]] = {"gaussian": gaussian}
