"""Johnson–Lindenstrauss mechanism with the noise of the projected nuclear ball, by Markov chain. Nikolov 2023.

As in `johnson_lindenstrauss`, T is a public random projection and the release is a fit to a noisy image. Unlike in
`johnson_lindenstrauss`, images of rows are not shortened, and the noise is that of Nikolov 2023.

1. T is a public l × D matrix, D = d(d + 1)/2. T = I if l = D. Otherwise T = G/√l, with G standard Gaussian from a
   public seed. The number l ≤ D is computed from d and the public α and β (`sketch_rows`).
2. y = T svec(Σ), where svec(M) = (M_ii, √2 M_ij for i < j) lists a symmetric M as a vector in R^D, of length ‖M‖_F.
3. ỹ = y + (2/(nε)) z. The density of z is ∝ exp(−‖z‖_K), where K = T svec({‖M‖_* ≤ 1}) is the image of the
   nuclear ball, and its norm ‖z‖_K is the least ‖M‖_* with T svec(M) = z.
4. Release the M with tr M ≤ 1, M ⪰ 0 and the least ‖T svec(M) − ỹ‖; for l < D this is approximate, after 300 steps.

The output is ε-DP for every T, for the following reason. Replacing one row moves Σ by Δ/n with ‖Δ‖_* ≤ 2, so the image
of Σ moves by at most 2/n in ‖·‖_K. By the triangle inequality the loss of ỹ is at most ε. Step 4 is post-processing.

NOTE: for l < D the sampler is approximate. For l = D, where T = I, z is symmetric nuclear-Laplace noise, drawn exactly.
For l < D we know no exact way to draw z: we run a Metropolis chain of `walk` steps, with a norm that is computed by a
fixed number of iterations. We do not bound the distance of the drawn law from the law in step 3. The proof is about the
law in step 3; `sample` is private up to the distance of the two laws. The chain and the computed norm depend on T, not
on the data, and take a fixed number of steps. Their result and their running time reveal nothing about the data.

The chain moves z. In the end only the direction of z is kept; ‖z‖_K is drawn afresh from its exact law, which is
Gamma(l) and independent of the direction. The direction is divided by a computed norm, so the draw is approximate.

Proof: proofs/paper/johnson-lindenstrauss-image.md
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from covassay.reference.domain import require_dimension, require_shape, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import Array, DataSet, Matrix, Number, Vector
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.laws.wigner import svec, unsvec
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, Rule, checked
from covassay.reference.mechanisms.pure.johnson_lindenstrauss import (
    Distortion,
    DistortionFailure,
    Seed,
    fit,
    sketch_rows,
    transform,
)
from covassay.reference.privacy import PURE, PureDP, Spend

# In all cases tried, the computed norm was at most 2e-5 too large; with 80 iterations, it was up to 9e-3 too large.
NORM_ITERATIONS = 200
Walk = Annotated[
    int, Rule("the number of steps of the Markov chain that draws the noise, at least 1", require_dimension, (1, None))
]

# FORMULAS


def noise_scale(n: Number, epsilon: Number) -> Number:
    """The noise scale 2/(nε), for rows in the unit ball."""
    return 2 / (n * epsilon)


def proposal_size(radius: Number) -> Number:
    """The standard deviation 2.4 r of a step of the chain, where r is a typical distance to the boundary of K.

    A coordinate of z has standard deviation near √l r. The usual step in l dimensions is 2.4/√l times this deviation.
    """
    return 2.4 * radius


# MECHANISM


def norm_of_image(t: Matrix, z: Matrix, d: int) -> Vector:
    """Return an upper bound on ‖z‖_K for each z, (m, l) -> (m,): the nuclear norm of a matrix with image z.

    Douglas–Rachford iterations alternate between the matrices with image z and the proximal map of the nuclear norm,
    which shifts eigenvalues towards 0. The last matrix of the iteration has image z, so its nuclear norm is never below
    ‖z‖_K.
    """
    inverse = np.linalg.pinv(t)  # T T⁺ = I
    walker = z @ inverse.T
    size = np.linalg.norm(walker, axis=1, keepdims=True)
    shift = np.where(size > 0, size, 1.0) / d
    feasible = walker
    for _ in range(NORM_ITERATIONS):
        values, vectors = np.linalg.eigh(unsvec(2 * feasible - walker))
        shrunk = np.sign(values) * np.maximum(np.abs(values) - shift, 0.0)
        walker = walker + svec((vectors * shrunk[:, None, :]) @ np.swapaxes(vectors, 1, 2)) - feasible
        feasible = walker + (z - walker @ t.T) @ inverse.T
    norms: Vector = np.abs(np.linalg.eigvalsh(unsvec(feasible))).sum(axis=1)
    return norms


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
    """Release the matrix fitted to the noisy image of the second moment, given the noise z, (l,)."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_shape("noise", noise, (sketch_rows(d, alpha, beta),))

    # 1. T, which is public
    t = transform(d, alpha, beta, seed)

    # 2. QUERY: y
    image = t @ svec(second_moment(rows))

    # 3. NOISE: ỹ
    noisy = image + noise_scale(n, epsilon) * z

    # 4. RELEASE
    fitted = fit(t, noisy, d)
    released: Matrix = (fitted + fitted.T) / 2 * row_bound**2
    return released


