"""What the commands print: JSON, tables that fit the terminal, progress on standard error."""

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

BAR = 16  # columns of a progress bar
PACE = 20  # draws from which it is said how long the rest will take
errors: TextIO | None = None  # where progress is shown, if standard error is for what a target prints
WIDTH_OF_A_PIPE = 150  # a pipe has no width; this one keeps most rows on one line


def as_text(data: Any) -> str:
    """Plain data as JSON, as the commands print it."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def print_json(data: Any) -> None:
    """Print plain data as JSON on standard output."""
    sys.stdout.write(as_text(data))


def console(width_of_a_pipe: int = WIDTH_OF_A_PIPE) -> Console:
    """Standard output for rich: as wide as the terminal, or as wide as a pipe is taken to be."""
    return Console(width=None if sys.stdout.isatty() else width_of_a_pipe)


class Bar(Watch):
    """A progress bar that follows an audit: how many draws and checks were made, and what is planned.

    It also says, in a line each, how long the audit will take, and that the time limit stopped a draw. `verbose` and
    `quiet` say whether the first is said where there is no terminal, and whether nothing is said at all. `jobs` is the
    number of workers.
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
        """Count the draws, and say what they are for."""
        self._draws += count
        self._since += count
        part = next(iter(self._planned), "")
        self._show(part or label.split("/")[0])

    def plan(self, parts: Mapping[str, float]) -> None:
        """Lengthen the bar by these parts."""
        self._planned |= parts

    def done(self, part: str, checks: int) -> None:
        """Move the bar to the end of this part, however many draws it took."""
        self._finished += self._planned.pop(part, 0.0)
        self._since = 0.0
        self._checks += checks
        self._show(part)

    def timed(self, draws: int, seconds: float) -> None:
        """Once the pace is known, say how long the audit will take."""
        self._timed += draws
        self._seconds += seconds
        planned = sum(self._planned.values())
        if self._timed >= PACE and planned and (self._verbose or self._bar.console.is_terminal):
            left = planned * self._seconds / self._timed / self._jobs
            self._say(
                "pace",
                f"about {planned:,.0f} draws to come: {in_words(left)} at the pace of the first {self._timed}, beside "
                "the time of the tests and of second looks",
            )

    def stopped(self, limit: float) -> None:
        """Say the first time that the time limit stopped a draw."""
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
    """A time in the largest unit of which there are two."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


class Left(TimeRemainingColumn):
    """The time that is left, in words; nothing while it is not known."""

    def render(self, task: Task) -> Text:
        """The time that is left of this task."""
        return Text("" if task.time_remaining is None else f"{super().render(task).plain} left")


def _progress(quiet: bool, made: str, redirect: bool = False) -> Progress:
    """An empty progress bar on standard error, which is shown on a terminal alone. It says how much is `made`.

    It leaves standard output alone unless that is to be redirected, because what is printed there belongs there.
    """
    terminal = (errors or sys.stderr).isatty()  # a Console alone would take a pipe for one where FORCE_COLOR is set
    shown = Console(file=errors, stderr=True, force_terminal=terminal)
    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")  # so much of the description as there is room for
    columns = BarColumn(BAR), TextColumn(made), Left(), TextColumn("{task.description}", table_column=rest)
    hidden = quiet or not terminal
    own = errors is not None  # then nothing else is printed there, and nothing need be redirected
    return Progress(
        *columns, console=shown, transient=True, disable=hidden, redirect_stdout=redirect and not own,
        redirect_stderr=not own, expand=True,
    )  # fmt: skip


@contextmanager
def audit_progress(quiet: bool = False, verbose: bool = False, jobs: int = 1) -> Iterator[Watch]:
    """A progress bar for an audit on a terminal, none in a pipe."""
    with _progress(quiet, "{task.fields[made]}", redirect=True) as bar:
        yield Bar(bar, verbose, quiet, jobs)


@contextmanager
def progress(title: str, total: int | None, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """A progress bar on a terminal, none in a pipe. With a total it shows the time left.

    What it gives takes a description and advances the bar by one step, or by as many as a second argument says.
    """
    made = "{task.completed:.0f}" + ("" if total is None else " of {task.total:.0f}")
    with _progress(quiet, made) as bar:
        task = bar.add_task(title, total=total)

        def advance(name: str, steps: int = 1) -> None:
            bar.update(task, advance=steps, description=escape(name))

        yield advance
