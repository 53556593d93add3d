"""Test that audits of other packages still give the known findings, and that the findings can be replayed. The
versions of the packages are those of the extra `peers`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.verification.audit.adapters import opendp_mechanisms
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.engine.user_data import load_user_data, scaled
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.targets.target import CannotRun, TargetReference
from tests.conventions import needs


def law_checks(report: AuditReport) -> list[Finding]:
    return [check for check in report.checks if check.kind == "law" and check.status is Status.REFUTED]


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.parametrize(
    "target",
    [
        pytest.param("diffprivlib:bingham", marks=needs("diffprivlib")),
        pytest.param("opendp:private-eigenvector", marks=needs("opendp")),
    ],
)
def test_the_shipped_eigenvector_samplers_follow_another_law_and_exceed_their_epsilon(target: str) -> None:
    report = audit(TargetReference(target, "."), epsilon=1.0, jobs=2)
    assert report.verdict is Verdict.REFUTED
    assert report.verdict.exit_status == 1
    assert all((check.p_value or 0.0) < 1e-9 for check in law_checks(report))
    assert len(law_checks(report)) >= 5
    assert len(report.diagnoses) == 1
    assert "wrong sign" in report.diagnoses[0]
    aimed = next(check for check in report.checks if check.name == "event" and "d=6" in check.scenario)
    assert aimed.status in (Status.REFUTED, Status.SUSPICIOUS)
    assert aimed.facts.confidence == 0.999
    assert aimed.facts.loss_lower_bound > 1.0
    assert "loss 1.706 on this pair, and 1.735 in the limit n → ∞" in aimed.detail
    slow = next(check for check in report.checks if check.name == "running time")
    assert slow.status is Status.NOTED


@pytest.mark.slow
@pytest.mark.peers
@needs("opendp")
def test_an_exception_that_depends_on_the_data_is_a_privacy_violation() -> None:
    report = audit(TargetReference("opendp:eigendecomposition", "."), epsilon=1.0, samples=200, jobs=2)
    assert report.verdict is Verdict.REFUTED
    assert any(check.name == "failures" and check.status is Status.REFUTED for check in report.checks)


@pytest.mark.peers
@needs("diffprivlib")
def test_an_adapter_draws_what_the_package_draws() -> None:
    """The test fails if the adapter of diffprivlib changes the data or the seed before it calls the package."""
    from diffprivlib.mechanisms import Bingham

    target = TargetReference("diffprivlib:bingham", ".").load()
    x = np.repeat(np.eye(3), [5, 2, 1], axis=0)
    ours = target.draw(x, epsilon=1.0, rng=np.random.default_rng(4))
    state = np.random.RandomState(np.random.default_rng(4).integers(2**32, dtype=np.uint32))
    np.testing.assert_array_equal(ours, Bingham(epsilon=1.0, random_state=state).randomise(x.T @ x))


@pytest.mark.peers
@needs("opendp")
def test_the_opendp_adapter_asks_for_the_budget_that_its_map_confirms() -> None:
    target = TargetReference("opendp:private-eigenvector", ".").load()
    u = target.draw(np.repeat(np.eye(3), [5, 2, 1], axis=0), epsilon=0.7, rng=np.random.default_rng(0))
    assert u.shape == (3,)
    assert np.linalg.norm(u) == pytest.approx(1.0)


def test_a_scale_that_depends_on_public_numbers_alone_is_searched_for_once() -> None:
    searched: list[float] = []

    def search(make_chain: Any, d_in: float, d_out: float) -> float:
        searched.append(d_out)
        return d_in / d_out

    scales = opendp_mechanisms._KeptScales(search)
    for public in (None, None, (12, 2), (12, 2), (13, 2)):
        scales.public, scales.count = public, 0
        assert [scales(str, 2, d_out) for d_out in (0.5, 0.25)] == ["4.0", "8.0"]
    # for public numbers of rows, every noise scale is searched for only once
    assert searched == [0.5, 0.25] * 4


@pytest.mark.peers
@needs("diffprivlib")
def test_a_package_that_does_not_import_cannot_be_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COVASSAY_ADAPTERS", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "diffprivlib.models", None)
    with pytest.raises(
        CannotRun, match=r"importing diffprivlib.models raised .*: covassay adapters install diffprivlib"
    ):
        TargetReference("diffprivlib:covariance-eig", "elsewhere").load()


@pytest.mark.peers
@needs("sklearn")
def test_the_named_data_sets_lie_in_the_unit_ball() -> None:
    for name, shape in (("wine", (178, 13)), ("digits", (1797, 64)), ("breast-cancer", (569, 30))):
        x = load_user_data(name).x
        assert x.shape == shape
        assert np.linalg.norm(x, axis=1).max() <= 1 + 1e-12


def test_a_constant_feature_is_scaled_to_zero() -> None:
    """The test fails if the scaling of a constant column divides by its range, which is 0."""
    np.testing.assert_allclose(scaled(np.array([[1.0, 7.0], [3.0, 7.0]])), [[-(0.5**0.5), 0], [0.5**0.5, 0]])
