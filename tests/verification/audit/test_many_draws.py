"""Test audits that make more draws than they store, and audits that continue after a kill. A kill must not change the
result, and broken implementations must be refuted. The seeds are fixed, and every audit has a false-alarm probability
of 1e-9. The tests lower the limit for stored draws to a few hundred.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.verification.audit import api
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine import law, low_order_bits, pair_draws, sampling, workers
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.question import Question
from covassay.verification.audit.questions.bits import low_order_bits as bits
from covassay.verification.audit.questions.contract import row_order, running_time, same_seed_same_output
from covassay.verification.audit.questions.data_path import coincidences_in_the_draws_of_the_law as repeats
from covassay.verification.audit.questions.law import distribution
from covassay.verification.audit.questions.privacy import events_on_neighbours
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.targets.target import Target
from covassay.verification.statistics.streams import Watch
from covassay.verification.statistics.tests import bare_draws

Noise = Callable[[Matrix, np.random.Generator], Matrix]
QUESTIONS = {one.QUESTION.id: one.QUESTION for one in (distribution, repeats, events_on_neighbours, bits)}
LAW = (distribution.QUESTION, repeats.QUESTION)
SAMPLES = 3000


def _noise(rng: np.random.Generator, size: int, d: int) -> Matrix:
    w = np.triu(rng.standard_normal((size, d, d)))
    return w + np.swapaxes(np.triu(w, 1), 1, 2)


def _target(change: Noise = lambda w, rng: w) -> Target:
    """Return the Gaussian mechanism as a target that draws in batches; `change` modifies its noise."""

    def many(x: Matrix, size: int, *, rho: float, rng: np.random.Generator) -> Matrix:
        rows = unit_rows(x)
        n, d = rows.shape
        return second_moment(rows) + gauss_cov.noise_scale(n, rho) * change(_noise(rng, size, d), rng)

    def one(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        return many(x, 1, rho=rho, rng=rng)[0]

    return Target("gaussian", one, draw_many=many)


def _rarely(share: float, factor: float) -> Noise:
    def change(w: Matrix, rng: np.random.Generator) -> Matrix:
        w[rng.random(len(w)) < share] *= factor
        return w

    return change


def _tied(w: Matrix) -> Matrix:
    """Give the noise of the entries (0, 1) and (1, 1) the same sign if the matrix has at least two columns."""
    if w.shape[1] > 1:
        w[:, 1, 1] = np.abs(w[:, 1, 1]) * np.sign(w[:, 0, 1])
    return w


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BLOCK", 8), ("WHOLE", 16), ("KEPT", 16 * sampling.CHUNK), ("SECONDS", 0.0)):
        for module in (sampling, law, pair_draws, low_order_bits, distribution):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(api, "questions", lambda: tuple(QUESTIONS.values()))


def _run(target: Target | None = None, samples: int = SAMPLES, seed: int = 3, **more: Any) -> AuditReport:
    return audit(target or _target(), mechanism="gauss-cov", rho=0.5, seed=seed, samples=samples, **more)


def _figures(report: AuditReport) -> dict[str, Any]:
    return {key: value for key, value in as_json(report).items() if key not in ("seconds", "replay", "settings")}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 25))])
def test_a_right_target_is_not_refuted_and_all_draws_count(seed: int) -> None:
    report = _run(seed=seed)
    assert report.verdict is Verdict.NOT_REFUTED
    of = {(check.scenario, check.name): check for check in report.checks}
    assert of["d=2", "squared norm"].n == SAMPLES
    # this statistic cannot be added up over blocks of draws, so it uses the stored draws only
    assert of["d=2", "scale of every entry"].n == sampling.KEPT
    assert f"the first {sampling.KEPT} draws" in of["d=2", "scale of every entry"].detail
    assert {"tails", "rare branches", "divergence", "event"} <= {check.name for check in report.checks}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda w, rng: 0.97 * w, "total scale"),
        (_rarely(2e-3, 0.0), "noise in every draw"),
        (_rarely(2e-4, 30.0), "rare branches"),
        (lambda w, rng: np.repeat(w[::2], 2, axis=0)[: len(w)], "coincidences in the draws of the law"),
        pytest.param(lambda w, rng: np.clip(w, -2.5, 2.5), "tails", marks=pytest.mark.thorough),
        pytest.param(lambda w, rng: _tied(w), "signs of all entries", marks=pytest.mark.thorough),
        (lambda w, rng: w if rng.random() < 0.5 else w + np.nan, "an output in every draw"),
    ],
    ids=["3 % too little", "rarely none", "rarely far out", "repeated", "cut tails", "tied signs", "half fail"],
)  # fmt: skip
def test_a_mutant_is_refuted_by_the_check_that_is_there_for_it(
    change: Noise, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "questions", lambda: LAW)
    report = _run(_target(change), samples=20_000)
    assert report.verdict is Verdict.REFUTED
    assert name in {check.name for check in report.refuted}


def test_a_gross_mutant_ends_the_draws_at_a_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "questions", lambda: LAW)
    report = _run(_target(lambda w, rng: 0.5 * w), samples=50_000, stop_early=True)
    assert "total scale" in {check.name for check in report.refuted}
    assert report.draws == sampling.KEPT
    assert "the test ended after 800 of" in report.refuted[0].detail


@pytest.mark.thorough
def test_a_pair_that_loses_too_much_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if an audit with many draws does not test pairs of neighbouring data sets. The audited mechanism
    is broken, because its noise depends on the data, and only the tests of pairs can refute it.
    """
    monkeypatch.setattr(api, "questions", lambda: (events_on_neighbours.QUESTION,))

    def tells(x: Matrix, size: int, *, rho: float, rng: np.random.Generator) -> Matrix:
        factor = 0.6 if np.abs(x[:, 0]).sum() > 1.5 else 1.0
        return second_moment(unit_rows(x)) + factor * gauss_cov.noise_scale(len(x), rho) * _noise(rng, size, x.shape[1])

    wrong = Target("tells", lambda x, **given: tells(x, 1, **given)[0], draw_many=tells)
    assert _run(wrong).verdict is Verdict.REFUTED


