"""Draw noise by the laws of `reference.laws` as functions of uniform numbers, in interval arithmetic and to any number
of digits. Each computed number is a ball, that is, an interval that contains the exact number.

Matrices are python-flint's `arb_mat`. Every law has scale 1, and is the law of the float sampler with the same name.
This module calls the formulas of the float samplers, so no formula is written twice.
"""

from collections.abc import Sequence

from flint import arb, arb_mat

from covassay.reference.laws import k_norm
from covassay.reference.laws.k_norm import Body
from covassay.reference.rounded.balls import Undecided, less, square_root, sum_of_squares
from covassay.reference.rounded.bits import Uniforms
from covassay.reference.rounded.spectrum import spectrum

# NUMBERS


def laplace(uniforms: Uniforms) -> arb:
    """Draw a Laplace(1) number, which is −ln U with a random sign."""
    size = -uniforms.uniform().log()
    return -size if uniforms.coin() else size


def laplaces(count: int, uniforms: Uniforms) -> list[arb]:
    """Draw `count` independent Laplace(1) numbers."""
    return [laplace(uniforms) for _ in range(count)]


def gumbel(uniforms: Uniforms) -> arb:
    """Draw a standard Gumbel number, which is −ln(−ln U)."""
    return -(-uniforms.uniform().log()).log()


def gamma(shape: int, uniforms: Uniforms) -> arb:
    """Draw a Gamma(shape) number for a whole `shape`, which is a sum of independent −ln U."""
    return sum((-uniforms.uniform().log() for _ in range(shape)), arb(0))


def normals(count: int, uniforms: Uniforms) -> list[arb]:
    """Draw independent N(0, 1) numbers, in pairs by the method of Box and Muller."""
    drawn: list[arb] = []
    while len(drawn) < count:
        radius = (-2 * uniforms.uniform().log()).sqrt()
        sine, cosine = (2 * uniforms.uniform()).sin_cos_pi()
        drawn += [radius * cosine, radius * sine]
    return drawn[:count]


def index_below(count: int, uniforms: Uniforms) -> int:
    """Draw an index that is uniform among 0, …, count − 1."""
    index = (count * uniforms.uniform()).floor().unique_fmpz()
    if index is None:
        raise Undecided
    return int(index)


# MATRICES


def triangle(d: int) -> list[tuple[int, int]]:
    """Return the positions on and above the diagonal of a matrix, row by row."""
    return [(i, j) for i in range(d) for j in range(i, d)]


def symmetric(d: int, upper: Sequence[arb]) -> arb_mat:
    """Return the symmetric matrix with the given entries on and above the diagonal, row by row."""
    matrix = arb_mat(d, d)
    for (i, j), value in zip(triangle(d), upper, strict=True):
        matrix[i, j] = matrix[j, i] = value
    return matrix


def wigner_laplace(d: int, uniforms: Uniforms) -> arb_mat:
    """Draw a symmetric matrix with independent Laplace(1) entries on and above the diagonal."""
    return symmetric(d, laplaces(len(triangle(d)), uniforms))


def wigner(ensemble: str, d: int, uniforms: Uniforms) -> arb_mat:
    """Draw a symmetric Gaussian matrix with variance 1 on the diagonal, and above it 1 ("wigner") or 1/2 ("goe")."""
    return symmetric(d, _weighted(d, normals(len(triangle(d)), uniforms), 1 if ensemble == "wigner" else 2))


def _weighted(d: int, upper: Sequence[arb], divisor: int) -> list[arb]:
    """Return the entries of a triangle, with those off the diagonal divided by √divisor."""
    root = square_root(divisor)
    return [value if i == j else value / root for (i, j), value in zip(triangle(d), upper, strict=True)]


def haar(d: int, uniforms: Uniforms) -> arb_mat:
    """Return a Haar distributed orthogonal matrix, by Gram–Schmidt on the rows of a Gaussian matrix.

    Gram–Schmidt gives the decomposition in which the triangular factor has a positive diagonal (see `laws.haar`).
    """
    gaussian = arb_mat(d, d, normals(d * d, uniforms)).tolist()
    rows: list[arb_mat] = []
    for entries in gaussian:
        row = arb_mat([entries])
        for other in rows:
            row = row - other * (row * other.transpose())[0, 0]
        rows.append(row * (1 / (row * row.transpose())[0, 0].sqrt()))
    return arb_mat([row.entries() for row in rows])


def nuclear_laplace(d: int, uniforms: Uniforms) -> arb_mat:
    """Draw full nuclear-Laplace noise U diag(σ) Vᵀ."""
    values = spectrum(d, uniforms)
    return _scaled_columns(haar(d, uniforms), values) * haar(d, uniforms).transpose()


def nuclear_laplace_symmetric(d: int, uniforms: Uniforms) -> arb_mat:
    """Draw symmetric nuclear-Laplace noise Q diag(λ) Qᵀ."""
    values = spectrum(d, uniforms, symmetric=True)
    q = haar(d, uniforms)
    return _scaled_columns(q, values) * q.transpose()


def _scaled_columns(matrix: arb_mat, factors: Sequence[arb]) -> arb_mat:
    """Return the matrix with its columns multiplied by the factors."""
    return arb_mat([[a * b for a, b in zip(row, factors, strict=True)] for row in matrix.tolist()])


def k_norm_noise(body: Body, d: int, uniforms: Uniforms) -> arb_mat:
    """Draw noise with density ∝ exp(−‖Z‖_K), in the way that `laws.k_norm` explains."""
    if body == "schatten1":
        return nuclear_laplace_symmetric(d, uniforms)
    if body == "l1":
        return wigner_laplace(d, uniforms)
    entries = len(triangle(d))
    radius = gamma(entries, uniforms)
    if body == "l2":
        direction = normals(entries, uniforms)
        length = sum_of_squares(direction).sqrt()
        return symmetric(d, [value * radius / length for value in _weighted(d, direction, 2)])
    if body == "linf":
        face, sign = index_below(entries, uniforms), -1 if uniforms.coin() else 1
        point = [2 * uniforms.uniform() - 1 for _ in range(entries)]
        point[face] = arb(sign)
        return symmetric(d, [value * radius for value in point])
    values = [value * radius for value in _covariance_direction(d, uniforms)]
    q = haar(d, uniforms)
    return _scaled_columns(q, values) * q.transpose()


def _covariance_direction(d: int, uniforms: Uniforms) -> list[arb]:
    """Return the eigenvalues of a boundary point of the covariance body, by rejection from nuclear-Laplace noise."""
    while True:
        values = spectrum(d, uniforms, symmetric=True)
        nuclear, trace = sum((abs(value) for value in values), arb(0)), sum(values, arb(0))
        if less(uniforms.uniform(), k_norm.acceptance(nuclear, trace, d)):
            norm = k_norm.covariance_norm(nuclear, trace)
            return [value / norm for value in values]
