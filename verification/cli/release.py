"""`covassay release`: one release from a data file of any size, with its provenance and, if wanted, an account.

The order is what matters. Everything that can be refused without the data is refused before they are read: options,
bounds, the output file, the budget. Then the data are read, chunk by chunk, as often as the mechanism needs. Then the
release is entered in the account. Only then is it written, in full or not at all.
"""

import argparse
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from covassay.reference.domain import Chunks, Matrix, require_row_bound
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import default_claim, mechanism
from covassay.reference.privacy import Guarantee, Spend
from covassay.reference.release.account_file import AccountFile, fingerprint, open_account, parse_total
from covassay.reference.release.messages import named
from covassay.reference.release.scaling import (
    Bounds,
    Scaling,
    extremes,
    read_bounds,
    require_every_column,
    scaling,
)
from covassay.reference.release.tables.reading import open_table
from covassay.reference.release.tables.source import TableSource, Watch, unwatched
from covassay.reference.release.writing import require_writable, write_release
from covassay.verification.cli.options import chosen, guarantee

EPILOG = """\
examples:
  covassay release wine.csv --mechanism nuclear-laplace-symmetric --epsilon 1 --row-bound 2000 --out cov.npz
  covassay release wine.csv --mechanism nuclear-laplace --epsilon 1 --bounds bounds.toml --out cov.json
  covassay release wine.csv --mechanism bingham --epsilon 0.5 --budget-file wine.account.json --total epsilon=2

--bounds: a line `name = [low, high]` for every column (TOML; or the same as JSON). Values beyond them are clipped. A
second moment comes back in the units of the data, about the middle of the bounds (that of x - shift); shift and scale
are in the provenance. What has no such units (a direction, say) stays in the unit of (x - shift)/scale.

--budget-file: adds up the releases from this data file, which it knows by name and size, not by content. It cannot
know of copies of the data, of releases made without it, or of other data about the same people.

exit status: 0 done, 2 refused, one line on standard error and nothing written"""


@dataclass(frozen=True)
class _Frame:
    """How the data enter the mechanism: in a ball of some radius, or scaled feature by feature."""

    row_bound: float | None = None
    bounds_file: Path | None = None
    bounds: Bounds | None = None
    by_data: bool = False

    def scaling(self, source: TableSource, domain: str) -> Scaling | None:
        """The scaling of the features, if there is one. By the data: reads them once."""
        if self.by_data:
            return scaling(*extremes(source.rows), domain)
        if self.bounds is None or self.bounds_file is None:
            return None
        return scaling(*require_every_column(self.bounds_file, self.bounds, source.columns), domain)


def add_parser(commands: Any) -> None:
    """The options of the command."""
    r = commands.add_parser(
        "release",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help="release a private covariance of a table",
        description="Release a private second moment (uncentred covariance), or what else the mechanism releases,\n"
        "of a table of numbers. The table may be larger than memory.",
        epilog=EPILOG,
        allow_abbrev=False,  # --scale must not do what --scale-by-data-not-private says
    )
    r.add_argument("data", help=".csv (a header is recognised), .npy or .parquet, one record per row")
    r.add_argument("--mechanism", required=True, help="see covassay mechanisms")
    r.add_argument("--epsilon", type=float, help="ε > 0, for pure and approximate DP")
    r.add_argument("--delta", type=float, help="δ of approximate DP")
    r.add_argument("--rho", type=float, help="ρ > 0, for zCDP")
    r.add_argument("--calibration", help="paper (or reconstructed), the default, or tight")
    r.add_argument("--set", action="append", metavar="NAME=VALUE", help="another choice or parameter of the mechanism")
    frame = r.add_mutually_exclusive_group()
    frame.add_argument("--row-bound", type=float, help="public bound on the Euclidean norm of a row (default 1)")
    frame.add_argument("--bounds", metavar="FILE", help="public bounds on every feature (.toml, .json), see below")
    frame.add_argument(
        "--scale-by-data-not-private",
        action="store_true",
        help="scale features by their own extremes, for experiments: NOT private",
    )
    r.add_argument("--out", help=".csv, .json, .npy or .npz (default: CSV on standard output)")
    r.add_argument("--budget-file", metavar="FILE", help="account of this data file's budget (.json), see below")
    r.add_argument("--total", metavar="BUDGET", help="begins an account: epsilon=1, rho=0.5 or epsilon=1,delta=1e-6")
    r.add_argument("--seed", type=int, help="fixed noise, for tests: NOT private")
    r.add_argument("--quiet", action="store_true", help="nothing on standard error, but what is not private")
    r.set_defaults(run=release)


