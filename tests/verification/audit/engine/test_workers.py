"""Test that all backends of joblib give the same draws, that time limits hold in their workers, and that an audit
gives no verdict if a worker ends.
"""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine import workers
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.targets.deadline import BEGUN
from covassay.verification.audit.targets.target import CannotRun, TargetReference

CLUSTERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("dask", "ray")]
TARGETS = """
import os, sys, time
import numpy as np

def right(x, *, epsilon, rng):
    return rng.laplace(size=x.shape[1])

def fails_in_every_way(x, *, epsilon, rng):
    y, way = right(x, epsilon=epsilon, rng=rng), rng.integers(40)
    if way == 0:
        sys.exit(0)
    if way == 1:
        raise ValueError
    if way == 2 and rng.random() < 0.2:
        while True:
            pass
    if way == 3 and rng.random() < 0.2:
        time.sleep(100)
    return y

def ends_its_process(x, *, epsilon, rng):
    if rng.random() < 0.02:
        os._exit(0)
    return right(x, epsilon=epsilon, rng=rng)

def ends_the_worker(x, *, epsilon, rng):
    if rng.random() < 0.02:
        os.kill(os.getpid() if sys.argv[0].endswith("default_worker.py") else os.getppid(), 9)
    return right(x, epsilon=epsilon, rng=rng)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "targets_of_workers.py").write_text(TARGETS)
    return tmp_path


def _setting(folder: Path, name: str, jobs: int | None) -> Setting:
    source = TargetReference(f"targets_of_workers:{name}", str(folder))
    return Setting(source, {"epsilon": 1.0}, OUTPUTS["vector"], 7, jobs, seconds=0.4)


def _drawn(folder: Path, name: str, jobs: int | None = None, size: int = 140) -> tuple[Matrix, dict[str, int], int]:
    drawn = draw(_setting(folder, name, jobs), np.zeros((2, 2)), size, "workers")
    return drawn.outputs, dict(drawn.failures), drawn.skipped


def _assert_equal(one: tuple[Any, ...], two: tuple[Any, ...]) -> None:
    assert np.array_equal(one[0], two[0])
    assert one[1:] == two[1:]


def test_a_single_call_starts_no_worker() -> None:
    """The test fails if workers are started for a single call."""
    assert list(workers.run(4, os.getpid, [()])) == [os.getpid()]
    assert list(workers.run(4, os.getpid, [])) == []


def test_a_supervised_process_makes_the_first_calls_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "supervised", lambda: True)
    monkeypatch.setattr(workers, "_spent", 0.0)
    monkeypatch.setattr(workers, "_paying", 60.0)
    assert set(workers.run(2, os.getpid, [()] * 9)) == {os.getpid()}
    assert workers._spent > 0


def test_two_workers_start_within_a_stated_time_and_more_workers_sooner() -> None:
    with workers.local_workers("loky", 2):
        two = workers._paying
    with workers.local_workers("loky", 5):
        five = workers._paying
    assert 0 < five < two <= 2 * workers.PATIENCE * (time.monotonic() - BEGUN)


@pytest.mark.slow
def test_then_workers_make_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the parent process makes draws that it should leave to its workers."""
    monkeypatch.setattr(workers, "supervised", lambda: True)
    monkeypatch.setattr(workers, "_paying", 0.0)
    assert os.getpid() not in workers.run(2, os.getpid, [()] * 9)


def test_results_come_in_the_order_of_the_calls() -> None:
    assert list(workers.run(1, divmod, ((i, 3) for i in range(5)))) == [divmod(i, 3) for i in range(5)]


@pytest.mark.slow
def test_threads_draw_in_processes_of_their_own_with_their_time_limit(folder: Path) -> None:
    alone = _drawn(folder, "fails_in_every_way", 1)
    assert {"exit: SystemExit", "exception: ValueError", "time-out: no output after 0.4 s"} <= set(alone[1])
    with joblib.parallel_config(backend="threading", n_jobs=2):
        _assert_equal(_drawn(folder, "fails_in_every_way"), alone)
        with pytest.raises(CannotRun, match="ended before its draws were made"):
            _drawn(folder, "ends_its_process")
        # a new worker replaces the one that ended
        _assert_equal(_drawn(folder, "fails_in_every_way"), alone)


@pytest.mark.slow
def test_draws_on_loky_are_those_of_one_process(folder: Path) -> None:
    _assert_equal(_drawn(folder, "fails_in_every_way", 2), _drawn(folder, "fails_in_every_way", 1))


@pytest.mark.parametrize("backend", CLUSTERS)
def test_draws_on_a_local_cluster_are_those_of_one_process(folder: Path, backend: str) -> None:
    pytest.importorskip(workers.NEEDS[backend])
    alone = _drawn(folder, "fails_in_every_way", 1, 700)
    for jobs in (1, 2):
        with workers.local_workers(backend, jobs):
            _assert_equal(_drawn(folder, "fails_in_every_way", jobs, 700), alone)


@pytest.mark.parametrize("name", ["ends_its_process", "ends_the_worker"])
@pytest.mark.parametrize("backend", CLUSTERS)
def test_an_end_of_a_process_on_a_local_cluster_is_no_fewer_draws(folder: Path, backend: str, name: str) -> None:
    pytest.importorskip(workers.NEEDS[backend])
    with workers.local_workers(backend, 2), pytest.raises(CannotRun, match="ended before its draws were made"):
        _drawn(folder, name, 2, 700)


def _working_in(folder: Path) -> list[str]:
    """Return the entries in /proc of the processes whose working directory is `folder`."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            found += [str(link)] if link.readlink() == folder.resolve() else []
    return found


def _command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "covassay.verification.cli.main", "audit", *words]
    code = f"import sys; sys.argv = ['covassay', {', '.join(map(repr, command[4:]))}]; "
    code += "from covassay.verification.cli.main import main; main()"
    return subprocess.run([sys.executable, "-P", "-c", code], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), *CLUSTERS])
def test_the_command_fails_closed_and_leaves_no_process_behind(folder: Path, backend: str) -> None:
    if backend != "loky":
        pytest.importorskip(workers.NEEDS[backend])
    run = ("--mechanism", "laplace", "--samples", "1000", "--jobs", "2", "--backend", backend, "--quiet")
    done = _command(folder, "targets_of_workers:ends_its_process", *run)
    assert (done.returncode, done.stdout) == (3, "INCONCLUSIVE\n")
    for _ in range(50):
        if not _working_in(folder):
            break
        time.sleep(0.1)
    assert not _working_in(folder)


def test_a_backend_without_its_package_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in workers.NEEDS.values():
        monkeypatch.setitem(sys.modules, name, None)
    for backend in workers.NEEDS:
        with (
            pytest.raises(InvalidInput, match=r"backend = .*pip install 'covassay\[scale\]'"),
            workers.local_workers(backend, 1),
        ):
            pass


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be loky, dask, ray"), workers.local_workers("spark", 1):
        pass
