"""Exponential mechanism on finitely many outcomes. McSherry–Talwar 2007, ADK19 Lemma 4.

Release the outcome u with probability ∝ exp(η g(u)), as the largest η g(u) + G_u, G_u ~ Gumbel independent: the largest
of Gumbel variables with locations a_u sits at u with probability e^{a_u}/Σ_v e^{a_v}. `sample_index` does this to any
scores; `release` says which feature has the most energy, g(i) = n Σ_ii = Σ_k x_ki².

Where η comes from. With Δ(u) = g'(u) − g(u) the loss at u is −ηΔ(u) + ln E e^{ηΔ}, the mean under the first law. The
second term is one number between η inf Δ and η sup Δ. So, with R = sup Δ − inf Δ over the outcomes, the range,

    the loss is at most ηR, and over all u it fills an interval of length at most ηR,

hence ηR-DP and (ηR)²/8-zCDP (Cesar–Rogers 2020). If every score moves by at most Δ_g, R ≤ 2Δ_g: η = ε/(2Δ_g) spends at
most ε. If all scores move the same way, R ≤ Δ_g, and η = ε/Δ_g does.

Energies move by y_i² − x_i², between −1 and 1, so Δ_g = 1, R = 2 and η = ε/2. The loss ε is approached: x = e₁, y = e₂,
with the first law all on feature 2 and the output 1. In dimension 1 there is one outcome and no loss.

Accuracy. G_τ is the set of outcomes with g ≥ OPT − τ, μ its share of all outcomes. For every s ≤ τ

    P(u not in G_τ) ≤ e^{−η(τ − s)} / μ(G_s),

since outside G_τ the mean of e^{ηg} is at most e^{η(OPT − τ)}, and over all outcomes at least μ(G_s) e^{η(OPT − s)}.
McSherry–Talwar have s = τ/2. ADK19 Lemma 4 prints e^{−ητ} · μ(G_τ). That is refuted: 100 outcomes, one with g = 0 and
99 with g = −2, have P = 99/(99 + e²) = 0.931 at η = τ = 1, and the print says 0.004.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Number,
    OnLargeRows,
    Vector,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import PureDP, Spend

ENERGY_RANGE = 2  # R of the energies of two features or more

# FORMULAS


def exponent(epsilon: Number, score_range: Number) -> Number:
    """η = ε/R."""
    return epsilon / score_range


def privacy_loss(eta: Number, score_range: Number) -> Number:
    """Bound on the loss, and on the length of the interval that holds it: ηR."""
    return eta * score_range


def failure_bound(eta: Number, gap: Number, share: Number, exp: Callable[[Number], Number] = math.exp) -> Number:
    """Bound on P(g < OPT − τ): e^{−η gap}/share, with gap = τ − s and share = μ(G_s), the share of {g ≥ OPT − s}."""
    return exp(-eta * gap) / share


# MECHANISM


def sample_index(scores: Vector, noise: Vector, *, eta: float) -> int:
    """The outcome 0, …, m − 1, drawn with probability ∝ exp(η score); `noise` is standard Gumbel, (m,)."""
    return int(np.argmax(eta * scores + require_shape("noise", noise, scores.shape)))


def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Release which feature has the most energy, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d,), standard Gumbel.
    epsilon : ε > 0.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    A number of 1, …, d.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP and ε²/8-zCDP for replacing one row, n public, in real arithmetic.
    Source : ADK19 Lemma 4 (McSherry–Talwar 2007), its accuracy corrected; Cesar–Rogers 2020.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)

    # QUERY
    energies: Vector = sum_rows(lambda block: (block**2).sum(axis=0), rows)

    # NOISE
    index = sample_index(energies, noise, eta=exponent(epsilon, ENERGY_RANGE))

    # RELEASE
    return np.float64(index + 1)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = np.asarray(rng.gumbel(size=rows.shape[1]))
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, epsilon: float, dimension: int) -> Spend:
    """Claimed and proven ε, approached as n → ∞ (and nothing at all is spent in dimension 1)."""
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    proven = privacy_loss(exponent(epsilon, ENERGY_RANGE), ENERGY_RANGE)
    remark = "as n → ∞" if d > 1 else "there is one outcome; loss 0"
    return Spend(PureDP(epsilon), PureDP(proven), d > 1, remark)


ABOUT = About(
    name="exponential",
    title="exponential mechanism",
    paper="ADK19",
    algorithm="Lemma 4",
    notion="pure",
    released="level",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    degree=0,
    repeats=True,
)
