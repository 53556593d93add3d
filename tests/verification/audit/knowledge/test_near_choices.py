"""Test data sets that are close to a point where a mechanism changes a decision. The data must have the stated distance
from the decision, and the reference must behave differently on both sides of it.
"""

import numpy as np
import pytest

from covassay.reference.domain import row_norms
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.verification.audit.engine.finding import Look
from covassay.verification.audit.engine.kinds_of_data import NAMES, Beside, run_kinds
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.zoo import DataSetOfZoo
from covassay.verification.audit.knowledge.known import known, profile
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.near_choices import eigenvalue_gaps, unit_rows_among, with_eigenvalues
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim
from covassay.verification.statistics.tests import two_sample

OPTIONS = {"clipped-cov": {"threshold": "private"}}


def beside(name: str) -> Beside:
    declared = mechanism(name)
    found = profile(name, default_claim(name), declared.resolve(OPTIONS.get(name, {})), 2000, 0).beside
    assert found is not None
    return found


WITH_CHOICES = [name for name in MECHANISMS if beside(name).choices]


def test_the_mechanisms_with_choices_are_these() -> None:
    """The test fails if the audit no longer knows which mechanisms make a decision that depends on the data. No other
    test would notice if such a mechanism were missing.
    """
    assert len(WITH_CHOICES) == 24
    assert {"above-threshold", "private-radius", "clipped-cov", "adaptive-cov", "kv-mean"} <= set(WITH_CHOICES)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_that_is_no_query_plus_noise_has_data_near_its_choices_or_a_reason(name: str) -> None:
    declared = mechanism(name)
    chosen = declared.resolve(OPTIONS.get(name, {}))
    claim = ClaimUnderAudit(declared, default_claim(name), chosen, 2000, 0)
    additive = isinstance(known(name).path_of(claim), QueryPlusNoise)
    assert additive or (name in WITH_CHOICES) != bool(known(name).no_choices)


def test_without_a_choice_in_reach_there_are_no_data() -> None:
    """With some options, a mechanism never takes one of its decisions. The test fails if the audit makes data sets for
    a decision that is never taken. For example, the mechanism coinpress-mean with one step never clips rows to an
    estimated ball.
    """
    for name, own, kind in (
        ("ppc", {"kappa": 1000.0}, "the last threshold"),
        ("coinpress-mean", {"steps": 1}, "opposite ends of the last ball"),
        ("adaptive-cov", {"beta": 1e-9}, "the better of two mechanisms"),
    ):
        declared = mechanism(name)
        found = profile(name, default_claim(name), declared.resolve(own), 2000, 0).beside.choices
        assert kind in {member.category for member in beside(name).choices}
        assert kind not in {member.category for member in found}


def test_eigenvalues_are_as_stated() -> None:
    """The test fails if a data set does not have the requested eigenvalues."""
    x = with_eigenvalues(7.25, 2.5)
    assert np.linalg.eigvalsh(x.T @ x) == pytest.approx([2.5, 7.25], rel=1e-12)
    assert row_norms(x).max() <= 1 + 1e-12
    for member in eigenvalue_gaps(3.0):
        low, high = np.linalg.eigvalsh(member.x.T @ member.x)
        assert high - low == pytest.approx(3.0 * float(member.distance.split()[0]), rel=1e-9)


def test_unit_rows_are_counted() -> None:
    """The test fails if a data set does not have the requested number of unit rows."""
    x = unit_rows_among(12, 4.5)
    assert x is not None
    assert x.shape == (12, 2)
    assert (x**2).sum() == pytest.approx(4.5)
    assert unit_rows_among(12, 13) is None


def outermost(name: str) -> list[tuple[str, DataSetOfZoo, DataSetOfZoo]]:
    """For each decision of the mechanism, return the two data sets that are furthest from the point where the decision
    changes.
    """
    by_words: dict[str, list[DataSetOfZoo]] = {}
    for member in beside(name).choices:
        by_words.setdefault(member.category, []).append(member)
    for members in by_words.values():
        members.sort(key=lambda member: float(member.distance.split()[0] if member.distance else 0))
    return [(words, members[0], members[-1]) for words, members in by_words.items() if len(members) > 1]


@pytest.mark.thorough
@pytest.mark.parametrize("name", WITH_CHOICES)
def test_the_outputs_differ_between_both_sides(name: str) -> None:
    """The test fails if the data sets do not make the mechanism decide in both ways, or lie too far from the point
    where its decision changes. For each decision of a mechanism, the test fails by chance with probability at most
    1e-6.
    """
    reference = beside(name)
    for words, low, high in outermost(name):
        rng = np.random.default_rng(7)
        draws = [reference.draws(member.x, 300, rng) for member in (low, high)]
        features = reference.features(low.x)
        assert min(two_sample(f(draws[0]), f(draws[1]), "").p_value for f in features.values()) < 1e-6, words


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CHOICES)
def test_the_reference_is_not_suspicious_near_its_choices(name: str) -> None:
    """On each data set of this test, a small change would make the mechanism decide otherwise. The test fails if the
    audit finds the correct reference implementation suspicious on such a data set. For each decision of a mechanism,
    the test fails by chance with probability at most 3e-5.
    """
    declared, claim = mechanism(name), default_claim(name)
    chosen = declared.resolve(OPTIONS.get(name, {}))
    target = Target(name, lambda x, *, rng, **budget: declared.sample(x, rng, **budget, **chosen))
    checks = run_kinds(Setting(target, claim.keywords(), declared.output, seed=5), beside(name), Look(samples=2000))
    assert {check.name for check in checks} == set(NAMES.values())
    assert min(check.p_value or 0.0 for check in checks) > 1e-5
