"""Deflation with private eigenvectors: known answers, the loss of the rounds from exact densities, the law of a round.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9 (Kolmogorov's p-value, conservative at atoms; Fisher's exact test).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham as law
from covassay.reference.laws import haar
from covassay.reference.mechanisms.pure import kapralov_talwar
from covassay.reference.privacy import PureDP
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, Vector
from tests.reference.mechanisms.directions import GivenDirections, leading_eigenvector

PROPERTY = settings(max_examples=50)
X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.5], [0.0, 0.0]])  # C = diag(2, 1/4), n = 4


# Known answers


def test_two_rounds_agree_with_a_hand_calculation() -> None:
    # ε = 8, k = 2: η = 1, b = 1/2. u_1 = (.6, .8): uᵀCu = .72 + .16 = .88, l_1 = .88 + .12/2·… = .88 + ½ · .24 = 1.
    # C_2 = diag(2, 1/4) − [[.36, .48], [.48, .64]]; u_2 = e_2: uᵀC_2u = −.39, l_2 = −.39 + ½ · .9 = .06
    script = GivenDirections([0.6, 0.8], [0.0, 1.0])
    got = kapralov_talwar.release(X, kapralov_talwar.KapralovTalwarNoise(np.array([0.24, 0.9]), script), epsilon=8.0)
    np.testing.assert_allclose(got, [[0.09, 0.12], [0.12, 0.175]], rtol=1e-13)
    np.testing.assert_allclose(script.matrices, [[[2, 0], [0, 0.25]], [[1.64, -0.48], [-0.48, -0.39]]], rtol=1e-13)


@pytest.mark.parametrize(("z", "value"), [(-5.0, 0.0), (5.0, 4.0), (1.0, 2.5)])
def test_values_are_clipped_to_the_possible_eigenvalues(z: float, value: float) -> None:
    # rank 1, ε = 4: b = 1/2; u = e_1: 2 + z/2, in [0, n] = [0, 4]
    got = kapralov_talwar.release(
        X, kapralov_talwar.KapralovTalwarNoise(np.array([z]), GivenDirections([1.0, 0.0])), epsilon=4.0, rank=1
    )
    np.testing.assert_allclose(got, [[value / 4, 0], [0, 0]], rtol=1e-14)


def test_the_budget_is_divided_among_the_rounds() -> None:
    script = GivenDirections([1.0, 0.0])
    kapralov_talwar.release(
        X, kapralov_talwar.KapralovTalwarNoise(np.zeros(1), script), epsilon=4.0, rank=1
    )  # η = ε/4 = 1
    np.testing.assert_allclose(script.matrices, [[[2, 0], [0, 0.25]]], rtol=1e-14)


def test_the_release_is_in_the_unit_of_the_data_squared() -> None:
    got = kapralov_talwar.release(
        10 * X,
        kapralov_talwar.KapralovTalwarNoise(np.array([0.24, 0.9]), GivenDirections([0.6, 0.8], [0.0, 1.0])),
        epsilon=8.0,
        row_bound=10,
    )
    np.testing.assert_allclose(got, [[9, 12], [12, 17.5]], rtol=1e-13)


def test_one_number_agrees_with_a_hand_calculation() -> None:
    # C = 1/2, n = 2, ε = 4: ½ (1/2 + ½ · 1)
    got = kapralov_talwar.release(
        [[0.5], [-0.5]], kapralov_talwar.KapralovTalwarNoise(np.array([1.0]), GivenDirections([-1.0])), epsilon=4.0
    )
    np.testing.assert_allclose(got, [[0.5]], rtol=1e-15)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), rank=st.integers(0, 5))
def test_what_is_left_is_the_error(seed: int, d: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((6, d)))
    k = min(rank or d, d)
    seen: list[Matrix] = []

    def direction(m: Matrix, step: int) -> Vector:
        seen.append(m / kapralov_talwar.exponent(2.0, k))
        return law.sample(m, rng)

    got = 6 * kapralov_talwar.release(
        x, kapralov_talwar.KapralovTalwarNoise(rng.laplace(size=k), direction), epsilon=2.0, rank=rank
    )
    assert len(seen) == k
    np.testing.assert_allclose(seen[0], x.T @ x, atol=1e-12)
    values = np.linalg.eigvalsh(got)
    assert values.min() > -1e-9
    assert (values > 1e-9).sum() <= k
    for before, after in pairwise(seen):  # each round takes off a matrix of rank one, l ≥ 0
        gone = np.linalg.eigvalsh(before - after)
        np.testing.assert_allclose(gone[:-1], 0, atol=1e-9)
        assert -1e-9 <= gone[-1] <= 6 + 1e-9


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), rank=st.integers(1, 5))
def test_without_noise_the_modes_give_the_best_approximation(seed: int, d: int, rank: int) -> None:
    x = unit_rows(np.random.default_rng(seed).standard_normal((7, d)))
    k = min(rank, d)
    got = kapralov_talwar.release(
        x, kapralov_talwar.KapralovTalwarNoise(np.zeros(k), leading_eigenvector), epsilon=1.0, rank=rank
    )
    values, vectors = np.linalg.eigh(second_moment(x))
    best = (vectors[:, d - k :] * values[d - k :]) @ vectors[:, d - k :].T
    np.testing.assert_allclose(got, best, atol=1e-10)


@pytest.mark.parametrize("rank", [-1, 1.5, True, "2", None, math.nan])
def test_a_rank_that_is_no_count_is_refused(rank: Any) -> None:
    for run in (
        lambda: kapralov_talwar.release(
            X, kapralov_talwar.KapralovTalwarNoise(np.zeros(2), leading_eigenvector), epsilon=1.0, rank=rank
        ),
        lambda: kapralov_talwar.sample(X, np.random.default_rng(0), epsilon=1.0, rank=rank),
    ):
        with pytest.raises(InvalidInput, match=r"^rank = "):
            run()


@pytest.mark.parametrize(
    ("values", "direction", "message"),
    [
        pytest.param(np.zeros(3), leading_eigenvector, r"noise.values of shape \(3,\)", id="too many values"),
        pytest.param(np.zeros(1), leading_eigenvector, r"noise.values of shape \(1,\)", id="would broadcast"),
        pytest.param([0.0, math.nan], leading_eigenvector, "noise.values contains", id="NaN"),
        pytest.param(np.zeros(2), GivenDirections([1.0, 0.0, 0.0]), "noise.direction", id="direction too long"),
        pytest.param(np.zeros(2), GivenDirections([2.0, 0.0]), "has norm 2", id="no unit vector"),
    ],
)
def test_bad_noise_is_refused(values: Any, direction: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        kapralov_talwar.release(X, kapralov_talwar.KapralovTalwarNoise(values, direction), epsilon=1)


def test_rank_d_and_more_is_everything() -> None:
    for rank in (2, 9):
        whole, ranked = (kapralov_talwar.sample(X, np.random.default_rng(1), epsilon=1, rank=k) for k in (0, rank))
        np.testing.assert_array_equal(whole, ranked)


# What is spent


def test_the_formulas_run_on_fractions_and_symbols() -> None:
    assert kapralov_talwar.exponent(Fraction(1, 2), 3) == Fraction(1, 24)
    assert kapralov_talwar.value_scale(Fraction(1, 2), 3) == 12
    epsilon, k = sympy.symbols("epsilon k", positive=True)
    assert (
        sympy.simplify(
            kapralov_talwar.privacy_loss(
                kapralov_talwar.exponent(epsilon, k), kapralov_talwar.value_scale(epsilon, k), k
            )
        )
        == epsilon
    )


@pytest.mark.parametrize(("dimension", "proven"), [(1, 0.5), (2, 1.0), (7, 1.0)])
def test_the_spend_is_that_of_the_table(dimension: int, proven: float) -> None:
    result = kapralov_talwar.spend(epsilon=2.0, dimension=dimension)
    assert result.claimed == PureDP(2.0)
    assert result.proven.epsilon == pytest.approx(2 * proven, rel=1e-15)  # type: ignore[union-attr]
    assert result.attained


def value_log_density(value: float, centre: float, b: float, n: float) -> float:
    """The law of clip(centre + b L, 0, n): a density inside, a probability at either end."""
    if value == 0:
        return float(stats.laplace.logcdf(0, centre, b))
    if value == n:
        return float(stats.laplace.logsf(n, centre, b))
    return float(stats.laplace.logpdf(value, centre, b))


def rounds_loss(c: Matrix, other: Matrix, n: float, rounds: list[tuple[Vector, float]], eta: float, b: float) -> float:
    """ln of the ratio of the densities of the rounds (u_i, l_i) under C and C'."""
    total = 0.0
    for u, value in rounds:
        first, second = (float(law.log_density(u[None], eta * m)[0]) for m in (c, other))
        total += first - second
        total += value_log_density(value, float(u @ c @ u), b, n) - value_log_density(value, float(u @ other @ u), b, n)
        c, other = (m - value * np.outer(u, u) for m in (c, other))
    return total


