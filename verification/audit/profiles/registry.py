"""Which profile belongs to which mechanism."""

from typing import cast

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.about import Calibration
from covassay.reference.mechanisms.iterative_eigenvectors import Budget
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee, PureDP
from covassay.verification.audit.profiles import (
    bingham,
    iterative_eigenvectors,
    nuclear_ball_projection,
    nuclear_laplace,
)
from covassay.verification.audit.profiles.profile import Profile


def resolve_options(name: str, options: dict[str, str]) -> dict[str, str]:
    """The choices that name a law completely, with the paper's defaults filled in."""
    about = mechanism(name)
    chosen: dict[str, str] = {}
    if about.calibrations:
        chosen["calibration"] = options.get("calibration", about.calibrations[0])
        if chosen["calibration"] not in about.calibrations:
            raise InvalidInput(f"calibration = {chosen['calibration']!r}: {name} has {', '.join(about.calibrations)}")
    if about.variants:
        chosen["budget"] = options.get("budget", about.variants[0])
        if chosen["budget"] not in about.variants:
            raise InvalidInput(f"budget = {chosen['budget']!r}: {name} has {', '.join(about.variants)}")
    for key in options:
        if key not in chosen:
            raise InvalidInput(f"{key} = {options[key]!r}: {name} has no choice of {key}")
    return chosen


def profile(name: str, guarantee: Guarantee, options: dict[str, str], samples: float, seed: int) -> Profile:
    """The profile of the mechanism of that name under this claim."""
    chosen = resolve_options(name, options)
    if not isinstance(guarantee, PureDP):
        raise InvalidInput(f"{name} claims pure DP: give epsilon alone")
    calibration = cast(Calibration, chosen.get("calibration", "paper"))
    if name in ("nuclear-laplace", "nuclear-laplace-symmetric"):
        return nuclear_laplace.profile(guarantee, symmetric=name.endswith("symmetric"))
    if name == "nuclear-ball-projection":
        return nuclear_ball_projection.profile(guarantee, calibration, seed)
    if name == "bingham":
        return bingham.profile(guarantee, calibration, samples)
    if name == "iterative-eigenvectors":
        return iterative_eigenvectors.profile(guarantee, calibration, cast(Budget, chosen["budget"]))
    raise InvalidInput(f"mechanism = {name!r}: has no audit profile")
