"""Test how the experiments find and call released code of a paper. The tests use substitutes for this code and for
torch.
"""

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.claims import ledger
from covassay.verification.cli.main import run
from covassay.verification.experiments import released, running
from covassay.verification.experiments.catalogue.dly22 import BETA
from covassay.verification.experiments.experiment import Cell

TORCH = """
import numpy as np
float32 = np.float32
class Tensor(np.ndarray):
    def detach(self): return self
    def numpy(self): return np.asarray(self)
def tensor(x, dtype): return np.asarray(x, dtype=dtype).view(Tensor)
def manual_seed(seed): pass
def set_num_threads(count): pass
"""
ADAPTIVE = """
import numpy as np
def GaussCov(X, n, d, rho, b_fleig=False): return X.T @ X / n + 1e-3 * np.random.normal()
SeparateCov = GaussCov
def AdaptiveCov(X, args): return GaussCov(X, args.n, args.d, args.total_budget)
def LapCov(X, n, d, eps, b_fleig=False): raise ValueError("out of order")
"""
EXPONENTIAL = "def EMCov(X, args, b_budget=False, b_fleig=True): return 0 * X.T @ X + args.delta\n"
CELL = Cell("n1000", 10, 0)


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder with the layout of the code that the authors of a paper released. In this folder, the program of
    every method is replaced by one line.
    """
    for name, text in (("adaptive", ADAPTIVE), ("exponential", EXPONENTIAL)):
        (tmp_path / "code" / name).mkdir(parents=True)
        (tmp_path / "code" / name / "algos.py").write_text(text)
    (tmp_path / "torch.py").write_text(TORCH)
    before = list(sys.path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("torch", "adaptive", "adaptive.algos", "exponential", "exponential.algos"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    released._modules.cache_clear()
    yield tmp_path / "code"
    released._modules.cache_clear()
    for name in ("torch", "adaptive", "adaptive.algos", "exponential", "exponential.algos"):
        sys.modules.pop(name, None)
    sys.path[:] = before


def test_the_code_runs_on_the_same_data_and_leaves_the_other_methods_as_they_are(code: Path) -> None:
    files = {released.NAME: released.require(code)}
    beside, alone = (
        {row.method: row.error for row in released.arranged("dly22-figure-2", given).run(CELL, "small", 0, given)}
        for given in (files, {})
    )
    assert {label: beside[label] for label in alone} == alone
    assert set(beside) - set(alone) == {
        *(released.THEIRS.format(label) for label in released.CALLS["rho"]),
        *(method.label for method in released.SWITCHED["rho"]),
    }
    assert beside["GaussCov, their code"] < 0.1
    assert beside["EMCov, their code"] == pytest.approx(beside["zero matrix"], rel=1e-6)
    again = released.arranged("dly22-figure-2", files).run(CELL, "small", 0, files)
    assert {row.method: row.error for row in again} == beside


def test_the_result_names_the_code_and_a_change_of_it_is_another_run(code: Path) -> None:
    files = {released.NAME: code}
    first = running.header(running.Plan.of("dly22-figure-2", files=files))
    (code / "adaptive" / "__pycache__").mkdir()
    (code / "adaptive" / "__pycache__" / "algos.pyc").write_bytes(b"x")
    assert running.header(running.Plan.of("dly22-figure-2", files=files)) == first
    (code / "adaptive" / "algos.py").write_text(ADAPTIVE + "\n")
    assert running.header(running.Plan.of("dly22-figure-2", files=files))["data"] != first["data"]


def test_what_the_code_raises_is_one_clear_error(code: Path) -> None:
    files = {released.NAME: code}
    found = released.arranged("dly22-pure-unit-norm", files)
    with pytest.raises(InvalidInput, match="LapCov, their code: the released code failed: ValueError: out of order"):
        found.run(replace(CELL, panel="a"), "small", 0, files)


def test_wrong_paths_and_experiments_are_one_clear_error(
    code: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    arguments = ["experiments", "run", "dly22-figure-2", "--out", str(out), "--released-code"]
    assert run([*arguments, str(tmp_path)]) == 2
    assert "must be a copy of hkustDB/PrivateCovariance" in capsys.readouterr().err
    assert run(["experiments", "run", "dn25-constants", "--out", str(out), "--released-code", str(code)]) == 2
    assert "dn25-constants is no experiment of this paper" in capsys.readouterr().err
    monkeypatch.setattr(released, "find_spec", lambda name: None)
    assert run([*arguments, str(code)]) == 2
    assert "needs torch, which is not installed" in capsys.readouterr().err
    assert not out.exists()


def rows_of_length_half() -> Matrix:
    rows = np.random.default_rng(0).standard_normal((300, 6))
    return rows / (2 * np.linalg.norm(rows, axis=1, keepdims=True))


def test_with_all_mistakes_off_the_switched_method_is_that_of_the_registry() -> None:
    rows = rows_of_length_half()
    for rho, seed in itertools.product((0.001, 0.1, 10.0), range(20)):
        ours = mechanism("adaptive-cov").sample(rows, np.random.default_rng(seed), rho=rho, bounds="code", beta=BETA)
        switched = released.adaptive_with(False, False, rows, {"rho": rho, "beta": BETA}, np.random.default_rng(seed))
        assert np.allclose(switched, ours, rtol=1e-9, atol=1e-12)


def test_with_the_mistakes_off_the_pure_switched_method_is_that_of_the_registry() -> None:
    rows = rows_of_length_half()
    for epsilon, seed in itertools.product((0.1, 1.0, 30.0), range(20)):
        setting = {"epsilon": epsilon, "beta": BETA}
        switched = released.adaptive_pure_with(False, rows, setting, np.random.default_rng(seed))
        ours = mechanism("adaptive-cov-pure").sample(rows, np.random.default_rng(seed), **setting)
        assert np.allclose(switched, ours, rtol=1e-9, atol=1e-12)


def test_a_switched_mistake_changes_the_output() -> None:
    """The test fails if an option that reproduces a mistake of the released code does not change the output."""

    def differ(first: Callable[..., Matrix], second: Callable[..., Matrix], norms: Matrix, d: int, rho: float) -> bool:
        rows = np.random.default_rng(0).standard_normal((len(norms), d))
        rows *= (norms / np.linalg.norm(rows, axis=1))[:, None]
        setting = {"rho": rho, "epsilon": 1.0, "beta": BETA}
        draws = ([f(rows, setting, np.random.default_rng(k)) for f in (first, second)] for k in range(40))
        return any(not np.allclose(a, b) for a, b in draws)

    adaptive, pure = released.adaptive_with, released.adaptive_pure_with
    right, various = partial(adaptive, False, False), 2.0 ** -(np.arange(300) % 8.0)
    assert differ(right, partial(adaptive, True, False), various, 2, 0.1)
    assert differ(right, partial(adaptive, False, True), np.full(500, 0.1), 40, 0.01)
    assert differ(partial(pure, False), partial(pure, True), np.full(500, 0.1), 40, 0.01)
    assert not differ(right, partial(adaptive, False, False), various, 2, 0.1)


@pytest.mark.parametrize("name", ["dly22-figure-2", "dly22-pure-unit-norm"])
def test_every_explanation_names_methods_that_are_there(name: str, code: Path) -> None:
    found = released.arranged(name, {released.NAME: code})
    labels = {method.label for method in found.panels[0].methods}
    budget = "rho" if name == "dly22-figure-2" else "epsilon"
    for one in released.EXPLAINED[budget]:
        assert {released.THEIRS.format(one.label), one.without, one.with_mistake} <= labels
        assert one.entry in ledger.covering()
    assert released.SAME[budget] in labels
