"""CoinPress covariance: the noisy covariance of clipped rows, in coordinates that each step improves. BDKU20.

For records with mean 0 and covariance Σ ⪯ u I. A maps the records to coordinates in which they should look like
N(0, I); at first A = I/√u, which only knows the bound. In each of t steps, with budget ρ_j:

1. w_i = A x_i, shortened to length γ where it is longer.
2. Z = the positive semidefinite part of (1/n) Σ w_i w_iᵀ + (γ²/(n√ρ_j)) N, N symmetric with independent N(0, 1) on and
   above the diagonal.
3. In all steps but the last, A ← (Z + h I)^{-1/2} A.

Release A⁻¹ Z A⁻ᵀ with the A and the Z of the last step. ρ_j = ρ/(4(t − 1)) in the early steps and 3ρ/4 in the last.

Where the scale comes from. Shortened rows have length at most γ, so replacing one changes the upper triangle of
(1/n) Σ w wᵀ by at most √2 γ²/n in ℓ2 (`sensitivity`, "upper triangle, l2"), and Gaussian noise of standard deviation σ
on an ℓ2 sensitivity Δ is Δ²/(2σ²)-zCDP: σ = γ²/(n√ρ_j) costs exactly ρ_j. A depends on earlier steps only, which are
paid for, so the steps add up to ρ (adaptive composition). This holds for all rows: Σ ⪯ u I and normality are needed for
accuracy alone.

Is ρ reached? For t = 1, by two far-out rows along two axes, as n → ∞ (then the positive semidefinite part is all). For
more steps by the Z of all steps together, on data with a diagonal second moment: A then tends to a diagonal matrix, and
the same two rows stay on the axes. That the output alone, which shows the earlier Z through A only, spends ρ is not
claimed. In dimension 1 the sensitivity is γ²/n, not √2 γ²/n, and ρ/2 is spent.

Why h. If AΣAᵀ ⪯ I, then with high probability (1/n) Σ w wᵀ ⪰ (1 − η) AΣAᵀ (Gaussian rows, none shortened) and the
noise is ⪰ −ν I, so Z + (η + ν) I ⪰ AΣAᵀ: the next A keeps the invariant, and the next step clips no row either. Taking
the positive semidefinite part only helps, and it makes the root in step 3 exist for every data set.

The order in step 3. Rows are mapped by x ↦ A x, so the next map is A first and then (Z + hI)^{-1/2}. From the third
step on A is a product of different symmetric matrices, not symmetric itself. NOTE: the published code maps rows by
x ↦ Aᵀx while it multiplies on the left, and returns A⁻¹ZA⁻¹. That is as private but, for t ≥ 3, inaccurate; it is kept
as a negative control (`audit.negative_controls.of_coinpress`). Measured at d = 10, n = 8000, ρ = 0.05,
eigenvalues from 1 to 100, t = 5: error ‖Σ^{-1/2} Σ̂ Σ^{-1/2} − I‖_F 0.18 in this order, 3.5 in the published one.

constants : "paper" γ² = d + 2√(dL) + 2L with L = ln(n/β_j), β_j = β/t, and h = η + ν. "code" γ² with L = ln 10 and
    h = √(d/n) + d/(2n), as in the authors' code: smaller, without a proof of accuracy. Either is public and as private.
    On the data above the paper's h is so large that early steps do harm; they pay from about n = 10⁵ on. That β is
    shared out equally, and the bound υ in ν (proven, and smaller than the printed one), are ours.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    as_rows,
    map_rows,
    require_below_one,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import ZCDP, Spend

Constants = Literal["paper", "code"]
CONSTANTS: tuple[Constants, ...] = ("paper", "code")
CODE_BETA = 0.1  # the published code's share of clipped rows

# FORMULAS


def budgets(rho: Number, steps: int) -> list[Number]:
    """ρ_1, …, ρ_t: a quarter of ρ shared by the early steps, the rest for the last; all of it if there is one."""
    return [rho / (4 * (steps - 1))] * (steps - 1) + [3 * rho / 4] if steps > 1 else [rho]


def squared_norm_bound(d: Number, log_term: Number) -> Number:
    """d + 2√(dL) + 2L: ‖N(0, I_d)‖² exceeds it with probability e^{−L} at most (Laurent–Massart 2000)."""
    return d + 2 * (d * log_term) ** 0.5 + 2 * log_term


def squared_radius(
    n: Number, d: Number, beta: Number, constants: str, log: Callable[[Number], Number] = np.log
) -> Number:
    """γ² of a step with failure probability β."""
    return squared_norm_bound(d, log(n / beta) if constants == "paper" else -log(CODE_BETA))


def noise_scale(squared: Number, n: Number, rho: Number) -> Number:
    """σ = γ²/(n√ρ), from γ²."""
    return squared / (n * rho**0.5)


def spectral_noise_bound(d: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """υ = 2√d + √((4 − 2/d) ln(2/β)): ‖N‖ exceeds it with probability β at most.

    E λ_1(N) ≤ 2√d (Sudakov–Fernique), and λ_1 is Lipschitz in the entries of N with constant √(2 − 1/d): the largest
    √(Σ u_i⁴ + Σ_{i<j} 4u_i²u_j²) on the sphere. Gaussian concentration, twice.
    """
    return 2 * d**0.5 + ((4 - 2 / d) * log(2 / beta)) ** 0.5


def sampling_bound(n: Number, d: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """η = 2e + e², e = √(d/n) + √(2 ln(2/β)/n): (1/n) Σ g gᵀ of Gaussian rows is within η of I but for β."""
    return (
        2 * ((d / n) ** 0.5 + (2 * log(2 / beta) / n) ** 0.5) + ((d / n) ** 0.5 + (2 * log(2 / beta) / n) ** 0.5) ** 2
    )


def offset(
    n: Number, d: Number, beta: Number, sigma: Number, constants: str, log: Callable[[Number], Number] = np.log
) -> Number:
    """h of a step with failure probability β and noise of standard deviation σ."""
    if constants == "paper":
        return sampling_bound(n, d, beta, log) + sigma * spectral_noise_bound(d, beta, log)
    return (d / n) ** 0.5 + d / (2 * n)


# MECHANISM


def pressed(rows: Rows, a: Matrix, radius: float) -> Rows:
    """A x_i for every row, shortened to the radius where it is longer; for rows of any size, none overflows."""

    def image(block: Matrix) -> Matrix:
        largest = np.abs(block).max(axis=1)
        images = (block / np.where(largest > 0, largest, 1.0)[:, None]) @ a.T  # A x_i = largest · image
        norms = np.linalg.norm(images, axis=1)
        lengths = np.minimum(largest, radius / np.where(norms > 0, norms, 1.0))
        shortened: Matrix = images * lengths[:, None]
        return shortened

    return map_rows(image, rows)


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    constants: Constants = "paper",
    u: float = 10.0,
    steps: int = 3,
    beta: float = 0.1,
) -> Matrix:
    """Release the covariance estimated in steps, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, of any length; their mean is taken to be 0.
    noise : (steps, d, d), symmetric matrices, standard Gaussian on and above the diagonal.
    rho : ρ > 0.
    constants : "paper" or "code".
    u : public bound, Σ ⪯ u I, in the unit of x squared.
    steps : t ≥ 1.
    beta : in (0, 1): failure probability of the accuracy argument, used by the paper's constants only.

    Returns
    -------
    (d, d) symmetric, positive semidefinite up to rounding, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic, whatever the rows are.
    Source : BDKU20, the multivariate covariance estimator (our reading of its steps); the order in step 3 is derived.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("constants", constants, CONSTANTS)
    require_positive("u", u)
    require_dimension("steps", steps)
    require_below_one("beta", beta)
    rows = as_rows(x)
    n, d = rows.shape
    gaussians = require_shape("noise", noise, (steps, d, d))
    if not np.array_equal(gaussians, np.swapaxes(gaussians, 1, 2)):
        raise InvalidInput("noise has a matrix that is not symmetric: every one must equal its transpose")

    # QUERY, NOISE of one step after the other
    a, inverse = np.eye(d) / math.sqrt(u), np.eye(d) * math.sqrt(u)
    z = np.zeros((d, d))
    share = beta / steps
    squared = squared_radius(n, d, share, constants)
    for step, budget in enumerate(budgets(rho, steps)):
        # QUERY
        moment = second_moment(pressed(rows, a, math.sqrt(squared)))

        # NOISE
        sigma = noise_scale(squared, n, budget)
        values, vectors = np.linalg.eigh(moment + sigma * gaussians[step])
        levels = np.maximum(values, 0.0)
        z = (vectors * levels) @ vectors.T
        if step < steps - 1:
            roots = np.sqrt(levels + offset(n, d, share, sigma, constants))
            a = (vectors / roots) @ vectors.T @ a
            inverse = inverse @ (vectors * roots) @ vectors.T

    # RELEASE
    estimate = inverse @ z @ inverse.T
    released: Matrix = (estimate + estimate.T) / 2
    return released


