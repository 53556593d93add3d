"""Nuclear-Laplace perturbation, full and symmetric: known answers, and the privacy loss of the density itself.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9 (Kolmogorov's exact p-value).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from covassay.reference.domain import Number, second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import nuclear_laplace, nuclear_laplace_symmetric
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale, privacy_loss
from covassay.reference.privacy import PureDP
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

MODULES = pytest.mark.parametrize(
    ("module", "symmetric"), [(nuclear_laplace, False), (nuclear_laplace_symmetric, True)], ids=["full", "symmetric"]
)

# two rows, Σ = [[.68, .24], [.24, .32]] by hand: ((.36 + 1)/2, .48/2; .64/2)
X = np.array([[0.6, 0.8], [1.0, 0.0]])
SIGMA = np.array([[0.68, 0.24], [0.24, 0.32]])


# Known answers


def test_release_adds_scaled_noise_to_the_second_moment() -> None:
    # ε = .5, n = 2: ρ = 2/(2 · .5) = 2
    noise = np.array([[1.0, -2.0], [0.5, 3.0]])
    expected = [[2.68, -3.76], [1.24, 6.32]]
    np.testing.assert_allclose(nuclear_laplace.release(X, noise, epsilon=0.5), expected, rtol=1e-15)


def test_the_symmetric_release_adds_the_same_scale() -> None:
    noise = np.array([[1.0, -2.0], [-2.0, 3.0]])
    expected = [[2.68, -3.76], [-3.76, 6.32]]
    np.testing.assert_allclose(nuclear_laplace_symmetric.release(X, noise, epsilon=0.5), expected, rtol=1e-15)


@MODULES
def test_the_release_is_in_the_unit_of_the_data_squared(module: ModuleType, symmetric: bool) -> None:
    # r = 10: 100 (Σ + 2 I)
    got = module.release(10 * X, np.eye(2), epsilon=0.5, row_bound=10)
    np.testing.assert_allclose(got, [[268, 24], [24, 232]], rtol=1e-14)


@MODULES
def test_one_number_agrees_with_a_hand_calculation(module: ModuleType, symmetric: bool) -> None:
    # n = d = 1, ε = 4: .25 + (2/4)(−3)
    np.testing.assert_allclose(module.release([[-0.5]], [[-3.0]], epsilon=4), [[-1.25]], rtol=1e-15)


@MODULES
def test_without_noise_zero_and_repeated_rows_give_their_second_moment(module: ModuleType, symmetric: bool) -> None:
    none = np.zeros((2, 2))
    np.testing.assert_array_equal(module.release(np.zeros((3, 2)), none, epsilon=1), none)
    np.testing.assert_array_equal(module.release([[0.5, 0.5]] * 4, none, epsilon=1), np.full((2, 2), 0.25))
    long = np.array([[3e200, 4e200], [0.0, 0.0]])  # clipped to (.6, .8)
    np.testing.assert_allclose(module.release(long, none, epsilon=1), [[0.18, 0.24], [0.24, 0.32]], rtol=1e-14)


BAD_NOISE = [
    pytest.param(np.zeros(4), r"noise of shape \(4,\)", id="flat"),
    pytest.param(np.zeros((2, 3)), r"noise of shape \(2, 3\)", id="not square"),
    pytest.param(np.zeros((1, 1)), r"noise of shape \(1, 1\)", id="would broadcast"),
    pytest.param(0.0, r"noise of shape \(\)", id="a number"),
    pytest.param(np.zeros((2, 2, 2)), r"noise of shape \(2, 2, 2\)", id="a stack"),
    pytest.param([[0, math.nan], [math.nan, 0]], "noise contains", id="NaN"),
    pytest.param([[math.inf, 0], [0, 0]], "noise contains", id="infinity"),
]


@MODULES
@pytest.mark.parametrize(("noise", "message"), BAD_NOISE)
def test_bad_noise_is_refused(module: ModuleType, symmetric: bool, noise: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        module.release(X, noise, epsilon=1)


@pytest.mark.parametrize("gap", [1.0, 1e-16])
def test_the_symmetric_release_refuses_noise_that_is_not_symmetric(gap: float) -> None:
    with pytest.raises(InvalidInput, match="noise is not symmetric"):
        nuclear_laplace_symmetric.release(X, [[0.0, gap], [0.0, 0.0]], epsilon=1)


@MODULES
def test_the_noise_is_not_written_to(module: ModuleType, symmetric: bool) -> None:
    noise = np.eye(2)
    noise.flags.writeable = False
    module.release(X, noise, epsilon=1)


# Formulas


def test_the_formulas_run_on_fractions_and_symbols() -> None:
    assert noise_scale(5, Fraction(1, 2)) == Fraction(4, 5)
    assert privacy_loss(2, 5, Fraction(4, 5)) == Fraction(1, 2)
    n, epsilon = sympy.symbols("n epsilon", positive=True)
    assert noise_scale(n, epsilon) == 2 / (n * epsilon)
    assert sympy.simplify(privacy_loss(2, n, noise_scale(n, epsilon)) - epsilon) == 0


@MODULES
@pytest.mark.parametrize(("dimension", "proven"), [(1, 0.35), (2, 0.7), (3, 0.7), (50, 0.7)])
def test_the_spend_is_epsilon_and_half_of_it_for_one_feature(
    module: ModuleType, symmetric: bool, dimension: int, proven: float
) -> None:
    spend = module.spend(epsilon=0.7, dimension=dimension)
    assert spend.claimed == PureDP(0.7)
    assert spend.proven.epsilon == pytest.approx(proven, rel=1e-15)
    assert spend.attained


# Privacy: the log likelihood ratio of the density


def log_likelihood_ratio(y: Matrix, sigma: Matrix, other: Matrix, scale: float, symmetric: bool) -> float:
    first, second = (float(law.log_density((y - s) / scale, symmetric)) for s in (sigma, other))
    return first - second


def random_case(seed: int, d: int, n: int, symmetric: bool) -> tuple[Matrix, Matrix, Matrix]:
    """Second moments of random neighbours, and an output anywhere: near either, between, far away."""
    rng = np.random.default_rng(seed)
    data = unit_rows(rng.standard_normal((n, d)) * rng.choice([0.3, 3]))
    other = data.copy()
    other[0] = unit_rows(rng.standard_normal((1, d)) * rng.choice([0.0, 0.3, 3]))
    sigma, sigma_other = second_moment(data), second_moment(other)
    noise = rng.standard_normal((d, d)) * 10.0 ** rng.integers(-4, 2)
    noise = (noise + noise.T) / 2 if symmetric else noise
    return sigma, sigma_other, sigma + rng.choice([-1.0, 0.0, 0.5, 1.0]) * (sigma_other - sigma) + noise


@MODULES
@settings(max_examples=60)
@given(seed=SEEDS, d=st.integers(1, 5), n=st.integers(1, 5), epsilon=st.floats(0.01, 10))
def test_the_loss_never_exceeds_what_is_proven(
    module: ModuleType, symmetric: bool, seed: int, d: int, n: int, epsilon: float
) -> None:
    sigma, other, y = random_case(seed, d, n, symmetric)
    scale = noise_scale(n, epsilon)
    loss = log_likelihood_ratio(y, sigma, other, scale, symmetric)
    assert loss <= module.spend(epsilon=epsilon, dimension=d).proven.epsilon * (1 + 1e-9) + 1e-9
    change = float(law.nuclear_norm(n * (sigma - other)))
    assert loss <= privacy_loss(change, n, scale) + 1e-9
    attained = log_likelihood_ratio(sigma, sigma, other, scale, symmetric)  # at Y = Σ
    assert attained == pytest.approx(privacy_loss(change, n, scale), abs=1e-9)


def worst_loss(scale: Callable[[Number, Number], Number], n: int, epsilon: float, d: int, symmetric: bool) -> float:
    rest = unit_rows(np.random.default_rng(1).standard_normal((n - 1, d))) if n > 1 else np.zeros((0, d))
    sigma, other = map(second_moment, neighbours(rest, *orthonormal_pair(d)))
    return log_likelihood_ratio(sigma, sigma, other, scale(n, epsilon), symmetric)


@MODULES
@pytest.mark.parametrize(("d", "share"), [(1, 0.5), (2, 1.0), (4, 1.0)])
@pytest.mark.parametrize("n", [1, 2, 10])
def test_orthonormal_rows_attain_the_proven_loss(
    module: ModuleType, symmetric: bool, d: int, share: float, n: int
) -> None:
    assert worst_loss(noise_scale, n, 0.7, d, symmetric) == pytest.approx(share * 0.7, rel=1e-12)


@pytest.mark.parametrize("symmetric", [False, True], ids=["full", "symmetric"])
@pytest.mark.parametrize(
    ("scale", "tight"),
    [
        pytest.param(noise_scale, True, id="2/(nε)"),
        pytest.param(lambda n, e: 1 / (n * e), False, id="1/(nε), for add or remove"),
        pytest.param(lambda n, e: math.sqrt(2) / (n * e), False, id="√2/(nε), the Frobenius sensitivity"),
        pytest.param(lambda n, e: 2 / ((n + 1) * e), False, id="2/((n + 1)ε)"),
        pytest.param(lambda n, e: 4 / (n * e), False, id="4/(nε), wasteful"),
    ],
)
def test_only_the_right_scale_spends_exactly_epsilon(
    scale: Callable[[Number, Number], Number], tight: bool, symmetric: bool
) -> None:
    assert (worst_loss(scale, 5, 0.7, 3, symmetric) == pytest.approx(0.7, rel=1e-9)) == tight


# The draws


def standardised_norms(module: ModuleType, epsilon: float, assumed: float) -> NDArray[np.float64]:
    """Nuclear norms of (release/r² − Σ)/ρ over 3000 draws, ρ for `assumed` ε."""
    noise = module.draw_noise(2, np.random.default_rng(11), 3000)
    released = np.array([module.release(3 * X, z, epsilon=epsilon, row_bound=3) for z in noise])
    norms: NDArray[np.float64] = law.nuclear_norm((released / 9 - SIGMA) / (2 / (2 * assumed)))
    return norms


@pytest.mark.thorough
@MODULES
def test_draws_scatter_about_the_second_moment_by_the_stated_law(module: ModuleType, symmetric: bool) -> None:
    gamma = stats.gamma(3 if symmetric else 4)  # d(d + 1)/2 and d² at d = 2
    assert kolmogorov_smirnov(standardised_norms(module, 0.7, 0.7), gamma.cdf, "Gamma").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(standardised_norms(module, 0.7, 1.4), gamma.cdf, "mutant").p_value < FALSE_ALARM


@MODULES
def test_the_noise_that_is_drawn_is_the_law_of_the_module(module: ModuleType, symmetric: bool) -> None:
    for size in (None, 4):
        noise = module.draw_noise(3, np.random.default_rng(5), size)
        np.testing.assert_array_equal(noise, law.sample(3, np.random.default_rng(5), size, symmetric))
    drawn = module.sample(np.eye(3), np.random.default_rng(5), epsilon=1)
    given_noise = module.release(np.eye(3), module.draw_noise(3, np.random.default_rng(5)), epsilon=1)
    np.testing.assert_array_equal(drawn, given_noise)


def test_symmetric_noise_costs_less_in_mean_square_at_the_same_scale() -> None:
    # exact: 25/3 against 15 at d = 2, and half in the limit (π²/24 against π²/12 per d³ after symmetrising)
    for d in (2, 5, 30):
        full, symmetric = (law.mean_power_sum(d, 2, kind) for kind in (False, True))
        assert symmetric < full * (1 + 1 / d) / 2  # even the symmetrised full noise has more
