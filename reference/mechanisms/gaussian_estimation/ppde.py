"""Private learning of a product distribution on {0, 1}^d. KLSU19 Algorithm 7 (PPDE).

R = ⌊log₂ d⌋, m = max(1, ⌊n/(R + 1)⌋). Records are taken in the order given: block r is records (r − 1)m + 1, …, rm,
counted from 1. A record that does not exist counts as a zero row; those after block R + 1 are not used. Every entry is
first clipped to [0, 1]. u_r = 2^{−r}, τ_r = 3u_r/8. S = {1, …, d}, r = 1.

1. While u_r|S| ≥ 1: B² = 6 u_r|S| ln(mR/β); q = 1/m times the sum over block r of the x_i[S], each scaled back to
   Euclidean length B if it is longer, plus N(0, s²I). Coordinates with q_j ≥ τ_r are done: their estimate is q_j. S
   keeps the others; r goes up by 1.
2. If S is not empty: q from block r in the same way, but with B² = 6 ln(m/β), and all are done.
3. Release the estimates, clipped to [0, 1].

There are at most R rounds in 1, because u_r|S| ≥ 1 takes 2^r ≤ d. How many there are depends on the q before.

What is the paper's. The text at hand has lost the formulas and the pseudocode. Seen, in words: neighbours differ in one
record; a disjoint set of records for each round; Gaussian noise on the mean of truncated rows; a coordinate is set in a
round, or goes on with a smaller bound on its mean; a final round; means at most 1/2. Recalled or filled in, not
checked: R, m, u, τ, B, s, the norm and the sensitivity, every condition. Ours: clipping of entries, zero rows, the
constants of the proofs. "paper" is the natural reading of all that; should the formulas differ, the reading is wrong.

Privacy. ρ-zCDP is D_α(P‖Q) ≤ αρ for the output laws P, Q of any neighbours and every α > 1, D_α the Rényi divergence.
D_α(N(a, s²I)‖N(b, s²I)) = α‖a − b‖²/(2s²), so noise N(0, s²I) on a query of ℓ2 sensitivity Δ₂ is Δ₂²/(2s²)-zCDP.
Replace one record, of block b. Given the earlier q, all of S, B, s and whether block r is read are fixed. The rows of
the noise are independent, each used at most once, so the q of block r is Gaussian about a mean that block r alone
moves. On every history, its law is the same for both data sets if r ≠ b: that term is 0. The term r = b is at most ρ,
if s ≥ Δ₂/√(2ρ). So the ratio of the joint densities of all q is that of one factor, and they are ρ-zCDP together
(adaptive composition). A record is read at most once. The estimates are post-processing. All this holds for all data
and any public β; they matter for accuracy only.

Where s comes from. Let u, v be the old and the new row, in [0, 1]^S and of length at most B: shortening keeps entries
in [0, 1], and a missing record is the same zero row for neighbours. Take min(u_j, v_j) off both: u − v stays the same
and no length grows. Then they have disjoint supports, of at most a and |S| − a coordinates, and ‖u − v‖² = ‖u‖² + ‖v‖²
≤ min(a, B²) + min(|S| − a, B²) ≤ min(2B², |S|). So Δ₂² ≤ min(2B², |S|)/m². 2B² is attained if B² ≤ ⌊|S|/2⌋, by rows of
length B with disjoint supports; |S| is attained if ⌈|S|/2⌉ ≤ B², by complementary rows of zeros and ones, neither of
which is shortened. For odd |S| and B² between the two, neither is: the largest is then ⌊|S|/2⌋ + B².

paper : s = B/(m√ρ), that is Δ₂ = √2 B/m. Spends at most ρ; if |S| = 1, ρ/2. (For entries of any sign, Δ₂ is 2B/m.)
tight : s = min(√2 B, √|S|)/(m√(2ρ)) (ours). Less noise where 2B² > |S|: in a round, where 12 u_r ln(mR/β) > 1. In the
    first that is so unless d ≤ 3, n ≤ 3 and β ≥ e^{−1/6} = 0.846…. Spends at most ρ; supremum ρ, as follows.

With "tight", if n ≥ 4 or β ≤ 4/5, block 1 has B² ≥ ⌈d/2⌉, and complementary rows in it make its q spend ρ. Not always:
d = n = 1, β = 0.9 has B² = 0.632 and spends at most 0.632ρ. Let n → ∞, half of the other rows of block 1 being zeros
and half ones. As s → 0, the probability that q leaves (τ_1, 1) goes to 0; inside, the release is q. So its loss tends
to ρ: in units of s both laws converge in total variation, and D_α is lower semicontinuous.

B/m, with s = B/(m√(2ρ)), would be right for replacing a record by a zero row; for other replacements it spends up to
2ρ. It is not right for removing a record: that changes n, and with it m and the blocks.

Accuracy. For i.i.d. rows with independent entries in [0, 1] of means p_j ≤ 1/2, d ≥ 2 and m ≥ `enough_records`. Write
u = u_r, L = ln(mR/β), l = ln(4dR/β). Blocks are independent, so S, which earlier ones decide, tells nothing of block r.
Claim: except with probability 2β, p_j ≤ u and |q_j − p_j| ≤ u/8 for all j ∈ S in all rounds. Induction, from p_j ≤ u_1:
(1) No row is shortened. X = Σ_{j ∈ S} x_j ≥ ‖x[S]‖² (equal for bits) has a mean of at most μ = u|S| ≥ 1. On [0, 1],
    e^x ≤ 1 + (e − 1)x; so E e^X ≤ e^{(e − 1)μ}, and P(X ≥ 6μL) ≤ e^{(e − 1)μ − 6μL} (Chernoff). If 5L ≥ e − 1, for
    which m ≥ 2 is enough, this is at most e^{−L} = β/(mR). Over m rows and R rounds: β.
(2) Var x_j ≤ p_j ≤ u, so the plain mean of the block is within u/16 of p_j except with probability 2e^{−l} = β/(2dR)
    (Bernstein, see `enough_records`). Over dR pairs of a coordinate and a round: β/2.
(3) The noise is within s√(2l) ≤ u/16 except with probability 2e^{−l}. Over dR pairs: β/2.
What is left has p_j < τ_r + u/8 = u_{r+1}, which is the induction; what is done has p_j ≥ τ_r − u/8 = u/4, and
|q_j − p_j| ≤ u/8 ≤ p_j/2. ∎ (The induction of Lemma 5.8, with constants of our own.)

Step 2, for any d and m ≥ 2, if p_j ≤ u_r on S. Let l' = ln(4d/β). Since u_r|S| < 1, (1) with 1 for μ and ln(m/β) for L
has no row shortened, except with probability β. Over d coordinates, sampling is off by at most √(2p_j l'/m) + 2l'/(3m),
and noise by at most s√(2l') with s ≤ √(6 ln(m/β)/ρ)/m, except with probability β/2 each. So |q_j − p_j| is at most the
sum of the two, except with probability 2β, to be added to that of the rounds. Step 3 moves no estimate away from p_j.

Means above 1/2. The paper says that it can do without the assumption; how is not in the text at hand. This code does
not flip coordinates. It is private for all data; only accuracy needs p_j ≤ 1/2. A flip chosen from the data would
need its own budget.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    Vector,
    as_rows,
    map_rows,
    require_below_one,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    rows_between,
    sum_rows,
)
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend

# FORMULAS


def mean_limit(r: int) -> Number:
    """u_r = 2^{−r}."""
    return 0.5**r


def threshold(r: int) -> Number:
    """τ_r = 3u_r/8."""
    return 3 * 0.5**r / 8


def truncation_squared(
    u: Number, size: Number, m: Number, rounds: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """B² of a round, B a Euclidean length: 6 u|S| ln(mR/β)."""
    return 6 * u * size * log(m * rounds / beta)


def last_truncation_squared(m: Number, beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """B² of step 2: 6 ln(m/β)."""
    return 6 * log(m / beta)


def change_squared(bound_squared: Number, size: Number, calibration: str) -> Number:
    """A bound on (mΔ₂)²: 2B² in the paper, min(2B², |S|) tight."""
    return 2 * bound_squared if calibration == "paper" else min(2 * bound_squared, size)


def noise_variance(change: Number, m: Number, rho: Number) -> Number:
    """s² = Δ₂²/(2ρ), for `change` = (mΔ₂)²."""
    return change / (2 * rho * m**2)


def enough_records(
    m: Number, d: Number, rounds: Number, rho: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """m is enough for the rounds if it is at least this, which grows with ln m: sampling (Bernstein), and noise.

    With l = ln(4dR/β), and u ≥ 1/|S| ≥ 1/d in a round. Bernstein with variance at most u and t = u/16: the exponent
    mt²/(2(u + t/3)) = (u/16)²m/(2u(1 + 1/48)) = mu/522.7 is at least l. Noise: s√(2l) ≤ u/16 with
    s² = 6u|S| ln(mR/β)/(m²ρ) ("tight" has no more). For d ≥ 2: in one dimension there is no round.
    """
    length = log(4 * d * rounds / beta)
    return max(523 * d * length, 16 * d * (12 * length * log(m * rounds / beta) / rho) ** 0.5)


# MECHANISM


def most_rounds(dimension: int) -> int:
    """R = ⌊log₂ d⌋."""
    return dimension.bit_length() - 1


def block_mean(rows: Rows, r: int, m: int, kept: Any, bound: float) -> Vector:
    """The mean over block r of the rows, restricted to the coordinates kept and shortened to the bound: (|S|,).

    Block r is rows first, …, last − 1, counted from 0, as in `rows_between`. The sum is divided by m, whatever exists.
    """
    first, last = (r - 1) * m, min(r * m, rows.shape[0])
    if first >= last:
        return np.zeros(len(kept))

    def total(block: Matrix) -> Vector:
        part = block[:, kept]
        factors = bound / np.maximum(np.linalg.norm(part, axis=1), bound)
        shortened: Vector = (part * factors[:, None]).sum(axis=0)
        return shortened

    mean: Vector = sum_rows(total, rows_between(rows, first, last)) / m
    return mean


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    calibration: Calibration = "paper",
    beta: float = 0.1,
) -> Vector:
    """Release the mean of every coordinate, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows; entries are clipped to [0, 1].
    noise : (R + 1, d), independent N(0, 1); row r for block r, used at most once, on the coordinates in S.
    rho : ρ > 0.
    calibration : "paper" or "tight".
    beta : in (0, 1). Any public β is private; it matters for accuracy only.

    Returns
    -------
    (d,), entries in [0, 1].

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public and the order kept, in real arithmetic, whatever the data are.
    Source : KLSU19 Algorithm 7, Theorems 5.1 and 5.2; reconstructed. "tight" is ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_below_one("beta", beta)
    rows: Rows = map_rows(lambda block: np.clip(block, 0.0, 1.0), as_rows(x))
    n, d = rows.shape
    rounds = most_rounds(d)
    z = require_shape("noise", noise, (rounds + 1, d))

    # QUERY
    m = max(1, n // (rounds + 1))

    # NOISE
    def noisy_mean(r: int, kept: Any, bound_squared: float) -> Vector:
        variance = noise_variance(change_squared(bound_squared, len(kept), calibration), m, rho)
        mean: Vector = block_mean(rows, r, m, kept, math.sqrt(bound_squared)) + math.sqrt(variance) * z[r - 1, kept]
        return mean

    estimate = np.zeros(d)
    left = np.arange(d)  # S
    r = 1
    while mean_limit(r) * len(left) >= 1:
        q = noisy_mean(r, left, truncation_squared(mean_limit(r), len(left), m, rounds, beta))
        done = q >= threshold(r)
        estimate[left[done]] = q[done]
        left = left[~done]
        r += 1
    if len(left):
        estimate[left] = noisy_mean(r, left, last_truncation_squared(m, beta))

    # RELEASE
    return np.clip(estimate, 0.0, 1.0)


def draw_noise(dimension: int, rng: np.random.Generator) -> Matrix:
    """The noise that `release` takes."""
    return rng.standard_normal((most_rounds(dimension) + 1, dimension))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    calibration: Calibration = "paper",
    beta: float = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = draw_noise(as_rows(x).shape[1], rng)
    return release(x, noise, rho=rho, calibration=calibration, beta=beta)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ρ; proven ρ, whatever n and β are.

    claimed : by Theorem 5.1, whose number is lost; ρ is the natural reading. proven : no neighbours spend more.
    attained : some come arbitrarily close, n being free. False says that this is not shown. remark : which, and where.
    """
    require_positive("rho", rho)
    require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    remark = (
        "at most ρ; supremum ρ, by complementary rows in the first block, as n → ∞"
        if calibration == "tight"
        else "at most ρ; reached by the noisy mean of one block, where B² ≤ ⌊|S|/2⌋"
    )
    return Spend(ZCDP(rho), ZCDP(rho), calibration == "tight", remark)


ABOUT = About(
    name="ppde",
    title="private learning of a product distribution",
    paper="KLSU19",
    algorithm="Algorithm 7",
    notion="zcdp",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"beta": 0.1},
    degree=1,
    domain="cube",
    ordered=True,
    repeats=True,
)
