"""Test the audit's descriptions of bugs in published libraries. For each described bug there must be a broken
implementation that has the same bug. The numbers in a description must agree with numbers that another method computes.
"""

import math

import numpy as np
import pytest

from covassay.reference.laws import bingham as law
from covassay.reference.laws import haar
from covassay.verification.audit.known_bugs import of_bingham
from covassay.verification.audit.known_bugs.bingham_wrong_sign import (
    aimed_pair,
    exact_loss,
    exponents,
    log_density,
    loss,
    wrong_law,
)
from covassay.verification.statistics.tests import binomial
from tests.negative_controls.every import NEGATIVE_CONTROLS

Q, K, ETA = 6, 400, 0.25
FALSE_ALARM = 1e-9


@pytest.mark.parametrize("bug", of_bingham.BUGS, ids=lambda bug: bug.name)
def test_a_negative_control_repeats_the_bug(bug) -> None:  # type: ignore[no-untyped-def]
    """The test fails if no broken implementation repeats the published bug."""
    control = NEGATIVE_CONTROLS[bug.name]
    assert control.mechanism == "bingham"
    assert control.seen_in == bug.seen_in
    assert control.diagnosis in bug.explanation


def test_the_exact_losses() -> None:
    """The test fails if the privacy loss that is declared for a known bug is wrong. The expected loss is ε/4 + 6 ln(1
    + ε/(2b)) with ε = 1 and b = 1.8205.
    """
    b = law.envelope_parameter(exponents(Q, K, ETA))
    assert b == pytest.approx(1.8205, abs=5e-5)
    assert loss(ETA, b, Q) == pytest.approx(0.25 + 6 * math.log(1 + 0.5 / b), rel=1e-12)
    assert wrong_law(Q, K, ETA, 2000.0).supremum == pytest.approx(1.706, abs=5e-4)
    assert exact_loss(ETA, Q) == pytest.approx(1.735, abs=5e-4)
    assert exact_loss(ETA, Q) > loss(ETA, b, Q) > 1  # the loss exceeds the claim ε = 1


def test_the_loss_is_the_largest_log_ratio_and_is_attained_between_the_axes_of_the_copies() -> None:
    a, b = exponents(Q, K, ETA), law.envelope_parameter(exponents(Q, K, ETA))
    swapped = a[[1, 0, 2, 3, 4, 5]]
    u2 = np.vstack([np.random.default_rng(0).dirichlet(np.full(Q, 0.2), 20000), np.eye(Q)])
    ratio = log_density(u2 @ a, b, Q) - log_density(u2 @ swapped, b, Q)
    assert ratio.max() == pytest.approx(loss(ETA, b, Q), rel=1e-12)
    assert np.argmax(ratio) == 20000  # the first row after the 20 000 random rows belongs to e₁


def test_the_acceptance_rate_by_simulation() -> None:
    """The test fails if the declared acceptance rate of a known bug is wrong. The test simulates the wrong and the
    correct acceptance rule.
    """
    a = exponents(Q, K, ETA)
    b = law.envelope_parameter(a)
    rng = np.random.default_rng(1)
    z = rng.standard_normal((200_000, Q)) / np.sqrt(1 + 2 * a / b)
    y = (z / np.linalg.norm(z, axis=1, keepdims=True)) ** 2 @ a
    power = Q / 2 * np.log1p(2 * y / b)
    log_u = np.log(rng.random(len(y)))
    rates = {-1: wrong_law(Q, K, ETA, 2000.0).acceptance, 1: law.acceptance_rate(-np.diag(a))}
    for sign, rate in rates.items():
        accepted = int((log_u < -y + sign * power - law.log_envelope_bound(b, Q)).sum())
        assert binomial(accepted, len(y), rate, "").p_value > FALSE_ALARM
        # the test must detect an error of 25 % in the rate
        assert binomial(accepted, len(y), 1.25 * rate, "").p_value < FALSE_ALARM


def test_the_aimed_event_is_the_likelihood_ratio() -> None:
    """The test fails if the statistic that is aimed at a known bug is not the log likelihood ratio of its two laws."""
    pair = aimed_pair(ETA, 1.0, 2000.0)
    assert pair.name == "400 copies of e₁ and of e₂ and one more, d=6"
    assert pair.first.shape == pair.second.shape == (2 * K + 1, Q)
    a, b = exponents(Q, K, ETA), law.envelope_parameter(exponents(Q, K, ETA))
    u = haar.sample(Q, np.random.default_rng(2))
    expected = log_density(u**2 @ a, b, Q) - log_density(u**2 @ a[[1, 0, 2, 3, 4, 5]], b, Q)
    (statistic,) = pair.statistics
    assert statistic.values(u) == pytest.approx(expected, abs=1e-8)
    assert 0 < (statistic.threshold or 0) < loss(ETA, b, Q)
