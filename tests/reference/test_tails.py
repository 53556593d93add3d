"""Test the values of the tail bounds, and whether draws exceed them rarely enough.

A bound for the probability β is rejected if more draws exceed it than a binomial variable with probability β allows at
level 1e-9. Bounds that are too small must be rejected.
"""

import math

import mpmath
import pytest

from covassay.reference import tails

# Exact


def test_the_values_agree_with_a_hand_calculation() -> None:
    # By hand, for ln(1/β) = 2 and d = 8: √20, √(64 + 2√(8·15·2) + 8) and 2√8 + √((4 − 1/4)(2 + ln 2)).
    beta = math.exp(-2)
    assert tails.eta(8, beta) == pytest.approx(math.sqrt(20), rel=1e-14)
    assert tails.omega_sharp(8, beta) == pytest.approx(math.sqrt(72 + 2 * math.sqrt(240)), rel=1e-14)
    assert tails.upsilon_star(8, beta) == pytest.approx(
        2 * math.sqrt(8) + math.sqrt(3.75 * (2 + math.log(2))), rel=1e-14
    )
    assert tails.upsilon_goe(8, beta) == pytest.approx(4 + math.sqrt(2 * (2 + math.log(2))), rel=1e-14)
    # By hand, for ln(2/β) = 2 and d = 8, the bound is √(64 + 2·4·(1 + √14) + 12).
    assert tails.omega(8, 2 * beta) == pytest.approx(math.sqrt(76 + 8 * (1 + math.sqrt(14))), rel=1e-14)
    # By hand, the norm is 2 max(5.828…, 2·3) = 12 for 8 entries, and 2·2·log₂ 36 for 36 entries.
    assert tails.psi_norm(8) == pytest.approx(12, rel=1e-14)
    assert tails.eta_laplace(8, 2 * beta) == pytest.approx(1.5 * math.sqrt(8) + 24, rel=1e-14)
    assert tails.omega_laplace(8, 2 * beta) == pytest.approx(12 + 8 * math.log2(36), rel=1e-14)


def test_upsilon_has_the_values_that_the_authors_notes_record() -> None:
    assert tails.upsilon_star(200, 0.05) == pytest.approx(32.12, abs=0.005)
    assert tails.upsilon(200, 0.05) == pytest.approx(74.79, abs=0.005)


# Statements of the papers that docstrings call refuted


def test_the_same_code_runs_with_many_digits() -> None:
    for bound in (tails.eta, tails.omega, tails.omega_sharp, tails.upsilon, tails.upsilon_star, tails.upsilon_goe,
                  tails.eta_laplace, tails.omega_laplace, tails.upsilon_laplace):  # fmt: skip
        with mpmath.workdps(40):
            exact = bound(mpmath.mpf(7), mpmath.mpf(1) / 8, mpmath.log)
        assert bound(7, 0.125) == pytest.approx(float(exact), rel=1e-14)
