"""Johnson–Lindenstrauss mechanism with the noise of the projected nuclear ball, by Markov chain. Nikolov 2023.

As `johnson_lindenstrauss`, with T its public projection, but for the noise, and rows are not shortened:

    ỹ = (1/n) Σ T svec(x_i x_iᵀ) + z,  density of z ∝ exp(−(nε/2) ‖z‖_K),  K = T svec({‖M‖_* ≤ 1}),

with ‖z‖_K = min {‖M‖_* : T svec(M) = z}, a norm. Replacing one row moves Σ by Δ/n with ‖Δ‖_* ≤ 2, so its image by
at most 2/n in ‖·‖_K, whatever T is: the loss is at most ε, by the triangle inequality. For l = D, where T = I, this is
symmetric nuclear-Laplace noise, drawn exactly.

NOTE: approximate. For l < D there is no exact way here to draw z. A Metropolis chain of `walk` steps is run, on a
norm that is itself computed by a fixed number of iterations. What is proven is the privacy of the law above; the law
that is drawn is near it by an amount that is not bounded, so the guarantee is that of the law up to the error of the
chain. `About.sampler` says so. Chain and norm depend on T only, not on the data: neither their result nor their running
time gives anything away, and no draw fails.

The chain moves z; in the end only its direction is kept and its length is drawn: ‖z‖_K ~ Gamma(l) is exact, up to the
computed norm, and independent of the direction.
"""

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Vector,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.laws.wigner import svec, unsvec
from covassay.reference.mechanisms.legacy import About
from covassay.reference.mechanisms.pure.johnson_lindenstrauss import (
    fit,
    require_parameters,
    transform,
)
from covassay.reference.privacy import PureDP, Spend

NORM_ITERATIONS = 80

# FORMULAS


def noise_scale(n: Number, epsilon: Number) -> Number:
    """2/(nε), for rows in the unit ball."""
    return 2 / (n * epsilon)


def proposal_size(radius: Number) -> Number:
    """2.4 r, r a typical distance to the boundary of K.

    A coordinate of z has standard deviation near √l r, and 2.4/√l of that is the usual size of a step in l dimensions.
    """
    return 2.4 * radius


# MECHANISM


def norm_of_image(t: Matrix, z: Matrix, d: int) -> Vector:
    """‖z‖_K of each z, (m, l) -> (m,), from above: the nuclear norm of a matrix with the right image.

    Douglas–Rachford iterations between the matrices with image z and the proximal map of the nuclear norm, which shifts
    eigenvalues towards 0. What is returned belongs to a matrix of the first kind, so it is never below ‖z‖_K.
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
    noise : (l,), density ∝ exp(−‖z‖_K).
    epsilon : ε > 0.
    alpha, beta, seed : of the public T, as in `johnson_lindenstrauss`.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, positive semidefinite and of trace at most r² up to rounding, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic, for noise of exactly that law. `sample` draws
        it approximately.
    Source : Nikolov 2023 as described in DN25 §2; the constants of T are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_parameters(alpha, beta, seed)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    t = transform(d, alpha, beta, seed)
    z = require_shape("noise", noise, (len(t),))

    # QUERY
    image = t @ svec(second_moment(rows))

    # NOISE
    noisy = image + noise_scale(n, epsilon) * z

    # RELEASE
    fitted = fit(t, noisy, d)
    released: Matrix = (fitted + fitted.T) / 2 * row_bound**2
    return released


def draw_noise(t: Matrix, d: int, rng: np.random.Generator, walk: int = 100, size: int | None = None) -> Matrix:
    """Density ∝ exp(−‖z‖_K), approximately if l < D: (l,), or (size, l), as many chains side by side."""
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


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    alpha: float = 1.0,
    beta: float = 0.1,
    seed: int = 0,
    walk: int = 100,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng` by `walk` steps of a chain, then `release`. Approximate, and not for production."""
    require_positive("epsilon", epsilon)
    require_parameters(alpha, beta, seed)
    require_dimension("walk", walk)
    d = unit_rows(x, row_bound, on_large_rows).shape[1]
    noise = draw_noise(transform(d, alpha, beta, seed), d, rng, walk)
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
    """Claimed ε; proven ε of the law, by the image ỹ, and ε/2 for d = 1. Nothing is proven of the chain."""
    require_positive("epsilon", epsilon)
    proven = epsilon if require_dimension("dimension", dimension) > 1 else epsilon / 2
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        dimension == 1,
        "of the law, by the noisy image; the Markov chain draws it approximately, with an error that is not bounded",
    )


ABOUT = About(
    name="johnson-lindenstrauss-image",
    title="Johnson–Lindenstrauss mechanism with the noise of the projected nuclear ball",
    paper="Nikolov 2023",
    algorithm="projection mechanism",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    parameters={"alpha": 1.0, "beta": 0.1, "seed": 0, "walk": 100},
    sampler="approximate",
)
