"""Nuclear-Laplace noise: matrices Z with density ∝ exp(−‖Z‖_*/ρ). DN25 Algorithm 1, Lemmas 4 and 5.

Full: Z in R^{d×d}. Z = U diag(σ) Vᵀ with U, V Haar on O(d) and σ the half-line Pfaffian ensemble
(density ∝ ∏|σ_i² − σ_j²| exp(−Σ σ_i/ρ)), all independent; ‖Z‖_* ~ Gamma(d², ρ).

Symmetric: Z in the symmetric matrices with the same density. Z = Q diag(λ) Qᵀ with Q Haar and λ the full-line
ensemble (∏|λ_i − λ_j| exp(−Σ|λ_i|/ρ)); ‖Z‖_* ~ Gamma(d(d+1)/2, ρ).

Everything below is at ρ = 1; multiply by ρ. Samples are exact up to float64 rounding, certified per draw.

What is known of ‖Z‖: for d → ∞, ‖Z‖/(ρd) → π (full) and π/2 (symmetric), with the finite-d law exact below and an
upper bound on its tail for every d (proofs/paper/tail-bound.md). DN25 Theorem 6 prints
‖Z‖ ≤ 1.1 ρd with high probability; that is refuted (P = 4.4e-10 at d = 10).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammainc, gammaln

from covassay.reference.domain import Matrix, Number, Vector, require_dimension
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import haar
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble, pfaffian_ensemble
from covassay.reference.laws.pfaffian_sampler import sample_points

# FORMULAS


def radius_shape(d: Number, symmetric: bool = False) -> Number:
    """Shape of the Gamma law of ‖Z‖_*: the number of free entries, d² or d(d + 1)/2 (DN25 Lemma 4)."""
    return d * (d + 1) / 2 if symmetric else d**2


def log_density_kernel(nuclear_norm: Number, scale: Number) -> Number:
    """−‖Z‖_*/ρ: the log density up to its constant."""
    return -nuclear_norm / scale


def schatten_limit(p: Number, gamma: Callable[[Number], Number] = math.gamma, pi: Number = math.pi) -> Number:
    """lim ‖Z‖_{S_p} / d^{1+1/p} as d → ∞, full noise; half of it for symmetric noise. DN25 Theorem 1 with its constant.

    σ/d follows Ullman's law on [0, π], of density (2/π²) arccosh(π/t); the limit is the p-th root of its p-th moment
    π^p Γ((p + 1)/2) / ((p + 1) √π Γ(p/2 + 1)): 1 for p = 1, and π for p = ∞.
    """
    return pi * (gamma((p + 1) / 2) / ((p + 1) * pi**0.5 * gamma(p / 2 + 1))) ** (1 / p)


def spectral_edge(d: Number, symmetric: bool = False, pi: Number = math.pi) -> Number:
    """Where the spectrum ends as d → ∞: πd, or πd/2 for symmetric noise."""
    return pi * d / 2 if symmetric else pi * d


def edge_rate(t: Number, edge: Number, functions: Any = math) -> Number:
    """(2/π) ∫_edge^t arccosh(t/α) dα for t ≥ edge: the exponential rate of P(‖Z‖ ≥ t). Convex; 0 at the edge."""
    return 2 / functions.pi * (t * functions.acos(edge / t) - edge * functions.acosh(t / edge))


def spectral_norm_tail_bound(d: int, t: Number, symmetric: bool = False, functions: Any = math) -> Number:
    """P(‖Z‖ ≥ t) is at most this, for every d ≥ 2 and every t beyond the edge. Proof: proofs/paper/tail-bound.md.

    With y = t/edge and φ = arccos(1/y), full noise: d arccosh(d/(d − 1)) (y − √(y² − 1))² exp(−rate) / (2φ²). For
    symmetric noise the power 2 is 1, and there are two ends. `functions` is math or mpmath.
    """
    edge = spectral_edge(d, symmetric, functions.pi)
    y, ends, power = t / edge, (2 if symmetric else 1), (1 if symmetric else 2)
    spread = d * functions.acosh(d / (d - 1))
    decay = (y - functions.sqrt(y**2 - 1)) ** power * functions.exp(-edge_rate(t, edge, functions))
    return ends * spread * decay / (2 * functions.acos(1 / y) ** 2)


def spectral_norm_bound(d: Number, log_inverse_beta: Number, symmetric: bool = False) -> Number:
    """‖Z‖ is at most this with probability 1 − β, for every d ≥ 1 and every β: 4d + 2.36 ln(1/β), full noise.

    A tangent of the tail bound; for fixed β within a factor 4/π of the truth as d → ∞. Symmetric noise:
    2.5 d + 1.77 ln(1/β).
    """
    if symmetric:
        return d * 5 / 2 + log_inverse_beta * 177 / 100
    return 4 * d + log_inverse_beta * 236 / 100


def spectral_norm_angle(d: Number, log_inverse_beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """φ with ‖Z‖ ≤ πd/cos φ with probability 1 − β, while φ < π/2: φ³ = 3(ln(1/β) + (7/6) ln d)/(2d).

    Full noise, d ≥ 2. For fixed β and large d sharper than `spectral_norm_bound`: πd + O(d^{1/3} (ln d)^{2/3}).
    """
    return (3 * (log_inverse_beta + 7 * log(d) / 6) / (2 * d)) ** (1 / 3)


def ensemble(dimension: int, symmetric: bool = False) -> PfaffianEnsemble:
    """The point process of the singular values (full) or eigenvalues (symmetric)."""
    return pfaffian_ensemble(require_dimension("dimension", dimension), half_line=not symmetric)


# THE LAW


def nuclear_norm(z: Matrix) -> Vector:
    """‖Z‖_* of one matrix or of a stack, shape (..., d, d) -> (...)."""
    norms: Vector = np.linalg.svd(z, compute_uv=False).sum(axis=-1)
    return norms


def log_normalizer(dimension: int, symmetric: bool = False) -> float:
    """ln ∫ exp(−‖Z‖_*) dZ, over R^{d×d} or over the symmetric matrices.

    The volume element of the rotations cancels against a Gaussian integral with a known value:
    ∫ exp(−‖Z‖_F²/2) dZ = (2π)^{D/2} on one side and Selberg's integral over the same spectrum on the
    other. In the symmetric case dZ is Lebesgue measure in the isometric coordinates
    (Z_ii, √2 Z_ij for i < j).
    """
    d = require_dimension("dimension", dimension)
    j = np.arange(d)
    common = gammaln((j + 3) / 2) - gammaln(1.5)  # Γ(1 + (j+1)/2) / Γ(3/2)
    if symmetric:  # Mehta: ∫ ∏|λ_i − λ_j| e^{−Σ λ²/2} = (2π)^{d/2} ∏ Γ(1 + (j+1)/2)/Γ(3/2)
        gaussian = d / 2 * math.log(2 * math.pi) + common.sum()
    else:  # Laguerre–Selberg in σ²/2
        gaussian = (d * (d - 1) - d) / 2 * math.log(2) + (gammaln((j + 1) / 2) + common).sum()
    entries = d * (d + 1) / 2 if symmetric else d**2
    return float(entries / 2 * math.log(2 * math.pi) - gaussian + ensemble(d, symmetric).log_normalizer)


def log_density(z: Matrix, symmetric: bool = False) -> Vector:
    """Log density at ρ = 1 of one matrix or of a stack, shape (..., d, d) -> (...)."""
    return -nuclear_norm(z) - log_normalizer(z.shape[-1], symmetric)


def sample_spectrum(dimension: int, rng: np.random.Generator, size: int, symmetric: bool = False) -> Matrix:
    """Draw singular values (full) or eigenvalues (symmetric), in random order: (size, d)."""
    return sample_points(ensemble(dimension, symmetric), size, rng)


def sample(
    dimension: int,
    rng: np.random.Generator,
    size: int | None = None,
    symmetric: bool = False,
) -> Matrix:
    """Draw Z at ρ = 1: shape (d, d), or (size, d, d). Exact up to float64 rounding."""
    count = 1 if size is None else size
    spectrum = sample_spectrum(dimension, rng, count, symmetric)
    left = haar.sample(dimension, rng, count)
    right = left if symmetric else haar.sample(dimension, rng, count)
    z = (left * spectrum[:, None, :]) @ np.swapaxes(right, 1, 2)
    if symmetric:
        z = (z + np.swapaxes(z, 1, 2)) / 2  # removes rounding only
    drawn: Matrix = z[0] if size is None else z
    return drawn


def nuclear_norm_cdf(dimension: int, t: ArrayLike, symmetric: bool = False) -> Vector:
    """P(‖Z‖_* ≤ t), exactly: the regularised incomplete Gamma function."""
    shape = float(radius_shape(require_dimension("dimension", dimension), symmetric))
    values: Vector = gammainc(shape, np.maximum(np.asarray(t, dtype=np.float64), 0.0))
    return values


def spectral_norm_cdf(dimension: int, t: ArrayLike, symmetric: bool = False) -> Vector:
    """P(‖Z‖ ≤ t): a Pfaffian, with absolute error near 1e-15 for d up to 100."""
    law = ensemble(dimension, symmetric)
    values = np.asarray(t, dtype=np.float64)
    return np.array([law.largest_cdf(float(s)) for s in values.ravel()]).reshape(values.shape)


def spectral_norm_quantile(dimension: int, probability: float, symmetric: bool = False) -> float:
    """The t with P(‖Z‖ ≤ t) = probability, for a probability in (1e-12, 1 − 1e-9)."""
    if not 1e-12 < probability < 1 - 1e-9:
        raise InvalidInput(f"probability = {probability!r}: must be between 1e-12 and 1 - 1e-9, where float64 can tell")
    law = ensemble(dimension, symmetric)
    if probability <= 0.5:
        return float(brentq(lambda s: law.largest_cdf(s) - probability, 0.0, law.panels.edges[-1], xtol=1e-13))
    return float(
        brentq(
            lambda s: (1 - probability) - law.largest_survival(s),
            0.0,
            law.panels.edges[-1],
            xtol=1e-13,
        )
    )


def mean_power_sum(dimension: int, power: float, symmetric: bool = False) -> float:
    """E ‖Z‖_{S_p}^p = E Σ σ_i^p; p = 2 is the expected squared Frobenius error."""
    return ensemble(dimension, symmetric).mean_power_sum(power)
