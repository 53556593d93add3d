"""Compile the proofs, audit them, and compare them with the lock; if Rocq is not installed, compare only the
sources.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from covassay.verification.claims.kernel import findings, kernel, lock, sources, vectors
from covassay.verification.claims.kernel.audit import Audit, Witness, audit, read_witnesses
from covassay.verification.claims.kernel.findings import Discrepancy
from covassay.verification.claims.kernel.lock import RocqLock
from covassay.verification.claims.kernel.sources import Tagged
from covassay.verification.claims.kernel.vectors import KernelVector

RECORDED = "recorded, not re-run"
CHANGED = "not what was recorded"
RECHECKED = "re-checked"
FAILED = "FAILED"
NOT_REACHED = "not reached: another file does not compile"


@dataclass(frozen=True)
class GateReport:
    """The findings of the gate, and for each theorem one of the five verdicts of this module."""

    words: dict[str, str]
    # mistakes in the proofs, which remain even if a person accepts the proofs and the lock is updated
    wrong: list[Discrepancy]
    differences: list[Discrepancy]  # all differences from the lock
    record: RocqLock | None = None  # the new lock, which a person can accept; None unless all theorems were audited
    vectors: str = ""  # the new text of proofs/vectors.json; empty unless all theorems were audited
    texts: Mapping[str, str] = field(default_factory=dict)  # the texts of the definitions in the record, keyed by name

    @property
    def findings(self) -> list[Discrepancy]:
        """Return all findings.

        An empty list of findings does not say whether the kernel was asked at all; the verdicts of the theorems say so.
        """
        return [*self.wrong, *self.differences]


@contextmanager
def build_directory(chosen: Path | None) -> Iterator[Path]:
    """Provide the build directory: the chosen one, which is kept and whose compiled files are used again, or a
    temporary one.
    """
    if chosen is not None:
        yield chosen
        return
    with tempfile.TemporaryDirectory(prefix="covassay-rocq-") as folder:
        yield Path(folder)


def compare_sources(proofs: Path, tags: Iterable[str] | None = None) -> GateReport:
    """Return the report that is possible without Rocq, from the sources alone.

    A theorem counts as recorded if it is in the lock and no source file has changed. All source files matter, because
    without Rocq it is unknown on which of them the theorem depends.
    """
    known, locked = sources.tagged(sources.files(proofs / "rocq"))[0], lock.read(proofs).theorems
    differences = findings.source_findings(proofs)
    same = not any(finding.rule == "source" for finding in differences)
    asked = known if tags is None else tags
    words = {tag: RECORDED if same and tag in known and tag in locked else CHANGED for tag in asked}
    return GateReport(words, findings.scan_findings(proofs / "rocq"), differences)


@dataclass(frozen=True)
class Examination:
    """The kernel's answers about theorems and about the numbers for proofs/vectors.json, before they are compared with
    the lock.
    """

    audit: Audit
    vectors: list[KernelVector]
    exported: str  # the vectors with their values, as in proofs/vectors.json

    def unsound(self) -> list[Discrepancy]:
        """Return the findings about forbidden axioms, about definitions that Qed has sealed, and about lemmas that do
        not connect the exported numbers with a theorem.
        """
        return [
            *findings.axiom_findings(self.audit),
            *findings.hidden_findings(self.audit),
            *findings.vector_findings(self.audit, self.vectors),
        ]


def examine(
    build: Path,
    theorems: Iterable[Tagged],
    wanted: list[KernelVector],
    table: Mapping[str, Witness],
    jobs: int = 1,
    files: Iterable[str] | None = None,
    expected: Mapping[str, tuple[str, ...]] | None = None,
) -> Examination:
    """Ask the kernel about theorems, and about the numbers and the lemmas of vectors (lists of rows of numbers).

    The docstring of `audit` explains the arguments `files` and `expected`.
    """
    lemmas = sorted({lemma for v in wanted for lemma in v.lemmas})
    answers = audit(build, theorems, table, jobs, files, lemmas, expected)
    return Examination(answers, wanted, vectors.as_text(wanted, vectors.evaluate(build, wanted)))


def recheck(
    proofs: Path,
    assumptions: Mapping[str, str],
    tags: Iterable[str] | None = None,
    chosen: Path | None = None,
    jobs: int = 1,
    each_alone: bool = False,
) -> GateReport:
    """Compile the proofs, audit all theorems or those with the given tags, and compare them with the lock.

    The argument `chosen` is the build directory, by default a temporary one. If all theorems are audited, the kernel
    also evaluates the numbers for proofs/vectors.json. If `each_alone` is true, the kernel is asked for the axioms of
    each theorem separately, as is necessary for a new lock. Otherwise the kernel is asked to confirm that the theorems
    rest on no other axioms than the locked ones.
    """
    folder, locked, whole = proofs / "rocq", lock.read(proofs), tags is None
    known = sources.tagged(sources.files(folder))[0]
    wanted = {tag: known[tag] for tag in (known if tags is None else tags) if tag in known}
    wrong = findings.scan_findings(folder)
    if wrong:
        return GateReport(dict.fromkeys(wanted, FAILED), wrong, [])
    with build_directory(chosen) as build:
        kernel.stage(folder, build)
        errors = kernel.build(build, jobs=jobs)
        if errors:
            return _not_compiled(errors, wanted, kernel.compiled(build))
        wanted_vectors = vectors.read(folder) if whole else []
        expected = None if each_alone else lock.axioms(locked)
        found = examine(build, wanted.values(), wanted_vectors, read_witnesses(folder), jobs, expected=expected)
    now = lock.record(found.audit, folder, kernel.versions(), found.exported)
    wrong = [*found.unsound(), *findings.witness_findings(found.audit, assumptions, whole)]
    differences = _whole_differences(proofs, locked, now) if whole else findings.lock_findings(locked, now)
    failed = {tag for finding in (*wrong, *differences) for tag in finding.tags}
    words = {tag: FAILED if tag in failed else RECHECKED for tag in wanted}
    if not whole:
        return GateReport(words, wrong, differences)
    texts = {name: found.audit.definitions[name].text for name in now.definitions}
    return GateReport(words, wrong, differences, now, found.exported, texts)


def _not_compiled(errors: Iterable[str], wanted: Mapping[str, Tagged], compiled: set[str]) -> GateReport:
    words = {tag: NOT_REACHED if theorem.file in compiled else FAILED for tag, theorem in wanted.items()}
    return GateReport(words, [Discrepancy("compile", text) for text in errors], [])


def _whole_differences(proofs: Path, locked: RocqLock, now: RocqLock) -> list[Discrepancy]:
    """Return the differences between an audit of all theorems and the lock, without repetitions."""
    found = [
        *findings.lock_findings(locked, now),
        *findings.source_findings(proofs),
        *findings.number_findings(locked, now),
    ]
    return list(dict.fromkeys(found or findings.remaining_findings(locked, now)))
