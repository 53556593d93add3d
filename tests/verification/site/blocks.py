"""Find the code blocks of a page, run their commands and Python code, and compare the output with the output on the
page.
"""

import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = "…"  # this text stands for any output


@dataclass(frozen=True)
class Block:
    """A code block of a page, with its language, the name of the file that it shows, and its text."""

    kind: str
    title: str | None
    text: str


@dataclass(frozen=True)
class Command:
    """A command on a page, with the output that the page shows below it."""

    line: str
    shown: str


def blocks(page: Path) -> list[Block]:
    return [Block(m["kind"], m["title"], m["text"]) for m in BLOCK.finditer(page.read_text())]


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a console block. A command starts with a dollar sign, and its output follows."""
    assert text.startswith("$ "), f"a console block begins with a command: {text[:40]!r}"
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        yield Command(line, shown)


def agrees(shown: str, printed: str) -> bool:
    """Return whether the printed output matches the output on the page, where "…" stands for any text."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown.replace(LEFT_OUT, "..."), printed, flags)
