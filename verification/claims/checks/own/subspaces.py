"""Check the matrix Bingham law: the loss of one draw, its form in sine coordinates, its sampler, and its accuracy.

The exact normaliser is known for rank 1, for rank d − 1, where I − P has rank 1, and for rank 2 in R⁴. For rank 2 in
R⁴, P is a pair (u, v) of points on two spheres S², the self-dual and anti-self-dual parts of the plane as a two-form.
For M = diag(μ), tr(PM) is Σ μ_i/2 + Σ n_i u_i v_i with n_i = μ_1 + μ_{i+1} − (μ_1 + … + μ_4)/2.
"""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham, haar
from covassay.reference.laws import matrix_bingham as law
from covassay.reference.mechanisms.pure import matrix_bingham as mechanism
from covassay.verification.claims.checks.own.samplers import ALARM, DRAWS, decided
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

NODES = 160  # the number of nodes of Gauss–Legendre quadrature in each of two variables
EXACT_CASES = ((2, 1), (5, 1), (3, 2), (6, 5), (4, 2))  # pairs (d, k) with an exact normaliser
Sampler = Callable[..., Matrix]


def _spheres(values: Vector) -> tuple[float, float]:
    """Return ln E exp(tr(PM)) and E tr(PM) for M with the given four eigenvalues and P of rank 2, by quadrature over
    one sphere.

    The quadrature integrates v out: the mean of exp(⟨w, v⟩) is sinh κ/κ with κ = ‖w‖. By symmetry an eighth of the
    sphere of u is enough.
    """
    n = np.array([values[0] + values[i] - values.sum() / 2 for i in (1, 2, 3)])
    t, weights = np.polynomial.legendre.leggauss(NODES)
    t, weights = (t + 1) / 2, weights / 2
    height, angle = t[:, None], np.pi / 2 * t[None, :]
    radius = np.sqrt(1 - height**2)
    kappa = np.sqrt((n[0] * radius * np.cos(angle)) ** 2 + (n[1] * radius * np.sin(angle)) ** 2 + (n[2] * height) ** 2)
    kappa = np.maximum(kappa, 1e-9)
    top = float(kappa.max())
    plus, minus = np.exp(kappa - top) / 2, np.exp(-kappa - top) / 2
    both = weights[:, None] * weights[None, :]
    total = float((both * (plus - minus) / kappa).sum())
    mean = float((both * ((plus + minus) - (plus - minus) / kappa)).sum()) / total
    half = float(values.sum()) / 2
    return half + top + float(np.log(total)), half + mean


def exact(values: Vector, k: int) -> tuple[float, float]:
    """Return ln E exp(tr(PM)) and E tr(PM) over the uniform law of P, for M with the given eigenvalues, by exact
    normalisers.
    """
    if (len(values), k) == (4, 2):
        return _spheres(values)
    if k > 1:
        log_mean, mean = exact(-values, 1)
        return log_mean + float(values.sum()), mean + float(values.sum())
    ordered = np.sort(values)[::-1]
    log_mean = float(ordered[0]) + bingham.log_mean_exponential(ordered[0] - ordered)
    return log_mean, float(bingham.second_moments(np.diag(values)) @ ordered)


# THE LAW


@check("floating", scope="200 random X, up to 4 × 4", more="frames")
@mutant("columns that are not made orthonormal", frames=lambda x: np.vstack([np.eye(x.shape[1]), x]))
def sine_coordinates(frames: Formula = law.frames) -> Found:
    """Let P be the projection onto the columns of `frames(X)`, and M = diag(μ). Then tr(PM) = Σ_{i≤k} μ_i − Σ_{i,j}
    (μ_i − μ_{k+j}) X_ji².
    """
    rng = np.random.default_rng(82)
    for _ in range(200):
        m, k = rng.integers(1, 5, size=2)
        values = np.sort(rng.standard_normal(m + k) * 5)[::-1]
        x = haar.sample(int(m + k), rng)[k:, :k]
        f, gaps = frames(x), values[:k] - values[k:, None]
        yield abs(float(np.diag(f @ f.T) @ values - values[:k].sum() + (gaps * x**2).sum())) / ROUNDING


def _log_acceptance(g: Matrix, x: Matrix, tied: bool = True, smaller: float = 1.0) -> float:
    """Return the log acceptance probability of X by the formula of the proof page, with every determinant computed from
    X.
    """
    m, total = len(g), 0.0
    for i, column in enumerate(g.T):
        b = bingham.envelope_parameter(np.append(0.0, column)) * smaller
        inverse = np.linalg.inv(np.eye(m) - x[:, :i] @ x[:, :i].T) if tied else np.eye(m)
        scaled = np.diag(2 * column / b)
        y = float(x[:, i] ** 2 @ column)
        total += -y + (m + 1) / 2 * np.log(1 + 2 * y / b) + (m + 1 - b) / 2 - (m + 1) / 2 * np.log((m + 1) / b)
        total += np.linalg.slogdet(np.eye(m) + scaled)[1] / 2 - np.linalg.slogdet(inverse + scaled)[1] / 2
    return float(total)


