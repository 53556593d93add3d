"""Test the statistical tests of tails: conservative p-values, errors that they detect or cannot detect, and the stated
power.
"""

import math

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from covassay.reference.domain import Vector
from covassay.verification.statistics.laws import LAPLACE, NORMAL, Law, chi_square, gamma
from covassay.verification.statistics.tails import furthest, levels, missing_tail, rarest_seen, tail_counts
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

RUNS = 1000
ALPHA = 1e-11


def placed(values: Vector, law: Law):  # type: ignore[no-untyped-def]
    return kolmogorov_smirnov(values, law, "").placed


def tails(values: Vector, law: Law = NORMAL) -> TestResult:
    return tail_counts([("value", placed(values, law))], "")


def extreme(values: Vector, law: Law = NORMAL) -> TestResult:
    return furthest(placed(values, law).extreme, len(values), len(values), "")


def conservative(p_values: list[float]) -> bool:
    """Return whether the p-values could come from a valid test, for which P(p ≤ u) ≤ u. The frequency of p ≤ u may
    exceed u only by an amount that chance explains at level 1e-9.
    """
    p = np.sort(p_values)
    return float((np.arange(1, len(p) + 1) / len(p) - p).max()) < math.sqrt(math.log(1e9) / (2 * len(p)))


@pytest.mark.thorough
@pytest.mark.parametrize("test", [tails, extreme])
def test_p_values_of_a_right_law_are_uniform_or_larger(test) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    assert conservative([test(rng.standard_normal(200)).p_value for _ in range(RUNS)])


def test_an_anticonservative_extreme_would_be_seen() -> None:
    """The test fails if `conservative` accepts p-values that are too small. Here each p-value is too small, because it
    is the smallest tail probability of 200 values and is not multiplied by 200.
    """
    rng = np.random.default_rng(1)
    assert not conservative([placed(rng.standard_normal(200), NORMAL).extreme for _ in range(RUNS)])


def test_laws_are_accurate_far_out() -> None:
    """The test fails if a tail probability far out is 0, because it was computed as 1 minus a rounded number."""
    with mp.workdps(30):
        far, farther = float(mp.erfc(30 / mp.sqrt(2)) / 2), float(mp.gammainc(9, 200, regularized=True))
    assert float(NORMAL.survival(np.array(30.0))) == pytest.approx(far, rel=1e-12)
    assert float(gamma(9).survival(np.array(200.0))) == pytest.approx(farther, rel=1e-10)
    assert float(LAPLACE.survival(np.array(500.0))) == pytest.approx(math.exp(-500) / 2)
    t = np.linspace(0.1, 9, 20)
    assert chi_square(3)(t) == pytest.approx(stats.chi2(3).cdf(t))
    assert NORMAL.scaled(2.0)(t) == pytest.approx(stats.norm(scale=2).cdf(t))
    assert gamma(9).scaled(2.0).unit == 2 * gamma(9).unit == 6


def test_levels_reach_as_far_as_ten_values_are_expected() -> None:
    assert levels(2000).tolist() == pytest.approx([0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005])
    assert levels(10).tolist() == [0.5]
    assert levels(20_000)[-1] == pytest.approx(0.0005)


def cut(rng: np.random.Generator) -> Vector:
    z = rng.standard_normal(20_000)
    return z[np.abs(z) < 3]


def contaminated(rng: np.random.Generator) -> Vector:
    z = rng.standard_normal(20_000)
    return np.where(rng.random(len(z)) < 0.02, 2.5 * z, z)


def student(rng: np.random.Generator) -> Vector:
    return math.sqrt(0.8) * rng.standard_t(10, size=20_000)


@pytest.mark.parametrize("sample", [cut, contaminated, student])
def test_wrong_tails_are_seen_where_the_whole_distribution_shows_little(sample) -> None:  # type: ignore[no-untyped-def]
    """The test fails if a wrong tail is not detected: that of Student's t, of a mixture, or of a law that is cut off
    at 3.
    """
    values = sample(np.random.default_rng(3))
    assert tails(values).p_value < ALPHA
    assert kolmogorov_smirnov(values, NORMAL, "").p_value > 1e-8


