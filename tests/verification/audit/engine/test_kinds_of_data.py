"""Test the comparison with the reference on data of many kinds. For equal laws the ranks must be uniform, and a target
that treats some data differently must be detected.
"""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.budget import SUSPICIOUS
from covassay.verification.audit.engine import kinds_of_data
from covassay.verification.audit.engine.features import features
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.kinds_of_data import DRAWS, NAMES, SIZES, Beside, places, run_kinds
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.shapes import uniform
from covassay.verification.audit.engine.zoo import MANY_ROWS, zoo
from covassay.verification.audit.expected import seen
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.questions.law import data_of_many_kinds
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.negative_controls.of_kinds import NEGATIVE_CONTROLS

ALPHA = 1e-9


class Same(np.random.Generator):
    """A random generator whose uniform numbers are all 1/2."""

    def random(self, size: int | None = None) -> object:  # type: ignore[override]
        return 0.5 if size is None else np.full(size, 0.5)


def test_the_places_are_uniform_and_independent_whatever_the_order() -> None:
    """The test fails if a rank depends on the order of the values. Over all 120 orders of five values, every pair of
    ranks of the last two values must occur equally often.
    """
    rng = Same(np.random.PCG64(0))
    found = Counter(
        tuple(np.round(places(np.array(order[3:]), np.array(order[:3]), rng), 6))
        for order in itertools.permutations([1.0, 2.0, 3.0, 4.0, 5.0])
    )
    assert set(found.values()) == {6}
    assert set(found) == {(round((i + 0.5) / 4, 6), round((j + 0.5) / 5, 6)) for i in range(4) for j in range(5)}


def test_rounding_errors_are_ties() -> None:
    """The test fails if a rounding error counts as a difference between two laws. The values 0 and 1e-17 count as
    equal, and equal values get a random rank.
    """
    rng = np.random.default_rng(0)
    found = np.concatenate([places(np.full(4, 1e-17), np.array([0.0, 0.0, 0.0, 5.0, 7.0]), rng) for _ in range(500)])
    assert found.max() > 0.6
    exact = np.concatenate([places(np.full(4, 2.0), np.array([0.0, 0.0, 0.0, 5.0, 7.0]), rng) for _ in range(50)])
    assert exact.min() > 3 / 9


