"""Find what the gate must reject: mistakes in the sources of the proofs and in their audit, and differences from the
lock.

The gate is the check that rejects a change to the proofs until a person has accepted it. In an audit, the kernel of
Rocq says what each theorem states and on which axioms it rests. The lock is the audit that a person has accepted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from covassay.verification.claims.kernel import lock, sources, vectors
from covassay.verification.claims.kernel.audit import ALLOWED, Audit
from covassay.verification.claims.kernel.lock import RocqLock
from covassay.verification.claims.kernel.terms import establishes
from covassay.verification.claims.kernel.vectors import KernelVector

RULES = {  # the rules of the gate, keyed by the name of the violation
    "token": "a .v file contains a word, or has a name, that could let an unproved theorem pass",
    "compile": "a file does not compile",
    "axioms": "a theorem rests on an axiom outside the library's three, or on other axioms than those in the lock",
    "statement": "the statement of a theorem differs from the statement in the lock",
    "definition": "a definition that a theorem uses differs from the definition in the lock, or Qed has sealed it",
    "witness": "nothing shows that a premise can be met",
    "link": "a tag belongs to no theorem or to two theorems, or the tags in the proofs are not the tags in the lock",
    "source": "a file differs from the one that was audited",
    "vector": "an exported number is not what the kernel evaluates",
}


@dataclass(frozen=True)
class Discrepancy:
    """A reason for which the gate rejects the proofs."""

    rule: str  # a key of RULES
    text: str
    tags: tuple[str, ...] = ()  # the theorems that the finding concerns

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


# THE SOURCES, WITHOUT ROCQ


def scan_findings(folder: Path) -> list[Discrepancy]:
    """Return the mistakes that a scan of the sources finds: forbidden words, wrong names of files, misplaced tags."""
    texts = sources.files(folder)
    found = [Discrepancy("token", text) for text in sources.name_problems(folder)]
    found += [Discrepancy("token", text) for file, code in texts.items() for text in sources.banned(file, code)]
    return found + [Discrepancy("link", text) for text in sources.tagged(texts)[1]]


def source_findings(proofs: Path) -> list[Discrepancy]:
    """Return findings if the sources, the exported vectors or the tags differ from those in the lock."""
    locked, folder = lock.read(proofs), proofs / "rocq"
    now, then = sources.digests(folder), locked.sources
    found = [
        Discrepancy("source", f"{name} is not what was audited")
        for name in sorted(now.keys() | then.keys())
        if now.get(name) != then.get(name)
    ]
    if sources.sha256(vectors.exported(proofs)) != locked.vectors.exported:
        found.append(Discrepancy("vector", "proofs/vectors.json is not what the kernel evaluated"))
    tags = sources.tagged(sources.files(folder))[0]
    found += [Discrepancy("link", f"{tag} is not in the lock", (tag,)) for tag in tags if tag not in locked.theorems]
    return found + [
        Discrepancy("link", f"{tag} is in the lock, but no longer in the proofs", (tag,))
        for tag in locked.theorems
        if tag not in tags
    ]


# AN AUDIT BY ITSELF


def axiom_findings(audit: Audit) -> list[Discrepancy]:
    """Return a finding for each axiom outside `ALLOWED` on which a theorem or a lemma about exported numbers rests."""
    asked = {tagged.tag: said for tagged, said in audit.theorems.items()} | dict(audit.others)
    return [
        Discrepancy("axioms", f"{name} rests on {axiom}", (name,))
        for name, said in asked.items()
        for axiom in said.axioms
        if axiom not in ALLOWED
    ]


def hidden_findings(audit: Audit) -> list[Discrepancy]:
    """Return a finding for each theorem and each definition that the theorem uses and that Qed has sealed.

    The kernel does not print the content of a sealed definition, so the lock could not record what the theorem means.
    """
    return [
        Discrepancy("definition", f"{name}, beneath {tagged.tag}, is sealed by Qed: end it with Defined", (tagged.tag,))
        for tagged, said in audit.theorems.items()
        for name in audit.beneath(said)
        if audit.definitions[name].is_hidden
    ]


def vector_findings(audit: Audit, every: Iterable[KernelVector]) -> list[Discrepancy]:
    """Return a finding for each lemma that does not connect the exported numbers of its vector with a theorem.

    A vector is a list of rows of numbers. The entry of a vector in vectors.toml names the Rocq definition that computes
    its rows, and the lemmas about its numbers.

    A lemma must mention a definition that the rows of its own vector use, and that the rows of no other vector use. If
    the rows of several vectors use a definition, such as a short notation for fractions, a lemma that mentions this
    definition may be about any of these vectors. Let M be the Rocq module that computes the rows. The lemma must also
    mention a definition from a module other than M. The function does not check that a theorem uses this definition.
    """
    listed = list(every)
    uses = {v.name: audit.definitions[v.rows].mentions for v in listed}
    found = []
    for v in listed:
        own = uses[v.name].difference(*(uses[other.name] for other in listed if other != v))
        for lemma in v.lemmas:
            mentions = audit.others[lemma].mentions
            if not own & mentions:
                text = f"{v.name}: the lemma {lemma} must mention a definition that {v.rows}, but no other vector, uses"
                found.append(Discrepancy("vector", text))
            elif all(name.startswith(f"{v.module}.") for name in mentions):
                text = f"{v.name}: the lemma {lemma} mentions nothing outside {v.module}"
                found.append(Discrepancy("vector", text))
    return found


def witness_findings(
    audit: Audit, assumptions: Mapping[str, str], whole: bool, passed_over: Iterable[str] = ()
) -> list[Discrepancy]:
    """Return a finding for each predicate that needs a witness and has no valid one.

    A witness is a lemma or an assumption which says that something satisfies the predicate. The argument `whole` says
    whether the whole project was audited. If it was, a witness that no premise of a theorem needs is a finding, too.
    Predicates in `passed_over` are not examined.
    """
    tags: dict[str, list[str]] = {}  # for each predicate, the theorems with it as a premise
    for tagged, said in audit.theorems.items():
        for predicate in audit.to_witness(said):
            tags.setdefault(predicate, []).append(tagged.tag)
    needed = audit.all_to_witness(tags)
    found = []
    for predicate in sorted(needed - set(passed_over)):
        text = _why_unwitnessed(audit, predicate, assumptions)
        if text:
            found.append(Discrepancy("witness", f"{predicate}: {text}", tuple(tags.get(predicate, ()))))
    if whole:
        idle = sorted(audit.table.keys() - needed)
        found += [Discrepancy("witness", f"{predicate}: no premise needs this witness") for predicate in idle]
    return found


def _why_unwitnessed(audit: Audit, predicate: str, assumptions: Mapping[str, str]) -> str:
    """Return what is missing or wrong in the evidence that a predicate can be satisfied, or an empty text."""
    witness = audit.table.get(predicate)
    if witness is None:
        return "has no witness in witnesses.toml"
    if bool(witness.lemma) == bool(witness.assumption):
        return "give a lemma or an assumption, and not both"
    if witness.assumption:
        return "" if witness.assumption in assumptions else f"the assumption {witness.assumption} is not defined"
    if witness.lemma not in audit.witnesses:
        return f"there is no lemma {witness.lemma}"
    lemma = audit.witnesses[witness.lemma]
    foreign = sorted(set(lemma.axioms) - set(ALLOWED))
    if foreign:
        return f"{lemma.name} rests on {', '.join(foreign)}"
    if not establishes(lemma.conclusion, predicate):
        return f"{lemma.name} does not conclude it"
    if lemma.assumes:
        return f"{lemma.name} assumes {'; '.join(lemma.assumes)}, but the lemma of a witness must assume nothing"
    if predicate in audit.all_to_witness(audit.premises_of(lemma)):
        return f"{lemma.name} needs it: circular"
    return ""


# AN AUDIT AGAINST THE LOCK


def lock_findings(locked: RocqLock, now: RocqLock) -> list[Discrepancy]:
    """Return the differences between the lock and an audit of all or of some theorems."""
    found = [finding for tag in now.theorems for finding in _theorem_findings(tag, locked, now)]
    found += [
        Discrepancy("witness", f"{predicate}: the witness is not the locked one")
        for predicate, witness in now.witnesses.items()
        if locked.witnesses.get(predicate) != witness
    ]
    return found + [
        Discrepancy("vector", f"the lemma {name} is not the locked one")
        for name, lemma in now.vectors.lemmas.items()
        if locked.vectors.lemmas.get(name) != lemma
    ]


def _theorem_findings(tag: str, locked: RocqLock, now: RocqLock) -> list[Discrepancy]:
    old, new = locked.theorems.get(tag), now.theorems[tag]
    if old is None:
        return [Discrepancy("link", f"{tag} is not in the lock", (tag,))]
    found = []
    if not old.says_the_same_as(new):
        found.append(Discrepancy("statement", f"{tag}: the statement is not the locked one", (tag,)))
    if old.axioms != new.axioms:
        has, had = (", ".join(entry.axioms) or "no axiom" for entry in (new, old))
        found.append(Discrepancy("axioms", f"{tag} rests on {has}; according to the lock, it rests on {had}", (tag,)))
    changed = set(old.definitions) ^ set(new.definitions)
    changed |= {name for name in new.definitions if locked.definitions.get(name) != now.definitions[name]}
    if changed:
        text = f"definitions beneath {tag} are not the locked ones: {', '.join(sorted(changed))}"
        found.append(Discrepancy("definition", text, (tag,)))
    return found


def number_findings(locked: RocqLock, now: RocqLock) -> list[Discrepancy]:
    """Return the differences between the numbers that the kernel evaluates and the locked numbers."""
    if now.vectors.exported == locked.vectors.exported:
        return []
    return [Discrepancy("vector", "the numbers that the kernel evaluates are not the locked ones")]


def remaining_findings(locked: RocqLock, now: RocqLock) -> list[Discrepancy]:
    """Return a finding if the lock differs from an audit of all theorems in anything but the versions of the tools."""
    same = replace(locked, tools={}) == replace(now, tools={})
    return [] if same else [Discrepancy("source", "proofs/rocq.lock.json is not what the audit writes")]
