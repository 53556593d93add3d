"""Symmetric nuclear-Laplace noise on the centred covariance: release S + ρZ.

S = (1/n) Σ_i (x_i − x̄)(x_i − x̄)ᵀ, x̄ the mean of the rows, which lie in the unit ball: what a user calls the covariance.
Z is a random symmetric matrix with density ∝ exp(−‖Z‖_*) with respect to Lebesgue measure on the symmetric matrices;
‖·‖_* is the sum of the singular values. The mechanisms of the papers release the second moment (1/n) Σ_i x_i x_iᵀ, and
their noise does not fit S: one row also moves the mean.

Where the scale comes from. Let m be the mean of the n − 1 rows that stay and T their scatter Σ (x_j − m)(x_j − m)ᵀ.
With the row x, x̄ = m + (x − m)/n and

    S = T/n + ((n − 1)/n²)(x − m)(x − m)ᵀ.

T does not depend on x, so replacing x by y changes S by ((n − 1)/n²)(v vᵀ − w wᵀ), v = x − m, w = y − m. That matrix
has rank two; its non-zero eigenvalues have the sum |v|² − |w|² and the product (v·w)² − |v|²|w|² ≤ 0, so its nuclear
norm is their distance √((|v|² + |w|²)² − 4(v·w)²) = |v − w| |v + w| = |x − y| |x + y − 2m|.

The supremum over x, y, m in the unit ball (every m there is the mean of n − 1 equal rows). With s = |x + y|:
d ≥ 2 : |x − y|² ≤ 4 − s² (parallelogram law) and |x + y − 2m| ≤ s + 2, and (2 − s)(2 + s)³ is at most 27, at s = 1.
    So 3√3 (n − 1)/n², attained by x, y, m at the corners of an equilateral triangle on the sphere.
d = 1 : |x − y| + |x + y| ≤ 2, so the product is at most a (4 − a) ≤ 4 with a = |x − y|. So 4 (n − 1)/n², attained by
    x = 1, y = −1, m = 1.

Replacing a row moves the second moment by at most 2/n (1/n for d = 1). The papers' scale, 2/(nε) for every d, would
spend 3√3/2 (n − 1)/n ε here, about 2.6 ε, and 2 (n − 1)/n ε for d = 1.

ρ is the sensitivity divided by ε. The loss, the log ratio of the densities at Y, is (‖Y − S'‖_* − ‖Y − S‖_*)/ρ ≤ ε by
the triangle inequality; on the worst pair it is ε at Y = S, and near ε in a small ball around S, so no smaller ε holds.
For n = 1 the covariance of every data set is 0 and so is ρ: 0 is released, which tells nothing.

S is computed from the rows in two passes, and no function here takes a covariance or a second moment, so this scale
cannot meet a second moment, nor the scale of a second moment this S.

DN25 footnote 2 says that its results hold for the centred covariance after parameters and bounds are adjusted by a
small constant factor; the factors are ours.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Rows,
    map_rows,
    require_dimension,
    require_positive,
    require_symmetric,
    second_moment,
    sum_rows,
    unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.sensitivity import centred_sensitivity

# FORMULAS


def noise_scale(n: Number, d: int, epsilon: Number, sqrt: Callable[[Number], Number] = math.sqrt) -> Number:
    """ρ = 3√3 (n − 1)/(n²ε), and 4 (n − 1)/(n²ε) for d = 1."""
    return centred_sensitivity(n, d, sqrt) / epsilon


# MECHANISM


def centred(rows: Rows) -> Rows:
    """The rows x_i − x̄, after one pass for the mean."""
    mean = sum_rows(lambda block: block.sum(axis=0), rows) / rows.shape[0]
    return map_rows(lambda block: block - mean, rows)


def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy centred covariance, given symmetric noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows. Clipped about 0, not about their mean.
    noise : (d, d) symmetric, a draw of Z at ρ = 1.
    epsilon : ε > 0.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Not always positive semidefinite.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : DN25 Algorithm 1 and footnote 2; the sensitivity and the symmetric noise are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z = require_symmetric("noise", noise, (d, d))

    # QUERY
    covariance = second_moment(centred(rows))

    # NOISE
    noisy: Matrix = covariance + noise_scale(n, d, epsilon) * z

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """The noise that `release` takes: (d, d), or (size, d, d), symmetric."""
    return law.sample(dimension, rng, size, symmetric=True)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = draw_noise(rows.shape[1], rng)
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, epsilon: float, dimension: int) -> Spend:
    """Claimed ε; proven ε, attained for every n ≥ 2."""
    require_positive("epsilon", epsilon)
    where = (
        "x = 1, y = −1, the others 1" if require_dimension("dimension", dimension) == 1 else "an equilateral triangle"
    )
    return Spend(PureDP(epsilon), PureDP(epsilon), True, f"at Y = r²S, for {where}")


ABOUT = About(
    name="centred-covariance",
    title="nuclear-Laplace perturbation of the centred covariance",
    paper="DN25",
    algorithm="Algorithm 1 and footnote 2, centred (ours)",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
)
