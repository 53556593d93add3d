"""Correct implementations that differ from the reference, none of which an audit may refute. All implementations have
the law of the reference, but use another algorithm, random generator, order of summation or number type. The
implementations validate their input as authors of packages might do.
"""

import copy
import functools
import math
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import fft, linalg, special, stats

from covassay.reference.domain import Matrix, Vector, row_norms, second_moment, unit_rows
from covassay.reference.laws import bingham as bingham_law
from covassay.reference.laws import haar
from covassay.reference.laws import matrix_bingham as matrix_bingham_law
from covassay.reference.laws import nuclear_laplace as nuclear_law
from covassay.reference.mechanisms.approximate import gauss_cov_approximate
from covassay.reference.mechanisms.approximate.l2_approximate import largest_move
from covassay.reference.mechanisms.building_blocks import (
    above_threshold,
    exponential,
    gaussian,
    gaussian_approximate,
    laplace,
    private_trace,
)
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.gaussian_estimation import kv_mean, naive_pce, weak_ppc
from covassay.reference.mechanisms.pure import (
    bingham,
    centred_covariance,
    discrete_laplace_covariance,
    entrywise_laplace,
    k_norm,
    lap_cov,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
)

Rng = np.random.Generator


@dataclass(frozen=True)
class Otherwise:
    """A correct implementation of a mechanism, with a description of how it differs from the reference."""

    what: str
    mechanism: str
    draw: Callable[..., Any]
    options: tuple[tuple[str, str], ...] = ()
    seeded: bool = True


# DIFFERENT WAYS TO READ ROWS


def checked(x: Any) -> Matrix:
    """Raise an error if x is not a finite matrix, and clip its rows one by one."""
    rows = np.array(x, dtype=np.float64, ndmin=2)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise ValueError("x must be a finite (n, d) array")
    norms = np.array([math.hypot(*row) for row in rows.tolist()])
    return np.asarray(rows / np.maximum(1.0, norms)[:, None])


def by_outer_products(x: Matrix) -> Matrix:
    rows = checked(x)
    total = np.zeros((rows.shape[1],) * 2)
    for row in rows[::-1]:
        total += np.outer(row, row)
    return np.asarray(total / len(rows))


