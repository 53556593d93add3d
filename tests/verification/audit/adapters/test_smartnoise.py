"""Test that an audit of smartnoise-synth 1.0.8 still gives the known findings. If the package is not installed, the
tests cover the installation hint and a substitute for the package.
"""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from covassay.verification.audit.adapters import smartnoise_mechanisms as adapter
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Status, Verdict
from covassay.verification.audit.targets.target import CannotRun, TargetReference
from tests.negative_controls.of_box import UNEQUAL, _lower_at_upper, covariance, exact

INSTALLED = importlib.util.find_spec("snsynth") is not None
needs = pytest.mark.skipif(not (INSTALLED or os.environ.get("COVASSAY_REQUIRE_SMARTNOISE")), reason=adapter.INSTALL)


@pytest.mark.skipif(INSTALLED, reason="smartnoise-synth is installed")
def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COVASSAY_ADAPTERS", str(tmp_path))
    adapter._module.cache_clear()
    with pytest.raises(CannotRun, match=r"smartnoise-synth 1\.0\.8 is not .*: covassay adapters install smartnoise"):
        TargetReference("smartnoise:covariance", ".").load()


@pytest.mark.slow
@pytest.mark.peers
@needs
@pytest.mark.parametrize("name", adapter.TARGETS)
def test_a_variance_has_the_noise_of_a_covariance(name: str) -> None:
    report = audit(TargetReference(f"smartnoise:{name}", "."), epsilon=1.0, bounds=UNEQUAL, samples=600, jobs=2)
    assert report.verdict is Verdict.REFUTED
    assert {check.kind for check in report.refuted} == {"privacy"}
    assert max(check.facts.loss_lower_bound for check in report.refuted) > 3.13
    text = " ".join(report.diagnoses)
    assert "the noise has the scale of entry (1, 3)" in text
    assert "np.tril_indices" in text
    edge = next(check for check in report.checks if check.name == "edge cases")
    assert edge.status is Status.NOTED  # for data sets of one row, every output is NaN


@pytest.mark.peers
@needs
def test_the_adapter_draws_what_the_package_draws_and_leaves_the_global_generator_alone() -> None:
    import pandas as pd

    x = np.random.default_rng(1).random((30, 3)) * [1, 100, 1]
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    ours = adapter._covariance_values(x, epsilon=1.0, rng=np.random.default_rng(4), bounds=UNEQUAL)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002
    np.random.seed(np.random.default_rng(4).integers(2**32, dtype=np.uint32))  # noqa: NPY002
    frame, limits = pd.DataFrame(x, columns=["a", "b", "c"]), pd.DataFrame(np.array(UNEQUAL).T)
    theirs = adapter._module().DPcovariance(30, ["a", "b", "c"], limits, 1.0).release(frame)
    np.testing.assert_array_equal(ours[np.tril_indices(3)], theirs)


@pytest.mark.peers
@needs
def test_the_test_double_has_the_centres_and_scales_of_the_package() -> None:
    """The test fails if the substitute for the package differs from the package in centre or scale. The noise of the
    package is twice as large as necessary, because the package uses the sensitivity 2/n.
    """
    x = np.random.default_rng(1).random((400, 3)) * [1, 100, 1]
    rng = np.random.default_rng(0)
    drawn = np.array([adapter._covariance(x, epsilon=2.0, rng=rng, bounds=UNEQUAL) for _ in range(400)])
    middle = np.median(drawn, axis=0)
    spread = np.abs(drawn - middle).mean(axis=0)
    from covassay.reference.domain import Box

    expected = 2 * exact(Box(UNEQUAL), 400, 2.0)
    # The limit is 8 standard errors of a mean absolute deviation over 400 draws.
    assert np.all(np.abs(np.log(spread / expected)) < 8 / 20)
    assert np.all(np.abs(middle - _lower_at_upper(covariance(x)) * 400 / 399) < 8 * expected / 20)