@PROPERTY
@given(seed=SEEDS, d=st.integers(2, 4), k=st.integers(1, 3))
def test_the_rounds_spend_at_most_epsilon(seed: int, d: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.standard_normal((5, d)) * rng.choice([0.5, 5.0]))
    rest = rng.choice([0.0, 1.0, 30.0]) * rows[2:].T @ rows[2:]
    x, y = rows[0], rng.choice([0.0, 1.0]) * rows[1]
    first, second = rest + np.outer(x, x), rest + np.outer(y, y)
    n = 100.0
    rounds = []
    for _ in range(k):
        u = haar.sample(d, rng)[0] if rng.random() < 0.5 else unit_rows((x + 0.05 * rng.standard_normal(d))[None])[0]
        rounds.append((u / np.linalg.norm(u), float(rng.choice([0.0, 0.7, 3.0, n]))))
    assert (
        rounds_loss(first, second, n, rounds, kapralov_talwar.exponent(0.7, k), kapralov_talwar.value_scale(0.7, k))
        <= 0.7 + 1e-9
    )


def worst_case(k: int, eta: float, b: float) -> float:
    """C = K y yᵀ + x xᵀ against (K + 1) y yᵀ, with u_i = x and values far above what is left of C along x."""
    x, y = np.eye(2)
    rest = 1e7 / eta * np.outer(y, y)
    rounds = [(x, 40.0)] * k
    return rounds_loss(rest + np.outer(x, x), rest + np.outer(y, y), 1e9, rounds, eta, b)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_what_is_spent_is_approached(k: int) -> None:
    total = worst_case(k, kapralov_talwar.exponent(0.7, k), kapralov_talwar.value_scale(0.7, k))
    assert 0.7 * 0.9999 < total <= 0.7 + 1e-9


