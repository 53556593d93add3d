"""Check DN25 Theorem 2 and the inequalities around it, which bound the error after the projection."""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.projections import nuclear_ball
from covassay.verification.claims.evidence import ROUNDING, Formula, Found, check, mutant

CASES = 3000


def cases(count: int, seed: int) -> list[tuple[Matrix, Matrix]]:
    """Yield random pairs (Σ, Z) of a second moment of any rank with trace at most 1, and noise of any size."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        d = int(rng.integers(1, 6))
        x = rng.standard_normal((int(rng.integers(1, d + 1)), d)) * rng.exponential(size=d)
        sigma = x.T @ x
        sigma *= rng.random() / np.trace(sigma)
        found.append((sigma, rng.standard_normal((d, d)) * 10 ** rng.uniform(-3, 1)))
    return found


def rescale(matrix: Matrix, radius: float) -> Matrix:
    """Return the matrix scaled down into the nuclear ball, which is a deliberate error in place of the projection."""
    return matrix * min(1.0, radius / max(float(np.linalg.norm(matrix, "nuc")), 1e-300))


def frobenius_clip(matrix: Matrix, radius: float) -> Matrix:
    """Return the projection onto the Frobenius ball, which is a deliberate error in place of the nuclear ball."""
    return matrix * min(1.0, radius / max(float(np.linalg.norm(matrix)), 1e-300))


@check("floating", scope=f"{CASES} random (Σ, Z, r), d ≤ 5")
@mutant("rescaling", project=rescale)
@mutant("the Frobenius ball", project=frobenius_clip)
def projection_inequalities(project: Formula = nuclear_ball) -> Found:
    """For r ≥ tr Σ, the projection P of Σ + Z satisfies ‖P − Σ‖_F ≤ ‖Z‖_F and ‖P − Σ‖_F² ≤ ‖Z‖(tr Σ + r).

    The square ‖P − Σ‖_F² is even at most ⟨Z, P − Σ⟩, which is at most ‖Z‖(tr Σ + r). DN25 prints the inner product with
    the wrong sign, as O(⟨Z, Σ − P⟩), which is at most −‖P − Σ‖_F².
    """
    for sigma, z in cases(CASES, 1):
        trace = float(np.trace(sigma))
        radius = trace * (1 + abs(float(np.sin(1e6 * trace))))
        p = project(sigma + z, radius)
        error, inner = float(np.linalg.norm(p - sigma)), float(((p - sigma) * z).sum())
        slack = ROUNDING * (1 + float(np.linalg.norm(z)))
        yield {
            "contraction": bool(error <= np.linalg.norm(z) + slack),
            "⟨Z, P − Σ⟩": error**2 <= inner + slack,
            "‖Z‖(tr Σ + r)": bool(inner <= np.linalg.norm(z, 2) * (trace + radius) + slack),
        }


@check("floating", scope=f"{CASES} random (Σ, Z), r = tr Σ/2", attained=1 - ROUNDING)
@mutant("no projection", project=lambda m, r: m)
@mutant("a radius larger by 3 %", project=lambda m, r: nuclear_ball(m, 1.03 * r))
@mutant("a radius smaller by 3 %", project=lambda m, r: nuclear_ball(m, r / 1.03))
def small_radius(project: Formula = nuclear_ball) -> Found:
    """For r < tr Σ, ‖P − Σ‖_* ≤ ‖P‖_* + ‖Σ‖_* ≤ tr Σ + r; Σ = diag(1, 0) and Z = diag(−1, −1) attain the bound."""
    for sigma, z in [*cases(CASES, 2), (np.diag([1.0, 0.0]), -np.eye(2))]:
        trace = float(np.trace(sigma))
        yield float(np.linalg.norm(project(sigma + z, trace / 2) - sigma, "nuc")) / (1.5 * trace)
