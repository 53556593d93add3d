"""Make targets from mechanisms of OpenDP 0.16.0 that release one number; they belong to the adapter `opendp`.

The target `laplace` calls `make_laplace`, which is ε-DP, and `gaussian` calls `make_gaussian`, which is ρ-zCDP. The
functions `make_laplace` and `make_gaussian` work on floats. The adapter chooses the noise scale for which the library's
own privacy map gives the claimed budget. OpenDP's Rust library draws the noise, so the audit cannot seed the targets
`laplace` and `gaussian`.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from covassay.reference.privacy import Guarantee
from covassay.verification.audit.adapters import declared_noise
from covassay.verification.audit.adapters.declared_noise import PRIMITIVES
from covassay.verification.audit.adapters.numbers import CONCENTRATED, LAPLACE, PURE, gaussian_deviation, number_target
from covassay.verification.audit.adapters.opendp_package import PACKAGE
from covassay.verification.audit.targets.package import told_version
from covassay.verification.audit.targets.target import Target

CLOSE = 1e-9  # the privacy loss by OpenDP's privacy map may differ from the claim by this relative amount


@lru_cache(maxsize=64)
def _measurement(name: str, scale: float, sensitivity: float, claim: float) -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    measurement = getattr(dp.m, f"make_{name}")(*space, scale)
    if abs(measurement.map(sensitivity) - claim) > CLOSE * claim:
        raise ValueError(f"OpenDP's map({sensitivity}) is {measurement.map(sensitivity)}, but must be {claim}")
    return measurement


def _laplace(query: float, sensitivity: float, *, rng: Any, epsilon: float) -> Any:
    scale = sensitivity / epsilon
    return declared_noise.laplace_noise(_measurement("laplace", scale, sensitivity, epsilon), query, scale)


def _gaussian(query: float, sensitivity: float, *, rng: Any, rho: float) -> Any:
    deviation = gaussian_deviation(sensitivity, rho)
    return declared_noise.normal_noise(_measurement("gaussian", deviation, sensitivity, rho), query, deviation)


def _target(name: str, release: Callable[..., Any], claim: Guarantee, mechanism: str | None = None) -> Target:
    told = told_version(PACKAGE, f"make_{name}")
    return number_target(f"opendp:{name}", release, told, claim, mechanism, seeded=False, primitives=PRIMITIVES)


TARGETS: dict[str, Callable[[], Target]] = {
    "laplace": partial(_target, "laplace", _laplace, PURE, LAPLACE),
    "gaussian": partial(_target, "gaussian", _gaussian, CONCENTRATED),
}