def draw_noise(steps: int, dimension: int, rng: np.random.Generator) -> Matrix:
    """The noise that `release` takes: (steps, d, d)."""
    gaussians = rng.standard_normal((steps, dimension, dimension))
    return np.triu(gaussians) + np.swapaxes(np.triu(gaussians, 1), 1, 2)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    constants: Constants = "paper",
    u: float = 10.0,
    steps: int = 3,
    beta: float = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_dimension("steps", steps)
    noise = draw_noise(steps, as_rows(x).shape[1], rng)
    return release(x, noise, rho=rho, constants=constants, u=u, steps=steps, beta=beta)


def spend(*, rho: float, dimension: int, constants: Constants = "paper") -> Spend:
    """Claimed ρ; proven ρ, and ρ/2 for d = 1."""
    require_positive("rho", rho)
    require_choice("constants", constants, CONSTANTS)
    proven = rho if require_dimension("dimension", dimension) > 1 else rho / 2
    remark = "by far-out rows along two axes as n → ∞; for more than one step, by all steps together"
    return Spend(ZCDP(rho), ZCDP(proven), True, remark)


ABOUT = About(
    name="coinpress-covariance",
    title="CoinPress, covariance of Gaussian data",
    paper="BDKU20",
    algorithm="covariance",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"constants": CONSTANTS},
    parameters={"u": 10.0, "steps": 3, "beta": 0.1},
    domain="space",
)
