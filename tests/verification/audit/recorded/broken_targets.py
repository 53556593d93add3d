"""Functions that violate their privacy claim. The exact loss on a pair of data sets is
stated if it has a closed form.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from covassay.reference.domain import unit_rows
from covassay.reference.mechanisms.approximate.l2_approximate import largest_move, log_delta
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP

EPSILON, RHO, APPROXIMATE = PureDP(1.0), ZCDP(0.5), ApproximateDP(1.0, 1e-5)
D = 4
AXES = np.eye(D)
REST = np.zeros((5, D))
DENSE = np.full(D, D**-0.5)
SIGNED = DENSE * np.array([1, -1, 1, -1])


def pair(u: Any, v: Any) -> tuple[Any, Any]:
    return np.vstack([REST, u]), np.vstack([REST, v])


@dataclass(frozen=True)
class Broken:
    """A broken function, with its claim and a pair of data sets.

    loss : the exact privacy loss on the pair, or None if only a lower bound is known.
    """

    draw: Callable[..., Any]
    claim: Guarantee
    pair: tuple[Any, Any]
    loss: float | None


BROKEN: dict[str, Broken] = {}


def broken(
    claim: Guarantee, loss: float | None, u: Any = AXES[0], v: Any = AXES[3]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        BROKEN[function.__name__] = Broken(function, claim, pair(u, v), loss)
        return function

    return put


def moment(x: Any) -> tuple[Any, int]:
    rows = unit_rows(x)
    return rows.T @ rows / len(rows), len(rows)


def mirrored(w: Any) -> Any:
    return np.triu(w) + np.triu(w, 1).T


def gauss(x: Any, rho: float, rng: Any, factor: float = 1.0) -> Any:
    s, n = moment(x)
    return s + factor / (n * math.sqrt(rho)) * mirrored(rng.standard_normal((D, D)))


@broken(RHO, 1.0)
def root_two_missing(x: Any, *, rho: float, rng: Any) -> Any:
    return gauss(x, rho, rng, 2**-0.5)


@broken(RHO, 0.5 * (6 / 5) ** 2)
def n_minus_one(x: Any, *, rho: float, rng: Any) -> Any:
    """Divide the second moment by n − 1, but calibrate the noise for a division by n."""
    rows = unit_rows(x)
    noise = gauss(np.zeros_like(x), rho, rng)
    return rows.T @ rows / (len(rows) - 1) + noise


@broken(RHO, 0.5 / 0.97**2)
def three_percent(x: Any, *, rho: float, rng: Any) -> Any:
    return gauss(x, rho, rng, 0.97)


@broken(RHO, 0.5 / 0.81)
def nine_tenths(x: Any, *, rho: float, rng: Any) -> Any:
    return gauss(x, rho, rng, 0.9)


@broken(RHO, math.inf)
def one_entry_bare(x: Any, *, rho: float, rng: Any) -> Any:
    y, s = gauss(x, rho, rng), moment(x)[0]
    y[-1, -1] = s[-1, -1]
    return y


@broken(RHO, math.inf)
def one_noise_twice(x: Any, *, rho: float, rng: Any) -> Any:
    s, n = moment(x)
    return s + 1 / (n * math.sqrt(rho)) * rng.standard_normal()


@broken(RHO, math.inf)
def one_diagonal(x: Any, *, rho: float, rng: Any) -> Any:
    """Use the same noise for all entries on the diagonal."""
    s, n = moment(x)
    w = mirrored(rng.standard_normal((D, D)))
    np.fill_diagonal(w, w[0, 0])
    return s + w / (n * math.sqrt(rho))


@broken(RHO, 1.0, DENSE, SIGNED)
def two_triangles(x: Any, *, rho: float, rng: Any) -> Any:
    """Draw the noise above and below the diagonal independently, with a scale that is too small by the factor √2."""
    s, n = moment(x)
    return s + rng.standard_normal((D, D)) / (n * math.sqrt(rho)) / math.sqrt(2)


@broken(RHO, math.inf)
def uncorrected_average(x: Any, *, rho: float, rng: Any) -> Any:
    """Subtract the transpose of the noise in place of adding it, so that the diagonal has no noise."""
    s, n = moment(x)
    w = rng.standard_normal((D, D))
    return s + (w - w.T) / (n * math.sqrt(rho))


@broken(RHO, 0.5 * 4)
def variance_for_deviation(x: Any, *, rho: float, rng: Any) -> Any:
    return gauss(x, 4 * rho, rng)


@broken(EPSILON, 1 / 0.9)
def laplace_nine_tenths(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    return np.diag(s) + rng.laplace(scale=0.9 * 2 / (n * epsilon), size=D)


@broken(EPSILON, 2.0)
def wrong_adjacency(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Calibrate the noise for adding a row, although a row is replaced."""
    s, n = moment(x)
    return np.diag(s) + rng.laplace(scale=1 / (n * epsilon), size=D)


