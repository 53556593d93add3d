"""Plausible mistakes in the scale of noise, which several profiles share, and what another adjacency explains."""

import math
from collections.abc import Callable, Iterable

from covassay.verification.audit.engine.law import Suspect, Test

FACTORS = (  # (name, factor of the scale, explanation)
    ("half-scale", 0.5, "the noise has half the calibrated scale: too little noise"),
    ("add-remove", math.sqrt(0.5), "the noise is √2 too small: the sensitivity of adding or removing a row"),
    ("root-two", math.sqrt(2), "the noise is √2 too large: private but wasteful"),
    ("double-scale", 2.0, "the noise has twice the calibrated scale: private but wasteful"),
)


def scale_suspects(test: Callable[[float], Test]) -> tuple[Suspect, ...]:
    """A suspect for every factor; `test` makes the test that the noise has this multiple of its scale."""
    return tuple(Suspect(name, explanation, test(factor)) for name, factor, explanation in FACTORS)


# WHAT ANOTHER ADJACENCY EXPLAINS

SCALES = {  # by names of suspects
    "half-scale": 0.5, "add-remove": math.sqrt(0.5), "sensitivity-one": math.sqrt(0.5),
    "joint-add-remove": math.sqrt(0.375),
}  # fmt: skip
# The share of the scale that is enough where a row is added or removed and n is a public number, for d ≥ 2. The change
# of the second moment is then x xᵀ/n, of nuclear and Frobenius norm 1/n, in place of 2/n and √2/n. For joint moments,
# S² is then 1 + λ = 3/2 in place of 4.
ENOUGH = {
    "nuclear-laplace": 0.5, "nuclear-laplace-symmetric": 0.5, "laplace": 0.5,
    "gauss-cov": math.sqrt(0.5), "gauss-cov-approximate": math.sqrt(0.5),
    "discrete-gaussian-covariance": math.sqrt(0.5),
    "gaussian": math.sqrt(0.5), "gaussian-approximate": math.sqrt(0.5), "joint-moments": math.sqrt(0.375),
}  # fmt: skip


def explained_by_adjacency(mechanism: str | None, fitted: Iterable[str]) -> str:
    """A sentence if a suspect that fits has the scale that adding or removing a row needs, and otherwise nothing."""
    enough = ENOUGH.get(mechanism or "")
    if enough is None or enough not in [SCALES.get(name) for name in fitted]:
        return ""
    return (
        f"for d ≥ 2 that scale, {enough:.3g} times the calibrated one, is what adding or removing one row needs, with "
        "n public: add-remove adjacency would explain it. The claim audited here is replace-one"
    )
