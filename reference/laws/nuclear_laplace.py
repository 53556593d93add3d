"""Nuclear-Laplace noise: matrices Z with density ∝ exp(−‖Z‖_*/ρ) (DN25 Algorithm 1, Lemmas 4 and 5).

The nuclear norm ‖Z‖_* is the sum of the singular values, and ρ is the scale of the noise. The word "Haar" means uniform
on O(d), the group of orthogonal matrices of dimension d.

Full noise has Z in R^{d×d}. Full noise is Z = U diag(σ) Vᵀ with Haar distributed U and V. The singular values σ have a
law on the half-line, a Pfaffian ensemble, with density ∝ ∏|σ_i² − σ_j²| exp(−Σ σ_i/ρ). The factors U, V and σ are
independent, and ‖Z‖_* ~ Gamma(d², ρ).

Symmetric noise has the density ∝ exp(−‖Z‖_*/ρ) on the symmetric matrices. Symmetric noise is Z = Q diag(λ) Qᵀ with a
Haar distributed Q. The eigenvalues λ have a law on the full line, a Pfaffian ensemble, with density ∝ ∏|λ_i − λ_j|
exp(−Σ|λ_i|/ρ). The factors Q and λ are independent, and ‖Z‖_* ~ Gamma(d(d + 1)/2, ρ).

A draw of Z consists of its spectrum, σ or λ, and two Haar matrices (full noise) or one (symmetric noise). The module
`pfaffian_sampler` draws the numbers of the spectrum one after another, each from its conditional density. The module
`pfaffian_sampler` also checks that the product of the conditional densities is the joint density. Samples are exact up
to float64 rounding. Functions without an argument `scale` are for the scale ρ = 1. For another scale ρ, the matrix Z/ρ
has the law for ρ = 1.

The spectral norm ‖Z‖ is the largest singular value. As d → ∞, ‖Z‖/(ρd) tends to π for full noise and to π/2 for
symmetric noise. For every d this file has the exact law of ‖Z‖, and a proven upper bound on its tail
(proofs/paper/tail-bound.md). DN25 Theorem 6 says that ‖Z‖ ≤ 1.1 ρd with high probability. The statement of Theorem 6 is
false: for full noise at d = 10, P(‖Z‖ ≤ 1.1 ρd) = 4.4e-10.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaln

from covassay.reference.domain import Matrix, Number, Vector, require_dimension
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import haar
from covassay.reference.laws.pfaffian_chains import sample_points
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble, pfaffian_ensemble

# `spectral_norm_quantile` is accurate for probabilities from 1e-12 to 1 − 1e-9.
# The absolute error 1e-15 of the distribution function is too large for probabilities below 1e-12.
# The survival function P(‖Z‖ > t) is inaccurate for probabilities above 1 − 1e-9.
SMALLEST_QUANTILE = 1e-12
SMALLEST_SURVIVAL = 1e-9

# FORMULAS


def radius_shape(d: Number, symmetric: bool = False) -> Number:
    """Return the shape of the Gamma law of ‖Z‖_*: the number of free entries, d² or d(d + 1)/2 (DN25 Lemma 4)."""
    return d * (d + 1) / 2 if symmetric else d**2


def log_density_kernel(nuclear_norm: Number, scale: Number) -> Number:
    """Return the log density −‖Z‖_*/ρ of Z up to an additive constant; `scale` is ρ."""
    return -nuclear_norm / scale


def schatten_limit(p: Number, gamma: Callable[[Number], Number] = math.gamma, pi: Number = math.pi) -> Number:
    """Return the limit of ‖Z‖_{S_p} / d^{1+1/p} as d → ∞, for full noise.

    ‖Z‖_{S_p}, the Schatten norm, is the ℓp norm of the singular values σ_i. In the limit the values σ_i/d follow
    Ullman's law on [0, π], with density (2/π²) arccosh(π/t). The p-th moment of Ullman's law is π^p Γ((p + 1)/2) / ((p
    + 1) √π Γ(p/2 + 1)). The function returns the p-th root of the moment. The limit of the Schatten norm is 1 for p =
    1, and tends to π as p → ∞. For symmetric noise the limit is half of the limit for full noise.

    DN25 Theorem 1 says that the error in Schatten norm is at most 3 d^{1+1/p}/(nε). The noise has the scale 2/(nε). Let
    c(p) be twice the limit that this function returns. For large d the error is close to c(p) d^{1+1/p}/(nε). The
    number c(p) is 2 for p = 1, and tends to 2π as p → ∞. For p > 3.073 the number c(p) exceeds 3, so the bound of DN25
    fails for large d.
    """
    return pi * (gamma((p + 1) / 2) / ((p + 1) * pi**0.5 * gamma(p / 2 + 1))) ** (1 / p)


def spectral_edge(d: Number, symmetric: bool = False, pi: Number = math.pi) -> Number:
    """Return the edge of the spectrum, which is πd for full noise and πd/2 for symmetric noise. As d → ∞, the ratio of
    ‖Z‖ to the edge tends to 1.
    """
    return pi * d / 2 if symmetric else pi * d


def edge_rate(t: Number, edge: Number, functions: Any = math) -> Number:
    """Return the rate (2/π) ∫_edge^t arccosh(t/α) dα, for t ≥ edge.

    The upper bounds on P(‖Z‖ ≥ t) in this module decay like exp(−rate). The rate is a convex function of t, and it is 0
    at the edge. The argument `functions` is math or mpmath.
    """
    return 2 / functions.pi * (t * functions.acos(edge / t) - edge * functions.acosh(t / edge))


def swept_tail_bound(d: int, t: Number, width: Number, symmetric: bool = False, functions: Any = math) -> Number:
    """Return an upper bound on P(‖Z‖ ≥ t) for d ≥ 2. Proof: proofs/paper/tail-bound.md.

    The proof uses balayage: it replaces two electric charges outside an interval [−a, a] by a charge on the interval
    with the same potential there, up to a constant. The proof then averages an inequality over all a from
    `spectral_edge(d − 1)` to b, where b is `spectral_edge(d − 1)` + δ. The number δ is the argument `width`; any δ > 0
    with b < t gives a bound.

    Let y = t/b, φ = arccos(1/y) and rate = `edge_rate(t, b)`. Let u be π for full noise and π/2 for symmetric noise.
    For full noise the bound is d (u/δ) arccosh(b/(b − δ)) (y − √(y² − 1))^{2δ/π} exp(−rate)/(2φ²). For symmetric noise
    the bound is twice this expression, because the spectrum has two ends. The argument `functions` is the module math
    or mpmath.
    """
    unit, inner = (spectral_edge(k, symmetric, functions.pi) for k in (1, d - 1))
    edge = inner + width
    y, ends = t / edge, (2 if symmetric else 1)
    spread = d * unit / width * functions.acosh(edge / inner)
    decay = (y - functions.sqrt(y**2 - 1)) ** (2 * width / functions.pi) * functions.exp(-edge_rate(t, edge, functions))
    return ends * spread * decay / (2 * functions.acos(1 / y) ** 2)


def spectral_norm_tail_bound(d: int, t: Number, symmetric: bool = False, functions: Any = math) -> Number:
    """Return an upper bound on P(‖Z‖ ≥ t) for every t beyond the edge: the least of 1 and of two values of
    `swept_tail_bound`.

    Let s = `spectral_edge(d − 1)` and cos ψ = s/t. The two values are those for two values of the argument `width`. The
    first width is `spectral_edge(1)`. The second width is the lesser of (t − s)/2 and √(π s sin ψ)/2. For large d the
    width √(π s sin ψ)/2 gives nearly the least bound. At d = 1 the function returns exp(−t), which is the exact
    probability. The argument `functions` is math or mpmath.
    """
    edge, inner, unit = (spectral_edge(k, symmetric, functions.pi) for k in (d, d - 1, 1))
    if not t > edge:
        raise InvalidInput(f"t = {t!r}: must be above the edge {edge!r}, where the bound begins")
    if d == 1:
        return functions.exp(-t)
    near_best = functions.sqrt(functions.pi * inner * functions.sqrt(1 - (inner / t) ** 2)) / 2
    widths = (unit, min(near_best, (t - inner) / 2))
    return min(1, *(swept_tail_bound(d, t, width, symmetric, functions) for width in widths))


def spectral_norm_bound(d: Number, log_inverse_beta: Number, symmetric: bool = False) -> Number:
    """Return a bound that ‖Z‖ exceeds with probability at most β, for every d ≥ 1 and every β in (0, 1).

    The bound is 4d + 2.36 ln(1/β) for full noise, and 2.5 d + 1.77 ln(1/β) for symmetric noise. `log_inverse_beta` is
    ln(1/β). The proof replaces the rate of the tail bound by its tangent at t = 4d (full noise) or t = 2.5 d (symmetric
    noise); it is Corollary 1 of proofs/paper/tail-bound.md. For full noise and fixed β, the ratio of the bound to ‖Z‖
    tends to 4/π as d → ∞.
    """
    if symmetric:
        return d * 5 / 2 + log_inverse_beta * 177 / 100
    return 4 * d + log_inverse_beta * 236 / 100


def spectral_norm_angle(d: Number, log_inverse_beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """Return an angle φ for full noise and d ≥ 2. If φ < π/2, then ‖Z‖ ≤ πd/cos φ with probability at least 1 − β.

    The angle has φ³ = 3(ln(1/β) + (7/6) ln d)/(2d). For fixed β and large d, πd/cos φ is less than
    `spectral_norm_bound`, since it is πd + O(d^{1/3} (ln d)^{2/3}). Corollary 2 of proofs/paper/tail-bound.md is the
    proof.
    """
    return (3 * (log_inverse_beta + 7 * log(d) / 6) / (2 * d)) ** (1 / 3)


def ensemble(dimension: int, symmetric: bool = False) -> PfaffianEnsemble:
    """Return the joint law of the d singular values (full noise) or of the d eigenvalues (symmetric noise)."""
    return pfaffian_ensemble(require_dimension("dimension", dimension), half_line=not symmetric)


# THE LAW


def nuclear_norm(z: Matrix) -> Vector:
    """Return the nuclear norm ‖Z‖_* of one matrix or of a stack of them, shape (..., d, d) -> (...)."""
    norms: Vector = np.linalg.svd(z, compute_uv=False).sum(axis=-1)
    return norms


def log_normalizer(dimension: int, symmetric: bool = False) -> float:
    """Return the logarithm of ∫ exp(−‖Z‖_*) dZ, over R^{d×d} or over the symmetric matrices.

    If a function of Z depends on the spectrum alone, its integral over the D-dimensional space of all Z is a constant
    times an integral over the spectrum. The constant is the same for all functions of the spectrum. The constant is
    found from ∫ exp(−‖Z‖_F²/2) dZ = (2π)^{D/2}, because for the Gaussian density the integral over the spectrum is
    known (Selberg). For exp(−‖Z‖_*) the ensemble gives the integral over the spectrum. In the symmetric case dZ is
    Lebesgue measure in the coordinates Z_ii, and √2 Z_ij for i < j.
    """
    d = require_dimension("dimension", dimension)
    j = np.arange(d)
    common = gammaln((j + 3) / 2) - gammaln(1.5)  # ln Γ(1 + (j + 1)/2) / Γ(3/2)
    if symmetric:  # Mehta: ∫ ∏|λ_i − λ_j| e^{−Σ λ²/2} = (2π)^{d/2} ∏_j Γ(1 + (j + 1)/2)/Γ(3/2)
        gaussian = d / 2 * math.log(2 * math.pi) + common.sum()
    else:
        # With u = σ²/2 the integral is 2^{(d(d−1) − d)/2} ∫ ∏|u_i − u_j| ∏ u_i^{−1/2} e^{−Σ u}.
        # The value of the integral over u is known (Selberg, for Laguerre weights).
        gaussian = (d * (d - 1) - d) / 2 * math.log(2) + (gammaln((j + 1) / 2) + common).sum()
    entries = radius_shape(d, symmetric)
    return float(entries / 2 * math.log(2 * math.pi) - gaussian + ensemble(d, symmetric).log_normalizer)


def log_density(z: Matrix, symmetric: bool = False) -> Vector:
    """Return the log density at ρ = 1 of one matrix or of a stack of them, shape (..., d, d) -> (...)."""
    return -nuclear_norm(z) - log_normalizer(z.shape[-1], symmetric)


def sample_spectrum(dimension: int, rng: np.random.Generator, size: int, symmetric: bool = False) -> Matrix:
    """Draw the singular values (full noise) or eigenvalues (symmetric noise) of Z, in random order, (size, d)."""
    return sample_points(ensemble(dimension, symmetric), size, rng)


def sample(dimension: int, rng: np.random.Generator, size: int | None = None, symmetric: bool = False) -> Matrix:
    """Draw Z at ρ = 1, of shape (d, d) or (size, d, d). The draws are exact up to float64 rounding."""
    count = 1 if size is None else size
    spectrum = sample_spectrum(dimension, rng, count, symmetric)
    left = haar.sample(dimension, rng, count)
    right = left if symmetric else haar.sample(dimension, rng, count)
    z = (left * spectrum[:, None, :]) @ np.swapaxes(right, 1, 2)
    if symmetric:
        z = (z + np.swapaxes(z, 1, 2)) / 2  # averaging with the transpose removes rounding errors only
    drawn: Matrix = z[0] if size is None else z
    return drawn


def nuclear_norm_cdf(dimension: int, t: ArrayLike, symmetric: bool = False) -> Vector:
    """Return P(‖Z‖_* ≤ t) for every entry of `t`, which is the regularised incomplete Gamma function."""
    shape = float(radius_shape(require_dimension("dimension", dimension), symmetric))
    values: Vector = gammainc(shape, np.maximum(np.asarray(t, dtype=np.float64), 0.0))
    return values


def spectral_norm_cdf(dimension: int, t: ArrayLike, symmetric: bool = False) -> Vector:
    """Return P(‖Z‖ ≤ t) for every entry of `t`, as a ratio of Pfaffians, with absolute error near 1e-15 for d up to
    100.
    """
    law = ensemble(dimension, symmetric)
    values = np.asarray(t, dtype=np.float64)
    return np.array([law.largest_cdf(float(s)) for s in values.ravel()]).reshape(values.shape)


def spectral_norm_quantile(dimension: int, probability: float, symmetric: bool = False) -> float:
    """Return the t with P(‖Z‖ ≤ t) = probability, for a probability between 1e-12 and 1 − 1e-9."""
    if not SMALLEST_QUANTILE < probability < 1 - SMALLEST_SURVIVAL:
        raise InvalidInput(
            f"probability = {probability!r}: must be in (1e-12, 1 - 1e-9), where the quantile is accurate"
        )
    law = ensemble(dimension, symmetric)
    if probability <= 0.5:
        return float(
            scipy.optimize.brentq(lambda s: law.largest_cdf(s) - probability, 0.0, law.panels.edges[-1], xtol=1e-13)
        )
    survival = 1 - probability
    return float(
        scipy.optimize.brentq(lambda s: survival - law.largest_survival(s), 0.0, law.panels.edges[-1], xtol=1e-13)
    )


def mean_power_sum(dimension: int, power: float, symmetric: bool = False) -> float:
    """Return the mean E ‖Z‖_{S_p}^p = E Σ σ_i^p for p = `power` ≥ 0, up to rounding. For p = 2 this mean is E
    ‖Z‖_F².
    """
    return ensemble(dimension, symmetric).mean_power_sum(power)
