"""Run experiments in worker processes. Every finished cell is stored at once, so that a killed run can continue.

While an experiment runs, FOLDER/NAME.partial.jsonl has a line of JSON for each finished cell, after a first line that
describes the run. When the file of a killed run is read, an incomplete last line is dropped. At the end the rows are
written to FOLDER/NAME.parquet, in the order of the declaration, and the file with the lines of JSON is deleted. A later
run with more repetitions continues from the Parquet file.

The workers are processes whose linear algebra uses one thread. The results therefore do not depend on the number of
workers. With more threads, a library might add numbers in another order.
"""

import hashlib
import json
import multiprocessing
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.verification.experiments import released, results
from covassay.verification.experiments.data import files
from covassay.verification.experiments.experiment import REPETITIONS, Cell, Experiment, Files, Panel, Row, Scale
from covassay.verification.experiments.results import Result

FORMAT = 1  # the version of the format in which the facts are stored
THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"
LIBRARIES = "covassay", "numpy", "scipy", "scikit-learn"
HIDDEN = "__pycache__", ".git"  # folders with these names do not count as content of a data set
Advance = Callable[..., None]


@dataclass(frozen=True)
class Plan:
    """The plan of a run, with the experiment, the scale, the seed, the repetitions, and the paths of the user's data
    sets.
    """

    experiment: Experiment
    scale: Scale
    seed: int
    repetitions: int
    files: Files

    @classmethod
    def of(
        cls,
        name: str,
        scale: Scale = "small",
        seed: int = 0,
        repetitions: int | None = None,
        files: Files | None = None,
    ) -> "Plan":
        """Return the plan for the experiment with the given name."""
        count = REPETITIONS[scale] if repetitions is None else repetitions
        if count < 1:
            raise InvalidInput(f"repetitions = {count}: must be at least 1")
        if seed < 0:
            raise InvalidInput(f"seed = {seed}: must be at least 0")
        return cls(released.arranged(name, files or {}), scale, seed, count, files or {})

    @property
    def panels(self) -> list[Panel]:
        """Return the panels whose data are available."""
        return [panel for panel in self.experiment.panels if not self.missing(panel)]

    def missing(self, panel: Panel) -> str:
        """Return the reason why the panel cannot be run, or an empty text if it can."""
        return files.missing(panel.needs, self.files)

    @property
    def used(self) -> list[str]:
        """Return the names of what the run needs from the user: data sets, and the released code of DLY22 if given."""
        return sorted({released.NAME, *(panel.needs for panel in self.panels)} & set(self.files))

    @property
    def cells(self) -> list[Cell]:
        """Return all cells of the run."""
        return list(self.experiment.cells([panel.name for panel in self.panels], self.scale, self.repetitions))


def versions() -> dict[str, str]:
    """Return the versions of the software on which the figures may depend."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def header(plan: Plan) -> dict[str, Any]:
    """Return the facts in which a stored run must agree with the plan, so that the run can continue. The number of
    repetitions is left out, because a run can continue with another number.
    """
    return {
        "format": FORMAT,
        "experiment": plan.experiment.name,
        "scale": plan.scale,
        "seed": plan.seed,
        "panels": [described(panel, plan.scale) for panel in plan.panels],
        "left_out": {panel.name: plan.missing(panel) for panel in plan.experiment.panels if plan.missing(panel)},
        "data": {name: digest(plan.files[name]) for name in plan.used},
        "versions": versions(),
    }


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the files of a folder in the order of their names."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("[!.]*")) if path.is_dir() else [path]:
        if file.is_file() and not {part for part in file.parts if part in HIDDEN}:
            total.update(file.name.encode() + b"\0")
            with file.open("rb") as content:
                total.update(hashlib.file_digest(content, "sha256").digest())
    return total.hexdigest()


def described(panel: Panel, scale: Scale) -> dict[str, Any]:
    """Describe the declaration of a panel and its data, so that a change of the declaration can be detected."""
    methods = [
        {
            "label": method.label,
            "mechanism": method.mechanism,
            "options": dict(method.options),
            "rounded": method.rounded,
            "ours": method.ours,
        }
        for method in panel.methods
    ]
    curves = {
        curve.label: [float(curve.values(setting)) for setting in panel.settings(scale)] for curve in panel.curves
    }
    return {
        "name": panel.name,
        "title": panel.title,
        "varied": panel.varied,
        "axis": panel.axis or panel.varied,
        "log": list(panel.log),
        "grid": list(panel.grids[scale]),
        "fixed": {name: value for name, value in panel.fixed[scale].items() if name != panel.varied},
        "measures": list(panel.measures),
        "methods": methods,
        "curves": curves,
    }


def command(plan: Plan) -> str:
    """Return the command that reproduces the result of this run."""
    parts = ["covassay experiments run", plan.experiment.name, "--scale", plan.scale, "--seed", str(plan.seed)]
    if plan.repetitions != REPETITIONS[plan.scale]:
        parts += ["--repetitions", str(plan.repetitions)]
    given = (f"--{name} PATH" if name == released.NAME else f"--data {name}=PATH" for name in plan.used)
    return " ".join([*parts, *given])


def finished(plan: Plan, rows: Sequence[Row]) -> Result:
    """Return the result of the run: the facts about the run, and the rows in the order of the declaration.

    With one repetition there are no intervals and no contradictions, so no statement counts as compared.
    """
    lines = results.lines(rows)
    claims = []
    for claim in plan.experiment.claims:
        outcome = claim.check(lines)
        points = [list(astuple(point)) for point in outcome.points]
        claims.append(
            {
                "statement": claim.statement,
                "ledger": claim.ledger,
                "compared": outcome.compared * (plan.repetitions > 1),
                "contradicted": points,
            }
        )
    facts = {
        **header(plan),
        "title": plan.experiment.title,
        "source": plan.experiment.source,
        "repetitions": plan.repetitions,
        "interval": "95 % Student interval of the mean over the repetitions",
        "notes": list(plan.experiment.notes),
        "claims": claims,
        "command": command(plan),
    }
    return Result(facts, tuple(rows))


# RUNNING


def run_cell(name: str, cell: Cell, scale: Scale, seed: int, files: Mapping[str, Path]) -> list[Row]:
    """Run one cell of the experiment `name` and return its errors. The function can run in any process."""
    return released.arranged(name, files).run(cell, scale, seed, files)


def _end_with_parent() -> None:
    """End this worker when the process that started it is killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        wait([parent.sentinel])  # type: ignore[union-attr]
        os._exit(1)

    Thread(target=watch, daemon=True).start()


