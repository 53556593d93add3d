"""Johnson–Lindenstrauss mechanism: a public random projection, noise in few dimensions, a fit. Nikolov 2023 (ℓ2 noise).

svec(M) = (M_ii, √2 M_ij for i < j) is an isometry of the symmetric matrices onto R^D, D = d(d + 1)/2.

1. T = G/√l with G standard Gaussian, l × D, drawn from a public seed; T = I if l = D.
2. y_i = T svec(x_i x_iᵀ), shortened to length c = 1 + α/2 where it is longer.
3. ỹ = (1/n) Σ y_i + z, z with density ∝ exp(−‖z‖nε/S): a uniform direction, and ‖z‖ ~ Gamma(l, S/(nε)).
4. Release the matrix of {M ⪰ 0, tr M ≤ 1} whose image T svec(M) is nearest to ỹ.

Where the scale comes from. Replacing one row moves (1/n) Σ y_i by at most S/n, where S is the smaller of 2c, because
shortened images lie in a ball of radius c, and √2 ‖T‖, because shortening moves no two points apart and
‖x xᵀ − y yᵀ‖_F ≤ √2. T is public, so S is. By the triangle inequality the loss is at most ε. Step 4 is
post-processing: how well it is solved costs accuracy, not privacy. The number of its iterations is public.

How T is chosen. Differences M of two matrices of step 4 have ‖M‖_* ≤ 2. By Gordon's comparison and Gaussian
concentration, |‖T svec(M)‖ − ‖M‖_F| ≤ (2/√l)(w + 1 + √(2 ln(2/β))) for all of them at once, with probability 1 − β,
where w = √(2d) + √(2 ln 2) bounds the mean width E‖svec⁻¹(g)‖ of the nuclear unit ball. l is the least number of rows
that makes the right side at most α. Then no image of a row is longer than 1 + α/2, and none is shortened. If that l is
D or more, projecting gains nothing and is left out: below d = 37 at α = 1.

NOTE: ℓ2 noise is exact to draw, but not the paper's: its noise is the K-norm mechanism of the image of the nuclear
ball, which is smaller in most directions (`johnson_lindenstrauss_image`, by Markov chain). The rate √(d/(nε)) is
claimed of that one; this one has error O(α + √(d/(αnε))). The printed paper was not at hand: the steps are those that
DN25 §2 describes, the constants are ours.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Vector,
    require_below_one,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import svec, triangle, unsvec
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.projections import psd_trace_ball

ITERATIONS = 300  # of step 4; its squared distance is then within 4‖T‖²/301² of the least
STREAM = 8  # of T, apart from that of any noise

# FORMULAS


def entries(d: Number) -> Number:
    """D = d(d + 1)/2."""
    return d * (d + 1) // 2


def sketch_rows(
    d: Number,
    alpha: Number,
    beta: Number,
    log: Callable[[Number], Number] = math.log,
    ceil: Callable[[Number], Number] = math.ceil,
) -> Number:
    """l = min(D, ⌈4 (√(2d) + √(2 ln 2) + 1 + √(2 ln(2/β)))²/α²⌉)."""
    width = (2 * d) ** 0.5 + (2 * log(2)) ** 0.5
    return min(entries(d), ceil(4 * (width + 1 + (2 * log(2 / beta)) ** 0.5) ** 2 / alpha**2))


def image_radius(alpha: Number) -> Number:
    """c = 1 + α/2."""
    return 1 + alpha / 2


def image_sensitivity(alpha: Number, norm: Number) -> Number:
    """S = min(2c, √2 ‖T‖)."""
    return min(2 * image_radius(alpha), 2**0.5 * norm)


def noise_scale(n: Number, epsilon: Number, change: Number) -> Number:
    """S/(nε)."""
    return change / (n * epsilon)


# MECHANISM


def svec_rows(rows: Matrix) -> Matrix:
    """svec(x_i x_iᵀ) of every row: (m, d) -> (m, D)."""
    i, j, weights = triangle(rows.shape[1])
    products: Matrix = weights * rows[:, i] * rows[:, j]
    return products


def transform(d: int, alpha: float, beta: float, seed: int) -> Matrix:
    """The public T, (l, D). Its stream is none that `np.random.default_rng(number)` gives, so no noise repeats it."""
    size, rows = entries(d), sketch_rows(d, alpha, beta)
    if rows == size:
        return np.eye(size)
    return np.random.default_rng((seed, STREAM)).standard_normal((rows, size)) / math.sqrt(rows)


def fit(t: Matrix, y: Vector, d: int) -> Matrix:
    """The matrix of {M ⪰ 0, tr M ≤ 1} with T svec(M) nearest to y, by accelerated projected gradients (FISTA)."""
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


def require_parameters(alpha: float, beta: float, seed: int) -> None:
    """α > 0, β in (0, 1), a seed that numpy takes."""
    require_positive("alpha", alpha)
    require_below_one("beta", beta)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed = {seed!r}: must be a whole number of at least 0")


def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: float,
    alpha: float = 1.0,
    beta: float = 0.1,
    seed: int = 0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the matrix fitted to the noisy image of the second moment, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (l,), density ∝ exp(−‖z‖); l = `sketch_rows(d, alpha, beta)`.
    epsilon : ε > 0.
    alpha : distortion that T may have; small is accurate, large saves dimensions.
    beta : in (0, 1): probability that T distorts more.
    seed : of T, public.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, positive semidefinite and of trace at most r² up to rounding, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic, for every T.
    Source : Nikolov 2023 as described in DN25 §2; ℓ2 noise, clipping and constants are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_parameters(alpha, beta, seed)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    t = transform(d, alpha, beta, seed)
    z = require_shape("noise", noise, (len(t),))

    # QUERY
    radius = image_radius(alpha)

    def images(block: Matrix) -> Matrix:
        y = svec_rows(block) @ t.T
        shortened: Matrix = y / np.maximum(1.0, np.linalg.norm(y, axis=1) / radius)[:, None]
        return shortened

    mean = sum_rows(lambda block: images(block).sum(axis=0), rows) / n

    # NOISE
    change = image_sensitivity(alpha, float(np.linalg.norm(t, 2)))
    noisy = mean + noise_scale(n, epsilon, change) * z

    # RELEASE
    fitted = fit(t, noisy, d)
    released: Matrix = (fitted + fitted.T) / 2 * row_bound**2
    return released


def draw_noise(length: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Density ∝ exp(−‖z‖) in R^l: (l,), or (size, l)."""
    gaussians = rng.standard_normal((1 if size is None else size, length))
    radii = rng.gamma(length, size=(len(gaussians), 1))
    drawn: Matrix = gaussians / np.linalg.norm(gaussians, axis=1, keepdims=True) * radii
    return drawn if size is not None else np.asarray(drawn[0])


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    alpha: float = 1.0,
    beta: float = 0.1,
    seed: int = 0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    require_parameters(alpha, beta, seed)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = draw_noise(sketch_rows(rows.shape[1], alpha, beta), rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        alpha=alpha,
        beta=beta,
        seed=seed,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int) -> Spend:
    """Claimed ε; proven ε, by the image ỹ. For d = 1, where two rows change x² by 1 and not √2, ε/√2."""
    require_positive("epsilon", epsilon)
    proven = epsilon if require_dimension("dimension", dimension) > 1 else epsilon / math.sqrt(2)
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        dimension == 1,
        "by the noisy image; attained there by orthonormal rows when nothing is projected (l = D)",
    )


ABOUT = About(
    name="johnson-lindenstrauss",
    title="Johnson–Lindenstrauss mechanism with ℓ2 noise",
    paper="Nikolov 2023",
    algorithm="projection mechanism, ℓ2 noise (ours)",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    parameters={"alpha": 1.0, "beta": 0.1, "seed": 0},
)
