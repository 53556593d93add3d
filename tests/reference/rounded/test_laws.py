"""Test the law of every rounded mechanism against exact distribution functions.

The Kolmogorov–Smirnov distance of N draws from their law exceeds √(ln(2/α)/(2N)) with probability at most α
(Dvoretzky–Kiefer–Wolfowitz, Massart). Every comparison has α = 1e-9. Rounding to multiples of 2^{−30} changes the
distance by far less than this bound.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat
from scipy import integrate, stats

from covassay.reference.box_moments import gauss_weights, laplace_weights, moment_sums, spreads, sums_of
from covassay.reference.domain import Box
from covassay.reference.domain.exact_data import exact_data
from covassay.reference.laws import bingham as bingham_law
from covassay.reference.laws import k_norm as k_norm_law
from covassay.reference.laws import nuclear_laplace as nuclear_law
from covassay.reference.mechanisms.building_blocks import above_threshold, exponential, gaussian, laplace, private_trace
from covassay.reference.mechanisms.concentrated import box_gauss, gauss_cov, separate_cov
from covassay.reference.mechanisms.counted import CountedNoise, RowsAndSumOutput
from covassay.reference.mechanisms.pure import (
    bingham,
    box_laplace,
    centred_covariance,
    entrywise_laplace,
    iterative_eigenvectors,
    k_norm,
    lap_cov,
    nuclear_ball_projection,
    nuclear_laplace,
    separate_cov_pure,
)
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.rounded import bingham as rounded_bingham
from covassay.reference.rounded import counted, noise
from covassay.reference.rounded import mechanisms as rounded_mechanisms
from covassay.reference.rounded.balls import refined
from covassay.reference.rounded.bits import Seeded, Uniforms
from covassay.reference.rounded.counted import COUNTED
from covassay.reference.rounded.releasing import RoundedRelease
from tests.conventions import FALSE_ALARM, Matrix
from tests.reference.rounded.variants import NAMES, VARIANTS, budget, draw, rows

Cdf = Callable[[Any], Any]
Statistic = tuple[str, Callable[[RoundedRelease], float], Cdf]
N_ROWS, EPSILON = 12, 1.0


def part(release: RoundedRelease, name: str) -> Matrix:
    return np.array([float(k * release.grid) for k in release.integers[name]])


def matrix(release: RoundedRelease, d: int) -> Matrix:
    values = part(release, "matrix")
    if len(values) == d * d:
        return values.reshape(d, d)
    full = np.zeros((d, d))
    full[np.triu_indices(d)] = values
    return full + np.triu(full, 1).T


def moment(x: Matrix, centred: bool = False) -> Matrix:
    """Return the second moment, or the covariance, of the rounded rows."""
    data = exact_data(x, sums=True)
    entry = data.centred if centred else data.moment
    return np.array([[float(entry(i, j)) for j in range(data.d)] for i in range(data.d)])


# for each mechanism, a function of (n, d, ε or ρ, options) that returns the noise scale of the floating-point version
SCALES: dict[str, Callable[[int, int, Any, dict[str, str]], float]] = {
    "laplace": lambda n, d, e, o: laplace.noise_scale(laplace.second_moments_sensitivity(n, d), e),
    "gaussian": lambda n, d, e, o: gaussian.noise_scale(gaussian.second_moments_sensitivity(n, d), e),
    "private-trace": lambda n, d, e, o: private_trace.laplace_scale(n, e),
    "entrywise-laplace": lambda n, d, e, o: entrywise_laplace.noise_scale(
        n, d, e, o["entries"], o.get("calibration", "paper")
    ),
    "lap-cov": lambda n, d, e, o: lap_cov.noise_scale(n, d, e, o.get("calibration", "paper")),
    "gauss-cov": lambda n, d, e, o: gauss_cov.noise_scale(n, e),
    "projection-mechanism": lambda n, d, e, o: gauss_cov.noise_scale(n, e),
    "nuclear-laplace": lambda n, d, e, o: nuclear_laplace.noise_scale(n, e),
    "nuclear-laplace-symmetric": lambda n, d, e, o: nuclear_laplace.noise_scale(n, e),
    "centred-covariance": lambda n, d, e, o: centred_covariance.noise_scale(n, d, e),
    "nuclear-ball-projection": lambda n, d, e, o: nuclear_ball_projection.matrix_scale(n, e, "paper"),
    "k-norm": lambda n, d, e, o: k_norm.noise_scale(k_norm.sensitivity(o["body"], n, d), e),
    "separate-cov": lambda n, d, e, o: separate_cov.noise_scale(n, e),
    "separate-cov-pure": lambda n, d, e, o: separate_cov_pure.matrix_scale(n, d, e, "paper"),
}


def statistics(name: str, options: dict[str, str], x: Matrix) -> list[Statistic]:
    """Return statistics of a release, each with its exact distribution function."""
    n, d = x.shape
    sigma = moment(x, name == "centred-covariance")
    values = np.linalg.eigvalsh(sigma)[::-1]
    scale = SCALES[name](n, d, EPSILON, options) if name in SCALES else math.nan

    def off(scale: float, i: int = 0, j: int = -1) -> Callable[[RoundedRelease], float]:
        return lambda r: float((matrix(r, d) - sigma)[i, j] / scale)

    def norms(scale: float, symmetric: bool) -> list[Statistic]:
        return [
            ("nuclear norm", lambda r: float(np.linalg.norm((matrix(r, d) - sigma) / scale, "nuc")),
             lambda t: nuclear_law.nuclear_norm_cdf(d, t, symmetric)),
            ("spectral norm", lambda r: float(np.linalg.norm((matrix(r, d) - sigma) / scale, 2)),
             lambda t: nuclear_law.spectral_norm_cdf(d, t, symmetric)),
        ]  # fmt: skip

    def numbers(key: str, query: Matrix, scale: float, cdf: Cdf) -> list[Statistic]:
        return [(f"{key} {i}", lambda r, i=i: float((part(r, key)[i] - query[i]) / scale), cdf) for i in (0, -1)]

    normal, exponential_cdf = stats.norm.cdf, stats.laplace.cdf
    if options.get("adjacency") == "add-remove" and name in COUNTED:
        return rows_and_sum(name, options, x)
    match name:
        case "laplace" | "gaussian":
            return numbers("vector", np.diag(sigma), scale, normal if name == "gaussian" else exponential_cdf)
        case "private-trace":
            return numbers("number", np.trace(sigma)[None], scale, exponential_cdf)
        case "entrywise-laplace" | "lap-cov":
            return [("entry", off(scale), exponential_cdf), ("last", off(scale, -1), exponential_cdf)]
        case "gauss-cov" | "projection-mechanism":
            above = scale * (0.5**0.5 if options.get("ensemble") == "goe" and d > 1 else 1)
            return [("entry", off(above), normal), ("diagonal", off(scale, -1), normal)]
        case "nuclear-laplace" | "nuclear-laplace-symmetric" | "centred-covariance":
            return norms(scale, name != "nuclear-laplace")
        case "nuclear-ball-projection":
            of_radius = nuclear_ball_projection.trace_scale(n, EPSILON, "paper")
            return norms(scale, False) + numbers("radius", 2 * np.trace(sigma)[None], of_radius, exponential_cdf)
        case "k-norm":
            body: Any = options["body"]
            return [
                ("norm", lambda r: float(k_norm_law.norm((matrix(r, d) - sigma) / scale, body)),
                 lambda t: k_norm_law.norm_cdf(d, t)),
            ]  # fmt: skip
        case "separate-cov" | "separate-cov-pure":
            pure = name == "separate-cov-pure"
            spread = separate_cov_pure.eigenvalue_scale(n, EPSILON) if pure else scale
            cdf = exponential_cdf if pure else normal
            return [("entry", off(scale), cdf), *numbers("eigenvalues", values, spread, cdf)]
        case "box-gauss" | "box-laplace":
            return sums_in_a_box(name, options["adjacency"], x)
        case "bingham":
            eta = bingham.exponent(EPSILON, "paper")
            return projections("direction", eta * n * sigma, d)
        case "iterative-eigenvectors":
            spread = iterative_eigenvectors.eigenvalue_scale(EPSILON)
            found = numbers("eigenvalues", n * values, spread, exponential_cdf)[: 1 if "rank" in options else 2]
            if options.get("budget") == "adaptive" or d == 1:
                return found
            rank = int(options.get("rank", 0))
            calibration: Any = options.get("calibration", "paper")
            exponents = iterative_eigenvectors.uniform_exponents(EPSILON, d, calibration, rank)
            return found + projections("directions", exponents[0] * n * sigma, d)
    raise AssertionError(name)


def scales_of_sums(name: str, options: dict[str, str], d: int, amount: float = EPSILON) -> tuple[float, Matrix]:
    """Return the noise scales of the floating-point version, for the number of rows and for every entry of the sum."""
    declared = mechanism(name)
    kind = declared.output_of(options)
    assert isinstance(kind, RowsAndSumOutput)
    ones = CountedNoise(1.0, np.ones(d if kind.entries == "vector" else (d, d)))
    keywords = dict.fromkeys(budget(name), amount)
    seen = declared.release(np.zeros((0, d)), ones, **keywords, **declared.resolve(options))
    return float(seen[0]), seen[1:]


def rows_and_sum(name: str, options: dict[str, str], x: Matrix) -> list[Statistic]:
    """Return statistics of the noise of the number of rows and of the sum, with their distribution functions."""
    n, d = x.shape
    count, entries = scales_of_sums(name, options, d)
    kind = mechanism(name).output_of(options)
    assert isinstance(kind, RowsAndSumOutput)
    query, cdf = n * moment(x), stats.norm.cdf if budget(name).keys() == {"rho"} else stats.laplace.cdf
    found: list[Statistic] = [("rows", lambda r: float(part(r, "rows")[0] - n) / count, cdf)]
    if name.startswith("nuclear"):

        def noise_of(r: RoundedRelease) -> Matrix:
            return (kind.unpacked(part(r, "sum")) - query) / entries[0]

        symmetric = name.endswith("symmetric")
        return [
            *found,
            ("nuclear norm", lambda r: float(np.linalg.norm(noise_of(r), "nuc")),
             lambda t: nuclear_law.nuclear_norm_cdf(d, t, symmetric)),
            ("spectral norm", lambda r: float(np.linalg.norm(noise_of(r), 2)),
             lambda t: nuclear_law.spectral_norm_cdf(d, t, symmetric)),
        ]  # fmt: skip
    total = np.diag(query) if kind.entries == "vector" else kind.packed(0, query)[1:]
    at = {"first": 0, "second": min(1, len(total) - 1), "last": -1}
    half = 0.5**0.5 if options.get("ensemble") == "goe" and d > 1 else 1.0
    units = {"first": 1.0, "second": half, "last": 1.0}
    return found + [
        (key, lambda r, i=i, key=key: float((part(r, "sum") - total)[i] / (units[key] * entries[i])), cdf)
        for key, i in at.items()
    ]


def spreads_in_a_box(name: str, adjacency: Any, d: int, budget: float) -> Matrix:
    """Return the noise scales of all sums in a mechanism for bounded columns, of shape (d + 1, d + 1)."""
    if name == "box-gauss":
        return spreads(box_gauss.noise_scale(d, budget, adjacency), gauss_weights(d, adjacency), d)
    return spreads(box_laplace.noise_scale(d, budget, adjacency), laplace_weights(d, adjacency), d)


def sums_in_a_box(name: str, adjacency: str, x: Matrix) -> list[Statistic]:
    """Return statistics of the noise of one sum of every kind, with their distribution functions."""
    n, d = x.shape
    box, scales = Box(((-1.0, 1.0),) * d), spreads_in_a_box(name, adjacency, d, 1.0)
    sums = n * np.eye(d + 1)
    sums[1:, 1:] = n * (moment(x) - np.eye(d))
    sums[0, 1:] = [s / 2**20 for s in exact_data(x, sums=True).sums]
    cdf = stats.norm.cdf if name == "box-gauss" else stats.laplace.cdf
    kinds = {"mean": (0, d), "square": (1, 1), "last square": (d, d), "product": (1, d)}
    if adjacency == "add-remove":
        kinds["rows"] = (0, 0)

    def of(at: tuple[int, int]) -> Callable[[RoundedRelease], float]:
        return lambda r: float((sums_of(r.values, box)[at] - sums[at]) / scales[at])

    return [(kind, of(at), cdf) for kind, at in kinds.items()]


def projections(key: str, m: Matrix, d: int) -> list[Statistic]:
    """Return the squared inner products of the first released direction with the first and the last eigenvector of m,
    with their distribution functions."""
    _, vectors = bingham_law.decompose(m)
    found: list[Statistic] = []
    for i in (0, d - 1):

        def square(r: RoundedRelease, i: int = i) -> float:
            return float((part(r, key)[:d] @ vectors[:, i]) ** 2)

        found.append((f"{key} on {i}", square, bingham_law.projection_cdf(m, [i])))
    return found


def outcomes(name: str, options: dict[str, str], x: Matrix) -> list[float]:
    """Return the probabilities of the outputs 1, 2, … of a mechanism that releases an integer."""
    n, d = x.shape
    energies = n * np.diag(moment(x))
    if name == "exponential":
        weights = np.exp(exponential.exponent(EPSILON, exponential.ENERGY_RANGE) * energies)
        return list(weights / weights.sum())
    b1, b2 = above_threshold.threshold_scale(EPSILON), above_threshold.query_scale(EPSILON, "paper")
    threshold = float(Fraction(options["share"])) * n / d

    def stops(t: float, i: int) -> float:
        passed = np.prod([stats.laplace.cdf(threshold + t - energies[j], scale=b2) for j in range(i)])
        last = stats.laplace.sf(threshold + t - energies[i], scale=b2) if i < d else 1.0
        return float(passed * last * stats.laplace.pdf(t, scale=b1))

    kinks = sorted({0.0, *(energies - threshold)})
    edges = [-80 * b1, *kinks, 80 * b1]
    return [sum(integrate.quad(stops, a, b, args=(i,))[0] for a, b in pairwise(edges)) for i in range(d + 1)]


def law(name: str, options: dict[str, str], d: int, draws: int) -> None:
    """Make `draws` releases, and compare their statistics with the exact distribution functions."""
    x = rows(N_ROWS, d)
    released = [draw(name, options, x, f"law {k}") for k in range(draws)]
    if name in ("exponential", "above-threshold"):
        probabilities = outcomes(name, options, x)
        assert sum(probabilities) == pytest.approx(1, abs=1e-7)
        for level, p in enumerate(probabilities, start=1):
            seen = sum(int(r.values) == level for r in released)
            low, high = stats.binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], draws, p)
            assert low <= seen <= high, (name, level)
        return
    allowed = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * draws))
    for label, statistic, cdf in statistics(name, options, x):
        distance = stats.kstest([statistic(r) for r in released], cdf).statistic
        assert distance <= allowed, (name, options, d, label, distance)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=NAMES)
def test_the_law_is_the_exact_one(name: str, options: dict[str, str]) -> None:
    law(name, options, 2, 250)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=NAMES)
def test_the_law_is_the_exact_one_on_two_thousand_draws(name: str, options: dict[str, str], d: int) -> None:
    law(name, options, d, 2000)


@pytest.mark.thorough
@pytest.mark.parametrize("d", [2, 5])
def test_the_bingham_law_is_the_exact_one(d: int) -> None:
    bingham_law_of(np.diag([6.0, 3.0, 0.0, 0.0, 0.0][:d]) + 0.5, 400)


def bingham_law_of(m: Matrix, draws: int) -> None:
    """Compare draws from the Bingham law of m with the exact laws of their squared coordinates in the eigenbasis."""
    balls = arb_mat(m.tolist())
    found = [
        refined(lambda uniforms: [float(v) for v in rounded_bingham.bingham(balls, uniforms)], Uniforms(Seeded(k)), 100)
        for k in range(draws)
    ]
    _, vectors = bingham_law.decompose(m)
    allowed = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * draws))
    for i in range(len(m)):
        squares = (np.array([f.result for f in found]) @ vectors[:, i]) ** 2
        assert stats.kstest(squares, bingham_law.projection_cdf(m, [i])).statistic <= allowed


# SCALES: if all noise is 1, the release shows the noise scale

OF_MEANS = [(n, o) for n, o in VARIANTS if n in SCALES and "adjacency" not in o]
OF_SUMS = [(n, o) for n, o in VARIANTS if n in COUNTED and "adjacency" in o]


def of_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace all additive noise by 1, and all noise matrices by matrices of ones."""

    def ones(d: int) -> arb_mat:
        return arb_mat(d, d, [1] * (d * d))

    monkeypatch.setattr(noise, "laplace", lambda uniforms: arb(1))
    monkeypatch.setattr(noise, "normals", lambda count, uniforms: [arb(1)] * count)
    for name in ("nuclear_laplace", "nuclear_laplace_symmetric", "wigner_laplace"):
        monkeypatch.setattr(noise, name, lambda d, uniforms: ones(d))
    for name in ("wigner", "k_norm_noise"):
        monkeypatch.setattr(noise, name, lambda word, d, uniforms: ones(d))