def laplace(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Add Laplace noise to every entry of the second moment."""
    return np.asarray(x.T @ x / len(x) + rng.laplace(size=(x.shape[1],) * 2))


def many(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
    """Return many independent draws of `laplace`."""
    return np.array([laplace(x, rng) for _ in range(size)])


BESIDE = Beside(many, lambda x: features(SECOND_MOMENT, x.shape[1]), 2)


def test_data_that_correct_implementations_round_differently_are_left_out() -> None:
    """The test fails if the audit compares draws on data for which correct implementations may round a row to
    different grid points.
    """
    target = Target("laplace", lambda x, *, rng: laplace(x, rng))
    unsure = replace(BESIDE, unsure=lambda x: True)
    (found,) = run_kinds(Setting(target, {}, SECOND_MOMENT, seed=0), unsure, Look(samples=100))
    assert found.status is Status.SKIPPED


@pytest.mark.parametrize(("bits", "size", "rounds"), [("2", 7.0, True), ("2", 1.0, False), ("20", 7.0, False)])
def test_only_clipped_rows_on_a_coarse_grid_are_rounded_differently(bits: str, size: float, rounds: bool) -> None:
    """The test fails if the audit expects rounding differences for rows inside the ball, or on a very fine grid."""
    name = "discrete-laplace-covariance"
    known = profile(name, default_claim(name), mechanism(name).resolve({"input_bits": bits}), 2000, 0)
    assert known.beside.unsure(np.full((4, 1), size)) == rounds


def looked_at(draw: object, samples: int = 2000) -> list[Finding]:
    setting = Setting(Target("x", draw), PureDP(1.0).keywords(), SECOND_MOMENT, seed=0)  # type: ignore[arg-type]
    return run_kinds(setting, BESIDE, Look(samples=samples))


def smallest(checks: list[Finding]) -> float:
    return min(check.p_value or 0.0 for check in checks)


@pytest.mark.thorough
def test_the_same_law_is_not_suspicious() -> None:
    """The test fails if the p-values are too small for equal laws. A false alarm of the three checks has probability
    at most 3e-5.
    """
    checks = looked_at(lambda x, *, epsilon, rng: laplace(x, rng))
    assert [check.name for check in checks] == list(NAMES.values())
    assert smallest(checks) > 1e-5


def less_noise_on_zero_rows(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return laplace(x, rng) * (0.05 if not x.any() else 1.0)


def quarter_noise_on_wide_data(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return laplace(x, rng) * (0.25 if x.shape[1] > x.shape[0] else 1.0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("draw", "named"), [(less_noise_on_zero_rows, "all rows zero"), (quarter_noise_on_wide_data, "n = 4, d = 6")]
)
def test_a_branch_for_some_data_is_seen_and_named(draw: object, named: str) -> None:
    checks = looked_at(draw, 4000)
    assert smallest(checks) < ALPHA
    worst = min(checks, key=lambda check: check.p_value or 0.0)
    assert named in worst.detail.partition("(p = ")[0]


@pytest.mark.thorough
def test_data_that_the_reference_rejects_or_on_which_the_target_fails_are_left_out() -> None:
    def rejects(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        raise InvalidInput("x = …: must be something else")

    setting = Setting(Target("x", lambda x, *, epsilon, rng: laplace(x, rng)), {"epsilon": 1.0}, SECOND_MOMENT, seed=0)
    (check,) = run_kinds(setting, Beside(rejects, BESIDE.features, 2), Look(samples=2000))
    assert check.status is Status.SKIPPED

    def fails(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if not x.any():
            raise ValueError("zero")
        return laplace(x, rng)

    checks = looked_at(fails)
    assert smallest(checks) > 1e-5
    zeros = sum(not member.x.any() for n, d in SIZES if d >= 2 for member in zoo(n, d, 0))
    assert f"not compared: {zeros} data sets" in checks[0].detail


class Unseeded:
    """A target that ignores the given generator and drops zero rows."""

    def __init__(self) -> None:
        self.own = np.random.default_rng(5)

    def __call__(self, x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        rows = x[x.any(axis=1)] if len(x) > 4 else x
        return gauss_cov.sample(rows if len(rows) else x, self.own, rho=rho)


@pytest.mark.thorough
def test_a_target_that_draws_from_the_operating_system_is_compared_as_well() -> None:
    target = Target("unseeded", Unseeded(), mechanism="gauss-cov", seeded=False)
    report = audit(target, rho=0.5, samples=500, stop_early=True)
    assert "every kind of data" in {check.name for check in report.refuted}
    seeded = audit("covassay:gauss-cov", rho=0.5, samples=100)
    assert not {check.name for check in seeded.checks} & set(NAMES.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in ("gaussian-learner", "adaptive-cov")])
def test_the_reference_itself_is_not_suspicious(name: str) -> None:
    """The test fails if ranks are not uniform when the target and the reference are the same code. A false alarm has
    probability at most 3e-5.
    """
    claim, declared = default_claim(name), mechanism(name)
    known = profile(name, claim, declared.resolve({}), 2000, 0)
    assert known.beside is not None
    target = Target(name, lambda x, *, rng, **budget: declared.sample(x, rng, **budget))
    source = seen(target, known, AuditOptions())  # for bounded columns, an audit compares noisy sums
    checks = run_kinds(Setting(source, claim.keywords(), known.form.output, seed=3), known.beside, Look(samples=2000))
    assert smallest(checks) > 1e-5


def test_the_controls_are_the_reference_on_plain_rows() -> None:
    x = np.random.default_rng(0).normal(size=(40, 3))
    for control in NEGATIVE_CONTROLS:
        if control.name.endswith(("below-the-largest", "below-a-quantile")):
            continue
        claim = default_claim(control.mechanism).keywords()
        y = control.draw(x, rng=np.random.default_rng(1), **claim)
        assert np.allclose(y, mechanism(control.mechanism).sample(x, np.random.default_rng(1), **claim))


def test_shapes_where_a_draw_is_slow_are_left_after_their_first_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds_of_data, "PACE", 0.0)
    data_sets, *_ = looked_at(lambda x, *, epsilon, rng: laplace(x, rng))
    compared = [*((n, d) for n, d in SIZES if d >= 2), (MANY_ROWS, 2)]
    assert data_sets.n == DRAWS * len(compared)
    assert (
        f"only the first kinds of data were compared for (n, d) = {', '.join(map(str, compared))}" in data_sets.detail
    )


def test_places_that_keep_to_the_middle_are_seen_by_their_distance_from_it() -> None:
    """The test fails if ranks that concentrate around the middle are not detected. If a symmetric noise law has too
    small a scale, the ranks lie near the middle. An ordinary test that the ranks are uniform hardly detects this.
    """
    sample = 0.5 + 0.75 * ((np.arange(200) + 0.5) / 200 - 0.5)
    assert kolmogorov_smirnov(sample, uniform, "").p_value > 1e-4
    group = kinds_of_data._Group()
    group.add({"feature": sample}, np.zeros((1, 1)))
    assert group.p_value() < ALPHA


@pytest.mark.parametrize(("width", "again"), [(0.65, True), (1.0, False)])
def test_a_p_value_that_is_small_but_not_suspicious_leads_to_a_second_look(width: float, again: bool) -> None:
    """The audit first makes twelve draws on each data set, which detect a mistake only rarely. The test fails if a
    small p-value that is not yet suspicious does not lead to a second round with more draws.
    """
    group = kinds_of_data._Group()
    group.add({"feature": width * (np.arange(24) + 0.5) / 24}, np.zeros((1, 1)))
    check = kinds_of_data._check("data set", {"zeros": group}, 0, [], Look())
    p_value = check.p_value or 0.0
    assert p_value > SUSPICIOUS
    assert (p_value < data_of_many_kinds.QUESTION.second_look_below) == again
