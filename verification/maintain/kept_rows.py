"""Store measurements as rows of a file of JSON lines, so that an interrupted program does not measure them again."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed

Row = TypeVar("Row")
Task = tuple[Any, ...]  # the arguments of the function that makes one measurement


def read(file: Path | None) -> list[dict[str, Any]]:
    """Return the rows in a file of JSON lines, or an empty list if there is no such file."""
    if file is None or not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def measured(
    measure: Callable[..., Row],
    tasks: Iterable[Task],
    known: Mapping[Task, Row],
    jobs: int,
    kept: Path | None,
    as_json: Callable[[Row], dict[str, Any] | None],
) -> Iterator[Row]:
    """Yield the row of every task, first the stored rows, and then new rows, which are added to the file when they are
    complete.

    A row is not stored if `as_json` returns None for it.
    """
    wanted = list(tasks)
    yield from (known[task] for task in wanted if task in known)
    new = (delayed(measure)(*task) for task in wanted if task not in known)
    for row in Parallel(n_jobs=jobs, return_as="generator_unordered")(new):
        content = as_json(row)
        if kept is not None and content is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(content, ensure_ascii=False) + "\n")
        yield row
