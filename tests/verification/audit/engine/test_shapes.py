"""Test how an audit checks the noise on data of other shapes, the tails of the noise, and
branches that occur rarely.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.building_blocks import gaussian, laplace
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.pure import entrywise_laplace, k_norm, lap_cov, nuclear_laplace, output_perturbation
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.shapes import COLUMNS, NAMES, OTHER_SHAPES, ROWS, Shapes, grid, run_shapes
from covassay.verification.audit.engine.tails import RARE_BRANCHES, rare_branches, tail_findings
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim
from covassay.verification.statistics.laws import LAPLACE, NORMAL
from covassay.verification.statistics.tests import gamma_total, kolmogorov_smirnov
from tests.negative_controls.changed_noise import (
    Change,
    Declared,
    at_times,
    of_numbers,
    redrawn_beyond,
    scaled_where,
    with_noise,
)
from tests.negative_controls.of_tails import student

SHAPED = [  # for these mechanisms, the law with the default options is known for data of every shape
    name
    for name in MECHANISMS
    if profile(name, default_claim(name), mechanism(name).resolve({}), 100, 0).shapes is not None
]


def shaped(n: int, d: int) -> Scenario:
    """Return a scenario in which the output has one Laplace number for every column."""
    tests = {
        "all": lambda y: kolmogorov_smirnov(y.ravel(), LAPLACE, ""),
        "total": lambda y: gamma_total(np.abs(y).sum(axis=1), d, ""),
    }
    return Scenario(f"n={n}, d={d}", np.zeros((n, d)), tests)


LAW = Shapes(shaped, ("all", "total"), lambda d: d, grid())


def vectors(draw: Callable[[Matrix, np.random.Generator], Any], samples: int = 2000) -> list[Finding]:
    def target(x: Matrix, *, rng: np.random.Generator) -> Any:
        return draw(x, rng)

    output = mechanism("laplace").output
    return run_shapes(Setting(Target("own", target), {}, output, seed=5), LAW, Look(samples=samples, level=1e-11))


def noise(x: Matrix, rng: np.random.Generator) -> Vector:
    return rng.laplace(size=x.shape[1])


def test_the_grid_has_every_number_of_rows_and_of_columns() -> None:
    assert {n for n, _ in grid()} == set(ROWS) >= {1, 2, 64, 65, 1000}
    assert {d for _, d in grid()} == set(COLUMNS) == {*range(1, 13), 32}


def test_a_right_law_stands_at_every_shape_and_the_report_says_what_was_in_reach() -> None:
    checks = vectors(noise)
    assert [check.name for check in checks] == list(NAMES.values())
    assert all(check.p_value is not None and check.p_value > 1e-6 for check in checks)
    assert checks[0].facts.detectable < 0.4


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (lambda n, d: d == 10, "every number of columns"),
        (lambda n, d: n == 2, "every number of rows"),
        (lambda n, d: n * d > 200, "all shapes"),
    ],
    ids=["columns", "rows", "both"],
)
def test_a_law_that_is_wrong_at_some_shapes_is_seen(where: Callable[[int, int], bool], name: str) -> None:
    checks = vectors(lambda x, rng: (0.6 if where(*x.shape) else 1.0) * noise(x, rng))
    assert next(check.p_value for check in checks if check.name == name) < 1e-9  # type: ignore[operator]


def test_the_shapes_that_are_wrong_are_named() -> None:
    columns = vectors(lambda x, rng: (0.5 if x.shape[1] == 11 else 1.0) * noise(x, rng))[1]
    assert "smallest p-values: d = 11 (p =" in columns.detail


def test_a_shape_without_outputs_is_named_and_does_not_refute() -> None:
    def fails(x: Matrix, rng: np.random.Generator) -> Any:
        return noise(x, rng) if x.shape[0] > 1 else None

    every = vectors(fails)[-1]
    assert "too few outputs at (n, d) = (1, 1), (1, 2)" in every.detail
    assert every.p_value is not None
    assert every.p_value > 1e-6


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_a_target_that_is_late_from_ten_columns_on_is_tested_below(share: float) -> None:
    def late(x: Matrix, rng: np.random.Generator) -> Vector:
        while x.shape[1] >= 10:
            pass
        return (share if x.shape[1] == 9 else 1.0) * noise(x, rng)

    setting = Setting(Target("own", lambda x, *, rng: late(x, rng)), {}, mechanism("laplace").output, 5, seconds=0.05)
    _, columns, every = run_shapes(setting, LAW, Look(samples=2000))
    assert "not tested, because the target ran into the time limit: n ≥ 1 with d ≥ 10" in every.detail
    assert columns.p_value is not None
    assert (columns.p_value < 1e-9) == (share < 1)


def test_a_target_that_answers_nowhere_is_skipped() -> None:
    (check,) = vectors(lambda x, rng: None, samples=200)
    assert check.status is Status.SKIPPED


@pytest.mark.parametrize("name", [name for name in SHAPED if name in ("gauss-cov", "exponential", "separate-cov")])
def test_the_reference_has_its_law_at_every_shape(name: str) -> None:
    assert law_of_the_reference(name, seed=11) > 1e-6


def law_of_the_reference(name: str, seed: int) -> float:
    claim, about = default_claim(name), mechanism(name)
    known = profile(name, claim, about.resolve({}), 500, seed)
    target = Target("own", lambda x, *, rng, **budget: about.sample(x, rng, **budget))
    assert known.shapes is not None
    checks = run_shapes(Setting(target, claim.keywords(), about.output, seed), known.shapes, Look(samples=500))
    return min(check.p_value if check.p_value is not None else 1.0 for check in checks)


# TAILS AND RARE BRANCHES

LOOK = Look(level=1.4e-11)


def seen(values: Vector) -> list[Finding]:
    return tail_findings("data", {"value": kolmogorov_smirnov(values, NORMAL, "")}, len(values), LOOK)


def test_a_draw_far_out_in_one_scenario_refutes_and_names_it() -> None:
    rng = np.random.default_rng(1)
    z = rng.standard_normal(2000)
    (right,) = rare_branches([*seen(rng.standard_normal(2000)), *seen(z)], LOOK)
    assert right.p_value > 1e-6  # type: ignore[operator]
    z[5] = -20
    (wrong,) = rare_branches([*seen(rng.standard_normal(2000)), *seen(z)], LOOK)
    assert wrong.p_value < 1e-60  # type: ignore[operator]
    assert wrong.n == 4000


def test_the_report_says_how_rare_a_branch_may_be() -> None:
    (check,) = rare_branches(seen(np.random.default_rng(1).standard_normal(14_000)), LOOK)
    sentence = check.facts.reach
    assert "the law gives such values a probability below 1e-15" in sentence or "below 9e-16" in sentence
    assert "is taken in one of 3040 draws, or more often" in sentence
    assert check.facts.detectable == pytest.approx(1 / 3040, rel=1e-3)


def test_without_a_law_that_is_known_far_out_nothing_is_said_of_rare_branches() -> None:
    uniform = kolmogorov_smirnov(np.random.default_rng(1).random(500), lambda t: np.clip(t, 0, 1), "")
    checks = tail_findings("data", {"value": uniform}, 500, LOOK)
    assert [check.name for check in checks] == ["tails"]
    assert rare_branches(checks, LOOK) == []


# WHOLE AUDITS


def verdict(declared: Declared, change: Change, kinds: str = "law") -> None:
    """Assert that the audit detects a change of the noise from the distribution of the outputs alone. The target
    ignores its generator, so that draws with the same seed cannot be compared.
    """
    control = with_noise("own", "", declared, change, ())
    own = np.random.default_rng(3)

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return control.draw(x, rng=own, **budget)

    target = Target("own", draw)
    report = audit(target, **default_claim(declared.name).keywords(), mechanism=declared.name, seed=2, unseeded=True)
    assert report.verdict is Verdict.REFUTED, [(c.label, c.p_value) for c in report.checks if c.p_value is not None]
    assert any(check.kind == kinds for check in report.refuted)


SIX = [m.MECHANISM for m in (gauss_cov, laplace, gaussian, nuclear_laplace, entrywise_laplace, lap_cov,
                             output_perturbation, k_norm)]  # fmt: skip
PLACES = {
    "at d = 7": lambda n, d: d == 7,
    "at n = 65": lambda n, d: n == 65,
    "at n = 1": lambda n, d: n == 1,
    "from n = 1000 on": lambda n, d: n >= 1000,
}


@pytest.mark.slow
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("declared", SIX, ids=[m.name for m in SIX])
def test_a_fifth_less_noise_at_some_shapes_is_refuted(declared: Declared, where: str) -> None:
    verdict(declared, scaled_where(PLACES[where], 0.8))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("declared", "change"),
    [
        (gauss_cov.MECHANISM, of_numbers(redrawn_beyond(4, lambda rng, size: rng.standard_normal(size)))),
        (gauss_cov.MECHANISM, of_numbers(lambda z, rng: np.clip(z, -4, 4))),
        (gauss_cov.MECHANISM, student(10)),
        (gaussian.MECHANISM, student(10)),
        (separate_cov.MECHANISM, at_times(0.003, 10, "eigenvalues")),
        (entrywise_laplace.MECHANISM, at_times(0.003, 10)),
        (lap_cov.MECHANISM, at_times(0.01, 3)),
    ],
)
def test_tails_that_only_many_draws_show_are_refuted_by_the_second_look(declared: Declared, change: Change) -> None:
    verdict(declared, change)


def test_names_that_take_the_place_of_scenarios_are_no_scenarios() -> None:
    for name in ("gauss-cov", "laplace"):
        known = profile(name, default_claim(name), mechanism(name).resolve({}), 100, 0)
        assert not {OTHER_SHAPES, RARE_BRANCHES} & {scenario.name for scenario in known.scenarios}
