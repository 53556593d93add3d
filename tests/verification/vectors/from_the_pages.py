"""A program that answers all questions of the known-answer test vectors. It was written from the proof pages in
proofs/paper.

The file imports nothing but the standard library, and computes in fractions where it can. Run this file as `covassay
vectors run 'exec:python3 from_the_pages.py'`.

The implementation is independent in the following sense. The whole file was written from the pages and from
verification/vectors/README.md. The first version of the file was written before any file in reference/ was opened. The
following parts were written after some of these files had been opened: the releases of clipped-cov, adaptive-cov,
adaptive-cov-pure, iterative-eigenvectors, em-cov, adassp, joint-moments, recursive-moment and matrix-bingham, the
mechanisms for bounded columns, and `composition`. The parts on l2-approximate and block-tridiagonal were written by the
author of the mechanisms. Where a page had left something open, such as a default, an order or a constant, the page was
corrected, and this file follows it.
"""

import json
import math
import sys
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations


class Refused(Exception):
    """An exception that means that the question must be rejected."""


def need(condition, why):
    if not condition:
        raise Refused(why)


# --- numbers ---------------------------------------------------------------------------------------------------------


def root(value):
    """Return the square root of a number, as a fraction if it is rational."""
    value = Fraction(value)
    up, down = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(up, down) if Fraction(up, down) ** 2 == value else math.sqrt(value)


def small_exp(x):
    """Return e^−x for a fraction x ≥ 0, to more than 40 digits after the point."""
    one, halvings = 10**70, 0
    while x > 1:
        x, halvings = x / 2, halvings + 1
    term = total = one
    k = 0
    while term:
        k += 1
        term = -term * x.numerator // (x.denominator * k) if abs(term) > 1 else 0
        total += term
    value = Fraction(total, one)
    for _ in range(halvings):
        value = Fraction(int(value * value * one), one)
    return value


