"""What the pure mechanisms really spend: the supremum of the privacy loss, and pairs of data sets that attain it."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from scipy.special import log_ndtr

from covassay.reference.domain import Number, Vector, second_moment
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.laws import bingham as bingham_law
from covassay.reference.laws.nuclear_laplace import log_density_kernel
from covassay.reference.mechanisms import (
    above_threshold,
    adaptive_cov_pure,
    bingham,
    centred_covariance,
    entrywise_laplace,
    gaussian_approximate,
    iterative_eigenvectors,
    kapralov_talwar,
    lap_cov,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
    private_radius,
    separate_cov_pure,
)
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.projections import nuclear_ball
from covassay.reference.sensitivity import block_pair, centred_pair, hadamard_pair, triangle_l1
from covassay.verification.claims.checks.own.routes import centred_covariance as covariance_of_rows
from covassay.verification.claims.evidence import Evidence, check
from covassay.verification.exact.above_threshold import largest_loss
from covassay.verification.exact.series import exponential

N, EPSILON = Fraction(5), Fraction(3, 7)  # n and ε of the exact checks; all formulas are homogeneous in them


def epsilon_of(spend: Callable[..., Spend], **arguments: object) -> float:
    """The proven ε of a pure mechanism's `spend`."""
    proven = spend(**arguments).proven
    assert isinstance(proven, PureDP)
    return proven.epsilon


# NUCLEAR-LAPLACE


@check(
    "floating",
    mutants={
        "ε at d = 1 too": {"line": Fraction(1)},
        "the scale for the trace": {"scale": lambda n, epsilon: 1 / (n * epsilon)},
    },
)
def nuclear_laplace_on_the_line(
    line: Fraction = Fraction(1, 2), scale: Callable[[Number, Number], Number] = nuclear_laplace.noise_scale
) -> Evidence:
    """Nuclear-Laplace noise of scale 2/(nε) spends ε for d ≥ 2, and ε/2 at d = 1, where no two rows are orthogonal.

    The check computes exact log ratios of densities for diagonal data and outputs on a grid, and takes the largest.
    """
    rho = scale(N, EPSILON)
    grid = [Fraction(k, 4) for k in range(-6, 7)]

    def loss(output: Sequence[Fraction], first: Sequence[Fraction], second: Sequence[Fraction]) -> Number:
        norms = [sum(abs(y - v / N) for y, v in zip(output, values, strict=True)) for values in (first, second)]
        return log_density_kernel(norms[0], rho) - log_density_kernel(norms[1], rho)

    squares = [Fraction(k, 4) for k in range(5)]  # x², y² in the unit interval
    one = max(loss([y], [s], [t]) for y in grid for s in squares for t in squares)
    two = max(
        loss([y, z], first, second)
        for y in grid
        for z in grid
        for first in ([Fraction(1), Fraction(0)], [Fraction(1, 2), Fraction(1, 2)])
        for second in ([Fraction(0), Fraction(1)], [Fraction(0), Fraction(0)])
    )
    spends = [
        epsilon_of(m.spend, epsilon=0.5, dimension=d)
        for m in (nuclear_laplace, nuclear_laplace_symmetric)
        for d in (1, 2)
    ]
    holds = one == line * EPSILON and two == EPSILON and spends == [float(line) / 2, 0.5] * 2
    return Evidence(holds, "d = 1, 2", f"{one / EPSILON} ε and {two / EPSILON} ε; proven at ε = 1/2: {spends}")


PROJECTION = {  # calibration -> (spend at d ≥ 2, spend at d = 1) in units of ε
    "paper": (Fraction(1, 2), Fraction(9, 20)),
    "tight": (Fraction(1), Fraction(1)),
}


