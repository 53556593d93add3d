"""Implement the command `covassay release`.

Release a private covariance of a table of numbers, or another private statistic. The
table may be larger than memory, and may be several files with the same columns in the
same order.

examples:
  covassay release people.csv --bounds bounds.toml --rho 0.5 --out cov.json
  covassay release people.csv --bounds bounds.toml --epsilon 1 \\
      --adjacency add-remove --budget-file people.account.json --total epsilon=2
  covassay release wine.csv --mechanism nuclear-laplace-symmetric --epsilon 1 \\
      --row-bound 2000 --out cov.npz
  zcat people.csv.gz | covassay release - --columns age,height --bounds b.toml \\
      --mechanism gauss-cov --rho 0.5 --project psd --out cov.json
  covassay release parts/ --drop id,name --mechanism gauss-cov --rho 0.5 --row-bound 9

DATA is one file, several files, a directory, or - for standard input. Several files are
one table, which is read in the order of the names of the files. All files must have the
same columns in the same order. Files of a directory whose names begin with _ or a dot
are ignored. A text file is read once to count its rows, and then in every pass of the
mechanism. Standard input, .npy.gz and .parquet.gz are kept in a temporary file without
a name during the release; .csv.gz is decompressed in every pass. A file that is given
twice, under whatever name or link, is rejected, because its records would count twice.
Files with the same content are rejected without --allow-copies.

--columns names the columns to read, and --drop the columns to leave out. Columns
that are not read may hold anything. The choice of columns must be public, because
no budget is spent on a choice that depends on the data.

--project psd also gives the positive semidefinite matrix nearest to the released one.
--project trace gives the nearest of those positive semidefinite matrices whose trace is
at most the largest trace that rows in the ball can have. Projection is post-processing,
which costs no budget. A .json or .npz file holds both matrices; .csv, .npy and standard
output hold the projected matrix.

--bounds names a TOML file with a line `name = [low, high]` for every column, or a JSON
file with the same content. Values beyond the bounds are clipped. Without --mechanism,
the mechanism for bounded columns is used, which is box-gauss for --rho, box-laplace for
--epsilon, and box-gauss-approximate for --epsilon and --delta. The mechanism for
bounded columns releases the number of rows, the mean and the covariance. A mechanism on
a ball releases a second moment about the midpoints of the bounds, which is the second
moment of x - shift. The provenance of a release records shift and scale. An output that
has no unit of the data, such as a direction, is not converted: it belongs to
(x - shift)/scale.

With --adjacency add-remove, neighbours differ by adding or removing one row, and the
number of rows is secret. With this option, mechanisms for bounded columns release the
number of rows with noise, beside the covariance. Nine mechanisms on a ball also have
the option --adjacency. With add-remove they release a noisy number of rows, and a noisy
sum over the rows in place of a noisy mean. covassay mechanisms NAME shows whether a
mechanism has the option.

--row-bound R is a public bound on the length of a row, in the unit of the data; longer
rows are clipped to R. A mechanism on a ball needs --row-bound or --bounds.

--budget-file names an account, which adds up the budgets of all releases from this data
file. The account identifies the data file by its name and size, not by its content. The
account cannot know of copies of the data, of releases without --budget-file, or of other
data about the same people.

A rounded release is the default for mechanisms that have one. Every released number is
the output of the mechanism in real numbers, rounded to the grid. The release computes
with intervals, and draws random bits until the rounded number is certain. A rounded
release needs python-flint (pip install 'covassay[exact]'). A .json or .npz file of a
rounded release holds the integers and the grid exactly. The proof is in
proofs/paper/rounded-releases.md. A rounded release with nuclear-Laplace noise takes 0.2
s for 20 columns and 2 s for 30; with --float it is fast for any number of columns.

The mechanisms discrete-laplace-covariance and discrete-gaussian-covariance add whole
numbers to whole numbers. These two mechanisms are exact without rounding, and need no
python-flint. Their outputs are multiples of 1/(n 4^b). The option --set input_bits=b
sets b (default 20).

exit status: 0 done; 2 refused, with one line on standard error and nothing
written
"""

