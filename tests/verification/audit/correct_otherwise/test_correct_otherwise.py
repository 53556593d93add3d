"""Test on twenty seeds that audits do not refute correct implementations that differ from the reference. The
false-alarm probability of one audit is 1e-9.
"""

from typing import Any

import pytest

from covassay.verification.audit.api import audit
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim
from tests.verification.audit.correct_otherwise.correct_otherwise import CORRECT_OTHERWISE

SEEDS = 20
SAMPLES = 300
# indices of the implementations that every run of CI audits, while slow tests audit the others
QUICK = (12, 31, 34, -2)


def audited(correct: Any, seed: int, samples: int = SAMPLES) -> AuditReport:
    target = Target(correct.what, correct.draw, correct.mechanism, correct.options, correct.seeded)
    return audit(target, **default_claim(correct.mechanism).keywords(), samples=samples, seed=seed)


def test_there_are_forty_over_a_dozen_mechanisms() -> None:
    assert len(CORRECT_OTHERWISE) >= 40
    assert len({correct.mechanism for correct in CORRECT_OTHERWISE}) >= 12


@pytest.mark.thorough
@pytest.mark.parametrize("i", QUICK)
def test_a_correct_implementation_written_otherwise_is_not_refuted(i: int) -> None:
    report = audited(CORRECT_OTHERWISE[i], seed=0, samples=100)
    assert not report.refuted, [(check.label, check.detail) for check in report.refuted]


@pytest.mark.sweep
@pytest.mark.parametrize("correct", CORRECT_OTHERWISE, ids=lambda c: f"{c.mechanism}-{c.what.replace(' ', '-')}")
def test_none_is_refuted_over_twenty_seeds(correct: Any) -> None:
    for seed in range(SEEDS):
        report = audited(correct, seed)
        assert not report.refuted, [seed, *((check.label, check.detail) for check in report.refuted)]
