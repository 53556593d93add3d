"""Test the statistical tests: valid p-values, the stated power, and exact intervals. The p-values are tested by
Kolmogorov–Smirnov tests with false-alarm probability 1e-9.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.verification.statistics.laws import NORMAL
from covassay.verification.statistics.multiplicity import holm
from covassay.verification.statistics.ratio import (
    EventCounts,
    log_ratio_lower,
    poisson_size,
    probability_bounds,
    ratio_p_value,
)
from covassay.verification.statistics.tests import (
    bare_draws,
    binomial,
    gamma_scale,
    gamma_total,
    gamma_totals,
    independence,
    kolmogorov_smirnov,
    two_sample,
)

RUNS = 1500


def uniform(t):  # type: ignore[no-untyped-def]
    return np.clip(t, 0, 1)


def one_p_value(name: str, rng: np.random.Generator) -> float:
    if name == "kolmogorov_smirnov":
        return kolmogorov_smirnov(rng.random(60), uniform, "").p_value
    if name == "two_sample":
        return two_sample(rng.random(60), rng.random(60), "").p_value
    if name == "two_sample_of_two_sizes":
        return two_sample(rng.random(20), rng.random(200), "").p_value
    if name == "binomial":
        return binomial(int(rng.binomial(100, 0.3)), 100, 0.3, "").p_value
    if name == "gamma_total":
        return gamma_total(rng.gamma(1.5, size=20), 1.5, "").p_value
    if name == "independence":
        return independence(rng.random(60), rng.random(60), "").p_value
    counts = EventCounts(*(int(rng.poisson(m)) for m in (40 * math.e, 40)), 10**6, 10**6, 100.0)
    return ratio_p_value(counts, 1.0)


ALL = [
    "kolmogorov_smirnov",
    "two_sample",
    "two_sample_of_two_sizes",
    "binomial",
    "independence",
    "gamma_total",
    "ratio",
]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_p_values_of_a_true_null_are_uniform_or_larger(name: str) -> None:
    rng = np.random.default_rng(2024)
    p_values = np.sort([one_p_value(name, rng) for _ in range(RUNS)])
    # the largest amount by which the frequency of p ≤ u exceeds u
    excess = float((np.arange(1, RUNS + 1) / RUNS - p_values).max())
    assert excess < math.sqrt(math.log(1e9) / (2 * RUNS))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["kolmogorov_smirnov", "gamma_total"])
def test_p_values_of_an_exact_test_are_not_larger_either(name: str) -> None:
    """The test fails if p-values of an exact test are larger than necessary. Only p-values up to 1/2 are examined.
    Larger p-values of the Kolmogorov–Smirnov test are too large: they are 1 as soon as the exact p-value is 0.88.
    """
    rng = np.random.default_rng(7)
    p_values = np.sort([one_p_value(name, rng) for _ in range(RUNS)])
    missing = float((p_values - np.arange(RUNS) / RUNS)[p_values <= 0.5].max())
    assert missing < math.sqrt(math.log(1e9) / (2 * RUNS))


@pytest.mark.thorough
def test_an_anticonservative_p_value_would_be_seen() -> None:
    """The test fails if the test of uniformity accepts p-values that are half of the correct ones."""
    rng = np.random.default_rng(2024)
    p_values = np.sort([one_p_value("kolmogorov_smirnov", rng) / 2 for _ in range(RUNS)])
    assert float((np.arange(1, RUNS + 1) / RUNS - p_values).max()) > math.sqrt(math.log(1e9) / (2 * RUNS))


def test_the_stated_detectable_effect_is_detected_with_the_stated_power() -> None:
    """The test fails if a shift of a uniform law by the stated distance is not rejected in at least 285 of 300 runs. If
    the power is 99 %, the probability of fewer rejections is below 1e-6.
    """
    rng = np.random.default_rng(5)
    n, alpha = 800, 1e-9
    shift = kolmogorov_smirnov(rng.random(n), uniform, "").detectable(alpha)
    rejected = sum(kolmogorov_smirnov(rng.random(n) + shift, uniform, "").p_value <= alpha for _ in range(300))
    assert rejected >= 285


@pytest.mark.parametrize(("shape", "power"), [(1.0, 1.0), (0.5, 2.0)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("sign", [1, -1], ids=["too large", "too small"])
def test_the_stated_error_of_the_scale_is_detected_with_the_stated_power(shape: float, power: float, sign: int) -> None:
    """The test fails if the stated error of the noise scale is not detected in at least 285 of 300 runs. The power
    |noise|^power/power has the law Gamma(shape), with shape 1 for Laplace noise and 1/2 for Gaussian noise.
    """
    rng = np.random.default_rng(6)
    n, alpha = 800, 1e-9
    factor = 1 + sign * gamma_total(rng.gamma(shape, size=n), shape, "", power).detectable(alpha)
    found = [gamma_total(factor**power * rng.gamma(shape, size=n), shape, "").p_value <= alpha for _ in range(300)]
    assert sum(found) >= 285


def test_nine_tenths_of_the_laplace_noise_are_seen_in_8000_draws_and_three_hundredths_less_in_80000() -> None:
    """The test fails if the stated detectable error of the scale is not close to 10 % for 8000 draws, or to 3 % for 90
    000 draws.
    """
    rng = np.random.default_rng(6)
    for n, share in ((8000, 0.1), (90_000, 0.03)):
        result = gamma_total(rng.gamma(1.0, size=n), 1.0, "")
        assert share * 0.9 < result.detectable(1e-10) < share * 1.07
        assert result.statistic == pytest.approx(1.0, abs=5 / math.sqrt(n))


def test_the_test_agrees_with_scipy() -> None:
    """The test fails if the p-value of the Kolmogorov–Smirnov test differs from scipy's."""
    x = 1.1 * np.random.default_rng(3).standard_normal(400) + 0.1
    p_value = stats.kstest(x, "norm").pvalue
    assert 1e-6 < p_value < 0.02
    assert kolmogorov_smirnov(x, NORMAL, "").p_value == pytest.approx(p_value, rel=1e-6)


