"""Noise on the centred covariance: its sensitivity, and the loss if it had the noise of the second moment.

Statistical tests have fixed seeds. With a random seed, each would raise a false alarm with probability at most 1e-9.
"""

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from covassay.reference.domain import Chunks, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import centred_covariance, nuclear_laplace_symmetric
from covassay.reference.mechanisms.pure.centred_covariance import draw_noise, noise_scale, release, spend
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale as uncentred_scale
from covassay.reference.privacy import PureDP
from covassay.reference.sensitivity import centred_change, centred_pair, centred_sensitivity
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

PROPERTY = settings(max_examples=100)
ROOT3 = 1.7320508075688772


def covariance(x: Matrix) -> Matrix:
    return np.asarray(np.cov(x.T, bias=True)).reshape(x.shape[1], x.shape[1])


def nuclear(m: Matrix) -> float:
    return float(np.linalg.norm(m, "nuc"))


# Known answers


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # n = 2, rows (1, 0) and (0, 1): mean (½, ½), rows minus mean ±(½, −½), S = [[¼, −¼], [−¼, ¼]].
    # ε = ½: ρ = 3√3 · 1/(4 · ½) = 3√3/2
    z = np.array([[1.0, -2.0], [-2.0, 0.0]])
    rho = 1.5 * ROOT3
    expected = [[0.25 + rho, -0.25 - 2 * rho], [-0.25 - 2 * rho, 0.25]]
    np.testing.assert_allclose(release(np.eye(2), z, epsilon=0.5), expected, rtol=1e-15)
    np.testing.assert_allclose(release(3 * np.eye(2), z, epsilon=0.5, row_bound=3), 9 * np.array(expected), rtol=1e-15)


def test_one_feature_agrees_with_a_hand_calculation() -> None:
    # rows 1, 0, −1, 0: S = ½; ρ = 4 · 3/(16 · 3) = ¼
    got = release([[1.0], [0.0], [-1.0], [0.0]], np.array([[2.0]]), epsilon=3)
    np.testing.assert_allclose(got, [[1.0]], rtol=1e-15)


@pytest.mark.parametrize("x", [[[0.5]], [[0.1, -0.7, 0.3]]])
def test_the_covariance_of_one_record_is_zero_whatever_it_is(x: Any) -> None:
    d = len(x[0])
    np.testing.assert_array_equal(release(x, np.ones((d, d)), epsilon=1), np.zeros((d, d)))


def test_the_mean_is_taken_off_and_a_shift_changes_nothing() -> None:
    x = 0.3 * unit_rows(np.random.default_rng(0).standard_normal((50, 3)))
    none, shift = np.zeros((3, 3)), np.array([0.2, -0.3, 0.1])
    np.testing.assert_allclose(release(x, none, epsilon=1), covariance(x), atol=1e-16)
    np.testing.assert_allclose(release(x + shift, none, epsilon=1), covariance(x), atol=1e-15)
    uncentred = nuclear_laplace_symmetric.release(x + shift, none, epsilon=1)
    assert np.abs(uncentred - covariance(x)).max() > 0.05  # the second moment would fail this test


def test_data_in_chunks_are_centred_at_the_mean_of_all_of_them() -> None:
    x = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)  # each chunk of three has covariance 0
    chunks = Chunks(x.shape, lambda: iter((x[:3], x[3:])))
    got = release(chunks, np.zeros((2, 2)), epsilon=1)
    np.testing.assert_allclose(got, [[0.25, -0.25], [-0.25, 0.25]], rtol=1e-15)


def test_asymmetric_noise_is_refused() -> None:
    with pytest.raises(InvalidInput, match="noise is not symmetric"):
        release(np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]), epsilon=1)


# Sensitivity