import argparse
import contextlib
import glob
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from covassay.reference.domain import Matrix
from covassay.reference.domain.requirements import shown
from covassay.reference.domain.types import ADJACENCIES
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.parameters import LARGEST, SMALLEST, SMALLEST_PROBABILITY
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.reference.release import ReleaseRequest, Selection, mechanism_for, release_table
from covassay.reference.release.tables.selection import STREAM_LIMIT
from covassay.reference.release.tables.source import Watch, unwatched
from covassay.reference.rounded import ON_A_LATTICE, WITH_ROUNDED_FORM, require_flint
from covassay.verification.cli.options import chosen, guarantee, parse_names, parse_total, texts

STANDARD_INPUT = "-"
RANGE = f"[{shown(SMALLEST)}, {shown(LARGEST)}] (some mechanisms have a smaller range: see covassay mechanisms NAME)"
PARSER = {
    **texts(__doc__),
    # without this argument of argparse, the abbreviation --scale would select --scale-by-data-not-private
    "allow_abbrev": False,
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    add = parser.add_argument
    add("data", nargs="+", help=".csv, .tsv, .npy or .parquet, each also with .gz; a directory; or - (see below)")
    add("--mechanism", help="name of the mechanism (covassay mechanisms); with --bounds, the one for bounded columns")
    add("--epsilon", type=float, help=f"ε in {RANGE}, for pure and approximate DP")
    add("--delta", type=float, help=f"δ in [{shown(SMALLEST_PROBABILITY)}, 1), for approximate DP")
    add("--rho", type=float, help=f"ρ in {RANGE}, for zCDP")
    add(
        "--calibration",
        help="constants of the mechanism: tight, paper or reconstructed (the default is one of the last two)",
    )
    add(
        "--adjacency",
        choices=ADJACENCIES,
        help="neighbours: add-remove keeps the row count secret, for mechanisms that have it",
    )
    add("--set", action="append", metavar="NAME=VALUE", help="a parameter of the mechanism (covassay mechanisms NAME)")
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument("--columns", metavar="A,B,…", help="read these columns, by name, in this order")
    columns.add_argument("--drop", metavar="A,B,…", help="read all columns but these")
    header = parser.add_mutually_exclusive_group()
    header.add_argument(
        "--header",
        action="store_true",
        help="the first line holds names (default: if one of its cells is not a number)",
    )
    header.add_argument("--no-header", action="store_true", help="the first line holds numbers; columns are x1, x2, …")
    add(
        "--delimiter",
        metavar="C",
        help="what separates cells of text: a character, or tab (default: comma; tab in .tsv)",
    )
    frame = parser.add_mutually_exclusive_group()
    frame.add_argument("--row-bound", type=float, help="public bound on the Euclidean norm of a row")
    frame.add_argument("--bounds", metavar="FILE", help="public bounds on every feature (.toml, .json), see below")
    frame.add_argument(
        "--scale-by-data-not-private",
        action="store_true",
        help="scale features by their smallest and largest values, for experiments: NOT private",
    )
    add("--out", help=".csv, .json, .npy or .npz (default: CSV on standard output)")
    add(
        "--allow-copies",
        action="store_true",
        help="count every file of the same content, because the files are about different people",
    )
    add(
        "--stream-limit",
        type=int,
        metavar="B",
        help="largest number of bytes of standard input, also after decompression (default 2^33)",
    )
    add("--force", action="store_true", help="replace the file --out if it exists")
    add("--project", metavar="SET", help="psd or trace: also project the released matrix, see below")
    add("--budget-file", metavar="FILE", help="account of the budget of this data file (.json), see below")
    add("--total", metavar="BUDGET", help="total budget of a new account: epsilon=1, rho=0.5 or epsilon=1,delta=1e-6")
    add(
        "--wait",
        type=float,
        metavar="S",
        help="seconds to wait while another command writes to the account (default 60)",
    )
    add("--seed", type=int, help="seed that fixes the noise, for tests: NOT private")
    arithmetic = parser.add_mutually_exclusive_group()
    arithmetic.add_argument(
        "--rounded",
        action="store_true",
        help="round correctly to a grid, so that the guarantee covers every bit; the default if the mechanism can",
    )
    arithmetic.add_argument("--float", action="store_true", help="draw the noise in float64, not for production")
    add("--grid", metavar="2^-M", help="the grid of a rounded release, for rows in the unit ball (default 2^-30)")
    add("--quiet", action="store_true", help="suppress notes; privacy warnings are still printed")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the release, and print notes about it on standard error."""
    budget = _budget(options)
    name = mechanism_for(options.mechanism, budget, bounded=options.bounds is not None)
    request = ReleaseRequest(
        data=_data(options.data),
        mechanism=name,
        budget=budget,
        options={**chosen(options), **({"adjacency": options.adjacency} if options.adjacency else {})},
        selection=_selection(options),
        out=_path("--out", options.out),
        force=options.force,
        row_bound=options.row_bound,
        bounds=_path("--bounds", options.bounds),
        scale_by_data=options.scale_by_data_not_private,
        account=_path("--budget-file", options.budget_file),
        total=None if options.total is None else parse_total(options.total),
        wait=options.wait,
        project=options.project,
        seed=options.seed,
        rounded=_rounded(options, name),
        grid=options.grid,
    )
    with _watched(options.quiet) as watch:
        released = release_table(request, watch, (lambda said: None) if options.quiet else _tell)
    notes = [] if options.quiet else [*released.notes, *(f"warning: {said}" for said in released.warnings)]
    for note in (*notes, *(f"this release is not private: {reason}" for reason in request.not_private)):
        _tell(note)
    return 0


def _path(option: str, given: str | None) -> Path | None:
    """Return the given path, or raise an error if it is an empty text, for instance
    from an unset shell variable."""
    if given == "":
        raise InvalidInput(f"{option} '': must be the path of a file")
    return None if given is None else Path(given)


def _tell(said: str) -> None:
    print(f"covassay: {said}", file=sys.stderr)


def _data(arguments: list[str]) -> Any:
    """Return the paths of the data, or standard input if "-" is given."""
    if STANDARD_INPUT not in arguments:
        return [Path(path) for argument in arguments for path in _matching(argument)]
    if len(arguments) > 1:
        raise InvalidInput(f"{STANDARD_INPUT} is standard input: must be the only data")
    return sys.stdin.buffer


def _matching(argument: str) -> list[str]:
    """Return the files that match a pattern that the shell has not expanded.

    An argument that is no pattern is returned unchanged.
    """
    if not argument:
        raise InvalidInput("data '': must be the path of a file or a directory, or -")
    if os.path.lexists(argument) or not glob.has_magic(argument):
        return [argument]
    found = glob.glob(argument)
    if not found:
        raise InvalidInput(f"{argument!r}: must match at least one file")
    return found


def _selection(options: argparse.Namespace) -> Selection:
    return Selection(
        columns=None if options.columns is None else parse_names("--columns", options.columns),
        drop=None if options.drop is None else parse_names("--drop", options.drop),
        header=True if options.header else False if options.no_header else None,
        delimiter=options.delimiter,
        allow_copies=options.allow_copies,
        stream_limit=STREAM_LIMIT if options.stream_limit is None else options.stream_limit,
    )


def _rounded(options: argparse.Namespace, name: str) -> bool:
    """Return whether the release is rounded exactly, which is the case if the user
    requests it, and by default if the mechanism allows both.
    """
    if mechanism(name).name in ON_A_LATTICE:
        return not options.float
    by_default = not options.float and name in WITH_ROUNDED_FORM
    if not (options.rounded or by_default):
        if options.grid is not None:
            raise InvalidInput("--grid applies only to a rounded release: this release is in float64")
        return False
    try:
        require_flint()
    except InvalidInput as error:
        raise InvalidInput(f"{error}; or give --float, for noise in float64, not for production") from None
    return True


def _budget(options: argparse.Namespace) -> Guarantee:
    """Return the budget from the command line, or raise an error if it is missing,
    because a release has no default budget."""
    keywords = {} if options.mechanism is None else mechanism(options.mechanism).notion.default.keywords()
    if options.epsilon is options.rho is options.delta is None:
        missing = " and ".join(f"--{key}" for key in keywords) or "--epsilon, --rho, or --epsilon and --delta"
        raise InvalidInput(f"{missing} is missing: the budget of a release must be stated")
    approximate = "delta" in keywords or (options.mechanism is None and options.delta is not None)
    if approximate and options.rho is None and (options.epsilon is None or options.delta is None):
        raise InvalidInput(
            f"{options.mechanism or 'a release with --delta'} is (ε, δ)-DP: give both --epsilon and --delta"
        )
    return guarantee(options, options.mechanism)


@contextlib.contextmanager
def _watched(quiet: bool) -> Iterator[Watch]:
    """Show a progress bar for every pass over the rows if the output is a terminal."""
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
