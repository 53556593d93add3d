"""Implement `covassay claims theorems`, and the parts of `check` and `accept` that concern proofs/rocq."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from covassay.reference.errors import InvalidInput
from covassay.verification.claims.entries import assumptions
from covassay.verification.claims.kernel import gate, kernel, lock, vectors
from covassay.verification.cli.screen import print_json


def proofs_folder() -> Path:
    """Return the folder proofs/ of the clone in which the command is run."""
    path = Path("proofs")
    if not path.is_dir():
        raise InvalidInput("no folder proofs/ here: run this from a clone of the repository")
    return path


def run(
    options: argparse.Namespace, tags: Iterable[str] | None = None, *, compiling: bool = True, each_alone: bool = False
) -> gate.GateReport:
    """Report on the given theorems, or on all theorems.

    If `compiling` is true and Rocq is installed, the function asks the Rocq kernel. Otherwise it compares the sources
    with the lock file, or raises `InvalidInput` if `compiling` is true and Rocq is required. For `each_alone` see
    `gate.recheck`.
    """
    proofs = proofs_folder()
    if compiling and kernel.available():
        try:
            return gate.recheck(proofs, assumptions(), tags, options.build, options.jobs, each_alone)
        except kernel.KernelError as error:
            raise InvalidInput(f"rocq: {error}") from None
    if compiling and kernel.required():
        raise InvalidInput(f"coqc, coq_makefile or make is missing, and {kernel.REQUIRE} is set")
    return gate.compare_sources(proofs, tags)


def print_report(report: gate.GateReport) -> None:
    """Print one line for each theorem, and the findings on standard error."""
    for tag, word in report.words.items():
        print(f"theorem {tag}: {word}")
    print(*report.findings, sep="\n", end="\n" if report.findings else "", file=sys.stderr)


def theorems(options: argparse.Namespace) -> int:
    """Report on every theorem, and return 1 if one fails."""
    report = run(options)
    if options.json:
        found = [{"rule": f.rule, "text": f.text, "theorems": list(f.tags)} for f in report.findings]
        print_json({"theorems": report.words, "findings": found})
    else:
        print_report(report)
        words = list(report.words.values())
        counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        print(f"{len(words)} theorems: {counts}")
    return 1 if report.findings else 0


def accept(options: argparse.Namespace) -> int:
    """Compile and audit the theorems, print the changes, and write the answers of the Rocq kernel to the lock file.

    The user must name every theorem, witness or lemma whose statement differs from the lock file, or give --all. If
    one of these names is missing, nothing is written.
    """
    if not kernel.available():
        raise InvalidInput("accept --rocq runs Rocq: coqc, coq_makefile and make must be installed")
    report = run(options, each_alone=True)
    if report.wrong or not report.record:
        print_report(report)
        return 1
    proofs = proofs_folder()
    old = lock.read(proofs)
    print(*lock.changes(old, report.record, report.texts), sep="\n")
    changed = lock.changed_statements(old, report.record)
    unknown = sorted(set(options.ids) - set(changed))
    unread = [] if options.all else [name for name in changed if name not in options.ids]
    if unknown:
        raise InvalidInput(f"accept --rocq: no theorem, witness or lemma with the name {unknown[0]} has changed")
    if unread:
        raise InvalidInput(
            f"accept --rocq: name the statements that you have read, or use --all; not named: {' '.join(unread)}"
        )
    lock.path_of(proofs).write_text(lock.as_text(report.record), encoding="utf-8")
    vectors.path_of(proofs).write_text(report.vectors, encoding="utf-8")
    print(f"{len(report.words)} theorems locked in {lock.path_of(proofs)}")
    return 0