@check(
    "floating",
    mutants={
        "7ε/10, by composition": {"paper": Fraction(7, 10)},
        "tight matrix noise with the paper's trace noise": {"trace_scale": lambda n, e, c: 10 / (n * e)},
        "twice the tight trace noise": {"trace_scale": lambda n, e, c: (10 if c == "paper" else 2) / (n * e)},
    },
)
def projection_spend(
    paper: Fraction = PROJECTION["paper"][0], trace_scale: Callable[..., Number] = nuclear_ball_projection.trace_scale
) -> Evidence:
    """For d ≥ 2 the released pair (Σ̂, r) of Algorithm 2 spends exactly ε/2, and exactly ε with the tight scales.

    The bound (s + t)/(nρ) + 2|s − t|/(nb) is convex and symmetric in s and t, so it is largest at (1, 1) or (1, 0). Log
    ratios at explicit outputs reach both values: x = e₁, y = e₂ at Σ̂ = Σ, and x = e₁, y = 0 at Σ̂ = Σ, r ≥ 2 tr Σ. At
    d = 1 only the second pair exists.
    """
    failed = []
    for calibration, (plane, line) in {**PROJECTION, "paper": (paper, PROJECTION["paper"][1])}.items():
        rho = nuclear_ball_projection.matrix_scale(N, EPSILON, calibration)
        b = trace_scale(N, EPSILON, calibration)

        def loss(x: Sequence[int], y: Sequence[int], rho: Number = rho, b: Number = b) -> Number:
            """The loss at Σ̂ = Σ and r = 2 tr Σ, for Σ = diag(x)/n and Σ' = diag(y)/n."""
            moved = sum(abs(Fraction(v - w)) for v, w in zip(x, y, strict=True)) / N
            trace = abs(Fraction(sum(x) - sum(y))) / N
            return -log_density_kernel(moved, rho) - log_density_kernel(2 * trace, b)

        orthogonal, single = loss((1, 0), (0, 1)), loss((1, 0), (0, 0))
        bounds = [nuclear_ball_projection.privacy_loss(s, t, N, rho, b) for s, t in ((1, 1), (1, 0), (0, 0))]
        if (orthogonal, single) != (bounds[0], bounds[1]) or max(bounds) != plane * EPSILON:
            failed.append(f"{calibration}: {max(bounds) / EPSILON} ε")
        if single != line * EPSILON:
            failed.append(f"{calibration}, d = 1: {single / EPSILON} ε")
        for d, share in ((1, line), (2, plane), (7, plane)):
            proven = epsilon_of(nuclear_ball_projection.spend, epsilon=0.5, dimension=d, calibration=calibration)
            if abs(proven / 0.5 - float(share)) > 1e-12:
                failed.append(f"{calibration}, spend at d={d}")
    return Evidence(not failed, "all n, ε (homogeneous), d ≥ 1", "; ".join(failed[:3]))


@check(
    "floating",
    mutants={
        "ε/2 smaller by 3 %": {"share": lambda calibration, d: 0.97 * projected_share(calibration, d)},
        "ε/2 larger by 3 %": {"share": lambda calibration, d: 1.03 * projected_share(calibration, d)},
        "another output": {"signs": lambda d: np.ones(d)},
    },
)
def projected_output(
    share: Callable[[str, int], float] = lambda calibration, d: projected_share(calibration, d),
    signs: Callable[[int], Vector] = lambda d: np.where(np.arange(d) == 1, -1.0, 1.0),
) -> Evidence:
    """Near one output of Algorithm 2 every pair (Σ̂, r) that is projected there has the loss ε/2, or 9ε/20 at d = 1.

    x = e₁ is replaced by y = e₂ (y = 0 at d = 1), and the output is near Y₀ = K diag(1, −1, 1, …, 1). The pairs that
    lead to Y are (Y, r), r ≥ ‖Y‖_*, and (Y + θW, ‖Y‖_*), θ > 0, where W is the orthogonal factor of the polar
    decomposition of Y. The reference's projection confirms this, and the loss is computed at 200 of these pairs.
    """
    rng, failed = np.random.default_rng(53), []
    for calibration in ("paper", "tight"):
        rho = float(nuclear_ball_projection.matrix_scale(1, 1.0, calibration))
        b = float(nuclear_ball_projection.trace_scale(1, 1.0, calibration))
        for d in (1, 2, 3, 6):
            first, second = np.diag(np.eye(d)[0]), np.diag(np.eye(d)[1]) if d > 1 else np.zeros((1, 1))
            for _ in range(25):
                y = 5 * np.diag(signs(d)) + 1e-7 * rng.standard_normal((d, d))
                u, sizes, v = np.linalg.svd(y)
                theta = float(10 ** rng.uniform(-3, 3)) * int(rng.integers(0, 2))
                noisy, radius = y + theta * (u @ v), float(sizes.sum())
                failed += [] if np.abs(nuclear_ball(noisy, radius) - y).max() < 1e-9 * (1 + theta) else ["projection"]
                norms = [float(np.linalg.norm(noisy - s, "nuc")) for s in (first, second)]
                gaps = [abs(radius - 2 * float(np.trace(s))) for s in (first, second)]
                loss = (norms[1] - norms[0]) / rho + (gaps[1] - gaps[0]) / b
                failed += [] if abs(loss - share(calibration, d)) < 1e-5 else [f"{calibration}, d={d}: {loss:.6f}"]
    return Evidence(not failed, "d = 1, 2, 3, 6, 25 pairs each", "; ".join(failed[:3]))


def projected_share(calibration: str, d: int) -> float:
    """What Algorithm 2 spends of ε."""
    return float(PROJECTION[calibration][d == 1])