def in_blocks(x: Matrix) -> Matrix:
    rows = checked(x)
    parts = [block.T @ block for block in np.array_split(rows, max(1, len(rows) // 64))]
    return np.asarray(np.sum(parts, axis=0) / len(rows))


def by_einsum(x: Matrix) -> Matrix:
    rows = np.asfortranarray(checked(x))
    return np.asarray(np.einsum("ni,nj->ij", rows, rows, optimize=False) / len(rows))


def by_fsum(x: Matrix) -> Matrix:
    rows = checked(x)
    d = rows.shape[1]
    sums = [[math.fsum((rows[:, i] * rows[:, j]).tolist()) for j in range(d)] for i in range(d)]
    return np.array(sums) / len(rows)


def by_singular_values(x: Matrix) -> Matrix:
    _, s, vt = np.linalg.svd(checked(x), full_matrices=False)
    y = (vt.T * s**2) @ vt / len(x)
    return np.asarray((y + y.T) / 2)


def from_covariance(x: Matrix) -> Matrix:
    """Compute the second moment as np.cov plus the outer product of the mean with itself."""
    rows = checked(x)
    mean = rows.mean(axis=0)
    return np.asarray(np.atleast_2d(np.cov(rows.T, bias=True)) + np.outer(mean, mean))


def energies(x: Matrix) -> Vector:
    return np.asarray(np.diag(by_einsum(x)))


# DIFFERENT WAYS TO DRAW NUMBERS


def box_muller(rng: Rng, size: int) -> Vector:
    u, v = rng.random((2, (size + 1) // 2))
    r = np.sqrt(-2 * np.log1p(-u))
    return np.concatenate([r * np.cos(2 * np.pi * v), r * np.sin(2 * np.pi * v)])[:size]


def polar(rng: Rng, size: int) -> Vector:
    found: list[float] = []
    while len(found) < size:
        u, v = 2 * rng.random(2) - 1
        s = u * u + v * v
        if 0 < s < 1:
            f = math.sqrt(-2 * math.log(s) / s)
            found += [u * f, v * f]
    return np.array(found[:size])


def inverted_normal(rng: Rng, size: int) -> Vector:
    return np.asarray(special.ndtri(rng.random(size)))


def mersenne(rng: Rng, size: int) -> Vector:
    return np.random.RandomState(rng.integers(0, 2**32, 8, dtype=np.uint32)).randn(size)


def philox(rng: Rng, size: int) -> Vector:
    key = [int(k) for k in rng.integers(0, 2**63, 2)]
    return np.random.Generator(np.random.Philox(key=key)).standard_normal(size)


def python_gauss(rng: Rng, size: int) -> Vector:
    own = random.Random(int.from_bytes(rng.bytes(32)))
    return np.array([own.gauss(0, 1) for _ in range(size)])


def rejected_normal(rng: Rng, size: int) -> Vector:
    """Draw normal numbers by rejection from a two-sided exponential law."""
    found: list[float] = []
    while len(found) < size:
        e = rng.standard_exponential()
        if rng.random() < math.exp(-((e - 1) ** 2) / 2):
            found.append(e if rng.random() < 0.5 else -e)
    return np.array(found)


def two_exponentials(rng: Rng, size: int) -> Vector:
    return np.asarray(rng.standard_exponential(size) - rng.standard_exponential(size))


def inverted_laplace(rng: Rng, size: int) -> Vector:
    u = rng.random(size) - 0.5
    return np.asarray(-np.sign(u) * np.log1p(-2 * np.abs(u)))


def mixed_laplace(rng: Rng, size: int) -> Vector:
    return np.asarray(np.sqrt(2 * rng.standard_exponential(size)) * rng.standard_normal(size))


def signed_exponential(rng: Rng, size: int) -> Vector:
    return np.asarray(rng.choice([-1, 1], size) * rng.exponential(size=size))


def scipy_laplace(rng: Rng, size: int) -> Vector:
    return np.asarray(stats.laplace.rvs(size=size, random_state=rng))


def products_laplace(rng: Rng, size: int) -> Vector:
    """Draw each Laplace number as ad − bc, where a, b, c and d are normal numbers."""
    a, b, c, d = rng.standard_normal((4, size))
    return np.asarray(a * d - b * c)


Numbers = Callable[[Rng, int], Vector]
Query = Callable[[Matrix], Matrix]


def triangle(numbers: Vector, d: int) -> Matrix:
    """Return the symmetric matrix whose lower triangle, column by column, has the given numbers."""
    z = np.zeros((d, d))
    z.T[np.triu_indices(d)] = numbers
    return z + np.tril(z, -1).T


def wigner(query: Query, numbers: Numbers, finish: Callable[[Matrix], Any] = lambda y: y) -> Callable[..., Any]:
    def draw(x: Matrix, *, rho: float, rng: Rng) -> Any:
        d = np.shape(x)[1]
        sigma = gauss_cov.noise_scale(len(x), rho)
        return finish(query(x) + sigma * triangle(numbers(rng, d * (d + 1) // 2), d))

    return draw


def by_cholesky(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Draw the noise of the lower triangle as one normal vector, by a Cholesky factor of its covariance matrix."""
    d = x.shape[1]
    size = d * (d + 1) // 2
    factor = np.linalg.cholesky(gauss_cov.noise_scale(len(x), rho) ** 2 * np.eye(size))
    return by_einsum(x) + triangle(factor @ rng.standard_normal(size), d)


def goe_from_a_square(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    g = rng.standard_normal((x.shape[1],) * 2)
    return in_blocks(x) + gauss_cov.noise_scale(len(x), rho) * (g + g.T) / 2


def goe_turned(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Draw Gaussian noise in a random basis, which does not change its law."""
    q = haar.sample(x.shape[1], rng)
    w = q @ gauss_cov.draw_noise(x.shape[1], rng, ensemble="goe") @ q.T
    return by_outer_products(x) + gauss_cov.noise_scale(len(x), rho) * (w + w.T) / 2


def shuffled_rows(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    return gauss_cov.sample(rng.permutation(x), rng, rho=rho)


def single_precision(x: Matrix, *, rho: float, rng: Rng) -> Any:
    rows = np.asarray(x, dtype=np.float32)
    rows = rows / np.maximum(np.float32(1), np.linalg.norm(rows, axis=1, keepdims=True))
    w = np.asarray(gauss_cov.draw_noise(x.shape[1], rng), dtype=np.float32)
    return rows.T @ rows / np.float32(len(rows)) + np.float32(gauss_cov.noise_scale(len(x), rho)) * w


def unseeded(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    return gauss_cov.sample(x, np.random.default_rng(), rho=rho)


def lap(numbers: Numbers, query: Query = by_fsum) -> Callable[..., Any]:
    def draw(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
        n, d = x.shape
        scale = lap_cov.noise_scale(n, d, epsilon, "paper")
        return query(x) + scale * triangle(numbers(rng, d * (d + 1) // 2), d)

    return draw


def full_laplace(numbers: Numbers, query: Query = from_covariance) -> Callable[..., Any]:
    def draw(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
        n, d = x.shape
        scale = entrywise_laplace.noise_scale(n, d, epsilon, "full", "paper")
        return query(x) + scale * numbers(rng, d * d).reshape(d, d).T

    return draw


def nuclear(turn: Callable[[Matrix, Rng], Matrix]) -> Callable[..., Any]:
    def draw(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
        z = turn(nuclear_law.sample(x.shape[1], rng), rng)
        return by_singular_values(x) + nuclear_laplace.noise_scale(len(x), epsilon) * z

    return draw


def symmetric_nuclear(turn: Callable[[Matrix, Rng], Matrix]) -> Callable[..., Any]:
    def draw(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
        z = turn(nuclear_law.sample(x.shape[1], rng, symmetric=True), rng)
        return nuclear_laplace_symmetric.release(checked(x), (z + z.T) / 2, epsilon=epsilon)

    return draw


def in_the_ball(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
    """Draw noise uniformly in a ball of symmetric matrices, and multiply it by a Gamma(D + 1) radius, where D = d(d +
    1)/2.
    """
    n, d = x.shape
    size = d * (d + 1) // 2
    point = rng.standard_normal(size)
    point *= rng.random() ** (1 / size) / np.linalg.norm(point) * rng.gamma(size + 1)
    i, j = np.triu_indices(d)
    z = triangle(np.zeros(size), d)
    z[i, j] = z[j, i] = np.where(i == j, point, point / math.sqrt(2))
    return second_moment(checked(x)) + k_norm.noise_scale(k_norm.sensitivity("l2", n, d), epsilon) * z


def in_the_cube(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
    """Draw noise uniformly in a cube, and multiply it by a Gamma(D + 1) radius, where D = d(d + 1)/2."""
    n, d = x.shape
    size = d * (d + 1) // 2
    point = rng.uniform(-1, 1, size) * sum(rng.standard_exponential(size + 1))
    return by_outer_products(x) + k_norm.noise_scale(k_norm.sensitivity("linf", n, d), epsilon) * triangle(point, d)


def centred_by_differences(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
    """Compute the centred covariance as the second moment minus the outer product of the mean, and add noise."""
    rows = checked(x)
    mean = rows.mean(axis=0)
    z = -centred_covariance.draw_noise(x.shape[1], rng)
    moment = second_moment(rows) - np.outer(mean, mean)
    return moment + centred_covariance.noise_scale(*rows.shape, epsilon) * z


def gaussian_components(numbers: Numbers) -> Callable[..., Any]:
    def draw(x: Matrix, *, rho: float, rng: Rng) -> Any:
        n, d = x.shape
        sigma = gaussian.noise_scale(gaussian.second_moments_sensitivity(n, d), rho)
        return energies(x) + sigma * numbers(rng, d)

    return draw


def multivariate(method: Any) -> Callable[..., Any]:
    def draw(x: Matrix, *, rho: float, rng: Rng) -> Vector:
        n, d = x.shape
        sigma = gaussian.noise_scale(gaussian.second_moments_sensitivity(n, d), rho)
        return rng.multivariate_normal(energies(x), sigma**2 * np.eye(d), method=method)

    return draw


def frozen_normal(x: Matrix, *, epsilon: float, delta: float, rng: Rng) -> Vector:
    n, d = x.shape
    sigma = gaussian.second_moments_sensitivity(n, d) * gaussian_approximate.multiplier(epsilon, delta, "paper")
    return np.asarray(stats.norm(energies(x), sigma).rvs(size=d, random_state=rng))


def laplace_components(numbers: Numbers, finish: Callable[[Vector], Any] = lambda y: y) -> Callable[..., Any]:
    def draw(x: Matrix, *, epsilon: float, rng: Rng) -> Any:
        n, d = x.shape
        scale = laplace.noise_scale(laplace.second_moments_sensitivity(n, d), epsilon)
        return finish(energies(x) + scale * numbers(rng, d))

    return draw


def python_trace(x: Matrix, *, epsilon: float, rng: Rng) -> float:
    """Compute the trace with plain Python floats, and add noise from Python's generator."""
    own = random.Random(int.from_bytes(rng.bytes(32)))
    trace = math.fsum(value * value for row in checked(x).tolist() for value in row) / len(x)
    return trace + private_trace.laplace_scale(len(x), epsilon) * (own.expovariate(1) - own.expovariate(1))


def softmax(x: Matrix, *, epsilon: float, rng: Rng) -> float:
    """Draw an outcome from the probabilities of the exponential mechanism, without adding noise to the scores."""
    scores = exponential.exponent(epsilon, exponential.ENERGY_RANGE) * len(x) * energies(x)
    return float(rng.choice(len(scores), p=special.softmax(scores)) + 1)


def exponential_race(x: Matrix, *, epsilon: float, rng: Rng) -> float:
    """Draw an outcome of the exponential mechanism as the index of the smallest of independent exponential times."""
    scores = exponential.exponent(epsilon, exponential.ENERGY_RANGE) * len(x) * energies(x)
    return float(np.argmin(np.log(rng.standard_exponential(len(scores))) - scores) + 1)


def lazy_sparse_vector(x: Matrix, *, epsilon: float, rng: Rng) -> float:
    """Run the sparse vector technique, and draw the noise of a query only when the query is asked."""
    n, d = x.shape
    threshold = n / d + above_threshold.threshold_scale(epsilon) * rng.laplace()
    for i, energy in enumerate(n * energies(x)):
        if energy + rng.laplace(scale=above_threshold.query_scale(epsilon, "paper")) >= threshold:
            return float(i + 1)
    return float(d + 1)


def uniform_proposals(x: Matrix, *, epsilon: float, rng: Rng) -> Vector:
    """Draw a direction by rejection from the uniform law on the sphere. After 500 rejections, use the sampler of the
    reference.
    """
    m = bingham.exponent(epsilon, "paper") * len(x) * second_moment(unit_rows(x))
    top = float(np.linalg.eigvalsh(m)[-1])
    for _ in range(500):
        u = rng.standard_normal(len(m))
        u /= np.linalg.norm(u)
        if math.log(rng.random()) < u @ m @ u - top:
            return np.asarray(u)
    return bingham_law.sample(m, rng)


def turned_bingham(x: Matrix, *, epsilon: float, rng: Rng) -> Vector:
    """Draw a direction in a rotated basis, and change its sign at random."""
    rows = unit_rows(x)
    q = haar.sample(x.shape[1], rng)
    u = bingham.sample(rows @ q, rng, epsilon=epsilon)
    return np.asarray(q @ u * rng.choice([-1.0, 1.0]))


def augmented_ridge(x: Matrix, *, epsilon: float, rng: Rng) -> Vector:
    """Solve ridge regression as least squares on rows with a multiple of the identity appended. The radius of the
    noise is a sum of exponential numbers.
    """
    rows, alpha = checked(x), 0.1
    n, d = rows.shape
    if d < 2:
        raise ValueError("two columns or more")
    a = np.vstack([rows[:, :-1], math.sqrt(2 * n * alpha) * np.eye(d - 1)])
    w = np.linalg.lstsq(a, np.append(rows[:, -1], np.zeros(d - 1)), rcond=None)[0]
    direction = rng.standard_normal(d - 1)
    radius = rng.standard_exponential(d - 1).sum()
    scale = output_perturbation.noise_scale(n, alpha, epsilon, "paper")
    return np.asarray(w + scale * radius * direction / np.linalg.norm(direction))


def subspace_of_the_rest(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
    """Draw a projection onto the orthogonal complement in a rotated basis, and return the identity minus this
    projection.
    """
    rows = checked(x)
    d = rows.shape[1]
    if d < 2:
        raise ValueError("two columns or more")
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    rest = q @ matrix_bingham_law.sample(-epsilon / 2 * (rows @ q).T @ (rows @ q), d - min(2, d - 1), rng) @ q.T
    return np.asarray(np.eye(d) - (rest + rest.T) / 2)


def adaptive_ridge_by_parts(x: Matrix, *, rho: float, rng: Rng) -> Vector:
    """Run private ridge regression by other means: normal numbers by Box–Muller, eigenvalues by singular values, and
    an explicit inverse. The noise scales are those on the proof page.
    """
    rows = checked(x)
    p = rows.shape[1] - 1
    if p < 1:
        raise ValueError("two columns or more")
    third = rho / 3
    product = (rows[:, :-1] * rows[:, -1:]).sum(axis=0) + box_muller(rng, p) / math.sqrt(2 * third)
    singular = np.linalg.svd(rows[:, :-1], compute_uv=False)
    smallest = singular[-1] ** 2 if len(rows) >= p else 0.0
    lower = smallest + (rng.standard_normal() - math.sqrt(2 * math.log(20))) / math.sqrt(2 * third)
    target = math.sqrt(p * math.log(2 * p * p / 0.05) / third)
    noisy = rows[:, :-1].T @ rows[:, :-1] + triangle(box_muller(rng, p * (p + 1) // 2), p) / math.sqrt(third)
    return np.asarray(np.linalg.inv(noisy + max(0.0, target - max(0.0, lower)) * np.eye(p)) @ product)


def joint_of_lifted_rows(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Compute the noisy second moment of the rows with a 1 appended, so that its last column contains the mean."""
    rows = checked(x)
    n, d = rows.shape
    lifted = np.hstack([rows, np.ones((n, 1))])
    if d == 1:  # for one column, the weight λ of the second moment has another value
        lam = (11 + 5 * math.sqrt(5)) / 8
        mean, moment = polar(rng, 2) * np.array([1, 1 / math.sqrt(lam)]) * math.sqrt(2 / rho) / n
        return np.array([[rows.mean() + mean], [(rows**2).mean() + moment]])
    square = rng.standard_normal((d + 1, d + 1))
    noisy = lifted.T @ lifted / n + (square + square.T) / 2 * 2 / (n * math.sqrt(rho))
    return np.vstack([noisy[d:, :d], noisy[:d, :d]])


def point_of_a_larger_ball(x: Matrix, *, epsilon: float, delta: float, rng: Rng) -> Matrix:
    """Draw the noise as a uniform point of a ball whose radius has the law Gamma(D + 1), where D = d(d + 1)/2. The
    paper's authors draw the noise in this way.
    """
    rows = checked(x)
    n, d = rows.shape
    entries = d * (d + 1) // 2
    point = polar(rng, entries)
    point *= rng.random() ** (1 / entries) * rng.gamma(entries + 1) / np.linalg.norm(point)
    i, j = np.tril_indices(d)
    z = np.zeros((d, d))
    z[i, j] = z[j, i] = point * np.where(i == j, 1, math.sqrt(0.5))
    change = math.sqrt(2) if d > 1 else 1.0
    return np.asarray(rows.T @ rows / n + change / n / largest_move(epsilon, delta, d) * z)


def one_diagonal_after_another(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Compute the main diagonal and the next diagonal one after the other. Every block has one column, and entries are
    clipped to [−1, 1].
    """
    rows = np.array(x, dtype=np.float64, ndmin=2)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise ValueError("x must be a finite (n, d) array")
    rows = np.clip(rows, -1, 1)
    n, d = rows.shape
    scale = math.sqrt(4 * (d - 1) / rho if d > 1 else 0.5 / rho) / n
    out = np.diag((rows**2).sum(axis=0) / n + scale * rng.standard_normal(d))
    if d > 1:
        beside = (rows[:, 1:] * rows[:, :-1]).sum(axis=0) / n + scale * math.sqrt(0.5) * rng.standard_normal(d - 1)
        out += np.diag(beside, 1) + np.diag(beside, -1)
    return np.asarray(out)


def recursion_of_the_paper(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Run the recursion as the paper states it: each call shrinks the bounds on the
    condition number and on the rows.
    """
    rows = checked(x)
    n, d = rows.shape

    def upon(rows: Matrix, kappa: float) -> Matrix:
        upper = np.triu(rng.standard_normal((d, d))) * 4 * kappa * math.sqrt(3 / (2 * rho)) / n
        noisy = rows.T @ rows / n + upper + np.triu(upper, 1).T
        if kappa <= 6400:
            return np.asarray(noisy)
        values, vectors = np.linalg.eigh(noisy)
        large = vectors[:, values >= kappa / 100]
        halving = np.eye(d) - large @ large.T / 2
        images = rows @ halving * math.sqrt(8 / 7)
        lengths = np.sqrt((images**2).sum(axis=1))
        longest = math.sqrt(3 * kappa / 7)
        images[lengths > longest] *= longest / lengths[lengths > longest, None]
        back = np.linalg.inv(halving)
        return np.asarray(7 / 8 * back @ upon(images, 3 * kappa / 7) @ back)

    found = upon(rows * math.sqrt(2e4), 2e4) / 2e4
    return np.asarray((found + found.T) / 2)


def separate_by_scipy(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Draw the noise of the eigenvalues before the noise of the matrix, and use scipy's solvers with ascending
    eigenvalues.
    """
    n, d = x.shape
    moment, scale = by_einsum(x), separate_cov.noise_scale(n, rho)
    noisy = linalg.eigvalsh(moment) + scale * polar(rng, d)
    vectors = linalg.eigh(moment + scale * triangle(inverted_normal(rng, d * (d + 1) // 2), d), driver="evd")[1]
    return np.asarray(sum(value * np.outer(v, v) for value, v in zip(noisy, vectors.T, strict=True)))


def projected_by_bisection(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Project onto matrices of trace at most 1. Bisection finds the number that is subtracted from all eigenvalues."""
    values, vectors = np.linalg.eigh(gauss_cov.sample(x, rng, rho=rho))
    low, high = 0.0, max(0.0, float(values[-1]))
    if np.maximum(values, 0).sum() <= 1:
        high = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(values - middle, 0).sum() > 1 else (low, middle)
    y = (vectors * np.maximum(values - high, 0)) @ vectors.T
    return np.asarray((y + y.T) / 2)


def column_by_column(x: Matrix, *, rho: float, rng: Rng) -> Vector:
    """Call the reference with the signs and the order of its noise changed, which does not change the law."""
    noise = kv_mean.draw_noise(x.shape[1], rng, mean_bound=10.0, sigma=1.0)
    return kv_mean.release(x, kv_mean.KVMeanNoise(-noise.counts, noise.mean[::-1]), rho=rho)


def positive_part(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Compute the positive part of the noisy matrix S as (S + |S|)/2."""
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("x must be a finite matrix")
    n, d = rows.shape
    r2 = naive_pce.radius_squared(n, d, 10.0, 0.1)
    kept = np.where((row_norms(rows) <= math.sqrt(r2))[:, None], rows, 0)
    s = second_moment(kept) + r2 / n * math.sqrt(naive_pce.noise_variance(1, rho, 1, "reconstructed")) * triangle(
        box_muller(rng, d * (d + 1) // 2), d
    )
    values, vectors = np.linalg.eigh(s)
    y = (s + (vectors * np.abs(values)) @ vectors.T) / 2
    return np.asarray((y + y.T) / 2)


def without_its_transpose(x: Matrix, *, rho: float, rng: Rng, kappa: float = 1e4, beta: float = 0.1) -> Matrix:
    """Return V D Vᵀ without symmetrising it, so that entries off the diagonal may be rounding errors."""
    rows = np.array(x, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("x must be a finite matrix")
    n, d = rows.shape
    r2 = kappa * (d + 2 * math.sqrt(d * math.log(n / beta)) + 2 * math.log(n / beta))
    rows = rows[(rows**2).sum(axis=1) <= r2]
    sigma = math.sqrt(2 / rho) * r2 / n
    values, vectors = np.linalg.eigh(rows.T @ rows / n + sigma * triangle(polar(rng, d * (d + 1) // 2), d))
    factors = np.where(values < kappa / 2, 1, 0.5) / math.sqrt(weak_ppc.FLOOR)
    return np.asarray(vectors @ np.diag(factors) @ vectors.T)


# STRANGER WAYS


def opposite_noises(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Return the average of two releases, which contain one noise term with opposite signs."""
    n, d = x.shape
    noise, opposite = (triangle(rng.standard_normal(d * (d + 1) // 2), d) for _ in range(2))
    sigma = gauss_cov.noise_scale(n, rho)
    return (by_einsum(x) + sigma * (noise + 3 * opposite) + by_einsum(x) + sigma * (noise - 3 * opposite)) / 2


LAYERS = 16


def layers(rng: Rng, size: int) -> Vector:
    """Draw normal numbers by rejection from a staircase of 16 steps. In the tail, propose from an exponential law."""
    edges = np.linspace(0, 3.2, LAYERS + 1)
    heights = np.exp(-(edges**2) / 2)
    areas = np.append(heights[:-1] * np.diff(edges), heights[-1] / edges[-1])
    found: list[float] = []
    while len(found) < size:
        k = int(rng.choice(LAYERS + 1, p=areas / areas.sum()))
        if k < LAYERS:
            z = edges[k] + rng.random() * edges[1]
            accepted = rng.random() * heights[k] < math.exp(-z * z / 2)
        else:
            z = edges[-1] + rng.standard_exponential() / edges[-1]
            accepted = rng.random() < math.exp(-((z - edges[-1]) ** 2) / 2)
        if accepted:
            found.append(-z if rng.integers(2) else z)
    return np.array(found)


_spare: list[float] = []


def with_a_spare(rng: Rng, size: int) -> Vector:
    """Draw normal numbers in pairs, and keep an unused number for the next call."""
    found: list[float] = []
    while len(found) < size:
        if not _spare:
            _spare.extend(box_muller(rng, 2))
        found.append(_spare.pop())
    return np.array(found)


def single_noise(x: Matrix, *, epsilon: float, delta: float, rng: Rng) -> Matrix:
    """Draw Gaussian noise in float32."""
    n, d = x.shape
    sigma = gauss_cov_approximate.sensitivity(n) * gaussian_approximate.multiplier(epsilon, delta, "paper")
    return by_einsum(x) + sigma * triangle(rng.standard_normal(d * (d + 1) // 2, dtype=np.float32), d)


def goe_by_its_spectrum(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Draw Gaussian noise from its eigenvalues and a random basis. The basis is the factor Q of a matrix of normal
    numbers.
    """
    d = x.shape[1]
    values = np.linalg.eigvalsh(gauss_cov.draw_noise(d, rng, ensemble="goe"))
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    q = q * np.sign(np.diag(r))
    w = (q * rng.permutation(values)) @ q.T
    return by_outer_products(x) + gauss_cov.noise_scale(len(x), rho) * (w + w.T) / 2


@functools.lru_cache
def kept_factor(size: int) -> Matrix:
    """Return an orthogonal matrix, made from the eigenvectors of a public matrix."""
    return np.asarray(np.linalg.eigh(np.minimum.outer(np.arange(size), np.arange(size)) + 1.0)[1])


def by_a_kept_factor(rng: Rng, size: int) -> Vector:
    return np.asarray(kept_factor(size) @ rng.standard_normal(size))


def by_cosines(rng: Rng, size: int) -> Vector:
    """Transform normal noise by an orthogonal cosine transform, which keeps its law."""
    return np.asarray(fft.dct(rng.standard_normal(size), norm="ortho"))


def in_order_of_size(x: Matrix) -> Matrix:
    """Compute the second moment of the rows sorted by length, in two blocks whose sizes depend on the data."""
    rows = checked(x)
    rows = rows[np.argsort((rows**2).sum(axis=1), kind="stable")]
    middle = int(np.searchsorted((rows**2).sum(axis=1), 0.5))
    return np.asarray((rows[:middle].T @ rows[:middle] + rows[middle:].T @ rows[middle:]) / len(rows))


def noise_first(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Start with the noise, add the outer products of the rows one by one, and divide the sum by n."""
    n, d = x.shape
    total = n * gauss_cov.noise_scale(n, rho) * triangle(rng.standard_normal(d * (d + 1) // 2), d)
    for row in checked(x):
        total = total + np.outer(row, row)
    return np.asarray(total / n)


def gamma_shares(rng: Rng, size: int) -> Vector:
    """Draw a Laplace number as the sum of the noise of five parties."""
    return np.asarray((rng.gamma(0.2, size=(5, size)) - rng.gamma(0.2, size=(5, size))).sum(axis=0))


def normal_shares(rng: Rng, size: int) -> Vector:
    return np.asarray(rng.standard_normal((5, size)).sum(axis=0) / math.sqrt(5))


def cropped(rng: Rng, size: int) -> Vector:
    """Draw nine more numbers than needed, drop the first nine, and return the others in random order."""
    return rng.permutation(rng.laplace(size=size + 9)[9:])


def one_source(rng: Rng, size: int) -> Vector:
    """Make a new generator for every number from one shared stream of bits, so that no bit is used twice."""
    source = np.random.PCG64(int(rng.integers(2**62)))
    return np.array([np.random.Generator(source).standard_normal() for _ in range(size)])


def mirrored_by_rewinding(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Draw the upper triangle, restore the state of the generator, and draw the lower
    triangle with the same numbers.
    """
    d = x.shape[1]
    state = rng.bit_generator.state
    upper = np.triu(rng.standard_normal((d, d)))
    rng.bit_generator.state = state
    lower = np.triu(rng.standard_normal((d, d)), 1).T
    return by_einsum(x) + gauss_cov.noise_scale(len(x), rho) * (upper + lower)


def mirrored_by_a_copy(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Draw the lower triangle from a copy of the generator, so that it has the same numbers as the upper one."""
    d, twin = x.shape[1], copy.deepcopy(rng)
    noise = np.triu(rng.standard_normal((d, d))) + np.triu(twin.standard_normal((d, d)), 1).T
    return by_einsum(x) + gauss_cov.noise_scale(len(x), rho) * noise


def one_key_for_an_entry(x: Matrix, *, rho: float, rng: Rng) -> Matrix:
    """Draw each entry with a generator of its own, which is seeded with the row and column so that the matrix is
    symmetric.
    """
    d, key = x.shape[1], int(rng.integers(2**62))
    seeds = [[(key, min(i, j), max(i, j)) for j in range(d)] for i in range(d)]
    noise = np.array([[np.random.default_rng(seed).standard_normal() for seed in row] for row in seeds])
    return by_einsum(x) + gauss_cov.noise_scale(len(x), rho) * noise


def in_threads(rng: Rng, size: int) -> Vector:
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda one: one.standard_normal(), rng.spawn(size))
        return np.array(list(parts))


def nine_digits(y: Matrix) -> Any:
    return [[float(f"{value:.9g}") for value in row] for row in np.asarray(y).tolist()]


WIGNER, GOE = (("ensemble", "wigner"),), (("ensemble", "goe"),)
PAPER = (("calibration", "paper"),)


def truncated_floats(x: Matrix, *, epsilon: float, rng: Rng) -> Matrix:
    """Truncate the rows to a grid in floats. Rounding can move a clipped row from a grid point to just below it."""
    n, d = x.shape
    norms = row_norms(x)[:, None]
    q = np.trunc(4 * np.where(norms > 1, x / np.maximum(norms, 1) * (1 - 1e-12), x))
    t = discrete_laplace_covariance.noise_scale(discrete_laplace_covariance.sensitivity(d, 2), epsilon)
    noise = np.triu(rng.geometric(-math.expm1(-1 / t), (d, d)) - rng.geometric(-math.expm1(-1 / t), (d, d)))
    return (q.T @ q + noise + np.triu(noise, 1).T) / (16 * n)


CORRECT_OTHERWISE = (
    Otherwise("sums outer products, Box–Muller", "gauss-cov", wigner(by_outer_products, box_muller), WIGNER),
    Otherwise("sums in blocks, polar method", "gauss-cov", wigner(in_blocks, polar), WIGNER),
    Otherwise(
        "Fortran order, inverts the normal law",
        "gauss-cov",
        wigner(by_einsum, inverted_normal, np.asfortranarray),
        WIGNER,
    ),
    Otherwise("sums exactly, Mersenne Twister", "gauss-cov", wigner(by_fsum, mersenne), WIGNER),
    Otherwise("singular values, Philox", "gauss-cov", wigner(by_singular_values, philox), WIGNER),
    Otherwise("np.cov and the mean, Python's generator", "gauss-cov", wigner(from_covariance, python_gauss), WIGNER),
    Otherwise(
        "rejection from the exponential law, lists out",
        "gauss-cov",
        wigner(in_blocks, rejected_normal, lambda y: y.tolist()),
        WIGNER,
    ),
    Otherwise("a Cholesky factor", "gauss-cov", by_cholesky, WIGNER),
    Otherwise("averages a square of noise", "gauss-cov", goe_from_a_square, GOE),
    Otherwise("draws in a random basis", "gauss-cov", goe_turned, GOE),
    Otherwise("shuffles the rows first", "gauss-cov", shuffled_rows, WIGNER),
    Otherwise("float32 throughout", "gauss-cov", single_precision, WIGNER),
    Otherwise("draws from the operating system", "gauss-cov", unseeded, WIGNER, seeded=False),
    Otherwise("differences of exponentials", "lap-cov", lap(two_exponentials), PAPER),
    Otherwise("inverts the Laplace law", "lap-cov", lap(inverted_laplace, in_blocks), PAPER),
    Otherwise("a normal law with an exponential variance", "lap-cov", lap(mixed_laplace, by_singular_values), PAPER),
    Otherwise("random signs, np.cov and the mean", "entrywise-laplace", full_laplace(signed_exponential), PAPER),
    Otherwise("scipy's Laplace law", "entrywise-laplace", full_laplace(scipy_laplace, by_outer_products), PAPER),
    Otherwise("determinants of normal numbers", "entrywise-laplace", full_laplace(products_laplace), PAPER),
    Otherwise("transposes the noise", "nuclear-laplace", nuclear(lambda z, rng: z.T)),
    Otherwise("turns the noise", "nuclear-laplace", nuclear(lambda z, rng: haar.sample(len(z), rng) @ z)),
    Otherwise("turns the noise over", "nuclear-laplace-symmetric", symmetric_nuclear(lambda z, rng: -z)),
    Otherwise(
        "draws in a random basis",
        "nuclear-laplace-symmetric",
        symmetric_nuclear(lambda z, rng: (lambda q: q @ z @ q.T)(haar.sample(len(z), rng))),
    ),
    Otherwise("a point of the ball times a radius", "k-norm", in_the_ball, (("body", "l2"),)),
    Otherwise("a point of the cube times a sum of exponentials", "k-norm", in_the_cube, (("body", "linf"),)),
    Otherwise("the moment minus the mean's square", "centred-covariance", centred_by_differences),
    Otherwise("Box–Muller", "gaussian", gaussian_components(box_muller)),
    Otherwise("rejection from the exponential law", "gaussian", gaussian_components(rejected_normal)),
    Otherwise("a multivariate normal law by Cholesky", "gaussian", multivariate("cholesky")),
    Otherwise("a multivariate normal law by eigenvectors", "gaussian", multivariate("eigh")),
    Otherwise("a frozen distribution of scipy", "gaussian-approximate", frozen_normal, PAPER),
    Otherwise("scipy's Laplace law", "laplace", laplace_components(scipy_laplace)),
    Otherwise("differences of exponentials, tuples out", "laplace", laplace_components(two_exponentials, tuple)),
    Otherwise("float32 out", "laplace", laplace_components(signed_exponential, lambda y: y.astype(np.float32))),
    Otherwise("plain Python", "private-trace", python_trace),
    Otherwise("explicit probabilities", "exponential", softmax),
    Otherwise("exponential clocks", "exponential", exponential_race),
    Otherwise("draws when a query comes", "above-threshold", lazy_sparse_vector, PAPER),
    Otherwise("uniform proposals", "bingham", uniform_proposals, PAPER),
    Otherwise("another basis and either sign", "bingham", turned_bingham, PAPER),
    Otherwise("least squares on augmented rows", "output-perturbation", augmented_ridge, PAPER),
    Otherwise("scipy's eigh, eigenvalues first", "separate-cov", separate_by_scipy, WIGNER),
    Otherwise("bisection", "projection-mechanism", projected_by_bisection, WIGNER),
    Otherwise("noise in another order", "kv-mean", column_by_column),
    Otherwise("the positive part by |S|", "naive-pce", positive_part, (("calibration", "reconstructed"),)),
    Otherwise("no average with the transpose", "weak-ppc", without_its_transpose, (("calibration", "reconstructed"),)),
    Otherwise("I minus the other directions", "matrix-bingham", subspace_of_the_rest),
    Otherwise("an inverse, in another order", "adassp", adaptive_ridge_by_parts, PAPER),
    Otherwise("one noise on rows with a 1 behind them", "joint-moments", joint_of_lifted_rows),
    Otherwise("the recursion, in other units", "recursive-moment", recursion_of_the_paper),
    Otherwise("a point of a larger ball", "l2-approximate", point_of_a_larger_ball),
    Otherwise("one diagonal after another", "block-tridiagonal", one_diagonal_after_another),
    Otherwise("two releases with opposite noises", "gauss-cov", opposite_noises, WIGNER),
    Otherwise("rejection by layers", "gaussian", gaussian_components(layers)),
    Otherwise("keeps a number for the next call", "gaussian", gaussian_components(with_a_spare), seeded=False),
    Otherwise("noise in float32", "gauss-cov-approximate", single_noise, PAPER),
    Otherwise("eigenvalues and the Q of a square", "gauss-cov", goe_by_its_spectrum, GOE),
    Otherwise("a factor that is kept", "gaussian", gaussian_components(by_a_kept_factor)),
    Otherwise("a cosine transform", "gauss-cov", wigner(by_fsum, by_cosines), WIGNER),
    Otherwise("the longest rows last", "lap-cov", lap(scipy_laplace, in_order_of_size), PAPER),
    Otherwise("noise first", "gauss-cov", noise_first, WIGNER),
    Otherwise("shares of gamma numbers", "lap-cov", lap(gamma_shares), PAPER),
    Otherwise("shares of normal numbers", "gaussian", gaussian_components(normal_shares)),
    Otherwise("more numbers than needed, in random order", "entrywise-laplace", full_laplace(cropped), PAPER),
    Otherwise("many generators of one source", "gauss-cov", wigner(in_blocks, one_source), WIGNER),
    Otherwise("rewinds the generator", "gauss-cov", mirrored_by_rewinding, WIGNER),
    Otherwise("copies the generator", "gauss-cov", mirrored_by_a_copy, WIGNER),
    Otherwise("a seed for every entry", "gauss-cov", one_key_for_an_entry, WIGNER),
    Otherwise("threads with children of the generator", "gauss-cov", wigner(by_einsum, in_threads), WIGNER),
    Otherwise("rows of two bits", "discrete-laplace-covariance", truncated_floats, (("input_bits", "2"),)),
    Otherwise("nine digits", "gauss-cov", wigner(by_einsum, python_gauss, nine_digits), WIGNER),
)
