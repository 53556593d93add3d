"""Test that the audit restores the state of its process after a target has changed it."""

import math
import os
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.questions.contract.process_state import process_state
from covassay.verification.audit.targets.process_state import put_back
from covassay.verification.audit.targets.target import Target, TargetReference


def restored_after(change: Callable[[], object]) -> set[str]:
    """Call `change`, raise an error, and return the parts of the process state that are restored."""

    def end() -> None:
        change()
        raise ValueError("end")

    with pytest.raises(ValueError, match="end"), put_back() as changed:
        end()
    return changed


def test_a_changed_state_is_put_back_and_named(tmp_path: Path) -> None:
    before = os.getcwd(), np.geterr(), list(warnings.filters), sys.stdout, np.sqrt, math.log, sys.getrecursionlimit()
    changes: dict[str, Callable[[], object]] = {
        "the working directory": lambda: os.chdir(tmp_path),
        "numpy's error state": lambda: np.seterr(all="raise"),
        "the filters for warnings": lambda: warnings.simplefilter("ignore"),
        "the standard streams": lambda: setattr(sys, "stdout", None),
        "the recursion limit": lambda: sys.setrecursionlimit(12345),
        "numpy.sqrt": lambda: setattr(np, "sqrt", np.square),
        "math.log": lambda: delattr(math, "log"),
        "builtins.len": lambda: setattr(__import__("builtins"), "len", None),
    }
    for name, change in changes.items():
        assert restored_after(change) == {name}
    now = os.getcwd(), np.geterr(), list(warnings.filters), sys.stdout, np.sqrt, math.log, sys.getrecursionlimit()
    assert now == before
    assert restored_after(lambda: None) == set()


@pytest.mark.thorough
def test_a_change_is_noted_and_the_verdict_is_as_without_it(tmp_path: Path) -> None:
    def tidy(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        return x.T @ x / len(x) + rng.laplace(scale=20 / (len(x) * epsilon), size=(x.shape[1],) * 2)

    def untidy(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        os.chdir(tmp_path)
        np.seterr(all="ignore")
        np.random.seed(0)  # noqa: NPY002
        random.seed(0)
        warnings.simplefilter("always")
        return tidy(x, epsilon=epsilon, rng=rng)

    where, of_python = os.getcwd(), random.getstate()
    reports = [audit(Target("f", f), epsilon=1.0, samples=100) for f in (tidy, untidy)]
    assert (os.getcwd(), random.getstate()) == (where, of_python)
    first, second = ({c.label: (c.status, c.p_value) for c in r.checks} for r in reports)
    assert second.pop("contract / process state") == (Status.NOTED, None)
    assert first.pop("contract / process state") == (Status.NOT_REFUTED, None)
    # The audit computes an exact loss for the first target only, because the second target seeds generators. The two
    # audits therefore skip different checks, and only checks of the contract are compared.
    first, second = (
        {label: found for label, found in checks.items() if label.startswith("contract") and "running" not in label}
        for checks in (first, second)
    )
    assert first == second
    assert reports[0].verdict is reports[1].verdict
    detail = process_state(Setting(Target("f", untidy), {"epsilon": 1.0}, SECOND_MOMENT, 0)).detail
    assert "numpy's error state, the filters for warnings, the working directory" in detail


def test_an_import_that_changes_the_state_changes_nothing_for_the_audit(tmp_path: Path) -> None:
    (tmp_path / "rude_on_import.py").write_text("import numpy\nnumpy.seterr(all='raise')\ndef f(): pass\n")
    before = np.geterr()
    TargetReference("rude_on_import:f", str(tmp_path)).load()
    assert np.geterr() == before
