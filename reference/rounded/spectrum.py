"""Draw the spectrum of nuclear-Laplace noise Z in interval arithmetic: its singular values, or its eigenvalues if Z is
symmetric. Each computed number is a ball, that is, an interval that contains the exact number.

The law is that of `laws.nuclear_laplace` at ρ = 1, and the sampler is the chain rule of `laws.pfaffian_sampler`, whose
docstring explains every name used here. The sampler `laws.pfaffian_sampler` uses quadrature; this module uses closed
forms, so that nothing is approximated. Write x = s·y, where y = |x| and s = ±1 is the sign of x. The basis functions
span the functions y^p e^{−y}. For the singular values, p = 0, 2, …, 2d − 2 and s = 1. For the eigenvalues, p = 0, 1, …,
d − 1 and s takes both signs. From

    ∫_y^∞ t^p e^{−t} dt = p! e^{−y} T_p(y),   T_p(y) = Σ_{i≤p} y^i/i!,

it follows that the function φ(x) = x^p e^{−|x|} = s^p y^p e^{−y}, whose integral is c = ∫ φ, has the transform

    Eφ(x) = ∫ sgn(t − x) φ(t) dt = s (2 s^p p! e^{−y} T_p(y) − c).

Between two neighbouring points of the sample, and left or right of 0, the next point has the intensity

    f = e^{−2y} × a polynomial in y + e^{−y} × another polynomial.

The integral F of the intensity f is also of the form e^{−2y} × a polynomial + e^{−y} × another polynomial + a constant.
After k points, the next point is the root of F(x) = u F(∞), where u is a uniform number and F(∞) is exactly d − k.

The skew products A_jk = ∫ φ_j Eφ_k are rational numbers. Rational polynomials that are nearly orthonormal replace the
powers of y (`Basis`). The law of the points depends only on the span of the basis functions. If the powers of y were
the basis, rounding errors would grow with every drawn point, by roughly as many bits as in the evaluation of a
polynomial. With the nearly orthonormal basis, only the evaluation of polynomials loses bits of precision.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import factorial

from flint import arb, arb_mat, arb_poly, ctx, fmpq, fmpq_mat

from covassay.reference.rounded.balls import Undecided, bracketed_root, is_negative, less
from covassay.reference.rounded.bits import Uniforms


@dataclass(frozen=True)
class Basis:
    """The exact numbers in the formulas for the law of the d points (the singular values or eigenvalues).

    powers : the powers p that span the space.
    sides : the signs s that occur.
    change : shape (d, d), row i has the coefficients of the i-th polynomial of the basis.
    totals : shape (d,), the integrals c of its basis functions.
    kernel : shape (D, D), the inverse of the matrix of skew products. D is d for even d, and d + 1 for odd d, where the
        additional basis function has φ = 0 and Eφ = 1.
    """

    powers: list[int]
    sides: tuple[int, ...]
    change: fmpq_mat
    totals: fmpq_mat
    kernel: fmpq_mat


@lru_cache(maxsize=8)
def basis(d: int, symmetric: bool) -> Basis:
    """Return the basis for the eigenvalues of symmetric noise, or for the singular values of full noise."""
    powers = list(range(d)) if symmetric else list(range(0, 2 * d, 2))
    sides = (-1, 1) if symmetric else (1,)

    def squares(p: int, q: int) -> fmpq:
        """Return the integral of the product of two features."""
        return sum((s ** (p + q) * fmpq(factorial(p + q), 2 ** (p + q + 1)) for s in sides), fmpq(0))

    def total(p: int) -> fmpq:
        return fmpq(sum(s**p for s in sides) * factorial(p))

    def skew(p: int, q: int) -> fmpq:
        """Return the integral ∫ φ_p Eφ_q, by ∫ y^{p+i} e^{−2y} dy = (p + i)!/2^{p+i+1}."""
        tails = sum((fmpq(factorial(p + i), factorial(i) * 2 ** (p + i + 1)) for i in range(q + 1)), fmpq(0))
        return sum((s ** (p + 1) * (2 * s**q * factorial(q) * tails - factorial(p) * total(q)) for s in sides), fmpq(0))

    gram = fmpq_mat([[squares(p, q) for q in powers] for p in powers])
    change = _nearly_orthonormal(gram)
    totals = change * fmpq_mat([[total(p)] for p in powers])
    products = (change * fmpq_mat([[skew(p, q) for q in powers] for p in powers]) * change.transpose()).tolist()
    if d % 2:
        products = [[*row, totals[i, 0]] for i, row in enumerate(products)]
        products.append([*(-totals[i, 0] for i in range(d)), fmpq(0)])
    return Basis(powers, sides, change, totals, fmpq_mat(products).inv())


def _nearly_orthonormal(gram: fmpq_mat) -> fmpq_mat:
    """Return coefficients of polynomials that are orthogonal for the given Gram matrix, with squared norms between 1/4
    and 4.

    The function uses Gram–Schmidt in rational numbers. The function adjusts the lengths by powers of 2, so that no root
    is needed.
    """
    d = gram.nrows()
    rows: list[fmpq_mat] = []
    for i in range(d):
        unit = fmpq_mat([[fmpq(int(i == j)) for j in range(d)]])
        row = unit
        for other in rows:
            image = gram * other.transpose()
            row = row - other * ((unit * image)[0, 0] / (other * image)[0, 0])
        square = (row * gram * row.transpose())[0, 0]
        half = (int(square.p).bit_length() - int(square.q).bit_length()) // 2
        rows.append(row * fmpq(2) ** -half)
    return fmpq_mat([row.entries() for row in rows])


@dataclass(frozen=True)
class _Balls:
    """The numbers of a `Basis` and polynomials that follow from them, all as intervals (balls) of the same precision.

    Matrices are padded with zeros to m = D + d rows or columns, because the kernel has m rows after all d points.

    basis : the exact numbers.
    kernel : shape (m, m), the kernel of `basis`, padded with zeros.
    change, totals : the matrices `change` and `totals` of `basis`.
    tails : shape (d, L), in each row the coefficients of the polynomial p!·T_p for one of the powers p in
        `basis.powers`.
    by_powers : for each sign s, a matrix of shape (d, m). Column i has the coefficients of φ_i, padded with zeros.
    by_tails : for each sign s, a matrix of shape (m, L). Row i has the coefficients of the polynomial Σ_p change_ip s^p
        p!·T_p, padded with zeros.
    """

    basis: Basis
    kernel: arb_mat
    change: arb_mat
    totals: arb_mat
    tails: arb_mat
    by_powers: dict[int, arb_mat]
    by_tails: dict[int, arb_mat]


@lru_cache(maxsize=16)
def _balls(d: int, symmetric: bool, precision: int) -> _Balls:
    law = basis(d, symmetric)
    size, length = law.kernel.nrows() + d, law.powers[-1] + 1
    tails = fmpq_mat(
        [[fmpq(factorial(p), factorial(i)) if i <= p else fmpq(0) for i in range(length)] for p in law.powers]
    )
    by_powers, by_tails = {}, {}
    for s in law.sides:
        signs = fmpq_mat([[fmpq(s**p if p == q else 0) for q in law.powers] for p in law.powers])
        signed = law.change * signs
        by_powers[s] = arb_mat(_padded(signed.transpose(), d, size))
        by_tails[s] = arb_mat(_padded(signed * tails, size, length))
    kernel = arb_mat(_padded(law.kernel, size, size))
    return _Balls(law, kernel, arb_mat(law.change), arb_mat(law.totals), arb_mat(tails), by_powers, by_tails)


def _padded(m: fmpq_mat, rows: int, columns: int) -> fmpq_mat:
    """Return the matrix, padded with zeros below and to the right to the given size."""
    zero = [fmpq(0)] * columns
    table = [[*row, *zero[len(row) :]] for row in m.tolist()]
    return fmpq_mat(table + [zero] * (rows - len(table)))


@dataclass(frozen=True)
class _Interval:
    """An interval `near` ≤ y ≤ `far` of points x = s·y with one sign s = `side`. If `far` is None, the interval extends
    to ∞.

    The intensity of the next point is e^{−2y} P(y) + e^{−y} Q(y) on the interval, with the polynomials P = `twice` and
    Q = `once`. The integral from y to ∞ of this formula is e^{−2y} R(y) + e^{−y} S(y), with the polynomials
    R = `rest_twice` and S = `rest_once`.
    """

    side: int
    near: arb
    far: arb | None
    twice: arb_poly
    once: arb_poly
    rest_twice: arb_poly
    rest_once: arb_poly

    def intensity(self, y: arb) -> arb:
        """Return the conditional intensity f at y, without normalisation."""
        e = (-y).exp()
        return e * (e * self.twice(y) + self.once(y))

    def beyond(self, y: arb | None) -> arb:
        """Return the integral ∫_y^∞ of the formula for the intensity, continued beyond the end of the interval."""
        if y is None:
            return arb(0)
        e = (-y).exp()
        return e * (e * self.rest_twice(y) + self.rest_once(y))

    def mass(self) -> arb:
        """Return the integral of the intensity over the interval."""
        return self.beyond(self.near) - self.beyond(self.far)


def spectrum(d: int, uniforms: Uniforms, symmetric: bool = False) -> list[arb]:
    """Draw the eigenvalues of symmetric noise, or the singular values of full noise, in random order. The result is d
    balls, that is, intervals that contain the exact numbers.
    """
    law = _balls(d, symmetric, ctx.prec)
    kernel, points = law.kernel, list[arb]()
    for k in range(d):
        position = _next_point(law, kernel, points, uniforms.uniform() * (d - k))
        if k + 1 < d:
            kernel = _conditioned(law, kernel, points, position)
        points.append(position)
    return points


def _next_point(law: _Balls, kernel: arb_mat, points: list[arb], target: arb) -> arb:
    """Return the x with F(x) = target. F(x) is the integral, up to x, of the intensity of the next point, given the
    points that were drawn.
    """
    intervals = _intervals(law, kernel, points)
    for number, interval in enumerate(intervals):
        last = number == len(intervals) - 1
        mass = arb(0) if last else interval.mass()  # the last interval takes the remaining probability
        if last or less(target, mass):
            break
        target = target - mass
    if interval.side < 0:  # on the left of 0, x goes from `far` to `near`
        target = interval.beyond(interval.far) + target
        return -_falling_root(interval, target)
    return _falling_root(interval, interval.beyond(interval.near) - target)


def _falling_root(interval: _Interval, value: arb) -> arb:
    """Return the y of the interval at which the function `beyond`, which decreases on the interval, equals `value`."""
    near, far = interval.near, interval.far
    if far is None:
        far = near + 16
        while not interval.beyond(far) < value:
            far = far + (far - near)
            if far > 2**10 * ctx.prec:  # the ball that contains `value` is too wide
                raise Undecided
    return bracketed_root(lambda y: value - interval.beyond(y), interval.intensity, near, far)


def _intervals(law: _Balls, kernel: arb_mat, points: list[arb]) -> list[_Interval]:
    """Return the intervals into which 0 and the drawn points divide the range of x, from left to right."""
    d, n, powers = len(law.basis.powers), law.basis.kernel.nrows(), law.basis.powers
    order = ascending(points)
    negative = [q for q in order if is_negative(points[q])]
    positive = order[len(negative) :]
    # each entry describes an interval: (side, near, far, the number of drawn points to the left of the interval)
    ends: list[tuple[int, arb | None, arb | None, int]] = []
    if -1 in law.basis.sides:
        edges = [None, *(-points[q] for q in negative), arb(0)]
        ends += [(-1, near, far, passed) for passed, (far, near) in enumerate(pairwise(edges))]
    edges = [arb(0), *(points[q] for q in positive), None]
    ends += [(1, near, far, len(negative) + passed) for passed, (near, far) in enumerate(pairwise(edges))]

    # column j: the part of the features b that is constant on interval j
    constant = arb_mat(kernel.nrows(), len(ends))
    for j, (s, _, _, passed) in enumerate(ends):
        for i in range(d):
            constant[i, j] = -s * law.totals[i, 0]
        for i in range(d, n):
            constant[i, j] = 1
        for rank, q in enumerate(order):
            constant[n + q, j] = -1 if rank < passed else 1

    found: list[_Interval] = []
    for s in law.basis.sides:
        weights = law.by_powers[s] * kernel
        products = (weights * law.by_tails[s] * arb(-2 * s)).tolist()
        twice = sum((arb_poly(row).left_shift(p) for p, row in zip(powers, products, strict=True)), arb_poly([0]))
        rest_twice = _rest_of_square(twice)
        factors = -(weights * constant).transpose()
        rests = (factors * law.tails).tolist()
        for j, (side, near, far, _) in enumerate(ends):
            if side == s and near is not None:
                once = [arb(0)] * (powers[-1] + 1)
                for i, p in enumerate(powers):
                    once[p] = factors[j, i]
                found.append(_Interval(s, near, far, twice, arb_poly(once), rest_twice, arb_poly(rests[j])))
    return found


def ascending(points: list[arb]) -> list[int]:
    """Return the indices of the points in ascending order, provided that this order is certain."""
    order = sorted(range(len(points)), key=lambda q: points[q].mid())
    for a, b in pairwise(order):
        if not less(points[a], points[b]):
            raise Undecided
    return order


def _rest_of_square(polynomial: arb_poly) -> arb_poly:
    """Return the polynomial R with ∫_y^∞ e^{−2t} P(t) dt = e^{−2y} R(y), for a given polynomial P. The coefficients
    follow from R = (P + R')/2, the highest first.
    """
    coefficients = polynomial.coeffs()
    above = arb(0)
    for i in reversed(range(len(coefficients))):
        above = (coefficients[i] + (i + 1) * above) / 2
        coefficients[i] = above
    return arb_poly(coefficients)


def _conditioned(law: _Balls, kernel: arb_mat, points: list[arb], x: arb) -> arb_mat:
    """Return the matrix `kernel` for the next step, after a point was drawn at x. The new matrix is the old one plus a
    matrix of rank two. The formula is that of the matrix μ in `laws.pfaffian_sampler`.
    """
    d, n = len(law.basis.powers), law.basis.kernel.nrows()
    s = -1 if is_negative(x) else 1
    y = abs(x)
    e = (-y).exp()
    powers = [e]
    for _ in range(law.basis.powers[-1]):
        powers.append(powers[-1] * y)
    column = arb_mat(len(powers), 1, powers)
    phi = law.by_powers[s].transpose() * arb_mat(d, 1, [powers[p] for p in law.basis.powers])  # zeros follow
    image = law.by_tails[s] * column * arb(2 * s)
    for i in range(d):
        image[i, 0] -= s * law.totals[i, 0]
    for i in range(d, n):
        image[i, 0] = 1
    for q, point in enumerate(points):
        image[n + q, 0] = -1 if less(point, x) else 1
    first, second = kernel * phi, kernel * image
    intensity = -(phi.transpose() * second)[0, 0]
    second[n + len(points), 0] += 1
    second = second * (1 / intensity)
    product = first * second.transpose()
    return kernel + product - product.transpose()