@pytest.mark.thorough
def test_too_few_draws_without_noise_are_no_reason_to_refute() -> None:
    """The test fails if an audit refutes a correct mechanism because a few of 4 million noise values are small by
    chance.
    """
    assert bare_draws(np.ones((4_000_000, 1))).p_value == 1
    assert bare_draws(np.append(np.zeros(300), np.ones(4_000_000))[:, None]).p_value < 1e-50


def test_what_a_question_uses_is_said_where_it_is_less_than_was_asked_for() -> None:
    question = Question(
        "few", "law", "?", "", lambda subject, look: [Finding("law", "few", Status.NOTED, f"{look.samples}")],
        most_samples=300,
    )  # fmt: skip
    nobody: Any = SimpleNamespace(setting=SimpleNamespace(store=None, tally=None))
    (small,), (large,) = (question.asked(nobody, Look(samples=samples)) for samples in (300, 301))
    assert small.detail == "300"
    assert large.detail == "300; made with 300 samples, because this check uses no more"


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "dask", "ray"])
def test_no_figure_depends_on_the_workers(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the report depends on the number of processes that made the draws."""
    if backend != "loky":
        pytest.importorskip(workers.NEEDS[backend])
    monkeypatch.setattr(api, "questions", lambda: (distribution.QUESTION, events_on_neighbours.QUESTION))
    given: dict[str, Any] = {"epsilon": 1.0, "samples": 2500, "seed": 2}
    alone = audit("covassay:laplace", jobs=1, **given)
    with workers.local_workers(backend, 2):
        assert _figures(audit("covassay:laplace", jobs=2, **given)) == _figures(alone)


# CONTINUED RUNS


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be killed")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(("samples", "apart"), [(200, 800), pytest.param(1500, 10_000, marks=pytest.mark.slow)])
def test_a_run_killed_again_and_again_ends_as_one_that_was_not(tmp_path: Path, samples: int, apart: int) -> None:
    """The test fails if the result of an audit depends on where the process was killed. The test covers audits that
    store all draws and audits that store summaries. The process is killed whenever it has made some new draws.
    """

    def run(file: str, watch: Watch | None = None) -> AuditReport:
        return _run(checkpoint=tmp_path / file, samples=samples, progress=watch or Watch())

    class Killing(Watch):
        made = 0

        def timed(self, draws: int, seconds: float) -> None:
            self.made += draws
            if self.made > apart:
                os.kill(os.getpid(), signal.SIGKILL)

    def killed_run() -> int:
        child = os.fork()
        if child:
            return os.waitpid(child, 0)[1]
        run("killed", Killing())
        os._exit(0)

    kills = 0
    while os.WIFSIGNALED(status := killed_run()):
        assert os.WTERMSIG(status) == signal.SIGKILL
        kills += 1
        assert kills < 20
    assert status == 0
    assert kills >= 2
    assert _figures(run("killed")) == _figures(_run(samples=samples))


@pytest.mark.thorough
def test_a_finished_run_gives_its_report_again_without_a_draw(tmp_path: Path) -> None:
    first = _run(checkpoint=tmp_path / "run", samples=200)
    calls = []

    def fails(*given: Any, **more: Any) -> None:
        raise AssertionError("a draw")

    right = _target()

    def one(x: Matrix, **given: Any) -> Any:  # a restarted audit always repeats its first draws
        calls.append(1)
        return right.draw(x, **given)

    again = _run(Target(right.name, one, draw_many=fails), checkpoint=tmp_path / "run", samples=200)
    assert _figures(again) == _figures(first)
    assert len(calls) == 1


def test_what_a_question_of_few_draws_found_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a restarted audit repeats the draws of a check that was finished. The checkpoint stores only
    the number of draws and the findings of a finished check.
    """
    monkeypatch.setattr(
        api, "questions", lambda: (same_seed_same_output.QUESTION, row_order.QUESTION, running_time.QUESTION)
    )
    right, calls = _target(), []

    def one(x: Matrix, **given: Any) -> Any:
        calls.append(1)
        return right.draw(x, **given)

    first = _run(Target(right.name, one), checkpoint=tmp_path / "run")
    made = len(calls)
    again = _run(Target(right.name, one), checkpoint=tmp_path / "run")
    assert _figures(again) == _figures(first)
    assert made > 5
    assert len(calls) - made == 1


@pytest.mark.slow
def test_the_checkpoint_does_not_grow_with_the_draws(tmp_path: Path) -> None:
    sizes = []
    for samples in (20_000, 200_000):
        _run(checkpoint=tmp_path / str(samples), samples=samples)
        sizes.append((tmp_path / str(samples)).stat().st_size)
    assert sizes[1] < 1.5 * sizes[0]


def test_the_checkpoint_of_another_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "questions", lambda: (repeats.QUESTION,))
    changes: dict[str, dict[str, Any]] = {
        "samples is 100 in place of 6000": {"samples": 6000},
        "seed is 3 in place of 4": {"seed": 4},
        "false_alarm is 1e-09 in place of 1e-06": {"false_alarm": 1e-6},
        r"options is \{\} in place of .*goe": {"options": {"ensemble": "goe"}},
        "target is 'gaussian' in place of 'other'": {"target": Target("other", _target().draw)},
    }
    _run(checkpoint=tmp_path / "run", samples=100)
    for words, changed in changes.items():
        with pytest.raises(InvalidInput, match=f"another run, whose {words}"):
            _run(checkpoint=tmp_path / "run", **{"samples": 100, **changed})
    # 100 draws are too few for a test
    assert _run(checkpoint=tmp_path / "run", samples=100, jobs=2).verdict is Verdict.INCONCLUSIVE


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a killed command leaves its child at work")
def test_a_killed_command_goes_on_with_the_same_command(tmp_path: Path) -> None:
    """The test fails if `covassay audit` does not continue from its own checkpoint. The command is killed three times,
    each time after its checkpoint has changed.
    """
    (tmp_path / "mine.py").write_text(
        "def f(x, *, epsilon, rng):\n    return x.T @ x / len(x) + 9 * rng.laplace(size=(x.shape[1],) * 2)\n"
    )
    words = ["audit", "mine:f", "--epsilon", "1", "--samples", "4000", "--json", "--jobs", "2"]
    start = [sys.executable, "-P", "-c", "from covassay.verification.cli.main import main; main()", *words]

    def changed(file: Path) -> int:
        return file.stat().st_mtime_ns if file.exists() else 0

    for _ in range(3):
        before, began = changed(tmp_path / "killed"), time.monotonic()
        running = subprocess.Popen([*start, "--checkpoint", "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL)
        while running.poll() is None and (changed(tmp_path / "killed") == before or time.monotonic() - began < 8):
            time.sleep(0.05)
        running.kill()
        running.wait()
    reports = []
    for file in ("killed", "whole"):
        done = subprocess.run([*start, "--checkpoint", file], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        reports.append({k: v for k, v in json.loads(done.stdout).items() if k not in ("seconds", "replay", "settings")})
    for report in reports:
        report["checks"] = [check for check in report["checks"] if check["name"] != "running time"]
    assert reports[0] == reports[1]