def release(options: argparse.Namespace) -> int:
    """Run the command."""
    # WITHOUT THE DATA
    declared = mechanism(options.mechanism)
    arguments = declared.resolve(chosen(options))
    budget = _budget(options, declared)
    choices = {name: value for name, value in arguments.items() if name in declared.choices}
    declared.spend(**budget.keywords(), dimension=declared.smallest_dimension, **choices)
    data, out = Path(options.data), Path(options.out) if options.out else None
    frame = _frame(options, declared)
    require_writable(out)
    _require_apart(out, [data, *(Path(name) for name in (options.bounds, options.budget_file) if name)])
    rng = _generator(options.seed)
    account = _account(options, data)
    if account is not None:
        account.after(budget)

    # FROM THE DATA
    with _watched(options.quiet) as watch:
        source = open_table(data, watch)
        n, d = source.rows.shape
        if d < declared.smallest_dimension:
            raise InvalidInput(f"{named(data)} has {d} column(s): {declared.name} needs {declared.smallest_dimension}")
        scaled = frame.scaling(source, declared.domain)
        rows: Chunks = source.rows if scaled is None else scaled.apply(source.rows)
        if declared.domain == "ball":
            arguments["row_bound"] = 1.0 if frame.row_bound is None else frame.row_bound
        values = declared.sample(rows, rng, **budget.keywords(), **arguments)
    if scaled is not None:
        values = scaled.restore(values, declared.output)

    # OUT
    spend = declared.spend(**budget.keywords(), dimension=d, **choices)
    provenance = {
        "covassay": version("covassay"),
        "mechanism": declared.name,
        "source": declared.source,
        "released": declared.output.kind,
        "options": arguments,
        **_scaling_facts(scaled, frame, declared, source.columns),
        "adjacency": declared.adjacency,
        "claimed": spend.claimed.keywords(),
        "proven": spend.proven.keywords(),
        "n": n,
        "d": d,
        "seed": options.seed,
    }
    not_private = _not_private(options)
    if not_private:
        provenance["not private"] = not_private
    total = None if account is None else account.enter(_entry(declared, arguments, budget, out))
    write_release(out, values, source.columns, provenance, declared.output)
    notes = [f"this release is not private: {reason}" for reason in not_private]
    if not options.quiet:
        where = out or "standard output"
        notes = [
            f"released by {declared.title} ({declared.source}) to {where}: n = {n}, d = {d}",
            *_notes(declared, spend, frame, scaled),
            *notes,
        ]
    if account is not None and not options.quiet:
        notes.append(
            f"{account.path}: {total} of {account.total} spent on {data.name}; it cannot know of copies of the "
            "data, of releases made without it, or of other data about the same people"
        )
    for note in notes:
        print(f"covassay: {note}", file=sys.stderr)
    return 0


def _budget(options: argparse.Namespace, declared: Mechanism[Any, ..., Any]) -> Guarantee:
    keywords = default_claim(declared.name).keywords()
    missing = [f"--{key}" for key in keywords if getattr(options, key) is None]
    if len(missing) == len(keywords) and options.epsilon is options.rho is options.delta is None:
        raise InvalidInput(f"{' and '.join(missing)} is missing: the budget of a release must be stated")
    budget = guarantee(options, declared.name)
    if missing or type(budget) is not type(default_claim(declared.name)):
        raise InvalidInput(f"{budget}: {declared.name} takes {' and '.join(keywords)}")
    return budget


