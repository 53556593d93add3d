"""Blocks of Σ on and next to the diagonal, with Gaussian noise, and zeros elsewhere. Cai, Li 2026 (reconstructed).

1. Cut the columns into q blocks of `block` columns each, of which the last may be narrower. In every row, shorten every
   block that is longer than r = `block_bound` to length r. Σ is the second moment of these rows. P(Σ) keeps the entries
   of Σ whose row and column lie in the same block or in neighbouring blocks, and sets the other entries to 0.
2. Draw a symmetric W, N(0, 1) on the diagonal and N(0, 1/2) above it, independent. Add σP(W) to P(Σ), with σ = S
   r²/(n√(2ρ)).
3. Release P(Σ) + σP(W). The output is symmetric, but it need not be positive semidefinite.

Why ρ-zCDP. S is the largest ‖P(x xᵀ − y yᵀ)‖_F over rows with blocks in the unit ball. Let s_b, t_b be the squared
lengths of block b of x and y, and c_b their scalar product, so that c_b² ≤ s_b t_b. Then

    ‖P(x xᵀ − y yᵀ)‖_F² = Σ_b (s_b² + t_b² − 2c_b²) + 2 Σ_{b<q} (s_b s_{b+1} + t_b t_{b+1} − 2c_b c_{b+1}).

Let q ≥ 2. The sum of the terms without c_b is at most 6q − 4. The sum of the terms with c_b is −2 Σ_{b<q} (c_b +
c_{b+1})² + 2 Σ_{1<b<q} c_b² ≤ 2(q − 2), so S² ≤ 8(q − 1). Equality holds if the blocks of x have length 1, and y is x
with every second block negated. S² is 2 for q = 1 and d ≥ 2, and 1 for d = 1.

Why blocks. Rows with q blocks of length r have length r√q. For these, `gauss_cov` has σ = q r²/(n√ρ) in every entry.
This mechanism has σ = 2√(q − 1) r²/(n√ρ) for q ≥ 2, in fewer entries, but it releases 0 for all other entries.

NOTE: we had only the abstract of the paper. We derived the shortening of blocks to length r, the constant S, and
the use of one noise scale for all blocks. The paper also has a hierarchical estimator, for an unknown decay.

Proof: proofs/paper/block-tridiagonal.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    as_rows,
    map_rows,
    require_symmetric,
    row_norms,
    second_moment,
    shape_of,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import LARGEST_DIMENSION, Dimension, Rho, between, checked, count
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.sensitivity import square_root

Block = Annotated[int, count("k", 1, LARGEST_DIMENSION, "public: the number of columns of a block")]
BlockBound = Annotated[
    float, between("r", 1e-100, 1e100, "public, in the unit of x: longer blocks of a row are shortened to it")
]

# FORMULAS


def blocks(d: int, block: int) -> int:
    """The number q of blocks."""
    return -(-d // block)


def sensitivity_squared(d: int, block: int) -> Number:
    """The square S²: 8(q − 1) for q ≥ 2 blocks, 2 for one block of several columns, and 1 for d = 1."""
    q = blocks(d, block)
    if q == 1:
        return 2 if d > 1 else 1
    return 8 * (q - 1)


def noise_scale(n: Number, d: int, rho: Number, block: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The noise scale σ/r² = S/(n√(2ρ))."""
    return sqrt(sensitivity_squared(d, block) / (2 * rho)) / n


def kept_entries(d: int, block: int) -> int:
    """The number of entries on and above the diagonal that are kept."""
    full, rest = d // block, d % block
    within = full * block * (block + 1) // 2 + rest * (rest + 1) // 2
    return within + (max(full - 1, 0) * block + rest * (full > 0)) * block


# MECHANISM


def kept(d: int, block: int) -> NDArray[np.bool_]:
    """Return True for the entries that P keeps, (d, d)."""
    place = np.arange(d) // block
    near: NDArray[np.bool_] = np.abs(place[:, None] - place) <= 1
    return near


def shortened(rows: Matrix, block: int, block_bound: float) -> Matrix:
    """Return the rows in units of r, with every block shortened to length 1 if it is longer."""
    parts = [rows[:, first : first + block] for first in range(0, rows.shape[1], block)]
    return np.hstack([part / np.maximum(row_norms(part), block_bound)[:, None] for part in parts])


@checked
def release(x: DataSet, noise: Matrix, *, rho: Rho, block: Block = 1, block_bound: BlockBound = 1.0) -> Matrix:
    """Release the noisy blocks next to the diagonal, given the noise: a symmetric (d, d) draw of W.

    Noise of many draws, (..., d, d), gives one output for each draw.
    """
    # VALIDATE
    rows = as_rows(x)
    n, d = rows.shape
    w = require_symmetric("noise", noise, (d, d), stacked=True)

    # 1. QUERY
    moment = second_moment(map_rows(lambda part: shortened(part, block, block_bound), rows))
    near = kept(d, block)

    # 2. NOISE
    noisy = np.where(near, moment + noise_scale(n, d, rho, block) * w, 0.0)

    # 3. RELEASE
    return noisy * block_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Return the noise that `release` takes, (d, d) or (size, d, d). The entries of the noise that P drops are not
    used.
    """
    return wigner.sample_goe(dimension, rng, size)


@checked
def sample(
    x: DataSet, rng: np.random.Generator, *, rho: Rho, block: Block = 1, block_bound: BlockBound = 1.0
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers. The error is small if features that are
        far apart in the order of the columns are hardly correlated.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    block : k from 1 to 1000000, public: the number of columns of a block.
    block_bound : r in [1e-100, 1e100], public, in the unit of x: longer blocks of a row are shortened to it.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, rho=rho, block=block, block_bound=block_bound)


@checked
def spend(*, rho: Rho, dimension: Dimension, block: Block = 1) -> Spend:
    """The claimed budget is ρ.

    The proven budget is ρ, which some neighbours attain at every order, in every dimension and for every `block`.
    """
    remark = (
        "rows with blocks of length r that differ in the sign of every second block attain the proven budget at every "
        "order; for a single block, orthogonal rows of length r (r and 0 if d = 1) attain it"
    )
    return Spend(ZCDP(rho), ZCDP(rho), True, remark)


ABOUT = About(
    "block-tridiagonal",
    "blockwise tridiagonal covariance",
    "Cai, Li 2026",
    "blockwise tridiagonal estimator",
    "reconstructed",
)
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    domain="space",
    unranked="its error depends on the entries of Σ far from the diagonal, which n, d and the trace do not determine",
)