@broken(EPSILON, 2.0, DENSE, SIGNED)
def mirrored_wrongly(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add Laplace noise with half of the scale that the ℓ1 sensitivity of the upper triangle requires."""
    s, n = moment(x)
    change = np.abs(np.outer(DENSE, DENSE) - np.outer(SIGNED, SIGNED))[np.triu_indices(D)].sum()
    return s + mirrored(rng.laplace(scale=change / 2 / (n * epsilon), size=(D, D)))


@broken(EPSILON, math.inf)
def normal_for_laplace(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    return np.diag(s) + rng.normal(scale=2 / (n * epsilon), size=D)


@broken(EPSILON, 1.25)
def by_quantile_function(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    u = rng.random(D) - 0.5
    return np.diag(s) - 0.8 * 2 / (n * epsilon) * np.sign(u) * np.log1p(-2 * np.abs(u))


@broken(EPSILON, 4 / 3)
def two_exponentials(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    return np.diag(s) + 1.5 / (n * epsilon) * (rng.exponential(size=D) - rng.exponential(size=D))


@broken(EPSILON, 2.0)
def geometric(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release counts with geometric noise for one count, although one row may change two of them."""
    p = -math.expm1(-epsilon)
    counts = (unit_rows(x) > 0.5).sum(axis=0)
    return counts + rng.geometric(p, size=D) - rng.geometric(p, size=D)


@broken(EPSILON, math.inf)
def geometric_of_fractions(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add integer noise to a mean, which does not hide its fractional part."""
    p = -math.expm1(-epsilon)
    s, _ = moment(x)
    return np.diag(s) + rng.geometric(p, size=D) - rng.geometric(p, size=D)


@broken(EPSILON, 16 * -math.log1p(-1 / 15), 1.0 * AXES[0], 0.0 * AXES[0])
def counted_on_a_grid(x: Any, *, rng: Any, epsilon: float) -> Any:
    """Round rows to multiples of 1/4, and add geometric noise whose parameter is 1/(t − 1) in place of 1 − e^{−1/t}."""
    q = np.trunc(4 * unit_rows(x)[:, :1])
    p = 1 / (16 / epsilon - 1)
    return (q.T @ q + rng.geometric(p) - rng.geometric(p)) / (16 * len(x))


@broken(APPROXIMATE, None)
def delta_too_small(x: Any, *, epsilon: float, delta: float, rng: Any) -> Any:
    s, n = moment(x)
    return s + 2**0.5 / (n * epsilon) * mirrored(rng.standard_normal((D, D)))


@broken(EPSILON, None, AXES[0], 0 * AXES[0])
def scale_of_the_data(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Calibrate the noise with the number of nonzero rows, which depends on the data."""
    rows = unit_rows(x)
    n = 1 + rows.any(axis=1).sum()
    return np.square(rows).sum() / n + rng.laplace(scale=1 / (n * epsilon))


@broken(EPSILON, None)
def noise_clipped(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    return np.diag(s) + 2 / (n * epsilon) * np.clip(rng.laplace(size=D), -4, 4)


@broken(EPSILON, None)
def tail_compressed(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    z = rng.laplace(size=D)
    return np.diag(s) + 2 / (n * epsilon) * np.where(z < 6, z, 6 + 1e-3 * (z - 6))


@broken(RHO, None, AXES[0], 0.1 * AXES[0])
def scale_of_the_norm(x: Any, *, rho: float, rng: Any) -> Any:
    rows = unit_rows(x)
    return gauss(x, rho, rng, 0.5 + float(np.linalg.norm(rows)))


@broken(EPSILON, 3.0)
def budget_thrice(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release three noisy vectors, each with the whole budget."""
    s, n = moment(x)
    return np.concatenate([np.diag(s) + rng.laplace(scale=2 / (n * epsilon), size=D) for _ in range(3)])


@broken(EPSILON, math.inf)
def one_seed_for_two(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release two vectors with the same noise, so that a combination of them has no noise."""
    s, n = moment(x)
    seed = int(rng.integers(2**62))
    scale = 4 / (n * epsilon)
    one = np.diag(s) + np.random.default_rng(seed).laplace(scale=scale, size=D)
    return np.concatenate([one, 2 * np.diag(s) + np.random.default_rng(seed).laplace(scale=scale, size=D)])


@broken(EPSILON, math.inf)
def one_of_4096_seeds(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw the noise with one of 4096 seeds, so that trying all of them reveals the data."""
    s, n = moment(x)
    own = np.random.default_rng(int(rng.integers(4096)))
    return np.diag(s) + own.laplace(scale=2 / (n * epsilon), size=D)


@broken(EPSILON, None)
def bare_once_in_ten_thousand(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    return np.diag(s) + 2 / (n * epsilon) * rng.laplace(size=D) * (rng.random() > 1e-4)


@broken(ApproximateDP(1.0, 1e-3), None)
def bare_more_often_than_delta(x: Any, *, epsilon: float, delta: float, rng: Any) -> Any:
    s, n = moment(x)
    return np.diag(s) if rng.random() < 3 * delta else np.diag(s) + 2 / (n * epsilon) * rng.laplace(size=D)


@broken(EPSILON, None)
def redrawn_beyond_six(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    z = rng.laplace(size=D)
    while (large := np.abs(z) > 6).any():
        z[large] = rng.laplace(size=int(large.sum()))
    return np.diag(s) + 2 / (n * epsilon) * z


@broken(RHO, None)
def all_redrawn_beyond_five(x: Any, *, rho: float, rng: Any) -> Any:
    s, n = moment(x)
    while np.abs(z := rng.standard_normal((D, D))).max() > 5:
        pass
    return s + mirrored(z) / (n * math.sqrt(rho))


@broken(EPSILON, None)
def noise_in_sixteen_bits(x: Any, *, epsilon: float, rng: Any) -> Any:
    s, n = moment(x)
    return np.diag(s) / 3 + 2 / (n * epsilon) * rng.laplace(size=D).astype(np.float16)


@broken(RHO, None)
def noise_in_three_decimals(x: Any, *, rho: float, rng: Any) -> Any:
    s, n = moment(x)
    return s / 3 + np.round(mirrored(rng.standard_normal((D, D))) / (n * math.sqrt(rho)), 3)


# NOISE WITH A BOUND


def corner(x: Any) -> float:
    return float(moment(x)[0][0, 0])


@broken(EPSILON, math.inf)
def uniform_noise(x: Any, *, epsilon: float, rng: Any) -> Any:
    return corner(x) + rng.uniform(-9, 9) / epsilon


@broken(RHO, math.inf)
def twelve_uniform_numbers(x: Any, *, rho: float, rng: Any) -> Any:
    return corner(x) + (rng.random(12).sum() - 6) / math.sqrt(rho)


@broken(EPSILON, math.inf)
def one_sided_noise(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.diag(moment(x)[0]) + rng.exponential(3 / epsilon, size=D)


@broken(ApproximateDP(1.0, 0.01), 0.01 / 0.97)
def interval_three_percent_short(x: Any, *, epsilon: float, delta: float, rng: Any) -> Any:
    """Add uniform noise on an interval that is 3 % too short for its δ."""
    return corner(x) + 0.97 / (6 * delta) * rng.random()


@broken(ApproximateDP(1.0, 0.01), -math.expm1(-0.01 / 0.97))
def one_sided_three_percent_short(x: Any, *, epsilon: float, delta: float, rng: Any) -> Any:
    """Add exponential noise that is 3 % too small, so that outputs which are impossible for the neighbour are too
    likely.
    """
    return corner(x) + 0.97 / (6 * delta) * rng.exponential()


@broken(RHO, 0.5 / 0.97**2)
def numbers_that_are_not_used(x: Any, *, rho: float, rng: Any) -> Any:
    """Draw the noise from uniform numbers by the normal quantile function, with a scale that is 3 % too small."""
    s, n = moment(x)
    return s + 0.97 / (n * math.sqrt(rho)) * mirrored(special.ndtri(rng.random((D, D))))


# NOISE WITH A RANDOM RADIUS


def radial(x: Any, factor: float, rng: Any, degrees: int = 10) -> Any:
    """Add noise to the second moment with a density that decreases exponentially in the Frobenius norm. The release is
    private for ε = 1 if `factor` is 1.
    """
    s, n = moment(x)
    g = rng.standard_normal(10)
    z = np.zeros((D, D))
    z[np.triu_indices(D)] = factor * 2**0.5 / n * rng.gamma(degrees) * g / np.linalg.norm(g)
    return s + mirrored(np.where(np.eye(D, dtype=bool), z, z / 2**0.5))


@broken(EPSILON, 1 / 0.97)
def radius_three_percent_short(x: Any, *, epsilon: float, rng: Any) -> Any:
    return radial(x, 0.97, rng)


@broken(EPSILON, math.inf)
def radius_with_a_degree_less(x: Any, *, epsilon: float, rng: Any) -> Any:
    return radial(x, 1.0, rng, degrees=9)


@broken(EPSILON, math.inf)
def radius_with_a_degree_more(x: Any, *, epsilon: float, rng: Any) -> Any:
    return radial(x, 1.5, rng, degrees=11)


@broken(EPSILON, math.inf)
def radial_noise_twice(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add the same noise to two rows of the second moment."""
    s, n = moment(x)
    g = rng.standard_normal(D)
    return s[:2] + 9 / n * rng.gamma(D) * g / np.linalg.norm(g)


@broken(EPSILON, 1 / 0.97)
def projected_radius_three_percent_short(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release one entry of the second moment, with noise that is 3 % too small."""
    return radial(x, 0.97 / 2**0.5, rng)[0, 0]


@broken(ApproximateDP(1.0, 1e-6), math.exp(log_delta(largest_move(1.0, 1e-6, D) / 0.97, 1.0, 10)))
def approximate_radius_three_percent_short(x: Any, *, epsilon: float, delta: float, rng: Any) -> Any:
    return radial(x, 0.97 / largest_move(epsilon, delta, D), rng)
