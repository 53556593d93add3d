"""Johnson–Lindenstrauss mechanism: project at random, add ℓ2 noise, fit. After Nikolov 2023 as described in DN25 §2.

Noise is smaller in fewer dimensions, and a random projection T to fewer dimensions nearly keeps distances. T acts on
svec(M) = (M_ii, √2 M_ij for i < j). It lists a symmetric M as a vector in R^D, D = d(d + 1)/2, of length ‖M‖_F.

1. T is a public l × D matrix. T = I if l = D. For l < D, T = G/√l, with G standard Gaussian from a public seed.
2. The image of row i is T svec(x_i x_iᵀ), ‖x_i‖ ≤ 1. Images longer than c = 1 + α/2 are shortened to c. ȳ is the mean.
3. ỹ = ȳ + (S/(nε)) z, where z has a uniform direction and ‖z‖ ~ Gamma(l). S = min(2c, √2 ‖T‖), where ‖T‖ is the largest
   singular value of T.
4. Release an M with M ⪰ 0 and tr M ≤ 1, as all second moments have, that minimises ‖T svec(M) − ỹ‖ (nearly, if l < D).

The output is ε-DP for every T: the density of z is ∝ exp(−‖z‖), so the privacy loss is at most nε/S times the distance
by which one row moves the mean image. The mean images of neighbours are at most S/n apart. The images lie in a ball of
radius c, so an image moves by at most 2c. Moreover, if x' replaces x, the image moves by at most ‖T‖ ‖xxᵀ − x'x'ᵀ‖_F ≤
√2 ‖T‖, because shortening increases no distance. Step 4 is post-processing, so a bad solution costs no privacy.

The number l is computed from public α and β. It is the least for which we can prove two events, with probability 1 − β:
no image is shortened, and ‖T svec(M − M')‖ differs from ‖M − M'‖_F by at most α for all M, M' in the set of step 4. If
the least such number is D or more, then l = D, and T = I. For the default α and β, l = D for d < 37.

NOTE: the source adds other noise, for which we know no exact sampler if l < D (`johnson_lindenstrauss_image` draws it
by a Markov chain, approximately), so we add ℓ2 noise. For α ≤ 1 the Frobenius error is likely O(α + √(d/(αnε)) +
‖T‖/301); the last term is for the 300 steps of the fit. DN25 §2 states O(√(d/(nε))) for the source's noise.

Proof: proofs/paper/johnson-lindenstrauss.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from covassay.reference.domain import require_shape, shape_of, sized_unit_rows, sum_rows
from covassay.reference.domain.types import Array, DataSet, Matrix, Number, Vector
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import svec, triangle, unsvec
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Dimension,
    Epsilon,
    LargeRows,
    RowBound,
    Rule,
    below_one,
    between,
    checked,
)
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.projections import psd_trace_ball
from covassay.reference.sensitivity import square_root


def require_seed(name: str, value: int) -> None:
    """Raise `InvalidInput` unless the value is a seed that numpy takes."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InvalidInput(f"{name} = {value!r}: must be a whole number of at least 0")


ITERATIONS = 300  # steps of the fit, after which ‖T svec(M) − ỹ‖² exceeds its least value by at most 4‖T‖²/301²
# The matrix T is drawn from SeedSequence(seed, spawn_key=(STREAM,)), where `seed` is public.
# The random numbers in T are therefore public, and the noise must be drawn from other random numbers.
# For T, numpy fills the seed with zeros up to 128 bits, and appends the key STREAM.
# A generator `default_rng(N)` with N < 2^128 has no key. It draws other numbers than those in T, even if N = seed.
# If N ≥ 2^128, the upper bits of N may equal STREAM, and then `default_rng(N)` can draw the numbers in T again.
# Generators spawned from SeedSequence(N), N < 2^128, have the keys 0, 1, 2, … in turn. The first 2^30 of these keys are
# below STREAM, so these generators draw other numbers than those in T.
# A real release draws its noise from a secret seed.
STREAM = 0x4A4C5400
Distortion = Annotated[
    float,
    between(
        "α",
        1e-100,
        1e100,
        "public: how much T may change a distance; a small α distorts less, a large α needs fewer dimensions",
    ),
]
DistortionFailure = Annotated[
    float, below_one("β", "public: with probability at least 1 − β, T changes no distance by more than α")
]
Seed = Annotated[int, Rule("the seed of T, public, a whole number of at least 0", require_seed, (0, None))]

# FORMULAS


def entries(d: Number) -> Number:
    """The number D = d(d + 1)/2 of free entries of a symmetric matrix."""
    return d * (d + 1) // 2


def sketch_rows(
    d: Number,
    alpha: Number,
    beta: Number,
    log: Callable[[Number], Number] = math.log,
    ceil: Callable[[Number], Number] = math.ceil,
) -> Number:
    """The number of rows of T, l = min(D, ⌈4 (√(2d) + √(2 ln 2) + 1 + √(2 ln(2/β)))²/α²⌉)."""
    width = (2 * d) ** 0.5 + (2 * log(2)) ** 0.5
    return min(entries(d), ceil(4 * (width + 1 + (2 * log(2 / beta)) ** 0.5) ** 2 / alpha**2))


def image_radius(alpha: Number) -> Number:
    """The length c = 1 + α/2 to which longer images are shortened."""
    return 1 + alpha / 2


