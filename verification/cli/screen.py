"""Print the output of the commands as JSON, as tables that fit the terminal, and as progress on standard error."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from covassay.verification.statistics.streams import Watch

BAR = 16  # the number of columns of a progress bar
PACE = 20  # the remaining time is estimated after this many draws
errors: TextIO | None = None  # the progress is shown on this stream if the output of a target uses standard error
WIDTH_OF_A_PIPE = 150  # a pipe has no width; with this width most rows of a table fit on one line


def as_text(data: Any) -> str:
    """Return plain data as JSON text, in the form that the commands print."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def print_json(data: Any) -> None:
    """Print plain data as JSON on standard output."""
    sys.stdout.write(as_text(data))


def console(width_of_a_pipe: int = WIDTH_OF_A_PIPE) -> Console:
    """Make the console of rich for standard output, with the width of the terminal, or a fixed width for a pipe."""
    return Console(width=None if sys.stdout.isatty() else width_of_a_pipe)


class Bar(Watch):
    """A progress bar of an audit, which shows how many draws and checks were made, and how many are planned.

    The bar also prints a line with the estimated time of the audit, and a line if the time limit stopped a draw. With
    `verbose` the line with the time is also printed without a terminal; with `quiet` neither line is printed. The
    argument `jobs` is the number of workers.
    """

    def __init__(self, bar: Progress, verbose: bool = False, quiet: bool = False, jobs: int = 1) -> None:
        super().__init__()
        self._bar = bar
        self._verbose, self._quiet, self._jobs = verbose, quiet, jobs
        self._timed, self._seconds, self._said = 0, 0.0, set[str]()
        self._task = bar.add_task("contract", total=None, made="")
        self._planned: dict[str, float] = {}
        self._finished = self._since = self._draws = self._checks = 0.0

    def __call__(self, label: str, count: int) -> None:
        """Add `count` draws to the bar, and show the name of the part of the audit that made them."""
        self._draws += count
        self._since += count
        part = next(iter(self._planned), "")
        self._show(part or label.split("/")[0])

    def plan(self, parts: Mapping[str, float]) -> None:
        """Extend the bar by the planned parts of the audit, which are given with their expected numbers of draws."""
        self._planned |= parts

    def done(self, part: str, checks: int) -> None:
        """Move the bar to the end of this part of the audit, even if the number of draws differs from the plan."""
        self._finished += self._planned.pop(part, 0.0)
        self._since = 0.0
        self._checks += checks
        self._show(part)

    def timed(self, draws: int, seconds: float) -> None:
        """Print the estimated time of the audit as soon as the speed of the draws is known."""
        self._timed += draws
        self._seconds += seconds
        planned = sum(self._planned.values())
        if self._timed >= PACE and planned and (self._verbose or self._bar.console.is_terminal):
            left = planned * self._seconds / self._timed / self._jobs
            self._say(
                "pace",
                f"about {planned:,.0f} draws to come: {in_words(left)} at the pace of the first {self._timed}; "
                "the tests, and new draws for suspicious results, take more time",
            )

    def stopped(self, limit: float) -> None:
        """Print a line when the time limit stops a draw for the first time."""
        text = f"a draw was stopped after {limit:g} s; if the target is that slow, give a longer --time-limit"
        self._say("limit", text)

    def _say(self, what: str, sentence: str) -> None:
        if what not in self._said and not self._quiet:
            self._bar.console.print(f"covassay: {sentence}", markup=False, highlight=False, soft_wrap=True)
        self._said.add(what)

    def _show(self, label: str) -> None:
        total = self._finished + sum(self._planned.values())
        within = min(self._since, next(iter(self._planned.values()), 0.0))
        made = f"{self._draws:.0f} draws, {self._checks:.0f} checks"
        self._bar.update(
            self._task, description=escape(label), made=made, completed=self._finished + within, total=total or None
        )


def in_words(seconds: float) -> str:
    """Return a time in words, in the largest unit in which the number is at least 2."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


class Left(TimeRemainingColumn):
    """A column of the progress bar with the remaining time in words; the column is empty while the time is unknown."""

    def render(self, task: Task) -> Text:
        """Return the remaining time of this task as text."""
        return Text("" if task.time_remaining is None else f"{super().render(task).plain} left")


def _progress(quiet: bool, made: str, redirect: bool = False) -> Progress:
    """Return an empty progress bar, which is shown on standard error only if that is a terminal.

    The text to the right of the bar, such as the number of draws so far, is made from the template `made`.

    The bar captures standard output only if `redirect` is true.
    """
    terminal = (errors or sys.stderr).isatty()  # with FORCE_COLOR, rich would treat a pipe as a terminal
    shown = Console(file=errors, stderr=True, force_terminal=terminal)
    # the description beside the bar is shortened to the available width
    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = BarColumn(BAR), TextColumn(made), Left(), TextColumn("{task.description}", table_column=rest)
    hidden = quiet or not terminal
    own = errors is not None  # a separate stream has only the progress bar, so rich need not redirect other output
    return Progress(
        *columns, console=shown, transient=True, disable=hidden, redirect_stdout=redirect and not own,
        redirect_stderr=not own, expand=True,
    )  # fmt: skip


@contextmanager
def audit_progress(quiet: bool = False, verbose: bool = False, jobs: int = 1) -> Iterator[Watch]:
    """Make a progress bar for an audit, which is shown only on a terminal."""
    with _progress(quiet, "{task.fields[made]}", redirect=True) as bar:
        yield Bar(bar, verbose, quiet, jobs)


@contextmanager
def progress(title: str, total: int | None, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """Make a progress bar that is shown only on a terminal.

    If `total` is given, the bar shows the remaining time. The context yields a function that advances the bar, with a
    description and, optionally, a number of steps as arguments.
    """
    made = "{task.completed:.0f}" + ("" if total is None else " of {task.total:.0f}")
    with _progress(quiet, made) as bar:
        task = bar.add_task(title, total=total)

        def advance(name: str, steps: int = 1) -> None:
            bar.update(task, advance=steps, description=escape(name))

        yield advance
