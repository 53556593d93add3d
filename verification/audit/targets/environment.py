"""Make separate Python environments for packages with conflicting requirements, and draw from targets in these
environments.

The command `covassay adapters install NAME` makes an environment. An environment is a venv that has the audited package
at its pinned version, and no covassay. The Python of the environment runs the file `runner`. This program loads
covassay's adapters from their folder, and answers requests like any audited process. A target runs in an environment
only if its package cannot be imported in the process of the audit.
"""

import atexit
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets import runner
from covassay.verification.audit.targets.calling import CannotRun
from covassay.verification.audit.targets.child import in_one_piece, shown
from covassay.verification.audit.targets.deadline import clear_deadline
from covassay.verification.audit.targets.package import BASE, Package
from covassay.verification.audit.targets.process_target import (
    PROTOCOL,
    SEEDS,
    SLACK,
    NoReply,
    Process,
    longest_reply,
    start_limit,
)

DIRECTORY = "COVASSAY_ADAPTERS"  # this environment variable names the directory of all environments
RECORD = "covassay.json"  # this file is present in an environment that is complete
# the time limit in seconds for the import of a package; some packages compile code at their first import
START = 120.0
NOTE = (
    "asked in an environment of its own (covassay adapters): JSON has no NaN and no infinity, so bad input that has "
    "one is not sent and counts as refused"
)


def directory() -> Path:
    """Return the directory that has the environments of all adapters.

    An environment variable can name the directory; otherwise it is in the cache directory of the platform.
    """
    named = os.environ.get(DIRECTORY)
    return Path(named) if named else _cache() / "covassay" / "adapters"


def _cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def python_of(environment: Path) -> Path:
    """Return the Python interpreter of an environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def state(name: str, package: Package) -> str:
    """Return why the environment with this name cannot be used, or an empty string if it can be used."""
    place = directory() / name
    try:
        made = json.loads((place / RECORD).read_text(encoding="utf-8"))["requirements"]
    except (OSError, ValueError, KeyError, TypeError):
        return "the adapter has no environment of its own"
    if made != package.everything:
        return f"the adapter's environment was made for {' '.join(made)} and not for {' '.join(package.everything)}"
    return ""


# ASK


class _Kept(Process):
    """A process that draws from a target in the environment of an adapter.

    The process is started at once, and again after each stop, so that no draw waits for a start.
    """

    def __init__(self, command: tuple[str, ...]) -> None:
        super().__init__(command, os.getcwd())
        self.about: dict[str, Any] = {}
        self.start_again()

    def start_again(self) -> None:
        """Start the process, and wait until the process has imported the package. The time limit of a draw does not
        apply to the wait for the import.
        """
        with in_one_piece():
            self._running = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        process = super()._start()
        line, _ = self._exchanged(process, b"", SLACK, start_limit(START))
        if not line.endswith(b"\n"):
            self._running = process
            said = self.last_words()
            self.stop()
            raise CannotRun(said)
        self.about = json.loads(line)
        return process

    def draw(self, x: Matrix, rng: np.random.Generator, budget: dict[str, Any]) -> Any:
        """Make one draw; if the target overwrites its data, the array `x` is overwritten in the same way."""
        rows = np.asarray(x, dtype=np.float64)
        seed = int(rng.integers(SEEDS))
        request = {"x": rows.tolist(), "shape": rows.shape, **budget, "seed": seed, "protocol": PROTOCOL}
        try:
            reply = self.reply_to(request, longest_reply(rows) + 2 * len(str(rows.tolist())))
        except BaseException:
            if self._running is None:
                clear_deadline()  # the draw has ended; the next start of the process has its own time limit
                self.start_again()
            raise
        if reply.get("x") is not None:
            x[...] = np.array(reply["x"]).reshape(rows.shape)
        if reply.get("error") is not None:
            # a report shows the type of the error only, because its text may contain data
            kind, _, rest = str(reply["error"]).partition(": ")
            raise NoReply("exception", kind, shown(rest))
        return reply["output"]


@functools.cache
def _process(command: tuple[str, ...], worker: int) -> _Kept:
    process = _Kept(command)
    atexit.register(process.finish)
    return process


def _draw(command: tuple[str, ...], x: Matrix, *, rng: np.random.Generator, **budget: Any) -> Any:
    return _process(command, os.getpid()).draw(x, rng, budget)


def _draw_in_box(command: tuple[str, ...], x: Matrix, *, rng: np.random.Generator, bounds: Any, **budget: Any) -> Any:
    return _draw(command, x, rng=rng, bounds=bounds, **budget)


def _draw_in_any_box(
    command: tuple[str, ...], x: Matrix, *, rng: np.random.Generator, bounds: Any = None, **budget: Any
) -> Any:
    return _draw(command, x, rng=rng, **(budget if bounds is None else {**budget, "bounds": bounds}))


def command_of(name: str, module: Any, target: str) -> tuple[str, ...]:
    """Return the command that draws from a target of an adapter in its environment."""
    reference, verification = (find_spec(f"covassay.{part}") for part in ("reference", "verification"))
    assert reference is not None
    assert verification is not None
    folders = [next(iter(spec.submodule_search_locations or ())) for spec in (reference, verification)]
    inside = module.__name__.startswith("covassay.")
    where = module.__name__ if inside else str(Path(module.__file__).resolve())
    python = str(python_of(directory() / name))
    return (python, "-I", str(Path(runner.__file__).resolve()), *folders, where, target)


def described(name: str, module: Any, target: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return a function that draws from a target in the environment of its adapter, and a description of the target.

    A process in this environment writes the description.

    Raises
    ------
    CannotRun : the package cannot be imported in the environment, or the target cannot be made.
    """
    command = command_of(name, module, target)
    try:
        told = dict(_process(command, os.getpid()).about)
    except NoReply as error:
        raise CannotRun(str(error)) from error
    takes = {(False, False): _draw, (True, False): _draw_in_any_box, (True, True): _draw_in_box}
    draw = takes[told.pop("takes_bounds"), told.pop("needs_bounds")]
    return functools.partial(draw, command), told