def image_sensitivity(alpha: Number, norm: Number, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The bound S = min(2c, √2 ‖T‖) on n times the distance by which one row moves the mean image; `norm` is ‖T‖."""
    return min(2 * image_radius(alpha), sqrt(2) * norm)


def noise_scale(n: Number, epsilon: Number, change: Number) -> Number:
    """The scale S/(nε) by which the noise z is multiplied; `change` is S."""
    return change / (n * epsilon)


# MECHANISM


def svec_rows(rows: Matrix) -> Matrix:
    """Return the vector svec(x_i x_iᵀ) for every row x_i, (m, d) -> (m, D)."""
    i, j, weights = triangle(rows.shape[1])
    products: Matrix = weights * rows[:, i] * rows[:, j]
    return products


def transform(d: int, alpha: float, beta: float, seed: int) -> Matrix:
    """Return the public matrix T, of shape (l, D). For l < D the matrix is drawn from a random stream that only T
    uses.
    """
    size, rows = entries(d), sketch_rows(d, alpha, beta)
    if rows == size:
        return np.eye(size)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STREAM,)))
    return rng.standard_normal((rows, size)) / math.sqrt(rows)


def fit(t: Matrix, y: Vector, d: int) -> Matrix:
    """Return an M ⪰ 0 with tr M ≤ 1 that nearly minimises ‖T svec(M) − y‖, by accelerated projected gradients
    (FISTA).
    """
    if t.shape[0] == t.shape[1]:  # T = I
        return psd_trace_ball(unsvec(y), 1.0)
    step = 1 / np.linalg.norm(t, 2) ** 2
    current, ahead, momentum = np.zeros((d, d)), np.zeros((d, d)), 1.0
    for _ in range(ITERATIONS):
        gradient = unsvec(t.T @ (t @ svec(ahead) - y))
        following = psd_trace_ball(ahead - step * gradient, 1.0)
        next_momentum = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / next_momentum * (following - current)
        current, momentum = following, next_momentum
    return current


@checked
def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: Epsilon,
    alpha: Distortion = 1.0,
    beta: DistortionFailure = 0.1,
    seed: Seed = 0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release a second moment M, fitted so that T svec(M) is near the noisy image ỹ. `noise` is z, of shape (l,)."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_shape("noise", noise, (sketch_rows(d, alpha, beta),))

    # 1. T, which is public
    t = transform(d, alpha, beta, seed)

    # 2. QUERY: ȳ
    radius = image_radius(alpha)

    def images(block: Matrix) -> Matrix:
        y = svec_rows(block) @ t.T
        shortened: Matrix = y / np.maximum(1.0, np.linalg.norm(y, axis=1) / radius)[:, None]
        return shortened

    mean = sum_rows(lambda block: images(block).sum(axis=0), rows) / n

    # 3. NOISE: ỹ
    change = image_sensitivity(alpha, float(np.linalg.norm(t, 2)))
    noisy = mean + noise_scale(n, epsilon, change) * z

    # 4. RELEASE
    fitted = fit(t, noisy, d)
    released: Matrix = (fitted + fitted.T) / 2 * row_bound**2
    return released


def draw_noise(
    dimension: int, rng: np.random.Generator, alpha: float = 1.0, beta: float = 0.1, size: int | None = None
) -> Array:
    """Return the noise z of `release`, with density ∝ exp(−‖z‖): one vector (l,), or `size` of them (size, l)."""
    length = sketch_rows(dimension, alpha, beta)
    gaussians = rng.standard_normal((1 if size is None else size, length))
    radii = rng.gamma(length, size=(len(gaussians), 1))
    drawn: Matrix = gaussians / np.linalg.norm(gaussians, axis=1, keepdims=True) * radii
    return drawn if size is not None else np.asarray(drawn[0])


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    alpha: Distortion = 1.0,
    beta: DistortionFailure = 0.1,
    seed: Seed = 0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    alpha : α in [1e-100, 1e100], public: how much T may change a distance; a small α distorts less, a large α needs
        fewer dimensions.
    beta : β in [1e-300, 1), public: with probability at least 1 − β, T changes no distance by more than α.
    seed : the seed of T, public, a whole number of at least 0.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, alpha=alpha, beta=beta)
    return release(
        x, noise, epsilon=epsilon, alpha=alpha, beta=beta, seed=seed, row_bound=row_bound, on_large_rows=on_large_rows
    )


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed budget is ε. The proven budget is ε for d ≥ 2, and ε/√2 for d = 1.

    If x' replaces x, ‖xxᵀ − x'x'ᵀ‖_F is at most √2 for d ≥ 2, but at most 1 for d = 1. The proof is about the noisy
    image ỹ. The proof covers the release, because the fit is a function of ỹ and public numbers.
    """
    proven = epsilon if dimension > 1 else epsilon / math.sqrt(2)
    pair = "orthonormal rows if T = I" if dimension > 1 else "the rows 1 and 0"
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        dimension == 1,
        f"the loss of the noisy image ỹ is at most the proven budget, with equality for {pair}",
    )


ABOUT = About(
    "johnson-lindenstrauss",
    "Johnson–Lindenstrauss mechanism with ℓ2 noise",
    "Nikolov 2023",
    "projection mechanism, ℓ2 noise (ours)",
    "reconstructed",
)
MECHANISM = Mechanism(
    ABOUT,
    PURE,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    unranked=(
        "for 2 ≤ d < 37, the default output has the law of k-norm with body=l2, projected onto the second moments (for "
        "d = 1 its noise is √2 times as large); for d ≥ 37, the error was not measured"
    ),
)