def paths_outside(n: int, m: int, distance: float) -> float:
    """Return the probability that a random lattice path from (0, 0) to (n, m) has max |i/n − j/m| ≥ distance, in exact
    arithmetic.
    """
    row = [0] * (m + 1)
    for i in range(n + 1):
        for j in range(m + 1):
            inside = abs(i / n - j / m) < distance - 1e-9
            row[j] = (1 if i == j == 0 else row[j] + (row[j - 1] if j else 0)) if inside else 0
    return float(1 - Fraction(row[m], math.comb(n + m, n)))


@pytest.mark.parametrize(("n", "m", "shift"), [(20, 200, 0.3), (30, 300, 1.0), (40, 400, 2.0), (60, 600, 1.5)])
def test_the_p_value_of_two_samples_of_two_sizes_is_exact_far_into_the_tail(n: int, m: int, shift: float) -> None:
    rng = np.random.default_rng(0)
    result = two_sample(rng.normal(shift, size=n), rng.normal(size=m), "")
    assert result.p_value == pytest.approx(paths_outside(n, m, result.statistic), rel=1e-9)


@pytest.mark.thorough
def test_ten_times_as_many_draws_of_the_reference_say_more() -> None:
    """The test fails if ten times as many draws of the reference do not make the comparison more powerful. In theory,
    ten times as many reference draws multiply the logarithm of the p-value by 1.8. The test requires a factor of at
    least 1.4.
    """
    rng = np.random.default_rng(1)
    logs = {
        m: float(np.median([math.log(two_sample(1.6 * rng.laplace(size=2000), rng.laplace(size=m), "").p_value)
                            for _ in range(20)]))
        for m in (2000, 20_000)
    }  # fmt: skip
    assert logs[20_000] < 1.4 * logs[2000] < -10, logs
    results = [two_sample(rng.random(2000), rng.random(m), "") for m in (2000, 20_000)]
    assert results[1].detectable(1e-10) < 0.85 * results[0].detectable(1e-10)


def test_an_atom_is_handled() -> None:
    """The test fails if the Kolmogorov–Smirnov distance is wrong for a law with probability 1/2 at 0. The distance is
    computed by hand for the sample {0, 0, .25, .75}.
    """

    def law(t):  # type: ignore[no-untyped-def]
        return np.where(t < 0, 0.0, 0.5 + np.clip(t, 0, 1) / 2)

    # At .25, the empirical distribution function is .75 and that of the law is .625.
    # At .75, the empirical distribution function jumps from .75 to 1, and that of the law is .875.
    assert kolmogorov_smirnov(np.array([0.0, 0.0, 0.25, 0.75]), law, "").statistic == pytest.approx(0.125)


