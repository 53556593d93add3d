"""Make targets from the noise that optimizers of opacus 1.6.0 add to a sum of clipped gradients.

The target `noise` adds `opacus.optimizers.optimizer._generate_noise(std, reference, generator)` to the query in
float32, as `DPOptimizer.add_noise` adds it to a gradient. The target `noise-secure` passes `secure_mode=True`, whose
documentation says that it protects from attacks on the representation of floats. The package opacus takes a noise
multiplier and no budget. The adapter chooses the standard deviation that makes the query ρ-zCDP.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.verification.audit.adapters.numbers import CONCENTRATED, gaussian_deviation, number_target
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("opacus==1.6.0", "torch==2.13.0"), modules=("opacus.optimizers.optimizer",))


def _noise(query: float, sensitivity: float, *, rng: np.random.Generator, rho: float, secure: bool) -> float:
    import torch
    from opacus.optimizers.optimizer import _generate_noise

    summed = torch.tensor([[query]], dtype=torch.float32)
    generator = torch.Generator().manual_seed(int(rng.integers(2**32)))
    noise = _generate_noise(gaussian_deviation(sensitivity, rho), summed, generator, secure_mode=secure)
    return float(summed + noise)


def _target(name: str, secure: bool) -> Target:
    told = told_version(PACKAGE, f"optimizers.optimizer._generate_noise(secure_mode={secure})")
    release: Callable[..., Any] = partial(_noise, secure=secure)
    return number_target(f"opacus:{name}", release, told, CONCENTRATED)


TARGETS: dict[str, Callable[[], Target]] = {
    "noise": partial(_target, "noise", False),
    "noise-secure": partial(_target, "noise-secure", True),
}
