"""Test data on which the noise of the counts decides which bin is chosen. Test also sets of outcomes that are too rare
to be tested one by one. The seeds are fixed, and the reference fails a test with probability below 1e-9.
"""

import numpy as np
import pytest
from scipy.stats import norm

from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.shared.constant_columns import leaders_share
from covassay.verification.audit.knowledge.shared.levels import levels_test
from covassay.verification.declared import default_claim
from tests.negative_controls.broken import other_noise, part

NAMES = {
    "kv-mean": ("few values in one bin, d=4", "bins about as full, d=4"),
    "naive-pme": ("bins about as full, d=4",),
}


def scenarios(name: str) -> list[Scenario]:
    known = profile(name, default_claim(name), mechanism(name).resolve({}), 2000, 0)
    return [one for one in known.scenarios if one.name in NAMES[name]]


def test_the_leaders_share_is_that_of_a_maximum() -> None:
    """The test fails if the audit computes a wrong probability that the leading bin has the largest noisy count. If the
    exact counts of all bins are equal, all bins are equally likely. If there is only one bin besides the leading one,
    the probability follows from the normal distribution function.
    """
    assert leaders_share(0.0, 20) == pytest.approx(1 / 21, rel=1e-12)
    assert leaders_share(3.0, 1) == pytest.approx(norm.cdf(3 / 2**0.5), rel=1e-12)
    assert leaders_share(0.97 * 3.0, 1) < leaders_share(3.0, 1) * (1 - 1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_has_the_mixture_and_other_noise_of_the_counts_has_not(name: str) -> None:
    """The test fails if 0.7 times the noise of the counts is not detected. On other data, only the noise of the mean
    can be seen, and this noise is correct.
    """
    found = scenarios(name)
    assert [one.name for one in found] == list(NAMES[name])
    for factor in (1.0, 0.7):
        target = other_noise("", name, "", part("counts", lambda z, by=factor: by * z))
        p = list[float]()
        for one in found:
            rng = np.random.default_rng(0)
            outputs = np.array([target.draw(one.x, rng=rng, **default_claim(name).keywords()) for _ in range(400)])
            p += [test(outputs).p_value for test in one.tests.values()]
        assert min(p) > 1e-9 if factor == 1 else min(p) < 1e-12


def test_rare_levels_are_missed_together() -> None:
    """The test fails if rare outcomes are tested only one by one. The broken sampler never returns any of 500 outcomes
    of probability 2e-5 each.
    """
    law = np.append(np.full(500, 2e-5), 0.99)
    levels = np.arange(501.0)
    test = levels_test(levels, law)
    rng = np.random.default_rng(0)
    assert test(rng.choice(levels, 2000, p=law)).p_value > 1e-9
    assert test(np.full(20_000, 500.0)).p_value < 1e-50