def test_a_shifted_law_is_rejected() -> None:
    """The test fails if a statistical test does not reject a clearly wrong law."""
    rng = np.random.default_rng(1)
    assert kolmogorov_smirnov(rng.random(2000) ** 1.5, uniform, "").p_value < 1e-9
    assert two_sample(rng.random(2000), rng.random(2000) ** 1.5, "").p_value < 1e-9
    assert binomial(700, 1000, 0.5, "").p_value < 1e-9
    x = rng.random(2000)
    assert independence(x, x + 0.3 * rng.random(2000), "").p_value < 1e-9


def test_gamma_scale_covers() -> None:
    """The test fails if confidence intervals are too short. At level 99 %, the probability that more than 60 of 2000
    intervals miss the true value is below 1e-9.
    """
    rng = np.random.default_rng(9)
    missed = sum(2.5 not in gamma_scale(rng.gamma(4.0, 2.5, size=5), 4.0, 0.99) for _ in range(2000))
    assert missed <= 60


def test_the_ratio_bound_covers() -> None:
    """The test fails if lower bounds on a log ratio of probabilities are too large. Of 2000 bounds at level 99 %, at
    most 60 may exceed the true value.
    """
    rng = np.random.default_rng(10)
    missed = 0
    for _ in range(2000):
        n1, n2 = poisson_size(300, rng), poisson_size(300, rng)
        counts = EventCounts(int(rng.binomial(n1, 0.3)), int(rng.binomial(n2, 0.1)), n1, n2, 300)
        missed += log_ratio_lower(counts, 0.99) > math.log(3)
    assert missed <= 60


def test_fixed_sample_sizes_make_the_ratio_bound_conservative() -> None:
    """The lower bound on a log ratio is proven for Poisson counts. If the sample sizes are fixed, the counts vary less.
    The test fails if the bound is then not valid.
    """
    rng = np.random.default_rng(11)
    missed = sum(
        log_ratio_lower(EventCounts(int(rng.binomial(300, 0.9)), int(rng.binomial(300, 0.3)), 300, 300, 300), 0.9)
        > math.log(3)
        for _ in range(2000)
    )
    assert missed / 2000 < 0.1


def test_clopper_pearson_bounds_agree_with_a_hand_calculation() -> None:
    """The test fails if a Clopper–Pearson bound differs from a hand calculation. If 0 of n draws show an event, the
    upper bound q at error α/2 solves (1 − q)^n = α/2.
    """
    p, q = probability_bounds(EventCounts(10, 0, 10, 10, 10.0), 0.02)
    assert q == pytest.approx(1 - 0.01 ** (1 / 10))
    assert p == pytest.approx(0.01 ** (1 / 10))


@pytest.mark.thorough
def test_holm_agrees_with_a_hand_calculation() -> None:
    """The test fails if Holm's procedure differs from a hand calculation. By hand, the procedure rejects three
    p-values because 0.01 ≤ 0.05/3, 0.02 ≤ 0.05/2 and 0.04 ≤ 0.05/1.
    """
    assert holm([0.02, 0.04, 0.01], 0.05) == [True, True, True]
    assert holm([0.02, 0.06, 0.01], 0.05) == [True, False, True]
    assert holm([0.03, 0.04, 0.01], 0.05) == [False, False, True]
    assert holm([], 0.05) == []


@pytest.mark.parametrize("values", [[], [math.nan], [[1.0]]], ids=["empty", "nan", "matrix"])
def test_bad_samples_are_refused(values: list[float]) -> None:
    with pytest.raises(InvalidInput, match="must be a non-empty list of finite numbers"):
        kolmogorov_smirnov(np.array(values), uniform, "")


def test_one_column_of_another_scale_is_seen() -> None:
    squares = np.random.default_rng(0).gamma(0.5, size=(20_000, 4))
    assert gamma_totals(squares, 0.5, "").p_value > 1e-9
    squares[:, 2] *= 0.93**2
    assert gamma_totals(squares, 0.5, "").p_value < 1e-9


def test_draws_without_noise_are_counted() -> None:
    """The test fails if one draw without noise among 2000 is not detected."""
    noise = np.random.default_rng(0).standard_normal((2000, 3))
    noise[0, :2] = 0
    assert bare_draws(noise).p_value == 1
    noise[0] = 0
    assert bare_draws(noise).p_value < 1e-10
