"""Test that the formulas of the reference agree with the numbers that the kernel of Rocq computed."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb

from covassay.reference import projections, sensitivity
from covassay.reference.domain.exact_data import exact_data
from covassay.reference.laws import discrete_gaussian as discrete_gaussian_law
from covassay.reference.laws import discrete_laplace as discrete_laplace_law
from covassay.reference.laws import nuclear_laplace
from covassay.reference.laws.exact_draws import Coins
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.pure import discrete_laplace_covariance
from covassay.reference.mechanisms.pure import nuclear_ball_projection as algorithm_2
from covassay.reference.rounded import lattice
from covassay.reference.rounded.balls import exact, nearest_multiple
from covassay.verification.cli.main import run
from covassay.verification.statistics.ratio import EventCounts, probability_bounds, ratio_p_value

PROOFS = Path(__file__).resolve().parents[4] / "proofs"
VECTORS = json.loads((PROOFS / "vectors.json").read_text(encoding="utf-8"))["vectors"]
Rows = list[list[Fraction]]


def rows_of(name: str) -> Rows:
    return [[Fraction(value) for value in row] for row in VECTORS[name]["rows"]]


def budget_composition(rows: Rows) -> None:
    """Compare the privacy loss of Algorithm 2 with the stored numbers. The privacy loss of Algorithm 2 is at most that
    of its matrix plus that of its trace.
    """
    for epsilon, n, spent in rows:
        rho, b = algorithm_2.matrix_scale(n, epsilon, "paper"), algorithm_2.trace_scale(n, epsilon, "paper")
        # For s = t = 1/2 the trace has no loss, and the loss of the matrix is the same as for s = 1 and t = 0.
        half = Fraction(1, 2)
        trace = algorithm_2.privacy_loss(1, 0, n, rho, b) - algorithm_2.privacy_loss(half, half, n, rho, b)
        assert algorithm_2.privacy_loss(1, 1, n, rho, b) + trace == spent


def budget(calibration: str) -> Callable[[Rows], None]:
    def replay(rows: Rows) -> None:
        for epsilon, n, s, t, spent in rows:
            rho = algorithm_2.matrix_scale(n, epsilon, calibration)
            assert algorithm_2.privacy_loss(s, t, n, rho, algorithm_2.trace_scale(n, epsilon, calibration)) == spent

    return replay


def nuclear_sensitivity(rows: Rows) -> None:
    """Compare the largest nuclear norm of a change of the second moment, which orthonormal rows attain, with the
    stored numbers.
    """
    for n, value in rows:
        assert Fraction(sensitivity.eigenvalue_gap(1, 1, 0)) / n == value


def centred_sensitivity(rows: Rows) -> None:
    """Compare the squared sensitivity of the centred covariance with the stored numbers. The square of 3√3 is computed
    as 9²/3, which needs no square root.
    """
    for n, squared in rows:
        assert sensitivity.centred_sensitivity(n, 2, lambda three: three) ** 2 / 3 == squared


def l1_sensitivity(rows: Rows) -> None:
    """Compare the squared ℓ1 sensitivities of the upper triangle and of the whole matrix with the stored numbers."""
    for dimension, triangle, full in rows:
        d = int(dimension)
        assert math.isclose(sensitivity.triangle_l1(d) ** 2, triangle, rel_tol=1e-14)
        assert math.isclose(sensitivity.full_l1(d) ** 2, full, rel_tol=1e-14)


def second_moment(rows: Rows) -> None:
    """Assert that the mean squared Frobenius norm of the noise lies between the stored bounds."""
    for d, low, high in rows:
        value = nuclear_laplace.mean_power_sum(int(d), 2.0)
        assert float(low) * (1 - 1e-9) <= value <= float(high) * (1 + 1e-9)  # quadrature


def critical_constant(rows: Rows) -> None:
    """Compare the polynomial 4c² − 7c + 1, written as ((8c − 7)² − 33)/16, with the stored numbers."""
    for c, value in rows:
        assert ((8 * c - 7) ** 2 - 33) / 16 == value


def tail(rows: Rows) -> None:
    """Assert that the spectral norm of the noise exceeds 1.1 d with at least the stored probability, where d is the
    dimension.
    """
    for d, bound in rows:
        assert 1 - nuclear_laplace.spectral_norm_cdf(int(d), 1.1 * float(d)) >= float(bound)


def hessian(rows: Rows) -> None:
    """Compare a sum of outer products of unit vectors with the stored integers."""
    for dimension, diagonal, curvature in rows:
        d = int(dimension)
        unit = np.eye(d, dtype=int)
        total = sum((np.outer(unit[i] + unit[j], unit[i] + unit[j]) for j in range(d) for i in range(j)), 0 * unit)
        assert (total == int(diagonal) * unit + np.ones((d, d), dtype=int)).all()
        assert curvature == 2 * (d - 1) >= diagonal


def positive_part(rows: Rows) -> None:
    """Assert that the positive part of the stored matrix Z is the stored matrix P. The norm of Z − A is 1 for the
    stored matrix A, but the largest eigenvalue of P − A exceeds 1.
    """
    a, z, p, n = (np.array(row, dtype=object).reshape(2, 2) for row in rows)
    assert (p - n == z).all()
    assert (p @ n == 0).all()
    assert ((z - a) @ (z - a) == np.eye(2, dtype=int)).all()
    assert (p - a).sum() > 2
    assert np.allclose(projections.psd_cone(z.astype(float)), p.astype(float), rtol=0, atol=1e-12)  # eigh


def sparse_vector(rows: Rows) -> None:
    """Compare the loss of the sparse vector technique with the stored numbers, for changes of the threshold by 1 and
    of a query by 1 or 2.
    """
    for epsilon, threshold, query, loss in rows:
        b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
        bounds = {(1, 2): above_threshold.general_loss(b1, b2), (1, 1): above_threshold.monotone_loss(b1, b2)}
        assert bounds.get((int(threshold), int(query)), above_threshold.monotone_loss(b1, b2) - 1 / b1) == loss


def rounding(rows: Rows) -> None:
    """Compare the multiple of the grid to which a value is rounded with the stored multiple, also for ties."""
    for grid, value, nearest in rows:
        assert nearest_multiple(arb(exact(value)), grid) == nearest


def discrete_laplace(rows: Rows) -> None:
    """Compare the discrete Laplace probabilities with the stored numbers, where `ratio` is e^(−1/t) for the scale t."""
    for ratio, k, probability in rows:
        assert discrete_laplace_law.pmf(k, Fraction(1), lambda exponent, ratio=ratio: ratio**-exponent) == probability


def binomial_tail(rows: Rows) -> None:
    """Compare exact binomial tail probabilities with p-values and confidence bounds in floats, which may err only on
    the safe side.
    """
    for row in rows:
        n, k, a, c = (int(value) for value in row[:4])
        exact = sum(digit * 1000**i for i, digit in enumerate(row[4:])) / Fraction(a + c) ** n
        odds = math.nextafter(math.log(a / c), math.inf)  # the odds are rounded up, so that e^odds is at least a/c
        found = ratio_p_value(EventCounts(k, n - k, n, n, float(n)), odds)
        assert exact <= Fraction(found) <= min(Fraction(1), exact * (1 + Fraction(1, 10**8)))
        if k > 0 and 2 * exact < 1:
            error = math.nextafter(float(2 * exact), 0.0)
            lower, upper = probability_bounds(EventCounts(k, n - k, n, n, float(n)), error)
            assert Fraction(a, a + c) * (1 - Fraction(1, 10**8)) <= Fraction(lower) <= Fraction(a, a + c)
            assert Fraction(c, a + c) <= Fraction(upper) <= Fraction(c, a + c) * (1 + Fraction(1, 10**8))


SAMPLERS: list[Callable[[int, int, Coins], int]] = [
    lambda p, q, coins: coins.below(q),
    lambda p, q, coins: coins.chance(p, q),
    lambda p, q, coins: coins.chance_exp(p, q),
    lambda p, q, coins: discrete_laplace_law.sample(Fraction(p, q), coins),
    lambda p, q, coins: discrete_gaussian_law.sample(Fraction(p, q), coins),
]
WORD = 10  # bits
READ = Coins.bits


def whole(digits: list[int], base: int) -> int:
    """Return the number with the given digits, lowest digit first."""
    return sum(digit * base**i for i, digit in enumerate(digits))


def draws(rows: Rows) -> None:
    """Compare the samplers with the programs in Rocq. Given the same random bits, a sampler and its program in Rocq
    must return the same number and read the same number of bits.
    """
    for row in rows:
        kind, *numbers = (int(value) for value in row)
        p, q, words, (sign, *size, unread) = (
            whole(numbers[:9], 1000), whole(numbers[9:18], 1000), numbers[18:118], numbers[118:],
        )  # fmt: skip
        bits, count = whole(words, 2**WORD), WORD * len(words)
        coins = Coins(lambda more, bits=bits: bits)  # the lowest bit comes first, and zeros follow the last bit
        assert SAMPLERS[kind](p, q, coins) == sign * whole(size, 1000)
        assert coins.bits(count) == bits >> (count - unread)


# The mechanism keeps two binary digits after the point of every entry, that is, it multiplies the entry by 4. The sums
# of the products of two columns are then 21, 4 and 13.
ROWS = np.array([[2, 3], [-1, 2], [4, 0]]) / 4


def covariance_draws(rows: Rows) -> None:
    """Compare a release from given random bits with the release that the program in Rocq computed."""
    for row in rows:
        numbers = [int(value) for value in row]
        scale = Fraction(whole(numbers[:2], 1000), whole(numbers[2:4], 1000))
        bits, unread = whole(numbers[10:110], 2**WORD), numbers[-1]
        data = exact_data(ROWS, 1.0, "raise", 2)
        assert [int(c) for c in data.products[np.triu_indices(2)]] == [numbers[i] * numbers[i + 1] for i in (4, 6, 8)]
        epsilon = discrete_laplace_covariance.sensitivity(2, 2) / scale
        coins = Coins(lambda more, bits=bits: bits)
        released = discrete_laplace_covariance.noisy_products(
            data, lambda t, coins=coins: discrete_laplace_law.symmetric(2, t, coins), epsilon
        )
        assert [int(y) for y in released[np.triu_indices(2)]] == [
            numbers[i] * whole(numbers[i + 1 : i + 3], 1000) for i in (110, 113, 116)
        ]
        assert coins.bits(WORD * 100) == bits >> (WORD * 100 - unread)
        whole_release = lattice.release(
            "discrete-laplace-covariance", ROWS, bits=lambda more, bits=bits: bits, input_bits=2, epsilon=epsilon
        )
        assert whole_release.integers["matrix"] == [int(y) for y in released[np.triu_indices(2)]]


REPLAYS: dict[str, Callable[[Rows], None]] = {
    "budget-composition": budget_composition,
    "budget-joint": budget("paper"),
    "budget-tight": budget("tight"),
    "nuclear-sensitivity": nuclear_sensitivity,
    "centred-sensitivity": centred_sensitivity,
    "l1-sensitivity": l1_sensitivity,
    "second-moment": second_moment,
    "critical-constant": critical_constant,
    "tail": tail,
    "hessian": hessian,
    "positive-part": positive_part,
    "sparse-vector": sparse_vector,
    "rounding": rounding,
    "discrete-laplace": discrete_laplace,
    "binomial-tail": binomial_tail,
    "draws": draws,
    "covariance-draws": covariance_draws,
}


@pytest.mark.parametrize("name", REPLAYS)
def test_a_vector_is_what_the_reference_computes(name: str) -> None:
    """The test fails if a formula of the reference differs from the numbers that Rocq computed."""
    REPLAYS[name](rows_of(name))


@pytest.mark.parametrize("name", sorted(set(REPLAYS) - {"tail"}))
def test_a_planted_wrong_number_is_seen(name: str) -> None:
    """The test fails if a wrong number in a stored vector is accepted."""
    rows = rows_of(name)
    rows[-1][-1] = rows[-1][-1] / 2 - 1
    with pytest.raises(AssertionError):
        REPLAYS[name](rows)


def test_a_planted_wrong_tail_is_seen() -> None:
    """The test fails if the comparison of tail probabilities accepts a bound that is too large."""
    rows = rows_of("tail")
    rows[-1][-1] += 1
    with pytest.raises(AssertionError):
        tail(rows)


def test_every_vector_is_replayed() -> None:
    """The test fails if some of the numbers that Rocq computed are not used in any test. The releases of whole
    mechanisms are compared in `test_release_vectors`.
    """
    assert {name for name in VECTORS if not name.startswith("release-")} == set(REPLAYS)


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if `covassay vectors` does not print all numbers that Rocq computed."""
    assert run(["vectors"]) == 0
    assert json.loads(capsys.readouterr().out)["vectors"] == VECTORS