@check(
    "floating",
    mutants={
        "the scale for a second moment": {"scale": lambda n, d, e: nuclear_laplace.noise_scale(n, e)},
        "n for n − 1": {"scale": lambda n, d, e: centred_covariance.noise_scale(n, d, e) * n / (n - 1)},
    },
)
def centred_spend(scale: Callable[[int, int, float], Number] = centred_covariance.noise_scale) -> Evidence:
    """Nuclear-Laplace noise of scale 3√3(n − 1)/(n²ε) on the centred covariance spends exactly ε.

    The loss is computed for the worst pair of data sets, at the output Y equal to the first covariance. The scale
    2/(nε) that suits the second moment would spend (3√3/2)(n − 1)/n ε, up to 2.6 ε.
    """
    epsilon, shares = 0.7, {}
    for n in (2, 3, 10, 100):
        for d in (1, 2, 4):
            first, second = centred_pair(n, d)
            change = float(np.linalg.norm(covariance_of_rows(first) - covariance_of_rows(second), "nuc"))
            shares[n, d] = float(-log_density_kernel(change, float(scale(n, d, epsilon)))) / epsilon
    failed = [f"n={n}, d={d}: {v:.6f} ε" for (n, d), v in shares.items() if abs(v - 1) > 1e-12]
    return Evidence(not failed, "n = 2, 3, 10, 100, d = 1, 2, 4", "; ".join(failed[:3]))


# ENTRIES