# INSTALLATION


def _run(command: Sequence[str]) -> None:
    """Run a command of pip, whose output goes to standard error."""
    status = subprocess.run(command, stdout=sys.stderr, check=False).returncode
    if status:
        raise CannotRun(f"pip ended with exit status {status}")


def _venv(folder: Path) -> None:
    venv.EnvBuilder(with_pip=True, symlinks=os.name != "nt").create(folder)


def install(
    name: str,
    module: Any,
    where: Path,
    run: Callable[[Sequence[str]], None] = _run,
    make: Callable[[Path], None] = _venv,
) -> Path:
    """Make a new environment for an adapter, check that its package can be imported there, and return its folder.

    The environment is made in another folder and then moved as a whole, so that an interruption leaves the old
    environment intact. `make` creates an empty environment with pip, and `run` runs a command of pip in the
    environment.

    Raises
    ------
    InvalidInput : the adapter needs no environment, because it declares no package.
    CannotRun : pip failed, or the package does not import.
    """
    package: Package | None = getattr(module, "PACKAGE", None)
    if package is None:
        raise InvalidInput(f"{name}: needs no environment, because its targets belong to covassay or numpy")
    place, part = where / name, where / f"{name}.part"
    where.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(part, ignore_errors=True)
    try:
        make(part)
        python = str(python_of(part))
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        if package.without_dependencies:
            run((*pip, "--no-deps", *package.without_dependencies))
        run((*pip, *BASE, *package.requirements))
        missing = imported(python, package)
        if missing:
            raise CannotRun(f"installed, but {missing}")
        record = {"requirements": package.everything, "covassay": version("covassay")}
        (part / RECORD).write_text(json.dumps(record), encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        part.replace(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return place


def imported(python: str, package: Package) -> str:
    """Return why the modules of a package cannot be imported with this interpreter.

    Return an empty string if the modules can be imported. The import is not tested if the package is a copy of a
    project (`source`), and the returned string is then empty.
    """
    if package.source:
        return ""
    code = f"import {', '.join(package.modules)}"
    done = subprocess.run((python, "-I", "-c", code), capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines()
    return f"{code} raised {lines[-1]}" if done.returncode and lines else ""


def remove(name: str) -> None:
    """Remove the environment of an adapter."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory() / name)
