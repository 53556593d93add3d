"""Test audits in which the user supplies a data set."""

import ast
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.verification.audit.engine import user_data
from covassay.verification.audit.engine.finding import Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.user_data import UserData, load_user_data, scaled, user_checks
from covassay.verification.audit.targets.target import Target

DATA = UserData("table", scaled(np.arange(12.0).reshape(4, 3) ** 2))


def answers(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return x.T @ x / len(x) + rng.laplace(size=(3, 3)) / epsilon


def fails_on_four_rows(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    if len(x) == 4:
        raise RuntimeError("no")
    return answers(x, epsilon=epsilon, rng=rng)


def setting(draw: object) -> Setting:
    return Setting(Target("t", draw), {"epsilon": 1.0}, SECOND_MOMENT, seed=0)  # type: ignore[arg-type]


def test_a_target_that_answers_is_not_refuted() -> None:
    """The test fails if a target is refuted although it returns outputs for the user's data."""
    (check,) = user_checks(setting(answers), DATA)
    assert check.status is Status.NOT_REFUTED
    assert check.detail == "n = 4, d = 3: 3 outputs"


def test_a_target_that_fails_on_the_data_is_noted_with_the_exception() -> None:
    (check,) = user_checks(setting(fails_on_four_rows), DATA)
    assert check.status is Status.NOTED
    assert "3 × exception: RuntimeError" in check.detail


def test_features_are_scaled_by_their_extremes_into_the_unit_ball() -> None:
    unit = scaled(np.array([[0.0, 5.0], [10.0, 5.0], [5.0, 5.0]]))
    assert unit == pytest.approx(np.array([[-1, 0], [1, 0], [0, 0]]) / np.sqrt(2))


def test_a_data_set_that_is_neither_a_file_nor_known_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="data = 'whine': must be a file or one of wine"):
        load_user_data("whine")


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    assert load_user_data(str(tmp_path / "a.csv")).x.shape == (2, 2)


def test_only_data_and_bounds_are_read_by_the_release_tool() -> None:
    folder = Path(user_data.__file__).parents[1]
    importing = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("covassay.reference.release")
    }
    assert importing == {"engine/user_data.py", "targets/bounds.py"}