def test_a_few_small_values_about_the_middle_are_seen() -> None:
    z = np.random.default_rng(4).standard_normal(20_000)
    z[:200] *= 1e-3
    assert tails(z).p_value < ALPHA


def test_one_value_at_thirty_deviations_refutes_alone() -> None:
    """The test fails if one impossible value among many draws is not detected."""
    z = np.random.default_rng(5).standard_normal(100_000)
    assert extreme(z).p_value > 1e-6
    z[7] = 30
    assert extreme(z).p_value < 1e-100
    total = np.random.default_rng(5).gamma(16.0, size=1000)
    assert extreme(total, gamma(16)).p_value > 1e-6
    total[0] = 1e-3  # this value has no noise
    assert extreme(total, gamma(16)).p_value < 1e-30


def test_rounding_to_float32_is_no_extreme() -> None:
    """The test fails if rounding to float32 causes a false alarm. The noise is added to a number that is a thousand
    times as large.
    """
    z = np.random.default_rng(6).standard_normal(20_000)
    seen = (z + 1000.0).astype(np.float32).astype(np.float64) - 1000.0
    assert tails(seen).p_value > 1e-6
    assert extreme(seen).p_value > 1e-6
    sizes = np.abs((np.random.default_rng(6).laplace(size=20_000) + 1000.0).astype(np.float32) - np.float32(1000.0))
    assert extreme(sizes.astype(np.float64), gamma(1)).p_value > 1e-6


def test_a_law_with_an_atom_has_uniform_places() -> None:
    """The test fails if a law with positive probability at 0 causes a false alarm. Many values are equal to 0. Each of
    them gets a random position between P(X < 0) and P(X ≤ 0), so that the positions of all values are uniform.
    """

    def positive_part(t: Vector) -> Vector:
        return np.where(t < 0, 0.0, NORMAL(t))

    values = np.maximum(0, np.random.default_rng(7).standard_normal(5000))
    sample = kolmogorov_smirnov(values, positive_part, "").placed
    assert sample is not None
    assert stats.kstest(sample.uniform, "uniform").pvalue > 1e-6
    assert tail_counts([("value", sample)], "").p_value > 1e-6
    more = kolmogorov_smirnov(np.append(values, np.zeros(500)), positive_part, "").placed
    assert more is not None
    assert tail_counts([("value", more)], "").p_value < ALPHA


@pytest.mark.thorough
def test_a_missing_tail_of_the_stated_probability_is_always_seen() -> None:
    """The test fails if a missing tail of the stated probability is not detected. The values come from a normal law
    that is cut off in one tail or in both.
    """
    rng = np.random.default_rng(8)
    for n in (2000, 20_000):
        q = tails(rng.standard_normal(n)).detectable(ALPHA)
        for lower, upper in ((q / 2, q / 2), (0, q), (q, 0)):
            u = lower + (1 - lower - upper) * rng.random((20, n))
            assert all(tails(stats.norm.ppf(one)).p_value <= ALPHA for one in u)
        assert q < 60 / n * 2.5  # the next quantile that is tried is at most 2.5 times as large


def test_no_missing_tail_is_promised_that_the_counts_cannot_show() -> None:
    assert missing_tail(40, 0.0, 28, ALPHA) == 1.0
    assert missing_tail(2000, 0.0, 28, ALPHA) == pytest.approx(0.02)


def test_a_branch_of_the_stated_probability_is_taken_in_99_of_100_runs() -> None:
    rng = np.random.default_rng(9)
    taken = rng.binomial(3000, rarest_seen(3000), size=20_000) > 0
    assert 0.985 < taken.mean() < 0.995
    assert rarest_seen(0) == 1.0
    assert 1 / rarest_seen(14_000) == pytest.approx(3040, rel=0.01)