def normal(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def numbers(value):
    """Return all numbers in nested lists and dicts."""
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    return [value]


def positive(value, name):
    need(not isinstance(value, str) and value is not None and value > 0, f"{name} must be above 0")
    return value


def vector(value, length, name):
    need(isinstance(value, list) and len(value) == length, f"{name} must have {length} numbers")
    need(not any(isinstance(v, str | list) for v in value), f"{name} must be finite numbers")
    return value


def matrix(value, d, name, symmetric=False):
    need(isinstance(value, list) and len(value) == d, f"{name} must have {d} rows")
    rows = [vector(row, d, name) for row in value]
    need(not symmetric or all(rows[i][j] == rows[j][i] for i in range(d) for j in range(i)), f"{name}: not symmetric")
    return rows


# --- matrices --------------------------------------------------------------------------------------------------------


def combine(a, matrix_a, b=0, matrix_b=None):
    d = range(len(matrix_a))
    return [[a * matrix_a[i][j] + (b * matrix_b[i][j] if matrix_b else 0) for j in d] for i in d]


def outer(u, factor=1):
    return [[factor * a * b for b in u] for a in u]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def scatter(rows):
    """Return the sum of the outer products x xᵀ of the rows x."""
    d = len(rows[0])
    return [[sum(row[i] * row[j] for row in rows) for j in range(d)] for i in range(d)]


def turned(values, vectors):
    """Return the sum of the outer products of the vectors, each multiplied by its value."""
    d = range(len(vectors[0]))
    return [[sum(v * u[i] * u[j] for v, u in zip(values, vectors, strict=True)) for j in d] for i in d]


def is_diagonal(m):
    return all(v == 0 for i, row in enumerate(m) for j, v in enumerate(row) if i != j)


def singular(m):
    """Return the singular values and both sets of singular vectors, by one-sided Jacobi rotations."""
    d = len(m)
    columns = [[float(m[i][j]) for i in range(d)] for j in range(d)]
    right = [[float(i == j) for i in range(d)] for j in range(d)]
    for _ in range(60):
        for p in range(d):
            for q in range(p + 1, d):
                a, b, c = dot(columns[p], columns[p]), dot(columns[q], columns[q]), dot(columns[p], columns[q])
                if abs(c) <= 1e-17 * math.sqrt(a * b):
                    continue
                angle = math.atan2(2 * c, a - b) / 2
                s, t = math.cos(angle), math.sin(angle)
                for part in (columns, right):
                    x, y = part[p], part[q]
                    part[p] = [s * i + t * j for i, j in zip(x, y, strict=True)]
                    part[q] = [s * j - t * i for i, j in zip(x, y, strict=True)]
    lengths = [math.sqrt(dot(column, column)) for column in columns]
    return lengths, columns, right


def eigen(m):
    """Return the eigenvalues in descending order and the eigenvectors of a symmetric matrix, exactly if it is
    diagonal.
    """
    d = len(m)
    if is_diagonal(m):
        pairs = [(m[i][i], [Fraction(i == j) for j in range(d)]) for i in range(d)]
    else:  # a multiple of the identity makes the matrix positive, so that its singular vectors are eigenvectors
        shift = 1.0 + max(sum(abs(float(v)) for v in row) for row in m)
        lengths, _, right = singular([[float(m[i][j]) + shift * (i == j) for j in range(d)] for i in range(d)])
        pairs = [(length - shift, u) for length, u in zip(lengths, right, strict=True)]
    pairs.sort(key=lambda pair: -pair[0])
    return [value for value, _ in pairs], [u for _, u in pairs]


def simplex(values, radius):
    """Return the nearest point whose coordinates are not negative and have a sum of at most `radius`."""
    point = [max(v, 0) for v in values]
    if sum(point) <= radius:
        return point
    total, theta = 0, 0
    for k, v in enumerate(sorted(values, reverse=True), 1):
        total += v
        if v >= (total - radius) / Fraction(k):
            theta = (total - radius) / Fraction(k)
    return [max(v - theta, 0) for v in values]


def project(q):
    kind, point, parameters = q["projection"], q["point"], q["parameters"]
    need(not any(isinstance(v, str) for v in [*numbers(point), *parameters.values()]), "not finite")
    radius = parameters.get("radius", 0)
    need(radius >= 0, "radius must not be negative")
    if kind == "simplex":
        return simplex(point, radius)
    if kind == "nuclear_ball":
        return nuclear_ball(point, radius)
    matrix(point, len(point), "point", symmetric=True)
    values, vectors = eigen(point)
    if kind == "psd_cone":
        return turned([max(v, 0) for v in values], vectors)
    if kind == "psd_trace_ball":
        return turned(simplex(values, radius), vectors)
    need(parameters["low"] <= parameters["high"], "low must not be above high")
    return turned([min(max(v, parameters["low"]), parameters["high"]) for v in values], vectors)


def nuclear_ball(point, radius):
    d = len(point)
    if is_diagonal(point):
        kept = simplex([abs(point[i][i]) for i in range(d)], radius)
        return [[(kept[i] if point[i][i] >= 0 else -kept[i]) if i == j else 0 for j in range(d)] for i in range(d)]
    lengths, columns, right = singular(point)
    if sum(lengths) <= radius:
        return point
    kept = simplex(lengths, radius)
    return [
        [sum(columns[k][i] / lengths[k] * kept[k] * right[k][j] for k in range(d) if kept[k] > 0) for j in range(d)]
        for i in range(d)
    ]


# --- rows ------------------------------------------------------------------------------------------------------------


def unit_rows(x, parameters):
    """Return the rows divided by the row bound. A row whose length is above 1 is shortened to length 1."""
    need(isinstance(x, list) and x and x[0], "there must be a row")
    need(not any(isinstance(v, str) for v in numbers(x)), "the data must be finite")
    need(len({len(row) for row in x}) == 1, "rows of one length")
    bound = positive(parameters.get("row_bound", 1), "row_bound")
    rows = [[Fraction(v) / Fraction(bound) for v in row] for row in x]
    long = [dot(row, row) > 1 for row in rows]
    need(not (any(long) and parameters.get("on_large_rows") == "raise"), "a row is too long")
    return [[v / root(dot(row, row)) for v in row] if cut else row for row, cut in zip(rows, long, strict=True)]


def lattice(x, parameters):
    """Return the rows on a grid, as integer vectors of length at most 2^b."""
    need(isinstance(x, list) and x and x[0], "there must be a row")
    need(not any(isinstance(v, str) for v in numbers(x)), "the data must be finite")
    bits = parameters.get("input_bits", 20)
    need(1 <= bits <= 24, "input_bits")
    size, bound = 2**bits, Fraction(parameters.get("row_bound", 1))
    rows = []
    for row in x:
        scaled = [Fraction(v) / bound for v in row]
        square = dot(scaled, scaled)
        need(square <= 1 or parameters.get("on_large_rows") != "raise", "a row is too long")
        whole = [int(v * size) for v in scaled]
        if dot(whole, whole) > size * size:  # first divide by |x| and multiply by 2^b, and then take the integer part
            whole = [(1 if v > 0 else -1) * math.isqrt(math.floor(v * v * size * size / square)) for v in scaled]
        rows.append(whole)
    return rows


# --- scales ----------------------------------------------------------------------------------------------------------


def triangle(d):
    """Return the ℓ1 sensitivity of the entries on and above the diagonal, times n."""
    return root(Fraction((d + 2) ** 2 + 4 * (d * d // 4), 4)) if d > 1 else 1


def delta_of(q, epsilon):
    return normal(q / 2 - epsilon / q) - math.exp(epsilon) * normal(-q / 2 - epsilon / q)


def multiplier(p):
    epsilon, delta = float(p["epsilon"]), float(p["delta"])
    if p.get("calibration", "paper") == "paper":
        return math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    low, high = -20.0, 40.0  # ln m
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(math.exp(-middle), epsilon) <= delta else (middle, high)
    return math.exp(high) * (1 + 1e-9)


def l2_delta(q, epsilon, entries):
    """Return the smallest δ at ε of the ℓ2 mechanism, for one or three distinct entries. For three entries, Simpson's
    rule integrates a density proportional to e^{qν/2} (κ + 1 − ν²).
    """
    if entries == 1:
        return -math.expm1((epsilon - q) / 2)
    if entries != 3:
        raise NotImplementedError(entries)
    kappa, steps = 4 / q * (1 + 2 / q), 2000

    def integral(f, low):
        h = (1 - low) / steps
        values = [f(low + i * h) for i in range(steps + 1)]
        return h / 3 * (values[0] + 4 * sum(values[1::2]) + 2 * sum(values[2:-1:2]) + values[-1])

    def density(v):
        return math.exp(q * v / 2) * (kappa + 1 - v * v)

    return integral(lambda v: -math.expm1(epsilon - q * v) * density(v), epsilon / q) / integral(density, -1.0)


@cache
def l2_move(epsilon, delta, entries):
    """Return the largest q for which the ℓ2 mechanism is (ε, δ)-DP."""
    low, high = 1e-15, 1e6  # these are bounds on q/ε − 1
    for _ in range(80):
        middle = math.sqrt(low * high)
        below = l2_delta(epsilon * (1 + middle), epsilon, entries) <= delta
        low, high = (middle, high) if below else (low, middle)
    return epsilon * (1 + low)


def noise_scale(mechanism, p, n, d):
    """Return the factor by which a mechanism multiplies its standard noise."""
    e, rho = p.get("epsilon"), p.get("rho")
    if mechanism in ("nuclear-laplace", "nuclear-laplace-symmetric"):
        return Fraction(2) / (n * e)
    if mechanism == "centred-covariance":
        return (root(27) if d > 1 else 4) * Fraction(n - 1, n * n) / e
    if mechanism == "k-norm":
        body = p.get("body", "schatten1")
        change = {"schatten1": 2, "covariance": 1, "l1": triangle(d), "l2": root(2), "linf": 1}[body]
        return (change if d > 1 else 1) / (n * e)
    if mechanism == "entrywise-laplace":
        if p.get("calibration", "paper") == "paper":
            return Fraction(2 * d) / (n * e)
        return (root(2) * d if d > 1 and p.get("entries", "full") == "full" else triangle(d)) / (n * e)
    if mechanism == "lap-cov":
        return (root(2) * d if p.get("calibration", "paper") == "paper" else triangle(d)) / (n * e)
    if mechanism in ("gauss-cov", "projection-mechanism"):
        return 1 / (n * root(rho))
    if mechanism == "gauss-cov-approximate":
        return multiplier(p) * root(2) / n
    if mechanism == "l2-approximate":
        return (root(2) if d > 1 else 1) / n / l2_move(float(e), float(p["delta"]), d * (d + 1) // 2)
    if mechanism == "laplace":
        return Fraction(2 if d > 1 else 1) / (n * e)
    if mechanism == "gaussian":
        return 1 / (n * root(rho * (1 if d > 1 else 2)))
    if mechanism == "gaussian-approximate":
        return multiplier(p) * (root(2) if d > 1 else 1) / n
    if mechanism == "private-trace":
        return 1 / (n * e) if e is not None else 1 / (n * root(2 * rho))
    raise NotImplementedError(mechanism)


def search_scales(mechanism, p):
    """Return the scales b₁ and b₂ of the noise that a search by AboveThreshold adds to its threshold and to its
    queries.
    """
    paper = p.get("calibration", "paper") == "paper"
    if mechanism in ("above-threshold", "private-radius"):
        return 2 / p["epsilon"], (4 if paper else 2) / p["epsilon"]
    if mechanism == "adaptive-cov-pure":
        return (16 if paper else 8) / p["epsilon"], (32 if paper else 8) / p["epsilon"]
    start = root(p["rho"] / 2) if mechanism == "clipped-cov" else root(p["rho"]) / 2
    return 2 / start, 4 / start


def exponent(mechanism, p):
    if mechanism == "matrix-bingham":
        return p["epsilon"] / 2
    if mechanism == "bingham":
        return p["epsilon"] / (4 if p.get("calibration", "paper") == "paper" else 2)
    if mechanism == "kapralov-talwar":
        return p["epsilon"] / (4 * p["k"])
    raise NotImplementedError(mechanism)


def sensitivity(mechanism, p):
    n, d = p.get("n"), p.get("d")
    if mechanism == "entrywise-laplace":
        return root(2) * d if p["entries"] == "full" and d > 1 else triangle(d)
    if mechanism == "discrete-laplace-covariance":
        return lattice_sensitivity(d, p["input_bits"])
    if mechanism in ("laplace", "gaussian"):
        return (Fraction(2) if mechanism == "laplace" else root(2)) / n if d > 1 else Fraction(1, n)
    if mechanism == "gauss-cov-approximate":
        return root(2) / n
    if mechanism == "l2-approximate":
        return root(2) / n if d > 1 else Fraction(1, n)
    if mechanism == "k-norm":
        change = {"schatten1": 2, "covariance": 1, "l1": triangle(d), "l2": root(2), "linf": 1}[p["body"]]
        return Fraction(change if d > 1 else 1) / n
    raise NotImplementedError(mechanism)


def lattice_sensitivity(d, bits):
    return math.isqrt(((d + 2) ** 2 + 4 * (d * d // 4)) * 16**bits // 4) if d > 1 else 4**bits


def share(mechanism, formula, p):
    """Return the part of the budget that one step of a mechanism spends."""
    private, paper = "private" in (p.get("radius"), p.get("threshold")), p.get("calibration") == "paper"
    if mechanism == "adaptive-cov-pure":
        parts = {"step_epsilon": 1, "search_epsilon": 1 if paper else 2, "final_epsilon": 5 if private else 6}
        return Fraction(parts[formula], 8) * p["epsilon"]
    rho = p["rho"]
    if formula == "search_epsilon":
        return root(rho / 2) if mechanism == "clipped-cov" else root(rho) / 2
    if formula == "trace_budget":
        return rho / 8
    if mechanism == "clipped-cov":
        return rho * (Fraction(12 if paper else 15, 16) if private else 1)
    if paper:
        return rho * Fraction(5 if private else 6, 8)
    return rho * Fraction(26 if private else 27, 32)


def ridge_sensitivity(p):
    """Return the noise scale S/n of output perturbation."""
    alpha = float(p["alpha"])
    if p["calibration"] == "paper":
        largest = 1 / math.sqrt(2 * alpha)
        return (largest + math.sqrt(largest**2 + 1)) / (2 * alpha * p["n"])
    largest = 1 / (2 * math.sqrt(2 * alpha * (1 + 2 * alpha)))
    return math.sqrt(largest**2 + 1) / (2 * alpha * p["n"])


def joint_squared(p):
    """Return the squared sensitivity of joint-moments, times n²."""
    w = Fraction(p.get("weight", 1))
    if w <= 1:
        return 4
    if p["d"] > 1:
        return (1 + w) ** 2 / w
    lam = float(w) * (11 + 5 * math.sqrt(5)) / 8
    peak = (3 - math.sqrt(1 - 2 / lam)) / 2
    return lam * peak**3 * (2 - peak)


def joint_scales(p):
    """Return the noise scales σ₁ and σ₂ of joint-moments."""
    w, n, rho = float(p.get("weight", 1)), float(p["n"]), float(p["rho"])
    first = math.sqrt(joint_squared(p) / (2 * rho)) / n
    return first, first / math.sqrt(w / 2 if p["d"] > 1 else w * (11 + 5 * math.sqrt(5)) / 8)


def box_weights(mechanism, d, adjacency):
    """Return the weights of the released sums of a mechanism for bounded columns: k, a, b and c on its proof page."""
    if adjacency == "add-remove":
        power = Fraction(1, 3 if mechanism == "box-laplace" else 2)
        k, a, c = (d * (d + 3)) ** power, (2 * (d + 1)) ** power, 2**power
        if mechanism == "box-laplace":
            return k, a, (a + c * (d - 1)) / 2, c
        return math.sqrt(k), math.sqrt(a), math.sqrt(a + c * (d - 1) / 2), math.sqrt(c)
    if mechanism == "box-laplace":
        e = d - 1 + 4 ** Fraction(1, 3)
        w = 1 + 27 * e**3 / (2 * d + 2)
        u = (w + math.sqrt(w * w - 1)) ** Fraction(1, 3)
        c = (1 + u + 1 / u) / 3 / e
        return 0, 1, c / 2 ** Fraction(1, 3), c
    if d == 1:
        return 0, 1, 1, 1
    first, second = d * (2 * d + 3), d * (d - 1)
    shares = [Fraction(1, d - 1)]
    for p in range(1, d):
        if 2 * p + 1 > d:
            most = Fraction(1, 2 * p - 1 - d) if 2 * p - 1 > d else math.inf
            shares.append(min(max(math.sqrt(Fraction(second, first * (d - p))), Fraction(1, 2 * p + 1 - d)), most))
    best = min(shares, key=lambda t: max(p * (1 + t * (d - p)) for p in range(1, d + 1)) * (first + second / t))
    return 0, 1, 1, math.sqrt(best)


def box_sensitivity(mechanism, d, adjacency):
    """Return the sensitivity S of a mechanism for bounded columns."""
    k, a, b, c = box_weights(mechanism, d, adjacency)
    if mechanism == "box-laplace":
        q = c * (d - 1) + 2 * b
        if adjacency == "add-remove":
            return k + d * a + c * d * (d - 1) / 2
        return d * (a + q) ** 2 / (2 * q) if q >= a else 2 * d * a
    if adjacency == "add-remove":
        return math.sqrt(k * k + d * a * a + c * c * d * (d - 1) / 2)
    return math.sqrt(max(4 * p * (a * a + c * c * (d - p)) for p in range(1, d + 1)))


def box_scale(mechanism, p, d):
    """Return the noise scale of a sum whose weight is 1."""
    s = box_sensitivity(mechanism, d, p.get("adjacency", "replace-one"))
    if mechanism == "box-laplace":
        return s / float(p["epsilon"])
    return s * multiplier(p) if mechanism == "box-gauss-approximate" else s / math.sqrt(2 * float(p["rho"]))


def box_release(mechanism, x, p, noise):
    """Release the number of rows, the mean and the covariance of bounded columns."""
    adjacency = p.get("adjacency", "replace-one")
    need(x or adjacency == "add-remove", "there are no rows")
    rows = any_rows(x)
    n, d = len(rows), len(rows[0])
    bounds = p.get("bounds") or [[-1, 1]] * d
    need(len(bounds) == d, "a pair of bounds for every column")
    for pair in bounds:
        need(
            len(pair) == 2 and not any(isinstance(v, str) for v in pair) and pair[0] < pair[1], "low must be below high"
        )
    for row in rows:
        inside = all(low <= v <= high for v, (low, high) in zip(row, bounds, strict=True))
        need(inside or p.get("on_outside", "clip") == "clip", "a value is outside its bounds")
    matrix(noise, d + 1, "noise", symmetric=True)
    middle, half = (
        [(low + high) / Fraction(2) for low, high in bounds],
        [(high - low) / Fraction(2) for low, high in bounds],
    )
    lifted = [[Fraction(1)] for _ in rows]
    for row, out in zip(rows, lifted, strict=True):
        for v, (low, high), m, h in zip(row, bounds, middle, half, strict=True):
            out.append((min(max(v, low), high) - m) / h)
    k, a, b, c = box_weights(mechanism, d, adjacency)
    scale = box_scale(mechanism, p, d)
    noisy = [[0.0] * (d + 1) for _ in range(d + 1)]
    for i in range(d + 1):
        for j in range(d + 1):
            total = sum(row[i] * row[j] for row in lifted) - (n if i == j > 0 else 0)
            weight = (k if i == j else a) if 0 in (i, j) else b if i == j else c
            noisy[i][j] = float(total) + (scale / weight * float(noise[i][j]) if weight else 0.0)
    divisor = max(noisy[0][0], 1.0)
    mean = [value / divisor for value in noisy[0][1:]]
    out = [[noisy[0][0], *(float(m) + float(h) * v for m, h, v in zip(middle, half, mean, strict=True))]]
    for i in range(d):
        row = [out[0][i + 1]]
        for j in range(d):
            moment = noisy[i + 1][j + 1] / divisor + (i == j)
            row.append(float(half[i] * half[j]) * (moment - mean[i] * mean[j]))
        out.append(row)
    return out


def recursive_scale(p):
    """Return the noise scale σ of one round of recursive-moment."""
    n, share = float(p["n"]), p["rounds"] / float(p["rho"])
    return math.sqrt(share) / n if p["calibration"] == "tight" else 4 * math.sqrt(share / 2) / n


SPECIAL = {
    ("block-tridiagonal", "sensitivity_squared"): lambda p: block_squared(p["d"], p["block"]),
    ("block-tridiagonal", "noise_scale"): lambda p: root(block_squared(p["d"], p["block"]) / (2 * p["rho"])) / p["n"],
    ("l2-approximate", "noise_scale"): lambda p: p["change"] / p["q"],
    ("recursive-moment", "noise_scale"): lambda p: (
        root(p["rounds"] / p["rho"] * (1 if p["calibration"] == "tight" else 8)) / p["n"]
    ),
    ("joint-moments", "change_squared"): joint_squared,
    ("joint-moments", "mean_scale"): lambda p: joint_scales(p)[0],
    ("joint-moments", "moment_scale"): lambda p: joint_scales(p)[1],
    ("box-gauss", "sensitivity"): lambda p: box_sensitivity("box-gauss", p["d"], p["adjacency"]),
    ("box-gauss", "noise_scale"): lambda p: box_scale("box-gauss", p, p["d"]),
    ("box-laplace", "noise_scale"): lambda p: box_scale("box-laplace", p, p["d"]),
    ("gauss-cov", "change_squared"): lambda p: 2 if p["d"] > 1 else 1,
    ("discrete-gaussian-covariance", "sensitivity_squared"): lambda p: (2 if p["d"] > 1 else 1) * 16 ** p["input_bits"],
    ("discrete-gaussian-covariance", "sum_squared"): lambda p: 16 ** p["input_bits"],
    ("discrete-gaussian-covariance", "noise_variance"): lambda p: p["change"] / (2 * p["rho"]),
    ("gaussian-approximate", "classical_multiplier"): multiplier,
    ("exponential", "exponent"): lambda p: p["epsilon"] / p["score_range"],
    ("johnson-lindenstrauss", "image_sensitivity"): lambda p: min(2 + p["alpha"], root(2) * p["norm"]),
    ("output-perturbation", "sensitivity"): ridge_sensitivity,
    ("output-perturbation", "noise_scale"): lambda p: ridge_sensitivity(p) / float(p["epsilon"]),
    ("adassp", "eigenvalue_scale"): lambda p: root(Fraction(3, 2) / p["rho"]),
    ("adassp", "matrix_scale"): lambda p: root(Fraction(3, 2 if p["calibration"] == "tight" else 1) / p["rho"]),
    ("adassp", "vector_scale"): lambda p: root(Fraction(3, 4 if p["calibration"] == "tight" else 2) / p["rho"]),
    ("coinpress-mean", "noise_scale"): lambda p: 2 * p["tau"] / (p["n"] * root(2 * p["rho"])),
    ("coinpress-covariance", "noise_scale"): lambda p: p["squared"] / (p["n"] * root(p["rho"])),
    ("naive-pce", "radius_squared"): lambda p: p["kappa"] * longest(p["d"], math.log(p["n"] / p["beta"])),
    ("naive-pce", "noise_variance"): lambda p: (
        (1 if p["calibration"] == "tight" else 2) * p["r2"] ** 2 / (p["n"] ** 2 * p["rho"])
    ),
    ("kv-mean", "count_variance"): lambda p: 2 / p["rho"],
    ("kv-mean", "mean_variance"): lambda p: (2 * p["w"] / p["n"]) ** 2 / p["rho"],
    ("ppde", "truncation_squared"): lambda p: 6 * p["u"] * p["size"] * math.log(p["m"] * p["rounds"] / p["beta"]),
    ("ppde", "last_truncation_squared"): lambda p: 6 * math.log(p["m"] / p["beta"]),
    ("ppde", "change_squared"): lambda p: (
        min(2 * p["bound_squared"], p["size"]) if p["calibration"] == "tight" else 2 * p["bound_squared"]
    ),
    ("ppde", "noise_variance"): lambda p: p["change"] / (2 * p["rho"] * p["m"] ** 2),
}


def scale(q):
    mechanism, formula, p = q["mechanism"], q["formula"], q["parameters"]
    n, d, e, rho = p.get("n"), p.get("d"), p.get("epsilon"), p.get("rho")
    paper = p.get("calibration", "paper") == "paper"
    if (mechanism, formula) in SPECIAL:
        return SPECIAL[mechanism, formula](p)
    if "sensitivity" in p:
        return p["sensitivity"] / e if mechanism == "laplace" else p["sensitivity"] / root(2 * rho)
    if "change" in p:
        return p["change"] / (e * n if mechanism == "johnson-lindenstrauss" else e)
    if "failure" in p:
        return math.log(1 / (2 * p["failure"])) if "laplace" in formula else math.sqrt(2 * math.log(1 / p["failure"]))
    if formula.endswith("sensitivity"):
        return sensitivity(mechanism, p)
    if formula in ("search_epsilon", "step_epsilon", "final_epsilon", "final_budget", "trace_budget"):
        return share(mechanism, formula, p)
    if formula == "value_scale":
        return 2 * p["k"] / e
    if mechanism == "separate-cov":
        return root(2) / (n * root(rho))
    if mechanism == "separate-cov-pure":
        return 4 / (n * e) if formula == "eigenvalue_scale" else 2 * (root(2) * d if paper else triangle(d)) / (n * e)
    if mechanism == "johnson-lindenstrauss-image":
        return 2 / (n * e)
    if formula == "noise_scale":
        return noise_scale(mechanism, p, n, d if d else 2)
    if mechanism == "nuclear-ball-projection":
        return Fraction(4 if paper else 2) / (n * e) if formula == "matrix_scale" else (10 if paper else 4) / (n * e)
    if formula == "exponent":
        return exponent(mechanism, p)
    if mechanism in ("iterative-eigenvectors", "em-cov"):
        if mechanism == "iterative-eigenvectors":
            return 2 / (e / 2)
        return 2 / root(rho) if p["calibration"] == "reconstructed" else root(2 / rho)
    if mechanism == "above-threshold":
        return search_scales(mechanism, p)[formula == "query_scale"]
    if mechanism == "private-trace":
        return 1 / (n * e) if formula == "laplace_scale" else 1 / (n * root(2 * rho))
    raise NotImplementedError(mechanism)


# --- releases --------------------------------------------------------------------------------------------------------

SYMMETRIC = ("nuclear-laplace-symmetric", "centred-covariance", "k-norm", "lap-cov", "gauss-cov",
             "projection-mechanism", "gauss-cov-approximate", "l2-approximate")  # fmt: skip
FEATURES = ("laplace", "gaussian", "gaussian-approximate")


OPTIONS = {
    "calibration": ("paper", "tight", "reconstructed"),
    "ensemble": ("wigner", "goe"),
    "entries": ("full", "triangle"),
    "body": ("schatten1", "covariance", "l1", "l2", "linf"),
    "base": ("separate", "gauss"),
    "threshold": ("public", "private"),
    "radius": ("none", "private"),
    "bounds": ("theorem", "code"),
    "budget": ("uniform", "adaptive"),
    "constants": ("paper", "code"),
    "adjacency": ("replace-one", "add-remove"),
    "on_outside": ("clip", "raise"),
}


def budget_is_sane(p):
    for name, words in OPTIONS.items():
        need(not isinstance(p.get(name), str) or p[name] in words, f"{name} must be one of {', '.join(words)}")
    need("beta" not in p or (not isinstance(p["beta"], str) and 0 < p["beta"] < 1), "beta must lie in (0, 1)")
    positive(p.get("row_bound", 1), "row_bound")
    for name in ("epsilon", "rho", "delta"):
        if name in p:
            positive(p[name], name)
    need(p.get("delta", 0) < 1, "delta must be below 1")
    need("delta" not in p or p.get("calibration") != "paper" or p["epsilon"] <= 1, "epsilon above 1")


def release(q):
    mechanism, p, noise = q["mechanism"], q["parameters"], q["noise"]
    budget_is_sane(p)
    if mechanism.startswith("discrete-"):
        rows, d = lattice(q["x"], p), len(q["x"][0])
        matrix(noise, d, "noise", symmetric=True)
        factor = Fraction(p.get("row_bound", 1)) ** 2 / (len(rows) * 4 ** p.get("input_bits", 20))
        return combine(factor, combine(1, scatter(rows), 1, noise))
    if mechanism.startswith("box-"):
        return box_release(mechanism, q["x"], p, noise)
    if mechanism in OF_ANY_ROWS:
        return OF_ANY_ROWS[mechanism](any_rows(q["x"]), p, noise)
    rows = unit_rows(q["x"], p)
    n, d, square = len(rows), len(rows[0]), Fraction(p.get("row_bound", 1)) ** 2
    sigma = combine(Fraction(1, n), scatter(rows))
    energies = [n * sigma[i][i] for i in range(d)]
    trace = sum(sigma[i][i] for i in range(d))
    if mechanism in FEATURES:
        b = noise_scale(mechanism, p, n, d)
        return [square * (sigma[i][i] + b * w) for i, w in enumerate(vector(noise, d, "noise"))]
    if mechanism == "exponential":
        scores = [p["epsilon"] / 2 * g + w for g, w in zip(energies, vector(noise, d, "noise"), strict=True)]
        return 1 + scores.index(max(scores))
    if mechanism == "above-threshold":
        return search(mechanism, p, energies, p.get("share", Fraction(1)) * Fraction(n, d), noise)["index"]
    if mechanism == "private-radius":
        found = radius_search(q)
        return Fraction(p.get("row_bound", 1)) * [*found["radii"], Fraction(1)][found["index"] - 1]
    if mechanism == "private-trace":
        need(not isinstance(noise, str | list | dict), "noise must be a number")
        return square * (trace + noise_scale(mechanism, p, n, d) * noise)
    if mechanism == "bingham":
        u = vector(noise, d, "noise")
        need(abs(float(dot(u, u)) - 1) <= 2e-9, "noise must be a unit vector")
        return u
    if mechanism == "matrix-bingham":
        return projection_of_rank(noise, d, subspace_rank(p, d))
    if mechanism == "kapralov-talwar":
        values = rounds(q, rows)[1]
        return combine(square / n, turned(values, noise["directions"]))
    if mechanism in ("iterative-eigenvectors", "em-cov"):
        return combine(square, one_by_one(q, rows)[1])
    if mechanism in ("separate-cov", "separate-cov-pure"):
        return combine(square, separate(mechanism, p, sigma, n, noise))
    if mechanism == "output-perturbation":
        return ridge(sigma, p, n, noise)
    if mechanism == "adassp":
        return adaptive_ridge(combine(n, sigma), p, noise)
    if mechanism == "joint-moments":
        positive(p.get("weight", 1), "weight")
        first, second = joint_scales({**p, "n": n, "d": d})
        normal, g = vector(noise["mean"], d, "noise.mean"), matrix(noise["moment"], d, "noise.moment", symmetric=True)
        length = Fraction(p.get("row_bound", 1))
        mean = [float(length) * (float(sum(row[i] for row in rows)) / n + first * normal[i]) for i in range(d)]
        return [mean, *combine(float(square), combine(1, [[float(v) for v in row] for row in sigma], second, g))]
    if mechanism == "recursive-moment":
        return combine(square, in_rounds(floats(rows), p, noise))
    if mechanism == "clipped-cov":
        return combine(square, clipped_cov(p, rows, noise))
    if mechanism in ("adaptive-cov", "adaptive-cov-pure"):
        return combine(square, adaptive(mechanism, p, rows, noise))
    if mechanism.startswith("johnson-lindenstrauss"):
        s = Fraction(2) if mechanism.endswith("image") else root(2)
        z = vector(noise, d * (d + 1) // 2, "noise")
        if d > 36:
            raise NotImplementedError("the public projection")
        entries, w = iter(z), [[0] * d for _ in range(d)]
        for i in range(d):
            for j in range(i, d):
                w[i][j] = w[j][i] = next(entries) / (1 if i == j else math.sqrt(2))
        values, vectors = eigen(combine(1, sigma, s / (n * p["epsilon"]), w))
        return combine(square, turned(simplex(values, 1), vectors))
    if mechanism == "nuclear-ball-projection":
        paper = p.get("calibration", "paper") == "paper"
        z, trace_noise = matrix(noise["matrix"], d, "noise.matrix"), noise["trace"]
        need(not isinstance(trace_noise, str), "noise.trace must be a number")
        radius = max(0, 2 * trace + (10 if paper else 4) / (n * p["epsilon"]) * trace_noise)
        return combine(square, nuclear_ball(combine(1, sigma, (4 if paper else 2) / (n * p["epsilon"]), z), radius))
    if mechanism == "centred-covariance":
        mean = [sum(row[i] for row in rows) / n for i in range(d)]
        sigma = combine(Fraction(1, n), scatter([[v - m for v, m in zip(row, mean, strict=True)] for row in rows]))
    if mechanism not in (*SYMMETRIC, "nuclear-laplace", "entrywise-laplace"):
        raise NotImplementedError(mechanism)
    z = matrix(noise, d, "noise", mechanism in SYMMETRIC or p.get("entries") == "triangle")
    noisy = combine(1, sigma, noise_scale(mechanism, p, n, d), z)
    if mechanism == "projection-mechanism":
        values, vectors = eigen(noisy)
        noisy = turned(simplex(values, 1), vectors)
    return combine(square, noisy)


def separate(mechanism, p, sigma, n, noise):
    """Return a matrix with noisy eigenvalues and the eigenvectors of a noisy matrix."""
    d = len(sigma)
    w = matrix(noise["matrix"], d, "noise.matrix", symmetric=True)
    values = eigen(sigma)[0]
    moves = vector(noise["eigenvalues"], d, "noise.eigenvalues")
    if mechanism == "separate-cov":
        s = root(2) / (n * root(p["rho"]))
        return turned([v + s * z for v, z in zip(values, moves, strict=True)], eigen(combine(1, sigma, s, w))[1])
    b = 2 * (root(2) * d if p.get("calibration", "paper") == "paper" else triangle(d)) / (n * p["epsilon"])
    noisy = [min(max(v + 4 / (n * p["epsilon"]) * z, 0), 1) for v, z in zip(values, moves, strict=True)]
    return turned(noisy, eigen(combine(1, sigma, b, w))[1])


def clipped_to(rows, tau):
    """Return the rows shortened to length τ and divided by τ, and their second moment."""
    lengths = [root(dot(row, row)) for row in rows]
    short = [[v / max(tau, size) for v in row] for row, size in zip(rows, lengths, strict=True)]
    return short, combine(Fraction(1, len(rows)), scatter(short))


def eta_bound(d, beta):
    return math.sqrt(longest(d, math.log(1 / beta)))


def gauss_bounds(d, beta, half, ensemble, bounds):
    """Return the bounds ω(d, β) and υ(d, β/2) on the proof page of adaptive-cov."""
    one, two, small = math.log(1 / beta), math.log(2 / beta), math.log(2 / half)
    if bounds == "code":
        theta = min((math.log(d) / d) ** 0.3, 0.5) if d > 1 else 0
        omega = math.sqrt(d * d + 2 * math.sqrt(d * two) * (1 + math.sqrt(2 * (d - 1))) + 6 * two)
        if d == 1:
            return omega, 2 * math.sqrt(d) + math.sqrt((4 - 2 / d) * small)
        mean = (1 + theta) * (2 * math.sqrt(d) + 6 * math.sqrt(math.log(d) / math.log(1 + theta)))
        return omega, mean + math.sqrt(2 * small)
    if ensemble == "goe":
        return eta_bound(d * (d + 1) / 2, beta), math.sqrt(2 * d) + math.sqrt(2 * small)
    omega = math.sqrt(d * d + 2 * math.sqrt(d * (2 * d - 1) * one) + 4 * one)
    return omega, 2 * math.sqrt(d) + math.sqrt((4 - 2 / d) * small)


def gauss_errors(n, d, rho, trace, beta, ensemble, bounds):
    """Return the error bounds g, a and e on the proof page of adaptive-cov."""
    omega, upsilon = gauss_bounds(d, beta, beta / 2, ensemble, bounds)
    a = 2**1.25 * math.sqrt(trace * upsilon) / (rho**0.25 * math.sqrt(n)) / (6 if bounds == "code" else 1)
    return omega / (math.sqrt(rho) * n), a, math.sqrt(2) * eta_bound(d, beta / 2) / (math.sqrt(rho) * n)


def laplace_errors(n, d, p, epsilon, trace, beta):
    def k(m):
        return 2 * max((math.sqrt(2) + 1) / (math.sqrt(2) - 1), 2 * math.log2(m))

    b = float((root(2) * d if p["calibration"] == "paper" else triangle(d)) / (n * epsilon))
    top, f = d * (d + 1) // 2, max(d, 2)
    theta = min((math.log(f) / f) ** 0.3, 0.5)
    omega = 1.5 * d + k(top) * math.log(2 / beta)
    upsilon = (1 + theta) * (2 * math.sqrt(f) + 6 * math.log(f) / math.sqrt(math.log(1 + theta)))
    upsilon += math.sqrt(2) * k(f * (f + 1) // 2) * math.log(4 / beta)
    a = 2 * math.sqrt(trace * 2 * b * upsilon)
    return b * omega, a, 4 / (n * epsilon) * (1.5 * math.sqrt(d) + k(d) * math.log(4 / beta))


def last_level(n, d):
    return min(n * d, 79)


def clipped_cov(p, rows, noise):
    n, d = len(rows), len(rows[0])
    if p["threshold"] == "public":
        tau, rho = Fraction(p["clip_norm"]), p["rho"]
    else:
        rho, last = p["rho"] * Fraction(12 if p["calibration"] == "paper" else 15, 16), last_level(n, d)
        g, a, e = gauss_errors(n, d, float(rho), 1.0, float(p["beta"]), p["ensemble"], "theorem")
        nu = g if p["base"] == "gauss" else a + e
        queries = [n * (b - nu / 4**k) for k, b in enumerate(bias(rows, last))]
        tau = min(Fraction(1), Fraction(2) / 2 ** (search("clipped-cov", p, queries, 0, noise["search"])["index"] - 1))
    sigma = clipped_to(rows, tau)[1]
    return combine(tau**2, gauss_or_separate(p["base"] == "gauss", rho, sigma, n, noise["base"]))


def gauss_or_separate(gauss, rho, sigma, n, noise):
    if not gauss:
        return separate("separate-cov", {"rho": rho}, sigma, n, noise)
    return combine(1, sigma, 1 / (n * root(rho)), matrix(noise["matrix"], len(sigma), "noise", symmetric=True))


def adaptive(mechanism, p, rows, noise):
    """Run adaptive-cov: estimate a radius, the trace and a clipping bound, and use the better of two mechanisms."""
    n, d, pure, beta = len(rows), len(rows[0]), mechanism == "adaptive-cov-pure", float(p["beta"])
    private, found = p["radius"] == "private", Fraction(1)
    need(pure or private == (noise["radius"] is not None), "noise.radius")
    if private:
        own = {"epsilon": p["epsilon"] / 8 if pure else root(p["rho"]) / 2, "precision": p["precision"],
               "beta": p["beta"] / 8, "calibration": p["calibration"] if pure else "paper"}  # fmt: skip
        given = radius_search({"parameters": own, "given": {"x": rows, "noise": noise["radius"]}})
        found = [*given["radii"], Fraction(1)][given["index"] - 1]
        rows = clipped_to(rows, found)[0]
    trace = sum(dot(row, row) for row in rows) / n
    known = {**p, "n": n}
    u = float(transcript({"mechanism": mechanism, "step": "trace", "parameters": known,
                          "given": {"trace": trace, "noise": noise["trace"]}}))  # fmt: skip
    if pure:
        final = p["epsilon"] * Fraction(5 if private else 6, 8)
        g, a, e = laplace_errors(n, d, p, float(final), u, 3 * beta / 4)
    else:
        final = share(mechanism, "final_budget", p)
        g, a, e = gauss_errors(n, d, float(final), u, 3 * beta / 4, p["ensemble"], p["bounds"])
    last = last_level(n, d)
    bounds = [(g / 4**k, a / 2**k + e / 4**k) for k in range(last + 2)]
    queries = [n * (b - min(pair)) for b, pair in zip(bias(rows, last), bounds, strict=False)]
    level = search(mechanism, p, queries, 0, noise["search"])["index"] - 1
    tau, first = min(Fraction(1), Fraction(2) / 2**level), bounds[level][0] <= bounds[level][1]
    sigma = clipped_to(rows, tau)[1]
    if not pure:
        noisy = gauss_or_separate(first, final, sigma, n, noise["base"])
    elif first:
        own = {"epsilon": final, "calibration": p["calibration"]}
        noisy = combine(
            1, sigma, noise_scale("lap-cov", own, n, d), matrix(noise["matrix"], d, "noise", symmetric=True)
        )
    else:
        noisy = separate("separate-cov-pure", {**p, "epsilon": final}, sigma, n, noise)
    values, vectors = eigen(noisy)
    return combine((tau * found) ** 2, turned([min(max(v, 0), 1) for v in values], vectors))


def one_by_one(q, rows):
    """For d = 2, return a list with the matrix M in the density exp(uᵀMu) of the first direction u, and the released
    matrix.
    """
    p, given = q["parameters"], q.get("given", q)
    noise, mechanism, n, c = given["noise"], q["mechanism"], len(rows), scatter(rows)
    budget_is_sane(p)
    d, tight = len(c), p["calibration"] == "tight"
    moves = vector(noise["eigenvalues"], d, "noise.eigenvalues")
    b = scale({"mechanism": mechanism, "formula": "eigenvalue_scale", "parameters": p})
    values = [v + b * z for v, z in zip(eigen(c)[0], moves, strict=True)]
    if d != 2:
        raise NotImplementedError("another dimension")
    if mechanism == "em-cov":
        eta = root(p["rho"]) if tight else root(p["rho"] / 2) / 4
    elif p.get("budget", "uniform") == "uniform":
        eta = p["epsilon"] / (4 if tight else 16)
    else:
        tau = b * math.log(2 * d / p["beta"])
        w = [math.sqrt(min(max(v, 0), n) + tau) for v in values]
        eta = float(p["epsilon"]) / 2 * w[0] / (2 * w[0]) if tight else float(p["epsilon"]) / 8 * w[0] / sum(w)
    u = noise["directions"][0]
    need(abs(float(dot(u, u)) - 1) <= 2e-9, "a direction must be a unit vector")
    return [combine(eta, c)], combine(Fraction(1, n), turned(values, [u, [-u[1], u[0]]]))


def solved(m, right):
    """Return the solution w of the linear system m w = right, by elimination."""
    rows = [[*map(float, row), float(v)] for row, v in zip(m, right, strict=True)]
    for i in range(len(rows)):
        best = max(range(i, len(rows)), key=lambda j: abs(rows[j][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for j, row in enumerate(rows):
            if j != i:
                rows[j] = [a - row[i] * b for a, b in zip(row, rows[i], strict=True)]
    return [row[-1] for row in rows]


def ridge(sigma, p, n, noise):
    """Return noisy coefficients of a regression of the last column on the other columns."""
    k, alpha = len(sigma) - 1, float(positive(p["alpha"], "alpha"))
    v = vector(noise, k, "noise")
    w = solved([[sigma[i][j] + (2 * alpha if i == j else 0) for j in range(k)] for i in range(k)],
               [sigma[i][k] for i in range(k)])  # fmt: skip
    s = ridge_sensitivity({**p, "n": n})
    return [a + s / float(p["epsilon"]) * b for a, b in zip(w, v, strict=True)]


def adaptive_ridge(sums, p, noise):
    """Return the coefficients of a ridge regression from noisy sums. The penalty depends on a noisy bound for the
    smallest eigenvalue.
    """
    k, rho, tight = len(sums) - 1, float(p["rho"]), p.get("calibration", "paper") == "tight"
    beta = p.get("beta", 0.05)
    gram = [row[:k] for row in sums[:k]]
    need(not isinstance(noise["eigenvalue"], str | list), "noise.eigenvalue must be a number")
    w, v = matrix(noise["matrix"], k, "noise.matrix", symmetric=True), vector(noise["vector"], k, "noise.vector")
    s1, s2, s3 = math.sqrt(1.5 / rho), math.sqrt((1.5 if tight else 3) / rho), math.sqrt((0.75 if tight else 1.5) / rho)
    lower = max(0, eigen(gram)[0][-1] + s1 * (noise["eigenvalue"] - math.sqrt(-2 * math.log(beta))))
    weight = max(0, s2 * math.sqrt(k * math.log(2 * k * k / beta)) - lower)
    noisy = [[float(g) + s2 * z + weight * (i == j) for j, (g, z) in enumerate(zip(*rows, strict=True))]
             for i, rows in enumerate(zip(gram, w, strict=True))]  # fmt: skip
    return solved(noisy, [float(row[k]) + s3 * z for row, z in zip(sums, v, strict=False)])


# --- rows of any length: estimation of a Gaussian --------------------------------------------------------------------


def any_rows(x):
    need(isinstance(x, list) and x and x[0], "there must be a row")
    need(not any(isinstance(v, str) for v in numbers(x)), "the data must be finite")
    return [[float(v) for v in row] for row in x]


def shares(p):
    t, rho = p["steps"], float(p["rho"])
    return [rho] if t == 1 else [rho / (4 * (t - 1))] * (t - 1) + [3 * rho / 4]


def longest(d, log):
    """Return a bound that the squared norm of a standard Gaussian vector exceeds with probability at most e^−log."""
    return d + 2 * math.sqrt(d * log) + 2 * log


def floats(value):
    return [floats(v) for v in value] if isinstance(value, list) else float(value)


def coinpress_mean(x, p, noise):
    n, d, code = len(x), len(x[0]), p["constants"] == "code"
    need(len(noise) == p["steps"], "noise")
    centre, r = [0.0] * d, float(p["radius"])
    each = float(p["beta"]) / p["steps"]
    first = math.sqrt(longest(d, math.log(100) if code else math.log(n / each)))
    second = math.sqrt(longest(d, math.log(100) if code else math.log(1 / each)))
    for rho, step in zip(shares(p), noise, strict=True):
        z = vector(step, d, "noise")
        tau = r + first
        if code:
            tau = min(tau, math.sqrt(r * r + 6 * r + first**2))
        inside = []
        for row in x:
            away = [v - c for v, c in zip(row, centre, strict=True)]
            size = math.sqrt(dot(away, away))
            inside.append([c + v * min(1, tau / size if size else 1) for v, c in zip(away, centre, strict=True)])
        s = 2 * tau / (n * math.sqrt(2 * rho))
        centre = [sum(row[i] for row in inside) / n + s * float(z[i]) for i in range(d)]
        r = second * math.sqrt(1 / n + s * s)
    return centre


def product_of(a, b):
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def transposed(m):
    return [list(row) for row in zip(*m, strict=True)]


def of_eigenvalues(m, function):
    values, vectors = eigen(m)
    return turned([function(v) for v in values], vectors)


def mapped(a, rows):
    return [[dot(line, row) for line in a] for row in rows]


def identity(d, factor=1.0):
    return [[factor * (i == j) for j in range(d)] for i in range(d)]


def in_rounds(x, p, noise):
    """Run recursive-moment on rows in the unit ball."""
    n, d, m = len(x), len(x[0]), p["subsample"]
    need(not isinstance(p["kappa"], str) and p["kappa"] >= 1, "kappa")
    need(isinstance(m, int) and m >= 1, "subsample")
    count = max(0, math.ceil(math.log(p["kappa"] / (320 * m)) / math.log(7 / 3))) + 1
    need(len(noise) == count, "noise")
    sigma, back = recursive_scale({**p, "n": n, "rounds": count}), identity(d)
    for t, w in enumerate(noise):
        z = combine(1 / n, scatter(x), sigma, floats(matrix(w, d, "noise", symmetric=True)))
        if t < count - 1:
            a = of_eigenvalues(z, lambda v: math.sqrt(8 / 3) * (0.5 if v >= 1 / (10 * m) else 1))
            back = product_of(back, of_eigenvalues(z, lambda v: math.sqrt(3 / 8) * (2 if v >= 1 / (10 * m) else 1)))
            x = [[v / max(1.0, math.sqrt(dot(row, row))) for v in row] for row in mapped(a, x)]
    return product_of(product_of(back, z), transposed(back))


def coinpress_covariance(x, p, noise):
    n, d, code, t = len(x), len(x[0]), p["constants"] == "code", p["steps"]
    need(len(noise) == t, "noise")
    noise = [floats(matrix(step, d, "noise", symmetric=True)) for step in noise]
    each = float(p["beta"]) / t
    a, back = identity(d, 1 / math.sqrt(p["u"])), identity(d, math.sqrt(p["u"]))
    for j, (rho, w) in enumerate(zip(shares(p), noise, strict=True)):
        square = longest(d, math.log(10) if code else math.log(n / each))
        sigma = square / (n * math.sqrt(rho))
        lift = math.sqrt(d / n) + d / (2 * n)
        if not code:
            slack = math.sqrt(d / n) + math.sqrt(2 * math.log(2 / each) / n)
            lift = 2 * slack + slack**2 + sigma * (2 * math.sqrt(d) + math.sqrt((4 - 2 / d) * math.log(2 / each)))
        images = mapped(a, x)
        short = [[v * min(1, math.sqrt(square / s)) if (s := dot(row, row)) else v for v in row] for row in images]
        z = combine(1 / n, scatter(short), sigma, w)
        z = of_eigenvalues(z, lambda v: max(v, 0.0))
        if j == t - 1:
            return product_of(product_of(back, z), transposed(back))
        lifted = combine(1, z, lift, identity(d))
        a = product_of(of_eigenvalues(lifted, lambda v: 1 / math.sqrt(v)), a)
        back = product_of(back, of_eigenvalues(lifted, math.sqrt))
    raise AssertionError


def naive_pce(x, p, noise, rho=None, beta=None, kappa=None):
    n, d = len(x), len(x[0])
    rho, beta, kappa = (float(p[k] if v is None else v) for k, v in (("rho", rho), ("beta", beta), ("kappa", kappa)))
    w = floats(matrix(noise, d, "noise", symmetric=True))
    square = kappa * longest(d, math.log(n / beta))
    kept = [row for row in x if dot(row, row) <= square] or [[0.0] * d]
    sigma = square / n / math.sqrt(rho) * (1 if p["calibration"] == "tight" else math.sqrt(2))
    return of_eigenvalues(combine(1 / n, scatter(kept), sigma, w), lambda v: max(v, 0.0))


def weak_ppc(x, p, noise, rho=None, beta=None, kappa=None):
    kappa = float(p["kappa"] if kappa is None else kappa)
    z = naive_pce(x, p, noise, rho, beta, kappa)
    return of_eigenvalues(z, lambda v: (0.5 if v >= kappa / 2 else 1) / math.sqrt(0.84))


def preconditioner(x, p, noise, rho=None, beta=None):
    """Return the preconditioning matrix of PPC and its inverse."""
    d, kappa = len(x[0]), float(p["kappa"])
    rho, beta = float(p["rho"] if rho is None else rho), float(p["beta"] if beta is None else beta)
    count = max(0, math.ceil(math.log(kappa / 1000) / math.log(1 / 0.69)))
    need(isinstance(noise, list) and len(noise) == count, "noise")
    a, back = identity(d), identity(d)
    for t, w in enumerate(noise):
        step = weak_ppc(mapped(a, x), p, w, rho / count, beta / count, 0.69**t * kappa)
        a = product_of(step, a)
        back = product_of(back, of_eigenvalues(step, lambda v: 1 / v))
    return a, back


def pgce(x, p, noise, rho=None, beta=None):
    rho, beta = float(p["rho"] if rho is None else rho) / 2, float(p["beta"] if beta is None else beta) / 2
    a, back = preconditioner(x, p, noise["rounds"], rho, beta)
    s = naive_pce(mapped(a, x), p, noise["estimate"], rho, beta, 1000)
    return product_of(product_of(back, s), transposed(back))


def column_means(x, noise, rho, beta, sigma, bound):
    """Return the mean of every column by the steps on the proof page of kv-mean: a private histogram and a clipped
    mean.
    """
    n, d = len(x), len(x[0])
    rho, beta, count, means = rho / d, beta / d, math.ceil(bound / sigma), []
    need(len(noise["counts"]) == d and len(noise["mean"]) == d, "noise")
    for i in range(d):
        column, places = [row[i] for row in x], range(-count, count + 1)
        moves = vector(noise["counts"][i], len(places), "noise.counts")
        noisy = [
            sum((j - 0.5) * sigma < v <= (j + 0.5) * sigma for v in column) + math.sqrt(2 / rho) * float(z)
            for j, z in zip(places, moves, strict=True)
        ]
        c = sigma * places[noisy.index(max(noisy))]
        w = sigma * (2 + math.sqrt(2 * math.log(8 * n / beta)))
        mean = sum(min(max(v, c - w), c + w) for v in column) / n
        means.append(mean + 2 * w / n / math.sqrt(rho) * float(noise["mean"][i]))
    return means


def kv_mean(x, p, noise):
    rho, beta, sigma, bound = (float(p[key]) for key in ("rho", "beta", "sigma", "mean_bound"))
    return column_means(x, noise, rho, beta, sigma, bound)


def naive_pme(x, p, noise):
    rho, beta, kappa, bound = (float(p[key]) for key in ("rho", "beta", "kappa", "mean_bound"))
    return column_means(x, noise, rho, beta, math.sqrt(kappa), bound)


def differences(x):
    pairs = [[(b - a) / math.sqrt(2) for a, b in zip(x[i], x[i + 1], strict=True)] for i in range(0, len(x) - 1, 2)]
    return pairs or [[0.0] * len(x[0])]


def pme(x, p, noise, rho=None, beta=None):
    rho, beta = float(p["rho"] if rho is None else rho) / 2, float(p["beta"] if beta is None else beta) / 2
    a, back = preconditioner(differences(x), p, noise["rounds"], rho, beta)
    bound = math.sqrt(1000) * float(p["mean_bound"])
    mean = column_means(mapped(a, x), noise["mean"], rho, beta, math.sqrt(1000), bound)
    return [dot(row, mean) for row in back]


def gaussian_learner(x, p, noise):
    rho, beta = float(p["rho"]) / 2, float(p["beta"]) / 2
    mean = pme(x, p, noise["mean"], rho, beta)
    return [mean, *pgce(differences(x), p, noise["covariance"], rho, beta)]


def ppde(x, p, noise):
    n, d = len(x), len(x[0])
    rounds_at_most = d.bit_length() - 1
    m, rho, beta = max(1, n // (rounds_at_most + 1)), float(p["rho"]), float(p["beta"])
    need(len(noise) == rounds_at_most + 1, "noise")
    noise = [floats(vector(row, d, "noise")) for row in noise]
    estimates, left, r = [0.0] * d, list(range(d)), 1
    while left:
        u, final = 2.0**-r, 2.0**-r * len(left) < 1
        square = 6 * math.log(m / beta) if final else 6 * u * len(left) * math.log(m * rounds_at_most / beta)
        block = [[min(max(v, 0.0), 1.0) for v in row] for row in x[(r - 1) * m : r * m]]
        short = []
        for row in block:
            part = [row[j] for j in left]
            size = dot(part, part)
            short.append([v * min(1, math.sqrt(square / size)) if size else v for v in part])
        change = 2 * square if p["calibration"] == "reconstructed" else min(2 * square, len(left))
        s = math.sqrt(change / (2 * rho)) / m
        q = {j: sum(row[i] for row in short) / m + s * noise[r - 1][j] for i, j in enumerate(left)}
        done = [j for j in left if final or q[j] >= 3 * u / 8]
        for j in done:
            estimates[j] = q[j]
        left, r = [j for j in left if j not in done], r + 1
    return [min(max(v, 0.0), 1.0) for v in estimates]


def block_squared(d, block):
    """Return the squared sensitivity of the blocks on the diagonal and of the blocks next to them."""
    q = math.ceil(d / block)
    return 8 * (q - 1) if q > 1 else min(d, 2)


def block_tridiagonal(x, p, noise):
    """Release the blocks on the diagonal and the blocks next to them, for rows that are shortened block by block."""
    block, r, d, n = p.get("block", 1), float(positive(p.get("block_bound", 1), "block_bound")), len(x[0]), len(x)
    need(not isinstance(block, str) and block == int(block) >= 1, "block must be a whole number")
    w = matrix(noise, d, "noise", symmetric=True)
    shortened = []
    for row in x:
        parts = [row[i : i + block] for i in range(0, d, block)]
        shortened.append([v / max(r, math.hypot(*part)) for part in parts for v in part])
    sigma = math.sqrt(block_squared(d, block) / (2 * float(p["rho"]))) / n
    out = [[0.0] * d for _ in range(d)]
    for i in range(d):
        for j in range(d):
            if abs(i // block - j // block) <= 1:
                out[i][j] = r * r * (sum(row[i] * row[j] for row in shortened) / n + sigma * float(w[i][j]))
    return out


OF_ANY_ROWS = {
    "block-tridiagonal": block_tridiagonal,
    "coinpress-mean": coinpress_mean,
    "coinpress-covariance": coinpress_covariance,
    "naive-pce": naive_pce,
    "weak-ppc": weak_ppc,
    "ppc": lambda x, p, noise: preconditioner(x, p, noise)[0],
    "pgce": pgce,
    "kv-mean": kv_mean,
    "naive-pme": naive_pme,
    "pme": pme,
    "gaussian-learner": gaussian_learner,
    "ppde": ppde,
}


# --- the intermediate results of steps --------------------------------------------------------------------------------


def search(mechanism, p, queries, threshold, noise):
    """Run AboveThreshold, and return the noisy threshold and all noisy queries up to the one at which it stops."""
    budget_is_sane(p)
    need(not any(isinstance(v, str) for v in [*queries, threshold, noise["threshold"]]), "finite numbers are needed")
    moves = vector(noise["queries"], len(queries), "noise.queries")
    b1, b2 = search_scales(mechanism, p)
    limit, noisy = threshold + b1 * noise["threshold"], []
    for f, v in zip(queries, moves, strict=True):
        noisy.append(f + b2 * v)
        if noisy[-1] >= limit:
            return {"threshold": limit, "queries": noisy, "index": len(noisy)}
    return {"threshold": limit, "queries": noisy, "index": len(noisy) + 1}


def radius_search(q):
    p = q["parameters"]
    given = q.get("given", q)
    rows = unit_rows(given["x"], p)
    precision, n = p.get("precision", Fraction(1, 2**20)), len(rows)
    radii = [precision]
    while radii[-1] < 1:
        radii.append(min(Fraction(1), 2 * radii[-1]))
    counts = [sum(dot(row, row) <= r * r for row in rows) for r in radii]
    beta = p.get("beta", Fraction(1, 10))
    need(0 < beta < 1, "beta")
    budget_is_sane(p)
    e, m = p["epsilon"], len(radii)
    if p.get("calibration", "paper") == "paper":
        slack = 8 / e * math.log(2 * m / beta)
    else:
        b1, b2 = search_scales("private-radius", p)
        slack = b1 * math.log(2 / beta) + b2 * math.log(2 * m / beta)
    found = search("private-radius", p, counts, n - slack, given["noise"])
    return {"radii": radii, "counts": counts, "slack": slack, "index": found["index"]}


def bias(rows, last):
    """Return bounds B_0, …, B_last on the bias from clipping rows to length 2^−k."""
    bins = []
    for row in rows:
        square, j = dot(row, row), 1
        if square == 0:
            continue
        while square <= Fraction(1, 4**j):
            j += 1
        bins.append(j)
    return [
        sum((Fraction(4) / 4**j - Fraction(1, 4**k) for j in bins if j <= k), Fraction(0)) / len(rows)
        for k in range(last + 1)
    ]


def rounds(q, rows):
    """Return two lists with one entry for every round of deflation: the matrix M in the density exp(uᵀMu) of its
    direction u, and its noisy eigenvalue.
    """
    p, noise = q["parameters"], q.get("given", q)["noise"]
    budget_is_sane(p)
    n, d, rest = len(rows), len(rows[0]), scatter(rows)
    k = min(p.get("rank", 0) or d, d)
    eta, b = exponent("kapralov-talwar", {**p, "k": k}), 2 * k / p["epsilon"]
    matrices, values = [], []
    for u, z in zip(noise["directions"], vector(noise["values"], k, "noise.values"), strict=True):
        need(abs(float(dot(u, u)) - 1) <= 2e-9, "a direction must be a unit vector")
        matrices.append(combine(eta, rest))
        values.append(min(max(sum(a * dot(row, u) for a, row in zip(u, rest, strict=True)) + b * z, 0), n))
        rest = combine(1, rest, -values[-1], outer(u))
    return matrices, values


def transcript(q):
    mechanism, step, p, given = q["mechanism"], q["step"], q["parameters"], q["given"]
    budget_is_sane(p)
    if mechanism == "above-threshold":
        return search(mechanism, p, given["queries"], given["threshold"], given["noise"])
    if mechanism == "private-radius":
        return radius_search(q)
    if step == "bias":
        return bias(unit_rows(given["x"], p), given["last"])
    if step == "search":
        found = search(mechanism, p, given["queries"], 0, given["noise"])
        level = found["index"] - 1  # the levels are counted from 0
        return {**found, "index": level, "clip": min(Fraction(1), Fraction(2) / 2**level)}
    if step == "trace":
        if mechanism == "adaptive-cov":
            margin = math.sqrt(2 * math.log(8 / p["beta"]))
            b = 2 / (p["n"] * root(p["rho"]))
        else:
            margin, b = math.log(1 / (2 * p["beta"] / 8)), 8 / (p["n"] * p["epsilon"])
        return min(1, max(1e-16, given["trace"] + b * (given["noise"] + margin)))
    if step == "noise":
        g, a, e = given["g"], given["a"], given["e"]
        levels = [Fraction(1, 2**k) for k in range(given["last"] + 1)]
        return [min(c * c * g, c * a + c * c * e) for c in levels]
    if mechanism == "bingham":
        return combine(exponent(mechanism, p), scatter(unit_rows(given["x"], p)))
    if mechanism == "matrix-bingham":
        rank = subspace_rank(p, len(given["x"][0]))
        return {"matrix": combine(exponent(mechanism, p), scatter(unit_rows(given["x"], p))), "rank": rank}
    if mechanism == "kapralov-talwar":
        matrices, values = rounds(q, unit_rows(given["x"], p))
        released = combine(Fraction(1, len(given["x"])), turned(values, given["noise"]["directions"]))
        return {"matrices": matrices, "released": released}
    if step == "rounds":
        matrices, released = one_by_one(q, unit_rows(given["x"], p))
        return {"matrices": matrices, "released": released}
    if step == "lattice":
        return lattice(given["x"], p)
    raise NotImplementedError(mechanism)


def acceptance(q):
    given = q["given"]
    if q["mechanism"] == "bingham":
        values, b, u = given["eigenvalues"], given["b"], given["u"]
        d, y = len(values), sum((max(values) - v) * c * c for v, c in zip(values, u, strict=True))
        return math.exp(-y + (d - b) / 2) * float((b + 2 * y) / Fraction(d)) ** (d / 2)
    if q["mechanism"] == "k-norm":
        values, d = eigen(given["matrix"])[0], len(given["matrix"])
        up, down = sum(v for v in values if v > 0), -sum(v for v in values if v < 0)
        return ((up + down) / (2 * max(up, down))) ** (d * (d + 1) // 2)
    variance, y = positive(given["variance"], "variance"), abs(given["proposal"])
    t = math.isqrt(math.floor(variance)) + 1
    return small_exp((y - variance / t) ** 2 / (2 * variance))


# --- laws ------------------------------------------------------------------------------------------------------------


def integrate(terms, power):
    """Return ∫₀ˢ f(u) u^power e^−u du for a sum f of terms c u^p e^−ku, as a sum of the same form. The dict `terms`
    maps (p, k) to c.
    """
    result = {}
    for (p, k), c in terms.items():
        p, k = p + power, k + 1
        constant = c * math.factorial(p) / Fraction(k) ** (p + 1)
        result[0, 0] = result.get((0, 0), 0) + constant
        for j in range(p + 1):
            part = c * math.factorial(p) / (math.factorial(j) * Fraction(k) ** (p - j + 1))
            result[j, k] = result.get((j, k), 0) - part
    return result


def ordered(powers):
    """Return the integral of the product of s^p e^−s over 0 < s₁ < … < t, as a function of t."""
    terms = {(0, 0): Fraction(1)}
    for power in powers:
        terms = integrate(terms, power)
    return terms


def product(a, b):
    result = {}
    for (p, k), c in a.items():
        for (r, m), e in b.items():
            result[p + r, k + m] = result.get((p + r, k + m), 0) + c * e
    return result


def sign(order):
    return (-1) ** sum(order[j] > order[i] for i in range(len(order)) for j in range(i))


def value_at(terms, t):
    decay = [small_exp(k * t) for k in range(1 + max(k for _, k in terms))]
    return sum(c * t**p * decay[k] for (p, k), c in terms.items())


@cache
def vandermonde(d, symmetric):
    """Return the integral of the Vandermonde determinant times e^−Σ|s| over ordered values in [−t, t] or [0, t]."""
    total = {}
    for negative in range(d + 1 if symmetric else 1):
        for order in permutations(range(d)):
            if symmetric:  # the first values are negative, in order of decreasing absolute value
                term = product(ordered(reversed(order[:negative])), ordered(order[negative:]))
                factor = sign(order) * (-1) ** sum(order[:negative])
            else:
                term, factor = ordered([2 * p for p in order]), sign(order)
            for key, c in term.items():
                total[key] = total.get(key, 0) + factor * c
    return total


def spectral_norm(d, t, symmetric):
    """Return the probability that the spectral norm ‖Z‖ is at most t."""
    if t <= 0:
        return Fraction(0)
    total = vandermonde(d, symmetric)
    return value_at(total, t) / total[0, 0]


def gamma(shape, t):
    if t <= 0:
        return Fraction(0)
    return 1 - small_exp(t) * sum(t**k / math.factorial(k) for k in range(shape))


def laplace_cdf(x):
    if isinstance(x, float):
        return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2
    return small_exp(-x) / 2 if x < 0 else 1 - small_exp(x) / 2


def entry(mechanism, p, t):
    b = noise_scale(mechanism, p, p["n"], p["d"])
    if mechanism in ("laplace", "entrywise-laplace", "lap-cov") or (mechanism == "private-trace" and "epsilon" in p):
        return laplace_cdf(t / b)
    if p["where"] == "off-diagonal" and p.get("ensemble") == "goe":
        b = b / math.sqrt(2)
    return normal(float(t / b))


def integer(mechanism, p, z):
    size, d = 4 ** p["input_bits"], p["d"]
    if mechanism == "discrete-laplace-covariance":
        t = lattice_sensitivity(d, p["input_bits"]) / p["epsilon"]
        q = small_exp(1 / t)
        return small_exp(abs(z) / t) * (1 - q) / (1 + q)
    variance = Fraction((2 if d > 1 else 1) * size * size) / (2 * p["rho"])
    weight = lambda k: small_exp(k * k / (2 * variance))  # noqa: E731
    reach = 14 * math.isqrt(math.ceil(variance)) + 14
    return weight(z) / (1 + 2 * sum(weight(k) for k in range(1, reach)))


def index_law(p, queries, threshold, at):
    """Return the probability that AboveThreshold stops at query `at`. The integral over the noise of the threshold is
    computed piece by piece.
    """
    b1, b2 = (float(b) for b in search_scales("above-threshold", p))
    queries, threshold = [float(f) for f in queries], float(threshold)

    def density(z):
        value = math.exp(-abs(z)) / 2
        for j, f in enumerate(queries[:at], 1):
            below = laplace_cdf((threshold + b1 * z - f) / b2)
            value *= below if j < at else 1 - below
        return value

    kinks = sorted({0.0, -28.0, 28.0, *((f - threshold) / b1 for f in queries)})
    total = 0.0
    for low, high in pairwise(kinks):
        pieces = max(2, 90 * math.ceil(high - low))
        h = (high - low) / (2 * pieces)
        total += (
            h
            / 3
            * sum(
                (1 if i in (0, 2 * pieces) else 4 if i % 2 else 2) * density(low + i * h) for i in range(2 * pieces + 1)
            )
        )
    return total


def probability(q):
    mechanism, law, p, at = q["mechanism"], q["law"], q["parameters"], q["at"]
    budget_is_sane(p)
    need(not isinstance(at, str), "at must be a number")
    d = p.get("d")
    if law == "spectral-norm":
        return spectral_norm(d, at, mechanism == "nuclear-laplace-symmetric")
    if law == "norm":
        return gamma(d * d if mechanism == "nuclear-laplace" else d * (d + 1) // 2, at)
    if law == "entry":
        return entry(mechanism, p, at)
    if law == "integer":
        return integer(mechanism, p, at)
    if law == "share":
        return direction_share(p, at)
    if mechanism == "exponential":
        rows = unit_rows(q["given"]["x"], p)
        scores = [p["epsilon"] / 2 * sum(row[i] ** 2 for row in rows) for i in range(len(rows[0]))]
        weights = [small_exp(max(scores) - score) for score in scores]
        return weights[at - 1] / sum(weights)
    return index_law(p, q["given"]["queries"], q["given"]["threshold"], at)


def subspace_rank(p, d):
    rank = p.get("rank", 2)
    need(isinstance(rank, int) and rank >= 1, "rank must be a whole number of at least 1")
    return min(rank, d - 1)


def projection_of_rank(value, d, k):
    p = matrix(value, d, "noise", symmetric=True)
    square = [[sum(float(a * b) for a, b in zip(row, column, strict=True)) for column in p] for row in p]
    off = max(abs(square[i][j] - float(p[i][j])) for i in range(d) for j in range(d))
    need(off < 1e-9 and abs(float(sum(p[i][i] for i in range(d))) - k) < 1e-9, "noise must be a projection of rank k")
    return p


def direction_share(p, at):
    """Return the probability that the squared length of a projected vector is at most `at`, by Simpson's rule."""
    d, k = p["d"], subspace_rank(p, p["d"])
    strength = float(exponent("matrix-bingham", p)) * p["n"]

    def area(low, high, steps=2000):
        def density(t):
            return math.sin(t) ** (k - 1) * math.cos(t) ** (d - k - 1) * math.exp(-strength * math.cos(t) ** 2)

        h = (high - low) / steps
        odd, even = (sum(density(low + i * h) for i in range(first, steps, 2)) for first in (1, 2))
        return h / 3 * (density(low) + 4 * odd + 2 * even + density(high))

    angle = math.asin(math.sqrt(at))
    below, above = area(0.0, angle), area(angle, math.pi / 2)
    return below / (below + above)


# --- budgets ---------------------------------------------------------------------------------------------------------


def share_proven(mechanism, p):
    """Return the proven privacy loss, divided by the claimed one."""
    d, paper = p["d"], p.get("calibration", "paper") in ("paper", "reconstructed")
    one = d == 1
    if mechanism in ("nuclear-laplace", "nuclear-laplace-symmetric", "gauss-cov", "projection-mechanism"):
        return Fraction(1, 2) if one else 1
    if mechanism == "nuclear-ball-projection":
        return (Fraction(9, 20) if one else Fraction(1, 2)) if paper else 1
    if mechanism == "entrywise-laplace":
        reached = root(2) * d if p.get("entries", "full") == "full" and d > 1 else triangle(d)
        return reached / (2 * d) if paper else 1
    if mechanism == "lap-cov":
        return triangle(d) / (root(2) * d) if paper else 1
    if mechanism == "bingham":
        return Fraction(1, 2) if paper else 1
    if mechanism == "above-threshold":
        return Fraction(1, 4 if one else 2) if paper else Fraction(1, 2 if one else 1)
    if mechanism == "private-radius":
        return Fraction(3, 4) if paper else 1
    if mechanism in ("kapralov-talwar", "coinpress-covariance", "johnson-lindenstrauss-image"):
        return Fraction(1, 2) if one else 1
    if mechanism == "johnson-lindenstrauss":
        return 1 / root(2) if one else 1
    if mechanism == "separate-cov":
        return Fraction(1, 4) if one else 1
    if mechanism == "adassp":
        return Fraction(2, 3) * (Fraction(3, 4) if d < 3 else 1) if paper else (Fraction(2, 3) if d < 3 else 1)
    if mechanism == "separate-cov-pure":
        return (
            Fraction(1, 4) if one else (triangle(d) / (2 * root(2) * d) if paper else Fraction(1, 2)) + Fraction(1, 2)
        )
    if mechanism == "adaptive-cov-pure":
        private = p["radius"] == "private"
        final = max(share_proven(other, p) for other in ("lap-cov", "separate-cov-pure"))
        steps = Fraction(1, 8) + Fraction(1, 16 if paper else 8)
        steps += Fraction(3 if paper else 4, 32) if private else 0
        return steps + Fraction(5 if private else 6, 8) * final
    if mechanism == "iterative-eigenvectors":
        if one:
            return Fraction(1, 4)
        return (Fraction(5, 8) if p["budget"] == "uniform" else Fraction(3, 4)) if paper else 1
    if mechanism == "recursive-moment":
        return (Fraction(1) if p["calibration"] == "tight" else Fraction(1, 8)) * (Fraction(1, 2) if one else 1)
    if mechanism in ("naive-pce", "weak-ppc", "ppc", "pgce"):
        return (Fraction(1, 2) if paper else 1) * (Fraction(1, 2) if one else 1)
    if mechanism in ("pme", "gaussian-learner"):
        mean = Fraction(1, 2) + share_proven("pgce", p) / 2
        return mean if mechanism == "pme" else mean / 2 + share_proven("pgce", p) / 2
    if mechanism == "em-cov":
        if one:
            return Fraction(1, 8) if paper else Fraction(1, 4)
        return Fraction(1, 4) + Fraction(d - 1, 32 * d) if paper else 1
    if mechanism == "clipped-cov":
        first = (Fraction(1, 2) if p["base"] == "gauss" else Fraction(1, 4)) if one else 1
        if p["threshold"] == "public":
            return first
        return Fraction(1, 16) + Fraction(12 if paper else 15, 16) * first
    if mechanism == "adaptive-cov":
        private = p["radius"] == "private"
        searches = Fraction(2 if private else 1, 32)
        last = Fraction(5 if private else 6, 8) if paper else Fraction(7, 8) - searches
        return searches + Fraction(1, 8) + last * (Fraction(1, 2) if one else 1)
    if mechanism not in ("laplace", "gaussian", "private-trace", "centred-covariance", "k-norm", "exponential",
                         "output-perturbation", "coinpress-mean", "kv-mean", "naive-pme", "ppde", "matrix-bingham",
                         "joint-moments", "discrete-laplace-covariance", "discrete-gaussian-covariance", "box-gauss",
                         "box-laplace", "block-tridiagonal"):  # fmt: skip
        raise NotImplementedError(mechanism)
    return 1


def budget(q):
    mechanism, p = q["mechanism"], q["parameters"]
    budget_is_sane(p)
    if "delta" in p:
        claimed = {"epsilon": p["epsilon"], "delta": p["delta"]}
        if mechanism == "l2-approximate":  # the noise scale is the smallest possible in every dimension
            return {"claimed": claimed, "proven": claimed}
        if p.get("calibration", "paper") == "tight" and (
            p["d"] > 1 or mechanism in ("gaussian-approximate", "box-gauss-approximate")
        ):
            return {"claimed": claimed, "proven": claimed}
        m = multiplier(p) * (math.sqrt(2) if p["d"] == 1 and mechanism == "gauss-cov-approximate" else 1)
        return {"claimed": claimed, "proven": {**claimed, "delta": delta_of(1 / m, float(p["epsilon"]))}}
    key = "rho" if "rho" in p else "epsilon"
    return {"claimed": {key: p[key]}, "proven": {key: share_proven(mechanism, p) * p[key]}}


def zcdp_epsilon(rho, delta):
    """Return the smallest ε over all orders α for which ρ-zCDP implies (ε, δ)-DP, by a search in ln(α − 1)."""
    rho, delta = float(rho), float(delta)

    def at(t):
        m = math.exp(t)  # α − 1
        return (1 + m) * rho + ((1 + m) * -math.log1p(1 / m) - math.log(m) - math.log(delta)) / m

    low, high = -12.0, 40.0
    for _ in range(200):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if at(first) <= at(second) else (first, high)
    return max(0.0, min(at(low), rho + 2 * math.sqrt(rho * math.log(1 / delta))))


def composition(q):
    budgets, to = q["budgets"], q["to"]
    need(budgets, "nothing was released")
    for item in (*budgets, q["parameters"]):
        budget_is_sane({**item, "calibration": "tight"})
    pure = [item["epsilon"] for item in budgets if set(item) == {"epsilon"}]
    zcdp = [item["rho"] for item in budgets if set(item) == {"rho"}]
    both = [item for item in budgets if len(item) == 2]
    need(len(pure) + len(zcdp) + len(both) == len(budgets), "no such budget")
    if to == "epsilon":
        need(not zcdp and not both, "pure releases only")
        return {"epsilon": sum(pure)}
    rho = sum(zcdp) + sum(float(e) * math.tanh(e / 2) for e in pure)
    if to == "rho":
        need(not both, "says nothing of zCDP")
        return {"rho": rho}
    epsilon, spent = sum(item["epsilon"] for item in both), sum(item["delta"] for item in both)
    left = q["parameters"]["delta"] - spent
    need(left >= 0 and (left > 0 or not zcdp), "no δ is left")
    if not zcdp and (not pure or left == 0):
        return {"epsilon": epsilon + sum(pure), "delta": spent}
    apart = sum(pure) + (zcdp_epsilon(sum(zcdp), left) if zcdp else 0)
    return {"epsilon": float(epsilon + min(apart, zcdp_epsilon(rho, left))), "delta": q["parameters"]["delta"]}


# --- lines of JSON ---------------------------------------------------------------------------------------------------

KINDS = {
    "release": release, "scale": scale, "projection": project, "transcript": transcript, "acceptance": acceptance,
    "probability": probability, "budget": budget, "composition": composition,
}  # fmt: skip


def written(value):
    if isinstance(value, dict):
        return {key: written(item) for key, item in value.items()}
    if isinstance(value, list):
        return [written(item) for item in value]
    if isinstance(value, Fraction):
        return str(value) if value.denominator < 10**40 else float(value)
    return value


def exact(value):
    """Return a question with every float replaced by a fraction."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return Fraction(value) if isinstance(value, float) else value


def answer(question):
    q = exact(question)
    return written(KINDS[q["kind"]](q))


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            reply = {"output": answer(json.loads(line))}
        except Refused as error:
            reply = {"error": str(error)}
        print(json.dumps(reply), flush=True)
