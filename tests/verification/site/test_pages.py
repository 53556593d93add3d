"""Test that every code block on the website runs, and that its output is the one that the page shows."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

from .blocks import agrees, blocks, commands

PAGES = Path(__file__).parents[3] / "verification" / "site" / "pages"
OTHER_PACKAGES = re.compile(r"covassay audit (diffprivlib|opendp)")
CLONE = Path(__file__).parents[3]


def names() -> list[object]:
    return [
        pytest.param(
            path.relative_to(PAGES).as_posix(),
            marks=[pytest.mark.slow, *([pytest.mark.peers] if OTHER_PACKAGES.search(path.read_text()) else [])],
        )
        for path in sorted(PAGES.rglob("*.md"))
    ]


def installs(line: str) -> None:
    """Assert that the extras in an installation command exist, without running the command."""
    extras = set(re.findall(r"[a-z-]+", re.search(r"\[(.*?)\]", line)[1]))  # type: ignore[index]
    assert extras <= set(metadata("covassay").get_all("Provides-Extra"))  # type: ignore[arg-type]


def run_console(text: str, folder: Path, path: str) -> None:
    status = 0
    for command in commands(text):
        if command.line.startswith("pip install"):
            installs(command.line)
            continue
        done = subprocess.run(
            ["bash", "-c", f"(exit {status}); {command.line}"],
            cwd=folder,
            env={**os.environ, "PATH": path, "COLUMNS": "80", "PYTHONPATH": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        status = done.returncode
        assert agrees(command.shown, done.stdout), f"$ {command.line}\n{done.stdout}"


def run_python(text: str, folder: Path) -> None:
    code = (
        "import doctest, sys\n"
        "flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL\n"
        "test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, 'page', None, 0)\n"
        "assert test.examples\n"
        "sys.exit(doctest.DocTestRunner(optionflags=flags).run(test).failed > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=text, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", names())
def test_every_block_of_a_page_runs_as_shown(name: str, tmp_path: Path) -> None:
    """The test fails if the output of a code block differs from the output that the page shows. The blocks of a page
    run in order, in one empty folder.
    """
    command = shutil.which("covassay", path=str(Path(sys.executable).parent)) or shutil.which("covassay")
    assert command
    path = os.pathsep.join((str(Path(command).parent), str(Path(sys.executable).parent), os.environ["PATH"]))
    found = blocks(PAGES / name)
    assert found
    for block in found:
        if block.title:
            (tmp_path / block.title).write_text(block.text)
        elif block.kind == "console":
            run_console(block.text, tmp_path, path)
        else:
            assert block.kind == "python", f"cannot run a block of kind {block.kind} or write it to a file"
            run_python(block.text, tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("REFUTED\n…\n", "REFUTED\nmore\nlines\n", True),
        ("REFUTED\n…\n", "NOT REFUTED\nmore\n", False),
        ("P = 0.28…\n", "P = 0.31\n", False),
        ("", "a line that the page does not show\n", False),
    ],
)
def test_an_output_that_differs_is_seen(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same


def test_every_fence_of_a_page_is_a_block() -> None:
    """The test fails if a code block is skipped because of an unusual first line."""
    for path in PAGES.rglob("*.md"):
        assert path.read_text().count("```") == 2 * len(blocks(path)), path
