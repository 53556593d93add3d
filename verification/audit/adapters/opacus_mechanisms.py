"""Make targets from opacus (audited at 1.6.0): the noise that its optimizers add to a sum of clipped gradients.

`noise`: `opacus.optimizers.optimizer._generate_noise(std, reference, generator)`, added to the query in float32 as
`DPOptimizer.add_noise` adds it to a gradient; `noise-secure`: the same with `secure_mode=True`, whose documentation
says that it protects from attacks on the representation of floats. opacus is given a noise multiplier and no budget;
the standard deviation here is the one that makes the query ρ-zCDP.
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
