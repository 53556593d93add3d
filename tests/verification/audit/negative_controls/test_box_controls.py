"""Test releases of data with bounded columns. Mistakes must be refuted with the default number of draws, and correct
releases must pass.
"""

from dataclasses import replace

import numpy as np
import pytest

from covassay.reference.domain import Box, Matrix
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Verdict
from covassay.verification.audit.recorded.facts import ExactLosses
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.targets.target import Target
from tests.negative_controls.adapter import TARGETS
from tests.negative_controls.of_box import BOX_CONTROLS, CORRECT, UNEQUAL, UNIT, Bounds, BoxControl, clipped, covariance

QUICK = ("box-triangle-orders", "box-triangle-orders-placed", "box-divisor")


def audited(control: BoxControl, seed: int = 0, samples: int = 2000) -> AuditReport:
    target = Target(control.name, control.draw, draw_many=control.draw_many)
    return audit(target, epsilon=1.0, bounds=control.bounds, seed=seed, samples=samples)


def loss_of(check: Finding) -> float:
    """Return the largest loss that a check has shown, exactly or by counts of an event."""
    if exact := check.fact(ExactLosses):
        return max(pair.loss or 0.0 for pair in exact.losses)
    return float(getattr(check.facts, "loss_lower_bound", 0.0))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in BOX_CONTROLS]
)
def test_every_control_is_refuted_at_its_budget_and_named(name: str) -> None:
    control = BOX_CONTROLS[name]
    report = audited(control, samples=control.samples)
    assert report.verdict is Verdict.REFUTED
    assert {check.kind for check in report.refuted} == {"privacy"}
    assert control.diagnosis in " ".join(report.diagnoses)
    assert max(map(loss_of, report.refuted)) > 1.0


@pytest.mark.thorough
def test_equal_bounds_hide_nothing_from_an_audit_that_may_choose_others() -> None:
    """The test fails if the audit tries no bounds other than those that the user gives. The target gives the noise
    scales to the wrong entries, which has no effect if all columns are equally wide.
    """
    report = audited(replace(BOX_CONTROLS["box-triangle-orders"], bounds=UNIT), samples=600)
    pairs = [f.losses[0].name if (f := check.fact(ExactLosses)) else check.scenario for check in report.refuted]
    assert {name.partition(",")[0] for name in pairs} == {"other bounds"}


def test_every_control_is_a_target() -> None:
    assert set(BOX_CONTROLS) <= set(TARGETS)
    assert TARGETS["box-own-range"]().name == "mutant:box-own-range"


@pytest.mark.slow
@pytest.mark.parametrize("control", CORRECT, ids=lambda control: control.name)
def test_correct_releases_are_not_refuted(control: BoxControl) -> None:
    """The test fails if a correct release with bounded columns is refuted. A false alarm has probability at most 1e-9
    in each run.
    """
    assert audited(control, samples=300).verdict is Verdict.NOT_REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("control", CORRECT, ids=lambda control: control.name)
def test_correct_releases_are_not_refuted_over_20_seeds(control: BoxControl) -> None:
    """The test fails if a correct release with bounded columns is refuted with one of 20 seeds. A false alarm in any
    run has probability at most 20e-9.
    """
    for seed in range(20):
        report = audited(control, seed)
        assert report.verdict is Verdict.NOT_REFUTED, (seed, [(c.label, c.p_value) for c in report.refuted])


# Other correct targets


def gaussian(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Add Gaussian noise of one scale to the covariance, for fixed bounds on the columns."""
    box = Box(UNEQUAL)
    n, d = x.shape
    changes = np.triu(np.outer(box.widths, box.widths)) * (n - 1) / n**2
    noise = np.triu(rng.standard_normal((d, d))) * np.linalg.norm(changes) / np.sqrt(2 * rho)
    return covariance(clipped(x, box)) + noise + np.triu(noise, 1).T


def mean(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    box = Box(bounds)
    scale = box.widths * box.dimension / (len(x) * epsilon)
    return clipped(x, box).mean(axis=0) + scale * rng.laplace(size=box.dimension)


def rejecting(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Raise an error if a row is outside of fixed bounds, or if there is only one row."""
    box = Box(UNEQUAL)
    if len(x) < 2 or (clipped(x, box) != x).any():
        raise ValueError("a row is outside of the box, or there is only one row")
    return CORRECT[0].draw(x, epsilon=epsilon, rng=rng, bounds=UNEQUAL)


@pytest.mark.slow
def test_other_notions_and_outputs() -> None:
    """The test fails if an audit of data with bounded columns refutes a correct zCDP release or a correct release of a
    vector.
    """
    assert audit(gaussian, rho=0.5, bounds=UNEQUAL, samples=150).verdict is Verdict.NOT_REFUTED
    assert audit(mean, epsilon=1.0, bounds=UNEQUAL, released="vector", samples=150).verdict is Verdict.NOT_REFUTED


@pytest.mark.slow
def test_too_little_noise_in_other_notions_and_outputs() -> None:
    def half_gaussian(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        return gaussian(x, rho=4 * rho, rng=rng)

    def third_mean(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
        return mean(x, epsilon=3 * epsilon, rng=rng, bounds=bounds)

    assert audit(half_gaussian, rho=0.5, bounds=UNEQUAL).verdict is Verdict.REFUTED
    assert audit(third_mean, epsilon=1.0, bounds=UNEQUAL, released="vector").verdict is Verdict.REFUTED


def test_preconditions_accuse_nobody() -> None:
    """The test fails if a release is refuted because it rejects data sets of one row."""
    report = audit(rejecting, epsilon=1.0, bounds=UNEQUAL, samples=150)
    assert report.verdict is Verdict.NOT_REFUTED
    edge = next(check for check in report.checks if check.name == "edge cases")
    assert "one record: exception: ValueError on each of 24 other" in edge.detail