@PROPERTY
@given(seed=SEEDS, n=st.integers(1, 6), d=st.integers(1, 4))
def test_the_change_has_its_formula_and_stays_below_the_sensitivity(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    first = unit_rows(rng.choice([0.3, 1.0, 9.0]) * rng.standard_normal((n, d)))
    second = first.copy()
    second[-1] = unit_rows(rng.choice([0.3, 1.0, 9.0]) * rng.standard_normal((1, d)))[0]
    x, y, m = first[-1], second[-1], first[:-1].sum(axis=0) / max(n - 1, 1)
    formula = centred_change(n, np.linalg.norm(x - y), np.linalg.norm(x + y - 2 * m))
    change = nuclear(covariance(first) - covariance(second))
    assert change == pytest.approx(formula, abs=1e-14)
    assert change <= centred_sensitivity(n, d) * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_worst_pair_attains_the_sensitivity(n: int, d: int) -> None:
    first, second = centred_pair(n, d)
    assert (first != second).any(axis=1).sum() == 1
    assert np.linalg.norm(first, axis=1).max() <= 1 + 1e-15
    change = nuclear(covariance(first) - covariance(second))
    assert change == pytest.approx(centred_sensitivity(n, d), rel=1e-12, abs=1e-16)


@pytest.mark.parametrize(("d", "expected"), [(1, 4.0), (2, 3 * ROOT3), (3, 3 * ROOT3)])
def test_a_search_finds_the_supremum_and_nothing_above_it(d: int, expected: float) -> None:
    def negative_product(p: Matrix) -> float:
        x, y, m = unit_rows(p.reshape(3, d))
        return -float(np.linalg.norm(x - y) * np.linalg.norm(x + y - 2 * m))

    rng = np.random.default_rng(d)
    best = max(
        -minimize(negative_product, 2 * rng.standard_normal(3 * d), method="Nelder-Mead",
                  options={"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-12}).fun
        for _ in range(4)
    )  # fmt: skip
    assert best == pytest.approx(expected, rel=1e-6)


def test_the_product_in_the_proof_is_largest_at_sixty_degrees() -> None:
    theta = sympy.symbols("theta", positive=True)
    product = 4 * sympy.sin(theta) * (1 + sympy.cos(theta))
    assert sympy.simplify(sympy.diff(product, theta).subs(theta, sympy.pi / 3)) == 0
    assert sympy.simplify(product.subs(theta, sympy.pi / 3) - 3 * sympy.sqrt(3)) == 0
    grid = np.linspace(0, np.pi / 2, 10001)
    assert (4 * np.sin(grid) * (1 + np.cos(grid))).max() <= 3 * ROOT3 + 1e-12


def test_the_formulas_run_on_fractions_symbols_and_mpmath() -> None:
    assert centred_change(4, Fraction(2), Fraction(3)) == Fraction(9, 8)  # 3 · 6/16
    assert centred_sensitivity(Fraction(10), 1) == Fraction(9, 25)  # 4 · 9/100
    n, epsilon = sympy.symbols("n epsilon", positive=True)
    assert sympy.simplify(noise_scale(n, 2, epsilon, sympy.sqrt) - 3 * sympy.sqrt(3) * (n - 1) / (n**2 * epsilon)) == 0
    assert mpmath.almosteq(noise_scale(mpmath.mpf(3), 2, 1, mpmath.sqrt), 2 / mpmath.sqrt(3), 1e-14)


# What is spent


@pytest.mark.parametrize("d", [1, 2, 7])
def test_the_spend_is_the_claim(d: int) -> None:
    result = spend(epsilon=0.7, dimension=d)
    assert (result.claimed, result.proven, result.attained) == (PureDP(0.7), PureDP(0.7), True)


def loss(y: Matrix, first: Matrix, second: Matrix, rho: float) -> float:
    """ln of the ratio of the densities of the output at y."""
    terms = [float(law.log_density((y - covariance(x)) / rho, symmetric=True)) for x in (first, second)]
    return terms[0] - terms[1]


Scale = Callable[[int, int, float], float]


def worst_loss(scale: Scale, n: int, d: int) -> float:
    """At Y = S on the worst pair, ε = 1."""
    first, second = centred_pair(n, d)
    return loss(covariance(first), first, second, scale(n, d, 1.0))


@pytest.mark.parametrize("n", [2, 3, 100])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_loss_of_the_worst_pair_is_what_is_claimed(n: int, d: int) -> None:
    assert worst_loss(noise_scale, n, d) == pytest.approx(1, rel=1e-9)


MUTANTS: list[Any] = [
    # 3√3 (n − 1)/(2n) and 2 (n − 1)/n times ε: at n = 100 that is 2.5721 and 1.98
    pytest.param(lambda n, d, e: uncentred_scale(n, e), {2: 2.572095, 1: 1.98}, id="scale of the second moment"),
    pytest.param(lambda n, d, e: 4 * (n - 1) / (n * n * e), {2: 1.299038, 1: 1.0}, id="4 in place of 3√3"),
    pytest.param(lambda n, d, e: noise_scale(n, d, e) / 2, {2: 2.0, 1: 2.0}, id="half the noise"),
]


@pytest.mark.parametrize(("scale", "losses"), MUTANTS)
def test_a_scale_that_is_too_small_spends_more(scale: Scale, losses: dict[int, float]) -> None:
    assert {d: worst_loss(scale, 100, d) for d in losses} == pytest.approx(losses, rel=1e-6)


@PROPERTY
@given(seed=SEEDS, n=st.integers(2, 4), d=st.integers(1, 3))
def test_no_loss_exceeds_the_claim(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    first = unit_rows(2 * rng.standard_normal((n, d)))
    second = first.copy()
    second[-1] = unit_rows(2 * rng.standard_normal((1, d)))[0]
    y = covariance(first) + rng.choice([0.0, 1.0]) * (lambda m: m + m.T)(rng.standard_normal((d, d)))
    assert loss(y, first, second, noise_scale(n, d, 0.7)) <= 0.7 + 1e-9


def test_no_function_takes_a_second_moment() -> None:
    assert list(inspect.signature(release).parameters)[:2] == ["x", "noise"]
    public = [name for name, f in inspect.getmembers(centred_covariance, inspect.isfunction)
              if f.__module__ == centred_covariance.__name__]  # fmt: skip
    assert set(public) == {"noise_scale", "centred", "release", "draw_noise", "sample", "spend"}
    # a second moment given as data is taken for rows, and centred
    moment = np.diag([0.5, 0.25])
    np.testing.assert_allclose(release(moment, np.zeros((2, 2)), epsilon=1), covariance(moment), atol=1e-16)


# The draws


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_noise_has_its_exact_nuclear_norm(d: int) -> None:
    # 2000 draws; ‖Y − S‖_*/ρ ~ Gamma(d(d + 1)/2)
    x = unit_rows(np.random.default_rng(2).standard_normal((8, d)))
    noise = draw_noise(d, np.random.default_rng(3), 2000)
    residuals = np.array([release(x, z, epsilon=0.5) for z in noise]) - covariance(x)
    for scale, right in ((noise_scale(8, d, 0.5), True), (uncentred_scale(8, 0.5), False)):
        norms = law.nuclear_norm(residuals / scale)
        test = kolmogorov_smirnov(norms, lambda t: law.nuclear_norm_cdf(d, t, symmetric=True), "Gamma")
        assert (test.p_value > FALSE_ALARM) is right