@contextmanager
def workers(jobs: int) -> Iterator[Executor]:
    """Provide worker processes with one thread of linear algebra each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _kept(file: Path, wanted: dict[str, Any]) -> dict[Cell, list[Row]]:
    """Return the errors that an earlier run stored in `file`, keyed by cell. Remove an incomplete last line."""
    text = file.read_bytes() if file.exists() else b""
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        with file.open("r+b") as opened:
            opened.truncate(len(whole))
    found = whole.decode().splitlines()
    if not found:
        file.write_text(json.dumps(wanted) + "\n", encoding="utf-8")
        return {}
    try:
        first, *cells = map(json.loads, found)
        done = {Cell(*line["cell"]): [Row(*row) for row in line["rows"]] for line in cells}
    except (ValueError, TypeError, KeyError):
        raise InvalidInput(f"{file}: is damaged; remove it to begin again") from None
    _require_same(file, first, wanted, "remove the file, or choose another folder")
    return done


def _by_cell(rows: Sequence[Row]) -> dict[Cell, list[Row]]:
    """Return the rows of every cell of a stored result, keyed by the cell."""
    found: dict[Cell, list[Row]] = {}
    for row in rows:
        found.setdefault(Cell(row.panel, row.value, row.repetition), []).append(row)
    return found


def _require_same(file: Path, there: Mapping[str, Any], wanted: Mapping[str, Any], advice: str) -> None:
    other = [name for name in wanted if there.get(name) != wanted[name]]
    if other:
        shown = "; ".join(
            f"{name} {there.get(name)!r} instead of {wanted[name]!r}" if isinstance(wanted[name], str | int) else name
            for name in other
        )
        raise InvalidInput(f"{file}: the file is of another run, which differs in: {shown}. {advice.capitalize()}")


def run(plan: Plan, folder: Path, pool: Executor, advance: Advance) -> Path:
    """Run the cells of the plan that are not stored yet, and write the result.

    If a stored result of the same run has fewer repetitions, the run continues it and keeps its errors.

    Raises
    ------
    InvalidInput : the folder has another run of this experiment, or another process is writing to it.
    """
    from filelock import FileLock, Timeout

    results.parquet()
    name = plan.experiment.name
    try:
        with FileLock(folder / ".lock", timeout=0):
            file, partial = folder / f"{name}.parquet", folder / f"{name}.partial.jsonl"
            wanted = header(plan)
            earlier: dict[Cell, list[Row]] = {}
            if file.exists():
                there = results.read(file)
                _require_same(file, there.facts, wanted, "choose another folder")
                if there.facts["repetitions"] >= plan.repetitions:
                    same = {**wanted, "repetitions": plan.repetitions}
                    _require_same(file, there.facts, same, "choose another folder")
                    advance(name, len(plan.cells))
                    return file
                earlier = _by_cell(there.rows)
            done = {**earlier, **_kept(partial, wanted)}
            cells = plan.cells
            advance(name, sum(cell in done for cell in cells))
            with partial.open("a", encoding="utf-8") as lines:
                for cell, rows in _new(plan, [cell for cell in cells if cell not in done], pool):
                    done[cell] = rows
                    entry = {"cell": astuple(cell), "rows": [astuple(row) for row in rows]}
                    lines.write(json.dumps(entry) + "\n")
                    lines.flush()
                    advance(f"{name}, {cell.panel}")
            results.write(file, finished(plan, [row for cell in cells for row in done[cell]]))
            partial.unlink()
            return file
    except Timeout:
        raise InvalidInput(f"{folder}: another process writes experiments to this folder") from None


def _new(plan: Plan, cells: Sequence[Cell], pool: Executor) -> Iterator[tuple[Cell, list[Row]]]:
    name, scale, seed, files = plan.experiment.name, plan.scale, plan.seed, dict(plan.files)
    futures = {pool.submit(run_cell, name, cell, scale, seed, files): cell for cell in cells}
    try:
        for future in as_completed(futures):
            yield futures.pop(future), future.result()
    finally:
        for future in futures:
            future.cancel()


def replan(facts: Mapping[str, Any], files: Files) -> Plan:
    """Return the plan with which a stored result was made. The user must give the data sets from which the stored
    result was computed.

    Raises
    ------
    InvalidInput : the declaration of the experiment has changed since the result was stored, or a data set is missing
    or has changed.
    """
    used = {name: path for name, path in files.items() if name in facts["data"]}
    plan = Plan.of(facts["experiment"], facts["scale"], facts["seed"], facts["repetitions"], used)
    now = header(plan)
    for name, kept in facts["data"].items():
        if now["data"].get(name) != kept:
            raise InvalidInput(f"{name}: the path must lead to the data of the stored result, with SHA-256 {kept}")
    return plan
