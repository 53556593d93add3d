"""Test the centre of the outputs. The report must name simple mistakes in the centre before it judges the noise, and
must not name correct centres.
"""

from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.pure import entrywise_laplace
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.shared.centres import location
from covassay.verification.audit.knowledge.shared.profile import black_box
from covassay.verification.audit.reports.words import estimates, findings
from covassay.verification.audit.targets.target import Target, TargetReference
from covassay.verification.declared import default_claim
from tests.negative_controls.every import NEGATIVE_CONTROLS
from tests.negative_controls.of_location import NEGATIVE_CONTROLS as MISPLACED

CENTRED = [control for control in MISPLACED if control.diagnosis]
UNSEEDED = ("divided-by-columns", "numpy-covariance", "wrong-sign")


def where(name: str, seeded: bool = True) -> str:
    control = NEGATIVE_CONTROLS[name]
    claim = default_claim(control.mechanism)
    expected = profile(control.mechanism, claim, mechanism(control.mechanism).resolve(dict(control.options)), 500, 0)
    source = TargetReference(f"mutant:{name}", ".", seeded)
    found = location(Setting(source, claim.keywords(), expected.form.output, 0), expected, named=True)
    return "" if found is None else found.sentence


@pytest.mark.parametrize("control", CENTRED, ids=lambda control: control.name)
def test_the_mistake_is_named(control) -> None:  # type: ignore[no-untyped-def]
    assert control.diagnosis in where(control.name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", UNSEEDED)
def test_the_mistake_is_named_without_seeds(name: str) -> None:
    """The outputs of each target are centred on a wrong value, and the target accepts no seed. The test fails if the
    report does not name this value. Without seeds, the centre is known only up to a standard error.
    """
    assert NEGATIVE_CONTROLS[name].diagnosis in where(name, seeded=False)


@pytest.mark.parametrize("name", ["half-scale", "half-noise-gauss-cov", "half-noise-output-perturbation"])
def test_a_wrong_scale_is_no_wrong_centre(name: str) -> None:
    assert where(name) == ""


def test_a_letter_is_explained_where_it_is_used() -> None:
    assert where("squares-summed").endswith("(q is the output without noise)")
    assert where("not-squared").endswith("are the entries averaged without being squared?")


def shifted(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add noise whose mean is not zero."""
    n, d = np.shape(x)
    return second_moment(unit_rows(x)) + d / (n * epsilon) * (rng.laplace(size=(d, d)) + 1.5)


def test_noise_with_a_mean_is_named() -> None:
    claim = PureDP(1.0)
    expected = profile("entrywise-laplace", claim, mechanism("entrywise-laplace").resolve({}), 500, 0)
    found = location(Setting(Target("mine", shifted), claim.keywords(), expected.form.output, 0), expected, named=True)
    assert found is not None
    assert "does not have mean 0" in found.sentence


def black_box_target(centre: Callable[[Matrix], Matrix], scale: float) -> Target:
    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        value = centre(unit_rows(x))
        return value + scale * rng.laplace(size=value.shape)

    return Target("mine", draw)


@pytest.mark.parametrize(
    ("centre", "words"),
    [
        (lambda rows: rows.T @ rows, "is a division by n missing"),
        (second_moment, ""),
        (lambda rows: second_moment(rows - rows.mean(axis=0)), ""),
        (lambda rows: 2 * second_moment(rows), ""),
    ],
)
def test_without_a_mechanism_only_a_wrong_size_is_named(centre: Callable[[Matrix], Matrix], words: str) -> None:
    """The test fails if the report names a mistake in the centre without knowing the correct centre. If no mechanism is
    named, the intended query is unknown, and only a wrong order of magnitude can be named.
    """
    expected = black_box(SECOND_MOMENT)
    setting = Setting(black_box_target(centre, 0.01), {"epsilon": 1.0}, expected.form.output, 0)
    found = location(setting, expected, named=False)
    assert (found is None and not words) or (found is not None and words != "" and words in found.sentence)


@pytest.mark.slow
def test_the_centre_is_the_first_explanation_and_the_scale_is_judged_about_it() -> None:
    """The outputs of the target are centred on n·Σ in place of Σ, and the noise has half the required scale. The test
    fails if the report measures the noise scale by the distances of the outputs from Σ, because by these distances the
    noise would seem too large.
    """

    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        rows = unit_rows(x)
        return rows.T @ rows + entrywise_laplace.sample(np.zeros_like(rows), rng, epsilon=epsilon) / 2

    report = audit(draw, epsilon=1.0, mechanism="entrywise-laplace", samples=300)
    assert report.diagnoses[0].startswith("the outputs are centred on n·Σ (20·Σ at n = 20)")
    assert "about that centre, the noise has half the calibrated scale" in report.diagnoses[1]
    assert len(report.diagnoses) == 2
    laws = [check for check in report.refuted if check.fact(LawTest) is not None]
    # these estimates of the noise scale use the distances of the outputs from the query, which is Σ
    assert any(check.fact(LawTest).estimates for check in laws)
    assert not any(estimates(check, report) for check in laws)
    assert sum(group[0].kind == "law" for group in findings(report)) == 1
