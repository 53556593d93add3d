"""Enclose the eigenvalues of a symmetric matrix with certainty, whether or not some of them coincide.

Jacobi's rotations, applied to midpoints, give numbers Λ and a matrix Q that is nearly orthogonal. The numbers Λ and the
matrix Q are only approximations. Let M be the matrix, and let QΛQᵀ = M + E. The i-th largest eigenvalues satisfy

    |λ_i(M) − λ_i(Λ)| ≤ ‖E‖ + |λ_i(Λ)| ‖QᵀQ − I‖.

The first term bounds the effect of E, by Weyl's inequality. The second term follows from Ostrowski's theorem, which
says that λ_i(QΛQᵀ) is λ_i(Λ) times a number between the smallest and the largest eigenvalue of QᵀQ. The norms ‖E‖ and
‖QᵀQ − I‖ are bounded by Frobenius norms, which are computed in interval arithmetic.
"""

from flint import arb, arb_mat, ctx

from covassay.reference.rounded.balls import Undecided, sum_of_squares

SWEEPS = 60


def eigenvalues(m: arb_mat) -> list[arb]:
    """Return the eigenvalues of a symmetric matrix in descending order."""
    d = m.nrows()
    proposed, vectors = _jacobi(m.mid())
    order = sorted(range(d), key=lambda i: proposed[i, i].mid(), reverse=True)
    diagonal = arb_mat(d, d)
    for i in range(d):
        diagonal[i, i] = proposed[i, i].mid()
    identity = arb_mat(d, d)
    for i in range(d):
        identity[i, i] = 1
    error = _frobenius(vectors * diagonal * vectors.transpose() - m)
    skew = _frobenius(vectors.transpose() * vectors - identity)
    found = []
    for i in order:
        reach = error + abs(diagonal[i, i]) * skew
        if not reach.is_finite():
            raise Undecided
        found.append(diagonal[i, i] + reach * arb(0, 1))
    return found


def _frobenius(m: arb_mat) -> arb:
    """Return an upper bound on the Frobenius norm of a matrix of balls."""
    return sum_of_squares(abs(value).upper() for value in m.entries()).upper().sqrt().upper()


def _jacobi(m: arb_mat) -> tuple[arb_mat, arb_mat]:
    """Return a nearly diagonal matrix QᵀMQ and Q itself, both without radii, by cyclic Jacobi rotations."""
    d = m.nrows()
    a = [[value.mid() for value in row] for row in m.tolist()]
    q = [[arb(int(i == j)) for j in range(d)] for i in range(d)]  # the array holds the rows of Qᵀ
    scale = max((abs(value) for row in a for value in row), default=arb(0))
    small = scale * arb((1, 8 - ctx.prec))
    for _ in range(SWEEPS):
        rotated = False
        for i in range(d):
            for j in range(i + 1, d):
                if abs(a[i][j]) <= small:
                    continue
                rotated = True
                ratio = (a[j][j] - a[i][i]) / (2 * a[i][j])
                tangent = 1 / (abs(ratio.mid()) + (1 + ratio.mid() * ratio.mid()).sqrt())
                tangent = (-tangent if ratio.mid() < 0 else tangent).mid()
                cosine = (1 / (1 + tangent * tangent).sqrt()).mid()
                sine = (tangent * cosine).mid()
                for rows in (a, q):
                    rows[i], rows[j] = _rotated(rows[i], rows[j], cosine, sine)
                for row in a:
                    row[i], row[j] = ((cosine * row[i] - sine * row[j]).mid(), (sine * row[i] + cosine * row[j]).mid())
        if not rotated:
            break
    return arb_mat(a), arb_mat(q).transpose()


def _rotated(first: list[arb], second: list[arb], cosine: arb, sine: arb) -> tuple[list[arb], list[arb]]:
    pairs = list(zip(first, second, strict=True))
    return [(cosine * x - sine * y).mid() for x, y in pairs], [(sine * x + cosine * y).mid() for x, y in pairs]
