"""Output of the commands: JSON, tables that fit the terminal, progress on standard error."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

WIDTH_OF_A_PIPE = 150  # a pipe has no width; this one keeps most rows on one line


def print_json(data: Any) -> None:
    """Print plain data as JSON on standard output."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def console() -> Console:
    """The rich console for standard output, as wide as the terminal, or `WIDTH_OF_A_PIPE` in a pipe."""
    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_PIPE)


@contextmanager
def progress(title: str, total: int | None, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal, and none in a pipe.

    It yields a function of a description and a number of steps (default 1), which advances the bar.
    """
    errors = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as bar:
        task = bar.add_task(title, total=total)

        def advance(name: str, steps: int = 1) -> None:
            bar.update(task, advance=steps, description=name)

        yield advance