@pytest.mark.parametrize(
    ("eta", "b", "share"),
    [
        # k(2η + 1/b) in units of ε
        pytest.param(lambda e, k: 4 * e / k, lambda e, k: 2 * k / e, 8.5, id="η = 4ε/k, as in the authors' code"),
        pytest.param(lambda e, k: e / (2 * k), lambda e, k: 2 * k / e, 1.5, id="η = ε/(2k)"),
        pytest.param(lambda e, k: e / (4 * k), lambda e, k: k / e, 1.5, id="b = k/ε"),
        pytest.param(lambda e, k: e / 4, lambda e, k: 2 / e, None, id="each round at the whole budget"),
    ],
)
def test_other_scales_exceed_epsilon(eta: Callable[[float, int], float], b: Any, share: float | None) -> None:
    for k in (1, 3) if share else (3,):
        total = worst_case(k, eta(0.7, k), b(0.7, k))
        assert total > 0.7 * 1.01
        assert total == pytest.approx(0.7 * (share or k), rel=1e-4)


# The law


@pytest.mark.thorough
def test_one_round_has_its_exact_law() -> None:
    # C = diag(44, 40), n = 84, ε = 4, rank 1: η = 1, b = 1/2; l = tr, u = the top eigenvector, unclipped up to e^{−80}
    x = np.repeat(np.eye(2), [44, 40], axis=0)
    rng = np.random.default_rng(31)
    drawn = 84 * np.array([kapralov_talwar.sample(x, rng, epsilon=4, rank=1) for _ in range(2000)])
    values = np.trace(drawn, axis1=1, axis2=2)
    squares = np.linalg.eigh(drawn)[1][:, 0, -1] ** 2
    residuals = (values - 40 - 4 * squares) / 0.5
    assert kolmogorov_smirnov(squares, law.projection_cdf(np.diag([44.0, 40.0]), [0]), "u").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(residuals, stats.laplace.cdf, "l").p_value > FALSE_ALARM
    assert independence(squares, residuals, "u and the noise of l").p_value > FALSE_ALARM
    # mutants: twice the exponent, the value of λ_1 in place of uᵀCu, half the noise
    assert kolmogorov_smirnov(squares, law.projection_cdf(np.diag([88.0, 80.0]), [0]), "mutant").p_value < FALSE_ALARM
    assert kolmogorov_smirnov((values - 44) / 0.5, stats.laplace.cdf, "mutant").p_value < FALSE_ALARM
    assert kolmogorov_smirnov(residuals, stats.laplace(0, 0.5).cdf, "mutant").p_value < FALSE_ALARM


@pytest.mark.thorough
def test_for_one_feature_the_release_is_clipped_laplace() -> None:
    # Σ = 1/4, n = 4, ε = 2: scale 2/(nε) = 1/4, atoms at 0 and 1
    rng = np.random.default_rng(32)
    draws = np.array([kapralov_talwar.sample(np.full((4, 1), 0.5), rng, epsilon=2)[0, 0] for _ in range(3000)])

    def clipped(scale: float) -> Callable[[Vector], Vector]:
        return lambda t: np.where(t < 0, 0.0, np.where(t >= 1, 1.0, stats.laplace.cdf(t, 0.25, scale)))

    assert kolmogorov_smirnov(draws, clipped(0.25), "clipped Laplace").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(draws, clipped(0.125), "mutant").p_value < FALSE_ALARM
