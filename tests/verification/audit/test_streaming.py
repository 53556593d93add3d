"""A streaming audit: no figure depends on workers, blocks that were made before, or a kill; mutants are refuted.

Every run has the default false-alarm probability of 1e-9 and fixed seeds. Blocks are small here.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.privacy import ZCDP, ApproximateDP, PureDP
from covassay.verification.audit import streaming
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Status, Verdict
from covassay.verification.audit.question import Question
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.targets.target import Target
from covassay.verification.cli.main import run as command

RHO = ZCDP(0.5)
Noise = Callable[[Matrix, np.random.Generator], Matrix]


def _noise(rng: np.random.Generator, size: int, d: int) -> Matrix:
    w = np.triu(rng.standard_normal((size, d, d)))
    return w + np.swapaxes(np.triu(w, 1), 1, 2)


def _target(change: Noise = lambda w, rng: w) -> Target:
    """GaussCov in batches, with its noise changed."""

    def many(x: Matrix, size: int, *, rho: float, rng: np.random.Generator) -> Matrix:
        rows = unit_rows(x)
        n, d = rows.shape
        released: Matrix = second_moment(rows) + gauss_cov.noise_scale(n, rho) * change(_noise(rng, size, d), rng)
        return released

    def one(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        drawn: Matrix = many(x, 1, rho=rho, rng=rng)[0]
        return drawn

    return Target("gaussian", one, draw_many=many)


def _rarely(share: float, factor: float) -> Noise:
    def change(w: Matrix, rng: np.random.Generator) -> Matrix:
        w[rng.random(len(w)) < share] *= factor
        return w

    return change


def _tied(w: Matrix) -> Matrix:
    """Two entries off the diagonal with one sign."""
    w[:, 0, 2] = w[:, 2, 0] = np.abs(w[:, 0, 2]) * np.sign(w[:, 0, 1])
    return w


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "BLOCK", 1000)
    monkeypatch.setattr(streaming, "SECONDS", 0.0)
    monkeypatch.setattr(streaming, "few_questions", list)


def _run(file: Path, target: Target | None = None, samples: int = 2500, **more: Any) -> AuditReport:
    given = {"mechanism": "gauss-cov", "seed": 3, **more}
    return audit(target or _target(), **RHO.keywords(), checkpoint=file, samples=samples, **given)


def _figures(report: AuditReport) -> dict[str, Any]:
    return {key: value for key, value in as_json(report).items() if key not in ("seconds", "replay", "settings")}


def _refuted(report: AuditReport) -> set[str]:
    assert report.verdict is Verdict.REFUTED
    return {check.name for check in report.refuted}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 25))])
def test_a_right_target_is_not_refuted_and_all_draws_count(tmp_path: Path, seed: int) -> None:
    report = _run(tmp_path / "run", seed=seed)
    assert report.verdict is Verdict.NOT_REFUTED
    law = next(check for check in report.checks if check.name == "squared norm")
    assert law.n == 2500
    assert {"tails", "rare branches", "divergence", "event"} <= {check.name for check in report.checks}


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda w, rng: 0.97 * w, {"total scale"}),
        (_rarely(1e-3, 0.0), {"coincidences in the draws of the law"}),
        (_rarely(1e-3, 30.0), {"rare branches"}),
        pytest.param(
            lambda w, rng: np.repeat(w[::2], 2, axis=0)[: len(w)], {"coincidences in the draws of the law"},
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda w, rng: np.clip(w, -2.5, 2.5), {"tails"}, marks=pytest.mark.slow),
        (lambda w, rng: _tied(w), {"signs of all entries"}),
        (lambda w, rng: w if rng.random() < 0.5 else w + np.nan, {"an output in every draw"}),
    ],
    ids=["3 % too little", "rarely none", "rarely far out", "repeated", "cut tails", "tied signs", "half fail"],
)  # fmt: skip
def test_a_mutant_is_refuted_by_the_check_that_is_there_for_it(tmp_path: Path, change: Noise, names: set[str]) -> None:
    assert names <= _refuted(_run(tmp_path / "run", _target(change), samples=20_000))


def test_a_gross_mutant_ends_the_run_at_a_first_look(tmp_path: Path) -> None:
    report = _run(tmp_path / "run", _target(lambda w, rng: 0.5 * w), samples=50_000)
    assert "total scale" in _refuted(report)
    assert report.draws == 1000
    assert _figures(_run(tmp_path / "run", _target(lambda w, rng: 0.5 * w), samples=50_000)) == _figures(report)


def test_a_pair_that_loses_too_much_is_refuted(tmp_path: Path) -> None:
    """The law stands, and the target looks at the data: only the pair shows it."""

    def tells(x: Matrix, size: int, *, rho: float, rng: np.random.Generator) -> Matrix:
        factor = 0.3 if len(x) == 2 else 1.0  # the pair has two rows
        w = _noise(rng, size, x.shape[1])
        return second_moment(unit_rows(x)) + factor * gauss_cov.noise_scale(len(x), rho) * w

    target = Target("tells", lambda x, **given: tells(x, 1, **given)[0], draw_many=tells)
    assert _refuted(_run(tmp_path / "run", target)) & {"event", "divergence"}


@pytest.mark.thorough
def test_a_target_that_fails_on_one_side_of_the_pair_is_refuted(tmp_path: Path) -> None:
    right = _target()

    def fails(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        if len(x) == 2 and x[1, 0] == 1 and rng.random() < 0.5:
            raise ValueError
        return np.asarray(right.draw(x, rho=rho, rng=rng))

    assert "failures" in _refuted(_run(tmp_path / "run", Target("fails", fails), samples=1000))


def test_a_target_without_outputs_on_one_side_is_not_decided(tmp_path: Path) -> None:
    right = _target()

    def fails(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        return np.asarray(right.draw(x, rho=rho, rng=rng)) if len(x) > 2 else np.zeros(0)

    assert _run(tmp_path / "run", Target("fails", fails), samples=1000).verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
def test_a_finished_run_gives_its_report_again_without_a_draw(tmp_path: Path) -> None:
    first = _run(tmp_path / "run")

    def fails(*given: Any, **more: Any) -> None:
        raise AssertionError("a draw")

    right = _target()
    again = _run(tmp_path / "run", Target(right.name, fails, draw_many=fails))
    assert _figures(again) == _figures(first)


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be killed")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(
    ("claim", "mechanism", "samples"),
    [
        (RHO, "gauss-cov", 2500),
        pytest.param(RHO, "gauss-cov", 4500, marks=pytest.mark.slow),
        pytest.param(PureDP(1.0), "entrywise-laplace", 4500, marks=pytest.mark.slow),
        pytest.param(ApproximateDP(1.0, 1e-6), "gauss-cov-approximate", 4500, marks=pytest.mark.slow),
    ],
)
def test_a_run_killed_again_and_again_ends_as_one_that_was_not(
    tmp_path: Path, claim: Any, mechanism: str, samples: int
) -> None:
    """The process is killed at every second report of progress: after blocks of the law and of both sides."""

    def run(file: Path, progress: Callable[[str, int], None] = lambda label, count: None) -> AuditReport:
        given: dict[str, Any] = {"mechanism": mechanism, "progress": progress, "samples": samples, "dimension": 2}
        target = _target() if claim is RHO else Target("reference", _draw(mechanism), mechanism)
        return audit(target, **claim.keywords(), checkpoint=file, **given)

    def killed_run() -> int:
        child = os.fork()
        if child:
            return os.waitpid(child, 0)[1]
        seen: list[str] = []

        def progress(label: str, count: int) -> None:
            seen.append(label)
            if label in ("law", *streaming.SIDES) and len([s for s in seen if s == label]) == 2:
                os.kill(os.getpid(), signal.SIGKILL)

        run(tmp_path / "killed", progress)
        os._exit(0)

    kills = 0
    while os.WIFSIGNALED(status := killed_run()):
        assert os.WTERMSIG(status) == signal.SIGKILL
        kills += 1
    assert kills >= 3
    state = json.loads((tmp_path / "killed").read_text())["state"]
    whole = run(tmp_path / "whole")
    assert _figures(run(tmp_path / "killed")) == _figures(whole)
    assert len(json.dumps(state)) < 200_000


def _draw(mechanism: str) -> Callable[..., Any]:
    from covassay.reference.mechanisms.registry import MECHANISMS

    return MECHANISMS[mechanism].sample


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a killed command leaves its child at work")
def test_a_killed_command_goes_on_with_the_same_command(tmp_path: Path) -> None:
    """The command is killed three times, once its checkpoint has changed since its start."""
    words = ["audit", "covassay:entrywise-laplace", "--samples", "21000", "--dimension", "2", "--json", "--jobs", "2"]
    start = [sys.executable, "-P", "-c", "from covassay.verification.cli.main import main; main()", *words]

    def changed(file: Path) -> int:
        return file.stat().st_mtime_ns if file.exists() else 0

    for _ in range(3):
        before = changed(tmp_path / "killed")
        running = subprocess.Popen([*start, "--checkpoint", "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL)
        while running.poll() is None and changed(tmp_path / "killed") == before:
            time.sleep(0.05)
        running.kill()
        running.wait()
    reports = []
    for file in ("killed", "whole"):
        done = subprocess.run([*start, "--checkpoint", file], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        reports.append({k: v for k, v in json.loads(done.stdout).items() if k not in ("seconds", "replay")})
    for report in reports:
        report["checks"] = [check for check in report["checks"] if check["name"] != "running time"]
    assert reports[0] == reports[1]


@pytest.mark.slow
def test_no_figure_depends_on_the_number_of_workers(tmp_path: Path) -> None:
    target: Any = "covassay:gauss-cov"
    one, two = (_run(tmp_path / str(jobs), target, jobs=jobs, samples=2500) for jobs in (1, 2))
    assert _figures(one) == _figures(two)


@pytest.mark.slow
def test_the_checkpoint_does_not_grow_with_the_draws(tmp_path: Path) -> None:
    sizes = []
    for samples in (10_000, 100_000):
        monkey = _run(tmp_path / str(samples), samples=samples)
        assert monkey.verdict is Verdict.NOT_REFUTED
        sizes.append((tmp_path / str(samples)).stat().st_size)
    assert sizes[1] < 1.3 * sizes[0]


def test_the_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    changes: dict[str, dict[str, Any]] = {
        "samples is 1100 in place of 6000": {"samples": 6000},
        "seed is 3 in place of 4": {"seed": 4},
        "dimension is 3 in place of 2": {"dimension": 2},
        "false alarm is 1e-09 in place of 1e-06": {"false_alarm": 1e-6},
        "options is {'ensemble': 'wigner'.* in place of {'ensemble': 'goe'": {"options": {"ensemble": "goe"}},
        "target is 'gaussian' in place of 'other'": {"target": Target("other", print)},
    }
    _run(tmp_path / "run", samples=1100)
    for words, changed in changes.items():
        with pytest.raises(InvalidInput, match=f"another run, whose {words}"):
            _run(tmp_path / "run", **{"samples": 1100, **changed})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"mechanism": None}, "a streaming run needs a law"),
        ({"mechanism": "em-cov"}, "no such pair for em-cov"),
        ({"samples": 100}, "must be at least 1000"),
        ({"dimension": 0}, "dimension = 0: must be at least 1"),
        ({"dimension": 2000}, "no such law for gauss-cov with 2000 columns"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(
    tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        _run(tmp_path / "run", **changed)
    assert not list(tmp_path.iterdir())


def test_a_refuted_contract_ends_the_run_and_stays_refuted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = streaming.Finding("contract", "row order", Status.REFUTED, "the order of rows tells")
    question = Question("row order", "contract", "?", "", lambda subject, look: [broken])
    monkeypatch.setattr(streaming, "few_questions", lambda: [question])
    first = _run(tmp_path / "run")
    monkeypatch.undo()
    monkeypatch.setattr(streaming, "BLOCK", 1000)
    assert first.verdict is Verdict.REFUTED
    assert first.draws == 0
    assert _figures(_run(tmp_path / "run")) == _figures(first)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        ("nuclear-laplace", PureDP(1.0)),
        ("nuclear-laplace-symmetric", PureDP(1.0)),
        ("entrywise-laplace", PureDP(1.0)),
        ("discrete-laplace-covariance", PureDP(1.0)),
        ("discrete-gaussian-covariance", ZCDP(0.5)),
        ("laplace", PureDP(1.0)),
        ("gaussian", ZCDP(0.5)),
        ("exponential", PureDP(1.0)),
        ("above-threshold", PureDP(1.0)),
        ("k-norm", PureDP(1.0)),
    ],
)
def test_the_reference_is_not_refuted(tmp_path: Path, mechanism: str, claim: Any) -> None:
    target = f"covassay:{mechanism}"
    d = 2 if mechanism not in ("nuclear-laplace", "nuclear-laplace-symmetric") else 3
    report = audit(target, **claim.keywords(), checkpoint=tmp_path / "run", samples=20_000, dimension=d)
    assert report.verdict is Verdict.NOT_REFUTED


@pytest.mark.slow
def test_a_branch_that_is_taken_once_in_a_million_draws_is_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 5·10⁶ draws it is taken with probability 1 − e⁻⁵ at least; the seed is one of the 99 %."""
    monkeypatch.setattr(streaming, "BLOCK", 20_000)
    report = _run(tmp_path / "run", _target(_rarely(1e-6, 0.0)), samples=5_000_000)
    assert _refuted(report) == {"coincidences in the draws of the law", "noise in every draw"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dimension", "2"], "dimension: only with checkpoint"),
        (["--checkpoint", "run", "--scope", "bits"], "does not look at low-order bits"),
        (["--checkpoint", "run", "--data", "rows.csv"], "data and checkpoint"),
        (["--checkpoint", "no folder/run"], "must be a file in a directory that exists"),
        (["--checkpoint", "damaged"], "it is damaged"),
    ],
)
def test_wrong_use_of_the_command_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged").write_text("{}")
    (tmp_path / "rows.csv").write_text("0.1,0.2\n0.3,0.1\n")
    assert command(["audit", "covassay:gauss-cov", *words]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert not (tmp_path / "run").exists()