@pytest.mark.parametrize("formula", ["triangle_l1", "full_l1"])
def test_a_sensitivity_in_l1_that_is_three_per_cent_wrong_is_seen(
    formula: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if the comparison accepts an ℓ1 sensitivity that is 3 % too large."""
    original = getattr(sensitivity, formula)
    monkeypatch.setattr(sensitivity, formula, lambda d: 1.03 * original(d))
    with pytest.raises(AssertionError):
        l1_sensitivity(rows_of("l1-sensitivity"))


def test_p_values_that_are_not_rounded_up_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the comparison with the numbers from Rocq accepts p-values that are rounded down, and so are
    too small.
    """
    monkeypatch.setattr("covassay.verification.statistics.rounding.GUARD", -1e-12)
    with pytest.raises(AssertionError):
        binomial_tail(rows_of("binomial-tail"))


def below_or_at(coins: Coins, m: int) -> int:
    """Run a wrong version of `Coins.below` that can return m, although its numbers must be below m."""
    width = (m - 1).bit_length()
    while (value := coins.bits(width)) > m:
        pass
    return value


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("below", below_or_at),
        ("chance", lambda coins, p, q: coins.below(q) <= p),
        ("bits", lambda coins, count: int(f"{READ(coins, count):0{count + 1}b}"[:0:-1] or "0", 2)),  # the highest first
    ],
)
def test_a_sampler_with_one_mistake_is_seen(name: str, mutant: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the comparison accepts a wrong sampler, which is off by one or reads its bits in the wrong
    order.
    """
    monkeypatch.setattr(Coins, name, mutant)
    with pytest.raises(AssertionError):
        draws(rows_of("draws"))
