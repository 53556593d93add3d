"""Run Rocq for the gate, to compile the proofs and to answer questions about them."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from covassay.verification.claims.kernel.sources import paths

REQUIRE = "COVASSAY_REQUIRE_ROCQ"  # the environment variable that makes Rocq mandatory, as in CI
LIBRARIES = ("coq", "libcoq-mathcomp-algebra", "libcoq-mathcomp-analysis", "libcoq-mathcomp-algebra-tactics")
ERROR = re.compile(r'File "\./(\S+)", line (\d+), characters \S+:\nError:\s*(.*?)(?:\n\n|\Z)', re.DOTALL)
PROJECT = "_CoqProject"
MARK = "@@covassay@@"  # the line that is printed before every answer, to separate the answers
# Rocq's default would cut and break long terms
UNABRIDGED = ["Set Printing Width 1000000.", "Set Printing Depth 1000000."]
COMPILE_ERROR = 300  # the number of characters after which a compiler error is cut; the rest repeats the goal
LOG_END = 1000  # the number of characters that are shown from the end of a log without a recognizable error


class KernelError(Exception):
    """Rocq cannot be run, or it does not answer."""


def available() -> bool:
    """Return whether Rocq is installed on this machine."""
    return all(shutil.which(tool) for tool in ("coqc", "coq_makefile", "make"))


def required() -> bool:
    """Return whether Rocq is mandatory in this environment, as in CI."""
    return os.environ.get(REQUIRE, "") not in ("", "0")


def versions() -> dict[str, str]:
    """Return the versions of Rocq and, on a Debian system, of the packages of its libraries."""
    found = {"coqc": _run(["coqc", "--print-version"]).stdout.split()[0]}
    if shutil.which("dpkg-query"):
        for package in LIBRARIES:
            shown = _run(["dpkg-query", "-W", "-f", "${Version}", package])
            found[package] = shown.stdout.strip() if shown.returncode == 0 else "not packaged"
    return found


def _run(command: Sequence[str], **options: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload, no-any-return]


def stage(folder: Path, build: Path) -> None:
    """Copy the .v files of all folders into a build directory, side by side, and write a project file there.

    The full name of a theorem therefore contains the name of its file, but not that of a folder. A file that has not
    changed keeps its compiled .vo file and its time stamp, so that make does not compile it again.
    """
    build.mkdir(parents=True, exist_ok=True)
    wanted = {path.name: path.read_bytes() for path in paths(folder)}
    wanted[PROJECT] = "\n".join(["-Q . covassay", *wanted, ""]).encode()
    for old in build.glob("*.v"):
        if old.name not in wanted:
            for left in build.glob(f"{old.stem}.*"):
                left.unlink()
    for name, content in wanted.items():
        path = build / name
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
            path.with_suffix(".vo").unlink(missing_ok=True)


def build(folder: Path, only: Iterable[str] = (), jobs: int = 1) -> list[str]:
    """Compile the files of a build directory, or only the named files and those that they need, and return the
    errors.
    """
    made = _run(["coq_makefile", "-f", PROJECT, "-o", "Makefile"], cwd=folder)
    if made.returncode:
        raise KernelError(f"coq_makefile: {made.stderr.strip()}")
    targets = [f"{Path(name).stem}.vo" for name in only]
    done = _run(["make", "-k", f"-j{jobs}", "COQEXTRAFLAGS=-w -all", *targets], cwd=folder)
    if done.returncode == 0:
        return []
    found = [
        f"{file}, line {line}: {' '.join(told.split())[:COMPILE_ERROR]}"
        for file, line, told in ERROR.findall(done.stderr)
    ]
    return found or [f"make: {done.stderr.strip()[-LOG_END:]}"]


def dependencies(folder: Path) -> dict[str, set[str]]:
    """Return for every file the file itself and the files of the project that it needs, directly or indirectly."""
    shown = _run(["coqdep", "-f", PROJECT], cwd=folder).stdout
    direct = {
        left.split()[0].removesuffix("o"): {Path(word).stem + ".v" for word in right.split() if word.endswith(".vo")}
        for left, _, right in (line.partition(":") for line in shown.splitlines() if ".vo " in line)
    }
    found = {file: {file} for file in direct}
    for _ in direct:  # one round for each file is enough, because no chain of dependencies is longer
        found = {file: {file}.union(*(found[needed] for needed in direct[file])) for file in direct}
    return found


def compiled(folder: Path) -> set[str]:
    """Return the .v files of a build directory that are compiled."""
    return {path.name for path in folder.glob("*.v") if path.with_suffix(".vo").exists()}


def ask(build: Path, preamble: Iterable[str], questions: Mapping[str, str]) -> dict[str, str]:
    """Return Rocq's answer to each question, keyed like the questions; one process answers all of them."""
    script = [*preamble]
    for key, question in questions.items():
        script += [f'Goal True. idtac "{MARK} {key}". Abort.', question]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "Questions.v"
        path.write_text("\n".join(script) + "\n", encoding="utf-8")
        done = _run(["coqc", "-q", "-w", "-all", "-Q", str(build.resolve()), "covassay", str(path)], cwd=scratch)
    if done.returncode:
        raise KernelError(done.stderr.strip()[-LOG_END:])
    answers = {}
    for block in done.stdout.split(f"{MARK} ")[1:]:
        key, _, answer = block.partition("\n")
        answers[key] = answer.rstrip()
    if list(answers) != list(questions):
        raise KernelError("not every question was answered")
    return answers


def ask_in_parallel(build: Path, preamble: Sequence[str], questions: Mapping[str, str], jobs: int) -> dict[str, str]:
    """Return Rocq's answer to each question; several processes share slow questions."""
    parts = [dict(list(questions.items())[k::jobs]) for k in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        answers = pool.map(lambda part: ask(build, preamble, part), [part for part in parts if part])
        return {key: answer for part in answers for key, answer in part.items()}