def draw_image_noise(t: Matrix, d: int, rng: np.random.Generator, walk: int = 100, size: int | None = None) -> Array:
    """Draw z with density ∝ exp(−‖z‖_K) for a given T: one vector (l,), or `size` of them, (size, l), each by its own
    chain. The law of the draw is approximate if l < D.
    """
    count, length = 1 if size is None else size, len(t)
    if length == t.shape[1]:
        exact = svec(law.sample(d, rng, count, symmetric=True))
        return exact[0] if size is None else exact

    def on_boundary(z: Matrix) -> Matrix:
        return np.asarray(z / norm_of_image(t, z, d)[:, None])

    start = on_boundary(rng.standard_normal((count, length)))
    step = proposal_size(float(np.linalg.norm(start, axis=1).mean()))
    z = length * start
    norms = np.full(count, float(length))
    for _ in range(walk):
        proposed = z + step * rng.standard_normal((count, length))
        proposed_norms = norm_of_image(t, proposed, d)
        accepted = np.log(rng.random(count)) < norms - proposed_norms
        z = np.where(accepted[:, None], proposed, z)
        norms = np.where(accepted, proposed_norms, norms)
    drawn = z / norms[:, None] * rng.gamma(length, size=(count, 1))
    return drawn[0] if size is None else np.asarray(drawn)


def draw_noise(
    dimension: int,
    rng: np.random.Generator,
    *,
    alpha: float = 1.0,
    beta: float = 0.1,
    seed: int = 0,
    walk: Walk = 100,
    size: int | None = None,
) -> Array:
    """Return the noise that `release` takes, (l,), or (size, l). The law of the noise is approximate if l < D, see
    `draw_image_noise`.
    """
    return draw_image_noise(transform(dimension, alpha, beta, seed), dimension, rng, walk, size)


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
    walk: Walk = 100,
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
    walk : the number of steps of the Markov chain that draws the noise, at least 1.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
        The guarantee holds for noise of the exact law; `sample` draws it only approximately, with an unknown error.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, alpha=alpha, beta=beta, seed=seed, walk=walk)
    return release(
        x, noise, epsilon=epsilon, alpha=alpha, beta=beta, seed=seed, row_bound=row_bound, on_large_rows=on_large_rows
    )


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed budget is ε.

    For noise of the exact law, the proven budget is ε, which ỹ attains if T = I, and ε/2 for d = 1. For the law that
    the Markov chain draws, nothing is proven.
    """
    proven = epsilon if dimension > 1 else epsilon / 2
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        dimension == 1,
        "the loss of ỹ is bounded for the exact law of the noise; the error of the Markov chain is not bounded",
    )


ABOUT = About(
    "johnson-lindenstrauss-image",
    "Johnson–Lindenstrauss mechanism with the noise of the projected nuclear ball",
    "Nikolov 2023",
    "projection mechanism",
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
    sampler="approximate",
    unranked=(
        "for d < 37, the default output has the law of nuclear-laplace-symmetric, projected onto the second moments; "
        "for d ≥ 37, the noise is drawn approximately"
    ),
)
