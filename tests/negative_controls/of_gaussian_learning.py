"""Negative controls of NaivePCE, PPC, KVMean and PPDE."""

import math
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, as_rows, second_moment
from covassay.reference.mechanisms.gaussian_estimation import kv_mean, naive_pce, naive_pme, pme, ppc, ppde, weak_ppc
from covassay.reference.projections import psd_cone
from tests.negative_controls.negative_control import from_function


def half_sensitivity(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Calibrate the noise to the sensitivity r²/n, in place of √2 r²/n, for rows of length at most r."""
    noise = naive_pce.draw_noise(as_rows(x).shape[1], rng)
    return naive_pce.release(x, noise / math.sqrt(2), rho=rho, calibration="tight")


def keeps_long_rows(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Keep long rows, which the mechanism should drop."""
    rows = as_rows(x)
    n, d = rows.shape
    variance = naive_pce.noise_variance(n, rho, naive_pce.radius_squared(n, d, 10.0, 0.1), "reconstructed")
    return psd_cone(second_moment(rows) + math.sqrt(variance) * naive_pce.draw_noise(d, rng))


def off_diagonal_halved(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Draw the noise (G + Gᵀ)/2 for a Gaussian matrix G, which halves the variance off the diagonal."""
    g = rng.standard_normal((as_rows(x).shape[1],) * 2)
    return naive_pce.release(x, (g + g.T) / 2, rho=rho)


def radius_for_diameter(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Calibrate the noise of the clipped mean to w/n in place of 2w/n, for an interval of half-width w."""
    noise = kv_mean.draw_noise(as_rows(x).shape[1], rng, mean_bound=10.0, sigma=1.0)
    return kv_mean.release(x, kv_mean.KVMeanNoise(noise.counts, noise.mean / 2), rho=rho)


def unclipped_column(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Compute the mean of the values without clipping them."""
    rows = as_rows(x)
    n, d = rows.shape
    w = kv_mean.half_width(n, 1.0, 0.1 / d)
    return rows.mean(axis=0) + math.sqrt(kv_mean.mean_variance(n, w, rho / d)) * rng.standard_normal(d)


def counts_of_sensitivity_one(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Calibrate the noise as if a replaced value changed one count; it changes two."""
    noise = kv_mean.draw_noise(as_rows(x).shape[1], rng, mean_bound=10.0, sigma=1.0)
    return kv_mean.release(x, kv_mean.KVMeanNoise(noise.counts / math.sqrt(2), noise.mean), rho=rho)


def bins_of_the_data(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Consider only the bins between the smallest and the largest value of a column."""
    rows = as_rows(x)
    noise = kv_mean.draw_noise(rows.shape[1], rng, mean_bound=10.0, sigma=1.0)
    last = noise.counts.shape[1] // 2
    bins = np.clip(np.ceil(np.clip(rows, -1e9, 1e9) - 0.5), -last, last) + last
    place = np.arange(2 * last + 1)
    outside = (place < bins.min(axis=0)[:, None]) | (place > bins.max(axis=0)[:, None])
    counts = np.where(outside, -1e9, noise.counts)
    return kv_mean.release(rows, kv_mean.KVMeanNoise(counts, noise.mean), rho=rho)


def one_histogram_noise(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Add the same noise to the counts of all columns."""
    noise = naive_pme.draw_noise(as_rows(x).shape[1], rng, mean_bound=10.0, kappa=10.0)
    counts = np.tile(noise.counts[:1], (len(noise.counts), 1))
    return naive_pme.release(x, kv_mean.KVMeanNoise(counts, noise.mean), rho=rho)


def records_in_two_differences(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Take the differences of all consecutive rows, so that a row occurs in two differences."""
    rows, kappa, bound = as_rows(x), 1e4, 10.0
    y = np.diff(rows, axis=0)[: max(1, len(rows) // 2)] / math.sqrt(2) if len(rows) > 1 else np.zeros_like(rows)
    noise = pme.draw_noise(rows.shape[1], rng, kappa=kappa, mean_bound=bound)
    a, inverse = ppc.precondition(y, noise.rounds, rho=rho / 2, calibration="reconstructed", kappa=kappa, beta=0.05)
    share = {"rho": rho / 2, "kappa": float(weak_ppc.SMALLEST_KAPPA), "beta": 0.05}
    mean: Vector = naive_pme.release(ppc.image(a, rows), noise.mean, mean_bound=pme.image_bound(bound), **share)
    return np.asarray(inverse @ mean)


def sorted_records(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Sort the rows by their first column before taking differences, so that one row changes many differences."""
    rows = as_rows(x)
    return pme.sample(rows[np.argsort(rows[:, 0], kind="stable")], rng, rho=rho)


def rounds_on_the_wrong_side(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Multiply the product of the earlier rounds' matrices by a new round's matrix on the right, not on the left."""
    rows, kappa = as_rows(x), 1e4
    d, t = rows.shape[1], ppc.rounds(kappa)
    a = np.eye(d)
    for i, noise in enumerate(ppc.draw_noise(d, rng, kappa=kappa)):
        bound = ppc.kappa_of_round(kappa, i + 1)
        estimate = naive_pce.release(rows @ a.T, noise, rho=rho / t, kappa=bound, beta=0.1 / t)
        a = a @ weak_ppc.preconditioner(estimate, bound)[0]
    return a


def adds_or_removes(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Divide the noise by √2, as if a row were replaced by zeros, so that up to 2ρ is spent."""
    noise = ppde.draw_noise(as_rows(x).shape[1], rng)
    return ppde.release(x, noise / math.sqrt(2), rho=rho)


RECONSTRUCTED, TIGHT = ((("calibration", name),) for name in ("reconstructed", "tight"))
_pce = partial(from_function, mechanism="naive-pce")
_kv = partial(from_function, mechanism="kv-mean")
MEAN = ("law", "radius"), ("law", "component 1"), ("law", "component 2")
NEGATIVE_CONTROLS = (
    _pce(half_sensitivity, ("law", "radius"), ("law", "trace"), ("law", "entry (1, 2)"), options=TIGHT),
    _pce(keeps_long_rows, ("law", "trace"), ("privacy", "event"), options=RECONSTRUCTED),
    _pce(off_diagonal_halved, ("law", "radius"), ("law", "entry (1, 2)"), options=RECONSTRUCTED),
    from_function(rounds_on_the_wrong_side, ("law", "eigenvalue 2"), mechanism="ppc", options=RECONSTRUCTED),
    _kv(radius_for_diameter, *MEAN),
    _kv(unclipped_column, ("law", "component 1"), ("privacy", "event")),
    _kv(counts_of_sensitivity_one, ("law", "other bins")),
    _kv(bins_of_the_data, ("law", "other bins")),
    from_function(one_histogram_noise, ("law", "two columns"), mechanism="naive-pme"),
    from_function(records_in_two_differences, ("law", "norm"), mechanism="pme", options=RECONSTRUCTED),
    from_function(sorted_records, ("law", "norm"), mechanism="pme", options=RECONSTRUCTED),
    from_function(adds_or_removes, *MEAN, mechanism="ppde", options=RECONSTRUCTED),
)