@check(
    "floating",
    mutants={
        "ε, as claimed": {"squares": {"full": lambda d: 1, "triangle": lambda d: 1, "lap-cov": lambda d: 1}},
        "the looser (d² + 3d)/2": {
            "squares": {
                "full": lambda d: 0.5,
                "triangle": lambda d: (d**2 + 3 * d) / (8 * d**2),
                "lap-cov": lambda d: (d**2 + 3 * d) / (4 * d**2),
            }
        },
        "the formula for d ≥ 2 at d = 1 too": {"line": {"full": 1 / 4, "triangle": 9 / 16, "lap-cov": 9 / 8}},
        "d² for 4⌊d²/4⌋": {
            "squares": {
                "full": lambda d: 0.5,
                "triangle": lambda d: ((d + 2) ** 2 + d**2) / (16 * d**2),
                "lap-cov": lambda d: ((d + 2) ** 2 + d**2) / (8 * d**2),
            }
        },
    },
)
def entrywise_spend(
    squares: dict[str, Callable[[int], float]] | None = None, line: dict[str, float] | None = None
) -> Evidence:
    """Laplace noise of scale 2d/(nε) spends ε/√2 on all entries, for even d, and ℓε/(4d) on a triangle of entries.

    ℓ² = (d + 2)² + 4⌊d²/4⌋, so the second tends to ε/(2√2). LapCov spends ℓε/(2√2 d), which tends to ε/2. The tight
    scales spend ε. Each loss is the log ratio of densities at Y = Σ, computed for the pair that attains the supremum;
    for all entries and odd d > 1 our pair does not. At d = 1 the three spend ε/2, ε/2 and ε/√2.
    """
    square = squares or {
        "full": lambda d: 0.5,
        "triangle": lambda d: ((d + 2) ** 2 + 4 * (d**2 // 4)) / (16 * d**2),
        "lap-cov": lambda d: ((d + 2) ** 2 + 4 * (d**2 // 4)) / (8 * d**2),
    }
    at_one = line or {"full": 1 / 4, "triangle": 1 / 4, "lap-cov": 1 / 2}
    failed, figures = [], {}
    for d in (1, 2, 3, 4, 7, 8, 40, 41):
        known = ("triangle", "lap-cov") if d > 1 and d % 2 else ("full", "triangle", "lap-cov")
        changes = {
            "full": float(np.abs(np.subtract(*(np.outer(v, v) for v in hadamard_pair(d)))).sum()),
            "triangle": float(np.abs(np.triu(np.subtract(*(np.outer(v, v) for v in block_pair(d))))).sum()),
        }
        shares = {
            **{
                k: changes[k] / float(entrywise_laplace.noise_scale(1, d, 1.0, k, "paper"))
                for k in ("full", "triangle")
            },
            "lap-cov": changes["triangle"] / float(lap_cov.noise_scale(1, d, 1.0, "paper")),
        }
        proven = {
            "full": epsilon_of(entrywise_laplace.spend, epsilon=1.0, dimension=d, entries="full"),
            "triangle": epsilon_of(entrywise_laplace.spend, epsilon=1.0, dimension=d, entries="triangle"),
            "lap-cov": epsilon_of(lap_cov.spend, epsilon=1.0, dimension=d),
        }
        tight = {
            "full": changes["full"] / float(entrywise_laplace.noise_scale(1, d, 1.0, "full", "tight")),
            "triangle": changes["triangle"] / float(entrywise_laplace.noise_scale(1, d, 1.0, "triangle", "tight")),
            "lap-cov": changes["triangle"] / float(lap_cov.noise_scale(1, d, 1.0, "tight")),
        }
        for k in known:
            expected = square[k](d) if d > 1 else at_one[k]
            if abs(shares[k] ** 2 - expected) > 1e-12 or abs(proven[k] - shares[k]) > 1e-12:
                failed.append(f"{k}, d={d}: {shares[k]:.6f}")
            if abs(tight[k] - 1) > 1e-12:
                failed.append(f"{k}, tight, d={d}")
        figures[f"d = {d}"] = ", ".join(f"{k} {shares[k]:.3f}" for k in known)
    limits = square["triangle"](10**8), square["lap-cov"](10**8)
    near = abs(limits[0] - 1 / 8) < 1e-7 and abs(limits[1] - 1 / 4) < 1e-7
    return Evidence(not failed and near, "d = 1, 2, 3, 4, 7, 8, 40, 41", "; ".join(failed[:3]), figures)


@check(
    "floating",
    mutants={
        "ε, as claimed": {"share": lambda d: 1.0},
        "the whole budget for the matrix": {"share": lambda d: 0.5 + triangle_l1(d) / (math.sqrt(2) * d)},
        "rows that are not eigenvectors": {"copies": 0},
    },
)
def separate_cov_spend(
    share: Callable[[int], Number] = lambda d: 0.5 + triangle_l1(d) / (2 * math.sqrt(2) * d), copies: int = 3
) -> Evidence:
    """Pure SeparateCov spends (½ + ℓ/(4√2 d)) ε on its released pair (G, λ̃), and ε with the tight scales.

    That is 0.895, 0.819, 0.783 ε at d = 2, 4, 8. The loss is computed at G = Σ and λ̃ = λ(Σ). Let x and y be the rows
    that attain the sensitivity of the triangle. The other rows of the data are copies of x and y, more of x, so that x
    and y are eigenvectors, and replacing x by y moves their eigenvalues by 1/n each. In dimension 1 the output, which
    shows λ̃ only, spends ε/4 on the rows 1 and 0.
    """
    failed, figures = [], {}
    single = -log_density_kernel(Fraction(1) / N, separate_cov_pure.eigenvalue_scale(N, EPSILON))
    for calibration in ("paper", "tight"):
        proven = epsilon_of(separate_cov_pure.spend, epsilon=1.0, dimension=1, calibration=calibration)
        failed += [] if (single / EPSILON, proven) == (Fraction(1, 4), 0.25) else [f"{calibration}, d=1"]
    for d in (2, 4, 8):
        x, y = block_pair(d)
        other = np.eye(d)[:1] if copies == 0 else np.vstack([x] * (copies + 2) + [y] * copies)
        data = [np.vstack([other, v]) for v in (x, y)]
        n = len(data[0])
        sigma, sigma2 = (second_moment(rows) for rows in data)
        triangle = float(np.abs(np.triu(sigma - sigma2)).sum())
        eigenvalues = float(np.abs(np.linalg.eigvalsh(sigma) - np.linalg.eigvalsh(sigma2)).sum())
        c = float(separate_cov_pure.eigenvalue_scale(n, 1.0))
        for calibration, expected in (("paper", float(share(d))), ("tight", 1.0)):
            b = float(separate_cov_pure.matrix_scale(n, d, 1.0, calibration))
            loss = -log_density_kernel(triangle, b) - log_density_kernel(eigenvalues, c)
            proven = epsilon_of(separate_cov_pure.spend, epsilon=1.0, dimension=d, calibration=calibration)
            if abs(float(loss) - expected) > 1e-12 or abs(proven - expected) > 1e-12:
                failed.append(f"{calibration}, d={d}: {float(loss):.6f}")
            figures[f"{calibration}, d = {d}"] = f"{float(loss):.3f}"
    return Evidence(not failed, "d = 1, 2, 4, 8", "; ".join(failed[:3]), figures)


# DIRECTIONS


def bessel(z: Fraction) -> tuple[Fraction, Fraction]:
    """Rational bounds on I₀(z) = Σ (z/2)^{2k}/(k!)², z ≥ 0, to 30 digits.

    The series is cut where each term is at most a quarter of the one before, so the remainder is below the last term.
    """
    term = total = Fraction(1)
    k = 0
    while k < 2 * z or term * 10**30 > total:
        k += 1
        term = term * (z / 2) ** 2 / k**2
        total += term
    return total, total + term


@check(
    "floating",
    mutants={
        "an exponent of ε": {"exponent": lambda epsilon, calibration: epsilon},
        "half the exponent": {"exponent": lambda epsilon, calibration: bingham.exponent(epsilon, calibration) / 2},
        "a loss of η": {"loss": lambda eta: eta},
    },
)
def one_direction(
    exponent: Callable[[Number, str], Number] = bingham.exponent,
    loss: Callable[[Number], Number] = bingham.privacy_loss,
) -> Evidence:
    """A Bingham draw with exponent η spends 2η, that is ε/2 with the paper's η = ε/4 and ε with the tight η = ε/2.

    With two features, C = M e₂e₂ᵀ and e₁ replaced by e₂, the loss at u = e₁ is
    η + ln I₀(η(M + 1)/2) − ln I₀(η(M − 1)/2). At M = 400, ε = 1 it lies between 2η − 2/M and 2η, by rational bounds on
    I₀ and e^x.
    """
    m, epsilon, failed = 400, Fraction(1), []
    for calibration, share in (("paper", Fraction(1, 2)), ("tight", Fraction(1))):
        eta = exponent(epsilon, calibration)
        upper, lower = bessel(eta * (m + 1) / 2), bessel(eta * (m - 1) / 2)
        ratio_low, ratio_high = upper[0] / lower[1], upper[1] / lower[0]
        near = ratio_low >= exponential(share * epsilon - Fraction(2, m) - eta)[1]
        below = ratio_high <= exponential(share * epsilon - eta)[0]
        if not (near and below and loss(eta) == share * epsilon):
            failed.append(calibration)
        if abs(epsilon_of(bingham.spend, epsilon=1.0, dimension=2, calibration=calibration) - float(share)) > 1e-15:
            failed.append(f"{calibration}, spend")
    return Evidence(not failed, "d = 2, M = 400, ε = 1; the supremum as M → ∞", ", ".join(failed))


def normaliser_loss(eta: float, first: Sequence[float], second: Sequence[float]) -> float:
    """ln(Z'/Z) of the normalisers of exp(η uᵀC'u) and exp(η uᵀCu), from the eigenvalues of C, C', the largest first."""
    tails = [bingham_law.log_mean_exponential(np.sort(eta * (v[0] - np.array(v)))) for v in (first, second)]
    return eta * (second[0] - first[0]) + tails[1] - tails[0]  # in this order nothing large cancels


def directions_loss(exponents: Sequence[float], d: int, large: float) -> float:
    """The total loss of the draws of `iterative_eigenvectors` at one output, for C = K yyᵀ with x ⊥ y replaced by y.

    K is `large`. The direction with the largest exponent comes out as x, and y is orthogonal to all draws.
    """
    chosen = int(np.argmax(exponents))
    total = 0.0
    for i, eta in enumerate(exponents):
        rest = d - i - 1  # the d − i dimensions that are left, without y
        others = [0.0] * rest
        with_x = [1.0, *others[1:]] if i <= chosen else others
        total += (eta if i == chosen else 0.0) + normaliser_loss(eta, (large, *with_x), (large + 1, *others))
    return total


@check(
    "floating",
    mutants={
        "twice the sum, by composition": {"joint": lambda exponents: 2 * sum(exponents)},
        "the sum alone": {"joint": lambda exponents: sum(exponents)},
        "eigenvalues at 1/ε₀": {"scale": lambda epsilon: 2 / epsilon},
    },
)
def iterative_spend(
    joint: Callable[[list[Number]], Number] = iterative_eigenvectors.eigenvector_loss,
    scale: Callable[[Number], Number] = iterative_eigenvectors.eigenvalue_scale,
) -> Evidence:
    """Algorithm 1 of ADK19 spends 5ε/8 with uniform budgets, up to 3ε/4 with adaptive ones, and ε if they are tight.

    One pair comes within 2·10⁻³ of these values at d = 2, 3, 4: C = K yyᵀ with x replaced by y. The eigenvalues move by
    2 in ℓ1. At the output with λ̂ = λ(C), θ_i = x for the largest η_i, and y drawn last, the exact log ratio approaches
    ε₀ + Σ η + max η.
    """
    epsilon, large, failed, figures = 1.0, 2e4, [], {}
    for d in (2, 3, 4):
        plans: dict[str, tuple[list[Number], float]] = {
            "uniform, paper": (iterative_eigenvectors.uniform_exponents(epsilon, d, "paper"), 0.625),
            "uniform, tight": (iterative_eigenvectors.uniform_exponents(epsilon, d, "tight"), 1.0),
        }
        for calibration, share in (("paper", 0.75), ("tight", 1.0)):
            weights: list[Number] = [1e4, *[1e-1] * (d - 1)]
            plan = iterative_eigenvectors.adaptive_exponents(epsilon, weights, calibration)
            plans[f"adaptive, {calibration}"] = (plan, share)
        for name, (exponents, share) in plans.items():
            eigenvalues = 2 / float(scale(epsilon))
            bound = eigenvalues + float(joint(list(exponents)))
            reached = eigenvalues + directions_loss(
                [float(e) for e in exponents], d, large / min(map(float, exponents))
            )
            if not (share - 2e-3 < reached <= bound + 1e-9 and abs(bound - share) < 1e-3):
                failed.append(f"{name}, d={d}: {reached:.5f} of {bound:.5f}")
            figures[f"{name}, d = {d}"] = f"{reached:.4f} of {bound:.4f}"
    shown = {k: v for k, v in figures.items() if k.endswith("3")}
    return Evidence(not failed, "d = 2, 3, 4, ε = 1", "; ".join(failed[:3]), shown)


@check(
    "floating",
    mutants={
        "the exponent of the authors' code": {"exponent": lambda epsilon, k: 4 * epsilon / k},
        "half the noise on the values": {"value": lambda epsilon, k: k / epsilon},
    },
)
def deflation_spend(
    exponent: Callable[[Number, Number], Number] = kapralov_talwar.exponent,
    value: Callable[[Number, Number], Number] = kapralov_talwar.value_scale,
) -> Evidence:
    """Deflation with private eigenvectors spends k(2η + 1/b), which is exactly ε, for every rank k.

    One pair approaches this loss. The data are C = K yyᵀ + xxᵀ with x replaced by y; the output has every u_i = x, l_1
    = 1 and l_i = 0 for i > 1. The code of ADK19's authors has η = 4ε/k in place of ε/(4k), and spends 8.5 ε. In
    dimension 1 there is no direction to choose, and the mechanism spends ε/2. The mechanism is our reconstruction of
    Kapralov and Talwar's.
    """
    epsilon, failed, figures = 1.0, [], {}
    for k in (1, 2, 3):
        eta, b = float(exponent(epsilon, k)), float(value(epsilon, k))
        large, total = 1e5 / eta, 0.0
        first, second = [large, 1.0], [large + 1, 0.0]  # along y, along x
        for i in range(k):
            total += eta * (first[1] - second[1])
            total += normaliser_loss(eta, first, second)
            released = 1.0 if i == 0 else 0.0
            total += (abs(released - second[1]) - abs(released - first[1])) / b
            first[1], second[1] = first[1] - released, second[1] - released
        figures[f"k = {k}"] = f"{total:.5f} ε"
        if abs(total - epsilon) > 1e-3 or abs(float(kapralov_talwar.privacy_loss(eta, b, k)) - epsilon) > 1e-12:
            failed.append(f"k={k}: {total:.5f}")
    line = epsilon_of(kapralov_talwar.spend, epsilon=1.0, dimension=1)
    return Evidence(not failed and line == 0.5, "d = 2, k ≤ 3, ε = 1", "; ".join(failed), figures)


# ABOVE THRESHOLD


def scales(calibration: str) -> tuple[float, float]:
    """The scales b₁ of the threshold's noise and b₂ of the queries' noise at ε = 1."""
    return float(above_threshold.threshold_scale(1.0)), float(above_threshold.query_scale(1.0, calibration))


@check(
    "floating",
    mutants={
        "7ε/10 on monotone queries": {"monotone": lambda b1, b2: 0.7 if b2 > 2 else 1.0},
        "the monotone bound for general queries": {"general": above_threshold.monotone_loss},
        "1/b₂ on energies": {"energies": lambda b1, b2, d: 1 / b2},
    },
)
def threshold_spend(
    general: Callable[[Number, Number], Number] = above_threshold.general_loss,
    monotone: Callable[[Number, Number], Number] = above_threshold.monotone_loss,
    energies: Callable[[Number, Number, int], Number] = above_threshold.energies_loss,
) -> Evidence:
    """AboveThreshold spends ε on general queries, 3ε/4 on monotone ones and ε/2 on energies; tight scales spend ε.

    The losses come from the exact law of the output, an integral over the noise of the threshold. No random queries
    exceed the bounds, and explicit ones come within 1 % of them. For general queries, 20 values far above the threshold
    rise and a last one far below falls; for monotone queries the last one stays; for energies the first value rises and
    the second falls.
    """
    rng = np.random.default_rng(41)
    failed, figures = [], {}
    for calibration in ("paper", "tight"):
        b1, b2 = scales(calibration)
        bounds = {
            "general": float(general(b1, b2)),
            "monotone": float(monotone(b1, b2)),
            "energies": float(energies(b1, b2, 2)),
        }
        worst = dict.fromkeys(bounds, 0.0)
        cases: list[tuple[str, Vector, Vector]] = []
        for _ in range(40):
            f = rng.normal(scale=6, size=int(rng.integers(2, 7)))
            cases.append(("general", f, f + rng.uniform(-1, 1, len(f))))
            cases.append(("monotone", f, f + rng.uniform(0, 1, len(f))))
            x, y = rng.dirichlet(np.ones(len(f)), 2) * rng.choice([rng.random(), 1.0])
            cases.append(("energies", f, f + y - x))
        far = np.array([25.0] * 20 + [-40.0])
        cases.append(("general", far, far + np.array([1.0] * 20 + [-1.0])))
        cases.append(("monotone", far, far + np.array([1.0] * 20 + [0.0])))
        cases.append(("energies", np.array([40.0, -40.0]), np.array([41.0, -41.0])))
        for kind, first, second in cases:
            worst[kind] = max(worst[kind], largest_loss(first, second, 0.0, b1, b2))
        for kind, bound in bounds.items():
            if not 0.99 * bound <= worst[kind] <= bound * (1 + 1e-9):
                failed.append(f"{kind}, {calibration}: {worst[kind]:.5f} of {bound:.5f}")
            figures[f"{kind}, {calibration}"] = f"{worst[kind]:.4f} of {bound:.4f}"
    radius = [epsilon_of(private_radius.spend, epsilon=1.0, dimension=3, calibration=c) for c in ("paper", "tight")]
    table = [epsilon_of(above_threshold.spend, epsilon=1.0, dimension=3, calibration=c) for c in ("paper", "tight")]
    holds = not failed and radius == [0.75, 1.0] and table == [0.5, 1.0]
    return Evidence(holds, "120 random query vectors, ε = 1", "; ".join(failed[:3]), figures)


@check(
    "floating",
    mutants={
        "1/b₂ alone": {"loss": lambda b1, b2: 1 / b2 if b2 > b1 else 0.9 / b2},
        "the bound for monotone queries": {"loss": lambda b1, b2: 1 / b1 + 1 / b2},
    },
)
def search_spend(loss: Callable[[Number, Number], Number] = adaptive_cov_pure.search_loss) -> Evidence:
    """AboveThreshold spends only max(1/b₁, 1/b₂) on queries that move one way by amounts that do not decrease.

    So of its budget ε pure AdaptiveCov spends ε/16 on its search, or ε/8 with the tight scales. By the exact law of the
    output, random moves stay below the bound, and 60 queries that all rise by 1 come within 2 % of it.
    """
    rng = np.random.default_rng(42)
    failed, figures = [], {}
    for calibration in ("paper", "tight"):
        b1, b2 = scales(calibration)
        bound, worst = float(loss(b1, b2)), 0.0
        for _ in range(120):
            f = np.cumsum(rng.normal(scale=3, size=int(rng.integers(1, 7))))
            moves = np.sort(rng.uniform(0, 1, len(f)))
            worst = max(worst, largest_loss(f, f + moves * rng.choice([-1, 1]), 0.0, b1, b2))
        for level in (5.0, 20.0):
            worst = max(worst, largest_loss(np.full(60, level), np.full(60, level + 1), 0.0, b1, b2))
        if not 0.98 * bound <= worst <= bound * (1 + 1e-9):
            failed.append(f"{calibration}: {worst:.5f} of {bound:.5f}")
        figures[calibration] = f"{worst:.4f} of {bound:.4f}"
    shares = {}
    for radius, calibration, d in (("none", "paper", 2), ("private", "paper", 4), ("none", "tight", 4)):
        share = 0.5 + float(triangle_l1(d)) / (2 * math.sqrt(2) * d)
        expected = {"none": 3 / 16 + 0.75 * share, "private": 9 / 32 + 0.625 * share}[radius]
        proven = epsilon_of(adaptive_cov_pure.spend, epsilon=1.0, dimension=d, radius=radius, calibration=calibration)
        shares[f"{radius}, {calibration}"] = abs(proven - (1.0 if calibration == "tight" else expected))
    return Evidence(not failed and max(shares.values()) < 1e-12, "240 random moves, ε = 1", "; ".join(failed), figures)


# RIDGE REGRESSION


def largest_move(n: int, alpha: float) -> float:
    """How far the worst pair moves the ridge minimiser, on data with three columns."""
    share = 2 * alpha / (1 + 4 * alpha)
    rest = np.array([math.sqrt(share), 0.0, math.sqrt(1 - share)])  # all other rows, chosen so that ‖ŵ‖ = W
    w = coefficients(np.outer(rest, rest), 2, alpha)
    q = np.append(w, -1.0) / math.sqrt(float(w @ w) + 1)
    side = np.array([0.0, 1.0, 0.0])
    ends = []
    for z in ((q + side) / math.sqrt(2), (q - side) / math.sqrt(2)):
        moment = ((n - 1) * np.outer(rest, rest) + np.outer(z, z)) / n
        ends.append(coefficients(moment, 2, alpha))
    return float(np.linalg.norm(ends[0] - ends[1]))


@check(
    "floating",
    mutants={
        "half the sensitivity": {"sensitivity": lambda n, a: output_perturbation.sensitivity(n, a, "tight") / 2},
        "the paper's sensitivity": {"sensitivity": lambda n, a: output_perturbation.sensitivity(n, a, "paper")},
    },
)
def ridge_sensitivity(
    sensitivity: Callable[[int, float], Number] = lambda n, a: output_perturbation.sensitivity(n, a, "tight"),
) -> Evidence:
    """Replacing one row moves the ridge minimiser by at most √(W² + 1)/(2αn) with W = 1/(2√(2α(1 + 2α))).

    No random neighbours exceed the bound, by the reference's ridge regression. For n = 10⁶ the pair (q/‖q‖ ± e)/√2 with
    q = (ŵ, −1) and e ⊥ ŵ, on other rows with ‖ŵ‖ = W, comes within 10⁻³ of it. W is the largest
    √(λ(1 − λ))/(λ + 2α), attained at λ = 2α/(1 + 4α).
    """
    rng = np.random.default_rng(43)
    worst, failed = 0.0, []
    for _ in range(2000):
        n, d = int(rng.integers(1, 6)), int(rng.integers(2, 5))
        alpha = 10 ** rng.uniform(-3, 1)
        rows = rng.standard_normal((n + 1, d))
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), rng.random((n + 1, 1)))
        moved = [coefficients(second_moment(np.vstack([rows[: n - 1], rows[[i]]])), d - 1, alpha) for i in (n - 1, n)]
        worst = max(worst, float(np.linalg.norm(moved[0] - moved[1])) / float(sensitivity(n, alpha)))
    figures = {"largest share, random": f"{worst:.4f}"}
    for alpha in (0.01, 0.1, 1.0):
        share = largest_move(10**6, alpha) / float(sensitivity(10**6, alpha))
        figures[f"α = {alpha:g}"] = f"{share:.6f}"
        if abs(share - 1) > 1e-3:
            failed.append(f"α = {alpha:g}: {share:.5f}")
    return Evidence(worst <= 1 + 1e-9 and not failed, "2000 random neighbours, d ≤ 4", ", ".join(failed), figures)


# GAUSSIAN NOISE UNDER (ε, δ)


def delta_by_quadrature(q: float, epsilon: float) -> float:
    """∫ (p(x) − e^ε p'(x))₊ dx for the densities p of N(0, 1) and p' of N(q, 1), split at the integrand's only zero."""
    edge = q / 2 - epsilon / q
    x, w = np.polynomial.legendre.leggauss(60)
    panels = np.linspace(min(edge, 0.0) - 40, edge, 161)
    half = np.diff(panels)[:, None] / 2
    points = panels[:-1, None] + half * (1 + x)
    first, second = np.exp(-(points**2) / 2), np.exp(epsilon - (points - q) ** 2 / 2)
    return float((half * w * (first - second)).sum()) / math.sqrt(2 * math.pi)


@check(
    "floating",
    mutants={
        "the first term alone": {"log_delta": lambda q, e: float(log_ndtr(q / 2 - e / q))},
        "q for q/2": {"log_delta": lambda q, e: gaussian_approximate.log_delta(2 * q, e)},
    },
)
def gaussian_delta(
    log_delta: Callable[[float, float], Number] = lambda q, e: gaussian_approximate.log_delta(q, e),
) -> Evidence:
    """The smallest δ of Gaussian noise is Φ(q/2 − ε/q) − e^ε Φ(−q/2 − ε/q), as quadrature confirms.

    q is the sensitivity in units of the standard deviation. The tight scale reaches the claimed δ to 1e-7. The
    classical scale √(2 ln(1.25/δ))/ε has a smaller δ than claimed for ε ≤ 1, and a larger one from ε = 5.74, 7.46, 8.78
    on at δ = 0.1, 1e-3, 1e-6.
    """
    worst, failed, compared = 0.0, [], 0
    for q in (0.1, 0.5, 1.0, 3.0):
        for epsilon in (0.01, 0.5, 1.0, 3.0):
            exact = delta_by_quadrature(q, epsilon)
            if exact > 1e-12:  # two are smaller
                worst = max(worst, abs(math.exp(float(log_delta(q, epsilon))) / exact - 1))
                compared += 1
    for delta, crossing in ((0.1, 5.74), (1e-3, 7.46), (1e-6, 8.78)):
        for epsilon in (0.1, 1.0):
            tight = gaussian_approximate.multiplier(epsilon, delta, "tight")
            reached = math.exp(float(log_delta(1 / tight, epsilon)))
            classical = math.exp(
                float(log_delta(1 / gaussian_approximate.multiplier(epsilon, delta, "paper"), epsilon))
            )
            if not (delta * (1 - 1e-7) <= reached <= delta and classical < delta):
                failed.append(f"ε={epsilon}, δ={delta}")
        signs = []
        for epsilon in (crossing - 0.01, crossing + 0.01):
            scale = float(gaussian_approximate.classical_multiplier(epsilon, delta))
            signs.append(math.exp(float(log_delta(1 / scale, epsilon))) > delta)
        if signs != [False, True]:
            failed.append(f"crossing at δ={delta}")
    detail = "; ".join([f"largest relative error {worst:.2g}", *failed[:3]])
    holds = worst < 1e-9 and compared == 14 and not failed
    return Evidence(holds, "14 values of q, ε; δ = 0.1, 1e-3, 1e-6", detail)
