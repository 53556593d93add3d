"""The classical noise scale of the Gaussian mechanism, compared with the exact δ."""

import math

import numpy as np

from covassay.reference.mechanisms.building_blocks import gaussian_approximate
from covassay.verification.claims.evidence import Evidence, Formula, check, mutant

CASES = 3000


@check("floating")
@mutant("for larger ε too", largest=10.0)
@mutant("1.01 for 1.25", multiplier=lambda e, d: gaussian_approximate.classical_multiplier(e, d * 1.25 / 1.01))
def classical_scale(multiplier: Formula = gaussian_approximate.classical_multiplier, largest: float = 1.0) -> Evidence:
    """For ε ≤ 1 and every δ < 1, Gaussian noise with σ = Δ₂ √(2 ln(1.25/δ))/ε is (ε, δ)-DP.

    The exact δ of that noise, Φ(q/2 − ε/q) − e^ε Φ(−q/2 − ε/q) with q = Δ₂/σ, is compared with the δ of the formula.
    Half of the cases have ε = 1, where the bound of the proof is largest, and a third have δ above 0.74, where the
    proof needs another argument.
    """
    rng = np.random.default_rng(1)
    worst = -math.inf
    for i in range(CASES):
        epsilon = largest if i % 2 else largest * 10 ** rng.uniform(-4, 0)
        delta = 1 - 10 ** rng.uniform(-6, math.log10(0.26)) if i % 3 == 0 else 10 ** rng.uniform(-15, 0) * 0.74
        exact = float(gaussian_approximate.log_delta(1 / multiplier(epsilon, delta), epsilon))
        worst = max(worst, exact - math.log(delta))
    return Evidence(worst <= 0, f"{CASES} budgets", f"largest ln(exact δ/δ) {worst:.4g}")