def _frame(options: argparse.Namespace, declared: Mechanism[Any, ..., Any]) -> _Frame:
    if options.row_bound is not None and declared.domain != "ball":
        raise InvalidInput(f"--row-bound: {declared.name} takes data in a {declared.domain}, not in a ball")
    return _Frame(
        row_bound=None if options.row_bound is None else require_row_bound(options.row_bound),
        bounds_file=Path(options.bounds) if options.bounds else None,
        bounds=read_bounds(Path(options.bounds)) if options.bounds else None,
        by_data=options.scale_by_data_not_private,
    )


def _require_apart(out: Path | None, others: list[Path]) -> None:
    """The output must not replace what the release is made from."""
    for other in others:
        if out is not None and out.resolve() == other.resolve():
            raise InvalidInput(f"--out {named(out)}: must be another file than {named(other)}")


def _generator(seed: int | None) -> np.random.Generator:
    if seed is not None and seed < 0:
        raise InvalidInput(f"--seed {seed}: must be at least 0")
    return np.random.default_rng(seed)


def _account(options: argparse.Namespace, data: Path) -> AccountFile | None:
    if options.budget_file is None:
        if options.total is not None:
            raise InvalidInput("--total belongs to an account: give --budget-file as well")
        return None
    for reason in _not_private(options):
        raise InvalidInput(f"--budget-file: {reason}, which no budget can account for")
    total = None if options.total is None else parse_total(options.total)
    return open_account(Path(options.budget_file), fingerprint(data), total)


def _entry(
    declared: Mechanism[Any, ..., Any], arguments: dict[str, Any], budget: Guarantee, out: Path | None
) -> dict[str, Any]:
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "mechanism": declared.name,
        "options": arguments,
        "claimed": budget.keywords(),
        "out": str(out) if out else None,
    }


def _scaling_facts(
    scaled: Scaling | None, frame: _Frame, declared: Mechanism[Any, ..., Any], columns: tuple[str, ...]
) -> dict[str, Any]:
    if scaled is None:
        return {}
    pairs = zip(scaled.low.tolist(), scaled.high.tolist(), strict=True)
    return {
        "bounds": dict(zip(columns, map(list, pairs), strict=True)),
        "bounds_from": "the data: not private" if frame.by_data else "public",
        "shift": scaled.shift,
        "scale": scaled.scale,
        "unit": _unit(declared),
    }


def _unit(declared: Mechanism[Any, ..., Any]) -> str:
    return "of x - shift" if declared.output.restorable else "of (x - shift)/scale"


def _notes(declared: Mechanism[Any, ..., Any], spend: Spend, frame: _Frame, scaled: Scaling | None) -> list[str]:
    notes = [f"claimed {spend.claimed}, proven {spend.proven}, {declared.adjacency}, n public"]
    if scaled is not None:
        notes.append(
            "features are clipped to their bounds, shifted and scaled; what is released is in the unit "
            f"{_unit(declared)}, see the provenance"
        )
    elif declared.domain == "ball":
        notes.append(
            f"rows are clipped to Euclidean norm {1.0 if frame.row_bound is None else frame.row_bound:g} (--row-bound, "
            "in the unit of the data): choose it without looking at them; longer rows count as if they ended there"
        )
    elif declared.domain == "cube":
        notes.append("entries are taken to lie in [0, 1]: give --bounds if they do not")
    if declared.sampler == "approximate":
        notes.append("the noise is drawn by a Markov chain: the guarantee is approximate too")
    notes.append("not for production: float64 noise")
    return notes


def _not_private(options: argparse.Namespace) -> list[str]:
    reasons = []
    if options.seed is not None:
        reasons.append("with --seed the noise is known to whoever knows the seed")
    if options.scale_by_data_not_private:
        reasons.append("the features are scaled by their own extremes, and these are in the provenance")
    return reasons


@contextlib.contextmanager
def _watched(quiet: bool) -> Iterator[Watch]:
    """A progress bar for every pass over the rows: on a terminal, not in a pipe."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield unwatched
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:

        def watch(passing: Iterator[Matrix], rows: int | None) -> Iterator[Matrix]:
            name = "reading" if rows is None else f"pass over {rows} rows"
            task = progress.add_task(name, total=rows)
            for chunk in passing:
                yield chunk
                progress.update(task, advance=len(chunk))
            progress.remove_task(task)

        yield watch