def scale(name: str, options: dict[str, str], d: int, epsilon: str) -> None:
    """Check that the noise scale equals that of the floating-point version up to a relative error of 1e-14.

    The floating-point version has a rounding error of a few 1e-16. A constant that is a float in place of an interval
    would have an equally small error, which this test does not detect. The test `test_the_scales_are_balls` detects
    such a constant.
    """
    x = np.zeros((7, d))
    found = draw(name, options, x, 1, grid="2^-120", **dict.fromkeys(budget(name), epsilon))
    first = next(iter(found.integers.values()))[0]
    assert float(first * found.grid) == pytest.approx(SCALES[name](7, d, float(epsilon), options), rel=1e-14)


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize(("name", "options"), OF_MEANS)
def test_the_scale_is_that_of_the_reference(
    name: str, options: dict[str, str], d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_ones(monkeypatch)
    for epsilon in ("1", "0.1", "7.25"):
        scale(name, options, d, epsilon)


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize(("name", "options"), OF_SUMS)
def test_the_scales_of_a_sum_are_those_of_the_reference(
    name: str, options: dict[str, str], d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test that the noise scales of the number of rows and the sum are those of the floating-point version. The noise
    is 1 everywhere, so that the release shows the scales.
    """
    of_ones(monkeypatch)
    for amount in ("1", "0.1", "7.25"):
        for x, n in ((np.zeros((0, d)), 0), (np.zeros((7, d)), 7)):
            found = draw(name, options, x, 1, grid="2^-120", **dict.fromkeys(budget(name), amount))
            count, entries = scales_of_sums(name, options, d, float(amount))
            assert float(found.integers["rows"][0] * found.grid - n) == pytest.approx(count, rel=1e-14)
            np.testing.assert_allclose(part(found, "sum"), entries, rtol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("name", ["box-gauss", "box-laplace"])
def test_the_scales_in_a_box_are_those_of_the_reference(
    name: str, adjacency: str, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test that the noise scales for bounded columns are those of the floating-point version. The noise is 1
    everywhere, so that its scale is added to every sum.
    """
    of_ones(monkeypatch)
    x = np.zeros((7, d))
    for amount in ("1", "0.1", "7.25"):
        found = draw(name, {"adjacency": adjacency}, x, 1, grid="2^-120", **dict.fromkeys(budget(name), amount))
        added = sums_of(found.values, Box(((-1.0, 1.0),) * d)) - moment_sums(x, 7, d)
        np.testing.assert_allclose(added, spreads_in_a_box(name, adjacency, d, float(amount)), rtol=1e-10, atol=0)


@pytest.mark.parametrize(("name", "options"), OF_MEANS)
def test_the_scales_are_balls(name: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that no constant in the formulas of interval arithmetic is a float.

    The square of every noise scale must differ by less than 2^{−300} from a rational number with a denominator of at
    most 10¹².
    """
    of_ones(monkeypatch)
    d = 3
    found = draw(name, options, np.zeros((7, d)), 1, grid="2^-400", **dict.fromkeys(budget(name), "0.1"))
    value = next(iter(found.integers.values()))[0] * found.grid
    square = (value**2).limit_denominator(10**12)
    assert abs(value**2 - square) < Fraction(1, 2**300)


# MUTANTS


def test_a_noisy_number_of_rows_three_per_cent_too_exact_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    real = counted.counted.laplace_count_scale
    check = test_the_scales_of_a_sum_are_those_of_the_reference
    changed = SimpleNamespace(**{**vars(counted.counted), "laplace_count_scale": lambda e, s: 97 * real(e, s) / 100})
    monkeypatch.setattr(counted, "counted", changed)
    with pytest.raises(AssertionError):
        check("lap-cov", {"adjacency": "add-remove"}, 2, monkeypatch)


def test_a_scale_that_is_three_per_cent_too_small_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    of_ones(monkeypatch)
    real = laplace.noise_scale
    monkeypatch.setattr(rounded_mechanisms.laplace, "noise_scale", lambda change, epsilon: real(change, epsilon))
    scale("laplace", {}, 2, "1")
    monkeypatch.setattr(
        rounded_mechanisms,
        "laplace",
        SimpleNamespace(**{**vars(laplace), "noise_scale": lambda c, e: 97 * c / (100 * e)}),
    )
    with pytest.raises(AssertionError):
        scale("laplace", {}, 2, "1")


def test_a_root_in_float64_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounded_mechanisms, "square_root", lambda value: value**0.5)
    with pytest.raises(AssertionError):
        test_the_scales_are_balls("lap-cov", {}, monkeypatch)


@pytest.mark.thorough
def test_a_noise_of_half_the_size_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    real = noise.laplace
    monkeypatch.setattr(noise, "laplace", lambda uniforms: real(uniforms) / 2)
    with pytest.raises(AssertionError):
        law("private-trace", {}, 2, 3000)


def test_a_gamma_law_with_one_degree_less_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    real = noise.gamma
    monkeypatch.setattr(noise, "gamma", lambda shape, uniforms: real(shape - 1, uniforms))
    with pytest.raises(AssertionError):
        law("k-norm", {"body": "l2"}, 2, 250)


@pytest.mark.thorough
def test_the_acceptance_of_two_libraries_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    def dividing(y: Any, b: Any, q: Any, log: Any) -> Any:
        return -y - q / 2 * log(1 + 2 * y / b) - 3

    monkeypatch.setattr(rounded_bingham, "law", SimpleNamespace(log_acceptance=dividing))
    with pytest.raises(AssertionError):
        test_the_bingham_law_is_the_exact_one(5)
