"""Check what AdaSSP spends: how far one row moves the smallest eigenvalue, Σ aaᵀ and Σ ya together."""

from fractions import Fraction

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import adassp
from covassay.verification.claims.evidence import Formula, Found, check, mutant

RHO = 0.75  # for this ρ the numbers 3/ρ, 3/(2ρ) and 3/(4ρ) are 4, 2 and 1
CALIBRATIONS = ("paper", "tight")


def sums(x: Matrix) -> tuple[float, Matrix, Matrix]:
    """Return λ_min(Σ aaᵀ), Σ aaᵀ and Σ ya for the rows (a, y)."""
    gram = x[:, :-1].T @ x[:, :-1]
    return float(np.linalg.eigvalsh(gram)[0]), gram, x[:, :-1].T @ x[:, -1]


def spent(first: Matrix, second: Matrix, scales: tuple[float, float, float]) -> float:
    """Return D_α/α of the three noisy sums for two data sets, where D_α is the Rényi divergence.

    The ratio D_α/α is the same for every order α, since the noise of the sums is Gaussian.
    """
    (value, gram, product), (other, other_gram, other_product) = sums(first), sums(second)
    parts = (
        (value - other) ** 2,
        float(wigner.separation_squared(gram - other_gram, "wigner")),
        float((product - other_product) @ (product - other_product)),
    )
    return sum(part / scale**2 / 2 for part, scale in zip(parts, scales, strict=True))


def worst(p: int) -> tuple[Matrix, Matrix]:
    """Return neighbours with p features: they have rows on all axes but the last, and one row moves from the last axis
    to the first.
    """
    rest = np.hstack([np.repeat(np.eye(p)[:-1], 2, axis=0), np.zeros((2 * (p - 1), 1))])
    moved = np.eye(p + 1)[[p - 1, 0 if p > 1 else p]]
    return np.vstack([rest, moved[:1]]), np.vstack([rest, moved[1:]])


@check("floating", less="eigenvalue matrix vector", more="matrix", scope="1, 2, 3, 6 features")
@mutant("a loss of ρ, the sum of the largest losses of the three parts", loss=lambda rho, d, c: rho)
@mutant("for one feature the loss for several", loss=lambda rho, d, c: adassp.privacy_loss(rho, 3, c))
def budget(
    eigenvalue: Formula = adassp.eigenvalue_scale,
    matrix: Formula = adassp.matrix_scale,
    vector: Formula = adassp.vector_scale,
    loss: Formula = adassp.privacy_loss,
) -> Found:
    """AdaSSP's sums spend 2ρ/3 in the paper's split and ρ in the tight one; with one feature they spend ρ/2 and 2ρ/3.

    A row that moves from one axis to another attains these budgets if the first axis has no other row. Rows with
    opposite targets attain the joint cost of the matrix Σ aaᵀ and the vector Σ ya.
    """
    pulled = []
    for calibration in CALIBRATIONS:
        scales = (float(eigenvalue(RHO)), float(matrix(RHO, calibration)), float(vector(RHO, calibration)))
        for p in (1, 2, 3, 6):
            allowed = float(loss(RHO, p + 1, calibration))
            attained = spent(*worst(p), scales)
            yield {f"{calibration}, {p} features: {attained / RHO:.6f} ρ": abs(attained / allowed - 1) <= 1e-12}
            row = np.eye(p + 1)[0] / 2**0.5
            up, down = (np.array([row + side * np.eye(p + 1)[-1] / 2**0.5]) for side in (1, -1))
            pulled.append(spent(up, down, scales) / (RHO / 3 if calibration == "paper" else 2 * RHO / 3))
    ends_attain = all(abs(share - 1) < 1e-12 for share in pulled)
    thirds = [adassp.privacy_loss(Fraction(1), 3, c) for c in CALIBRATIONS] == [Fraction(2, 3), Fraction(1)]
    yield bool(ends_attain)
    yield bool(thirds)
