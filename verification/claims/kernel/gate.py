"""The gate: compile, audit, compare with the lock; or, without Rocq, compare the sources with it."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from covassay.verification.claims.kernel import kernel, lock, sources, vectors
from covassay.verification.claims.kernel.audit import audit, read_witnesses
from covassay.verification.claims.kernel.lock import Discrepancy, Lock

RECORDED = "recorded, not re-run"
RECHECKED = "re-checked"
FAILED = "FAILED"
NOT_REACHED = "not reached: another file does not compile"


@dataclass(frozen=True)
class GateReport:
    """What the gate found, and a word for each theorem."""

    words: dict[str, str]
    wrong: list[Discrepancy]  # no lock can make this right
    differences: list[Discrepancy]  # from the lock
    record: Lock = field(default_factory=dict)  # what accepting would lock; empty if not everything was audited
    vectors: str = ""  # and export

    @property
    def findings(self) -> list[Discrepancy]:
        """Everything found; empty if all is well, which does not say that the kernel was asked: the words do."""
        return [*self.wrong, *self.differences]


@contextmanager
def build_directory(chosen: Path | None) -> Iterator[Path]:
    """The one chosen, which is kept and whose compiled files are used again, or a temporary one."""
    if chosen is not None:
        yield chosen
        return
    with tempfile.TemporaryDirectory(prefix="covassay-rocq-") as folder:
        yield Path(folder)


def compare_sources(proofs: Path, tags: Iterable[str] | None = None) -> GateReport:
    """What can be said without Rocq."""
    known = sources.tagged(sources.files(proofs / "rocq"))[0]
    words = dict.fromkeys(known if tags is None else tags, RECORDED)
    return GateReport(words, lock.face_findings(proofs / "rocq"), lock.source_findings(proofs))


def recheck(
    proofs: Path,
    assumptions: Mapping[str, str],
    tags: Iterable[str] | None = None,
    chosen: Path | None = None,
    jobs: int = 1,
) -> GateReport:
    """Compile, audit all theorems, or those of the tags and what they need, and compare with the lock."""
    folder, locked = proofs / "rocq", lock.read(proofs)
    known = sources.tagged(sources.files(folder))[0]
    wanted = {tag: known[tag] for tag in (known if tags is None else tags) if tag in known}
    wrong = lock.face_findings(folder)
    if wrong:
        return GateReport(dict.fromkeys(wanted, FAILED), wrong, [])
    table = read_witnesses(folder)
    with build_directory(chosen) as build:
        kernel.stage(folder, build)
        errors = kernel.build(build, jobs=jobs)
        if errors:
            have = kernel.compiled(build)
            words = {tag: NOT_REACHED if t.file in have else FAILED for tag, t in wanted.items()}
            return GateReport(words, [Discrepancy("compile", text) for text in errors], [])
        wanted_vectors = vectors.read(folder) if tags is None else []
        lemmas = sorted({lemma for v in wanted_vectors for lemma in v.lemmas})
        asked = audit(build, wanted.values(), table, jobs, others=lemmas)
        exported = vectors.as_text(wanted_vectors, vectors.evaluate(build, wanted_vectors))
    now = lock.record(asked, folder, kernel.versions(), exported)
    wrong = [*lock.forbidden_axioms(asked), *lock.witness_findings(asked, assumptions, whole=tags is None)]
    wrong += lock.untied_vectors(asked, wanted_vectors)
    differences = lock.differences(locked, now)
    if tags is None:
        differences += lock.source_findings(proofs)
        if now["vectors"]["exported"] != locked.get("vectors", {}).get("exported"):
            differences.append(Discrepancy("vector", "the kernel evaluates other numbers than are locked"))
        differences += [] if differences else lock.stale(locked, now)
    failed = {tag for finding in (*wrong, *differences) for tag in finding.tags}
    words = {tag: FAILED if tag in failed else RECHECKED for tag in wanted}
    whole = (now, exported) if tags is None else ({}, "")
    return GateReport(words, wrong, list(dict.fromkeys(differences)), *whole)
