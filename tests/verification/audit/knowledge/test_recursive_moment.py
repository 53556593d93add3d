"""Test what the audit knows of the mechanism recursive-moment: exact laws, and tests that detect 3 % less noise in any
round. The seeds are fixed, and with random seeds a false alarm would have probability at most 1e-9.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.concentrated import recursive_moment as mechanism
from covassay.reference.privacy import ZCDP
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.recursive_moment import (
    MOST_ROWS,
    Claimed,
    near_the_choice,
    pair_at_the_choice,
    turning,
)
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit
from tests.conventions import FALSE_ALARM

RHO = 0.5


def claimed(**options: Any) -> Claimed:
    given = mechanism.MECHANISM.resolve(options)
    return Claimed.of(ClaimUnderAudit(mechanism.MECHANISM, ZCDP(RHO), given, 2000, 0))


def scenario(name: str, **options: Any) -> Scenario:
    known = profile("recursive-moment", ZCDP(RHO), mechanism.MECHANISM.resolve(options), 2000, 0)
    return next(s for s in known.scenarios if s.name == name)


@pytest.mark.parametrize("calibration", ["reconstructed", "tight"])
@pytest.mark.parametrize(
    ("name", "squared", "options"),
    [
        ("small directions, d=4", 8 / 3, {}),
        ("small directions, d=1", 8 / 3, {"kappa": 300.0}),
        ("small directions, d=2", 8 / 3, {"kappa": 1e6, "subsample": 2}),
        ("large directions, d=2", 2 / 3, {}),
        ("long rows in small directions, d=2", 8 / 3, {}),
    ],
)
def test_the_last_noise_is_seen_alone(name: str, squared: float, options: dict[str, Any], calibration: Any) -> None:
    """The test fails if the output is not the second moment plus a known multiple of the noise of the last round. If
    rows are shortened, the second moment has a known factor, too.
    """
    x = scenario(name, calibration=calibration, **options).x
    rng, d = np.random.default_rng(0), x.shape[1]
    for _ in range(5):
        noise = mechanism.draw_noise(d, rng, calibration=calibration, **options)
        output = mechanism.release(x, noise, rho=RHO, calibration=calibration, **options)
        scale = mechanism.noise_scale(len(x), RHO, len(noise), calibration) / squared ** (len(noise) - 1)
        left = squared ** (1 - len(noise)) if "long" in name else 1.0
        np.testing.assert_allclose(output, left * second_moment(x) + scale * noise[-1], rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("options", [{}, {"calibration": "tight", "kappa": 1e6, "subsample": 3}])
def test_the_second_writing_of_the_rounds_agrees_with_the_first(options: dict[str, Any]) -> None:
    known = claimed(**options)
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((3, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    x = np.repeat(rows, [2, 5, 13], axis=0)
    for seed in range(20):
        drawn = known.draws(rows, np.array([2, 5, 13]) / 20, 20, 1, np.random.default_rng(seed))[0]
        released = mechanism.sample(x, np.random.default_rng(seed), rho=RHO, **options)
        np.testing.assert_allclose(drawn, released, rtol=1e-9, atol=1e-9 * np.abs(released).max())


def p_value_near_the_choice(factor: float, size: int) -> float:
    """Return the p-value for the norms of `size` outputs if the noise of all rounds is multiplied by `factor`."""
    known = claimed(calibration="tight")
    made, found = near_the_choice(known, 0), known.near()
    assert made is not None
    assert found is not None
    x, shares = found
    other = replace(known, scale_of_one=factor * known.scale_of_one)
    outputs = other.draws(np.eye(len(shares)), shares, len(x), size, np.random.default_rng(2))
    return made.tests["size"](outputs).p_value


def test_the_noise_of_the_rounds_is_seen_near_the_choice() -> None:
    assert p_value_near_the_choice(1.0, 150) > FALSE_ALARM
    assert p_value_near_the_choice(0.85, 150) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_three_percent_are_seen_near_the_choice(factor: float) -> None:
    assert p_value_near_the_choice(factor, 2000) < FALSE_ALARM


def test_one_round_has_no_choice() -> None:
    """The mechanism decides between two rounds which directions it shortens. If there is only one round, there is no
    such decision, and the test fails if the audit makes data sets for it.
    """
    known = claimed(kappa=100.0)
    assert known.rounds == 1
    assert (near_the_choice(known, 0), pair_at_the_choice(known), turning(known, 0)) == (None, None, None)
    assert (known.large(), known.long()) == (None, None)


def test_large_claims_have_no_data_of_millions_of_rows() -> None:
    options = mechanism.MECHANISM.resolve({"subsample": 10**8, "kappa": 1e12})
    known = profile("recursive-moment", ZCDP(0.01), options, 2000, 0)
    assert max(len(s.x) for s in known.scenarios) <= MOST_ROWS
    assert known.shapes is None


def test_the_pair_at_the_choice_is_on_either_side() -> None:
    known = claimed()
    pair = pair_at_the_choice(known)
    assert pair is not None
    moments = [second_moment(x)[0, 0] for x in (pair.first, pair.second)]
    assert min(moments) < known.threshold <= max(moments)