@check("floating", scope="300 proposals, five shapes")
@mutant("columns treated as independent", formula=lambda g, x: _log_acceptance(g, x, tied=False))
@mutant("b smaller by 3 %", formula=lambda g, x: _log_acceptance(g, x, smaller=0.97))
def acceptance(formula: Formula = _log_acceptance) -> Found:
    """The sampler's acceptance probability is that of the proof page, and it never exceeds 1."""
    rng = np.random.default_rng(83)
    for m, k, scale in ((1, 1, 3.0), (3, 2, 0.0), (3, 2, 10.0), (4, 4, 1.0), (5, 3, 200.0)):
        g = scale * rng.exponential(size=(m, k))
        for one, value in zip(*law.propose(g, 60, rng), strict=True):
            yield bool(abs(formula(g, one) - value) < 1e-7 and value <= ROUNDING)


def _tests(sampler: Sampler) -> list[TestResult]:
    """Return Kolmogorov–Smirnov tests of draws against exact distribution functions, for matrices M of rank 1 and for
    one M with three different eigenvalues.
    """
    tests = []
    for number, (d, k) in enumerate(((3, 1), (4, 2), (5, 3), (6, 2))):
        v = np.ones(d) / np.sqrt(d)
        p = sampler(6.0 * np.outer(v, v), k, np.random.default_rng([84, number]), DRAWS)
        share = np.clip(np.einsum("nij,i,j->n", p, v, v), 0, 1)
        tests.append(kolmogorov_smirnov(share, law.share_cdf(6.0, k, d), f"one direction, d = {d}, k = {k}"))
    m = np.diag([5.0, 3.0, 1.0])
    p = sampler(m, 2, np.random.default_rng(85), DRAWS)
    for i in range(3):
        cdf = bingham.projection_cdf(-m, [2 - i])
        tests.append(kolmogorov_smirnov(1 - p[:, i, i], cdf, f"three eigenvalues, entry ({i + 1}, {i + 1})"))
    return tests


def _accepted_untied(m: Matrix, k: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw with a deliberate error: the acceptance probability treats the columns of X as independent."""
    g, vectors = law.gaps(m, k)
    x, _ = law.propose(g, 8 * size, rng)
    kept = np.array([_log_acceptance(g, one, tied=False) for one in x]) > np.log(rng.random(len(x)))
    v = vectors @ law.frames(x[kept][:size])
    return np.asarray(v @ np.swapaxes(v, 1, 2))


@check("floating", scope=f"{DRAWS} draws each, d ≤ 6, k ≤ 3, {ALARM}")
@mutant("an exponent 1.3 times larger", sampler=lambda m, k, rng, size: law.sample(1.3 * m, k, rng, size))
@mutant("every proposal accepted", sampler=lambda m, k, rng, size: _all_accepted(m, k, rng, size))
@mutant("columns treated as independent", sampler=_accepted_untied)
def draws(sampler: Formula = law.sample) -> Evidence:
    """The sampler draws projections P with density ∝ exp(tr(PM)); the tests use exact distribution functions."""
    return decided(_tests(sampler))


def _all_accepted(m: Matrix, k: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw from the envelope of the rejection sampler and, as a deliberate error, accept every draw."""
    g, vectors = law.gaps(m, k)
    v = vectors @ law.frames(law.propose(g, size, rng)[0])
    return np.asarray(v @ np.swapaxes(v, 1, 2))


# ACCURACY


@check("floating", scope="85 spectra, (d, k) = (2, 1), (5, 1), (3, 2), (6, 5), (4, 2)")
@mutant("half the dimension of the Grassmannian", bound=lambda eta, d, k: k * (d - k) / (2 * eta))
@mutant("a third of the bound", bound=lambda eta, d, k: mechanism.error_bound(eta, d, k) / 3)
def excess(bound: Formula = mechanism.error_bound) -> Found:
    """The expected excess E[λ_1 + … + λ_k − tr(PC)] is at most (k(d − k) + min(k, d − k))/η, by exact normalisers."""
    rng = np.random.default_rng(86)
    for d, k in EXACT_CASES:
        spectra = [scale * np.append(np.zeros(d - k), np.ones(k)) for scale in (0.5, 3.0, 6.0, 20.0, 60.0)]
        spectra += [rng.exponential(size=d) * 10 ** rng.uniform(-1, 1.7) for _ in range(12)]
        for values in spectra:
            missed = float(np.sort(values)[::-1][:k].sum()) - exact(values, k)[1]
            yield missed / float(bound(1.0, d, k))
