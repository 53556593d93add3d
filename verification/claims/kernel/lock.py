"""Read and write the lock proofs/rocq.lock.json: the kernel's answers about the proofs, accepted by a person.

The kernel is the part of Rocq that checks proofs. The file holds the fields of `RocqLock`, and a field "generated" with
the command that writes the file. Every instance of a class below, including those in mappings, is a JSON object with
exactly the fields of its class.

The lock stores the statement of every theorem, and of every lemma about the numbers in proofs/vectors.json, in two
forms. The first form is the statement as the kernel prints it for a reader. The second form is a digest of the explicit
statement, in which implicit arguments and notations are written out. Two different statements that print alike
therefore have different digests. For a definition only the digest is stored; `covassay claims accept --rocq` prints the
text of every definition that changes.

A theorem may have a predicate as a premise. If nothing satisfied the predicate of a premise, the theorem would say
nothing. Each predicate of a premise therefore has a witness: a lemma which proves that something satisfies it, or an
assumption in the ledger (the list of claims) that something satisfies it. For a witness the lock has only the printed
text, and no digest.

The file also holds digests of the sources of the proofs. A machine without Rocq compares these digests with the sources
to detect whether the sources have changed since the kernel was asked.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from covassay.reference.errors import InvalidInput
from covassay.verification.claims.kernel import sources
from covassay.verification.claims.kernel.audit import Audit, Statement
from covassay.verification.claims.kernel.sources import Tagged

NAME = "rocq.lock.json"
# relations of neighbouring data sets in the proofs: the first two replace a row, the third adds or removes one
NEIGHBOURS = ("Algorithm2.adjacent", "Sensitivity.neighbours", "BoxMechanisms.added_or_removed")


@dataclass(frozen=True)
class LockEntry:
    """An entry of the lock, whose fields are texts and lists of texts."""

    SHOWN: ClassVar[str]  # the name of the field that a person reads before accepting a change of the entry

    @property
    def shown(self) -> str:
        """Return the text of the entry that a person reads before accepting it."""
        return str(getattr(self, self.SHOWN))

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read the entry from a JSON object, whose lists become tuples."""
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in content.items()})


Entry = TypeVar("Entry", bound=LockEntry)


@dataclass(frozen=True)
class LockedTheorem(LockEntry):
    """The statement of a theorem and the axioms on which it rests.

    The ledger cites the theorem by its tag, its key in `RocqLock.theorems`.
    """

    SHOWN = "statement"

    file: str
    theorem: str  # the name of the theorem in the file
    statement: str
    explicit: str  # the digest of the explicit statement
    axioms: tuple[str, ...]
    definitions: tuple[str, ...]  # all definitions on which the meaning of the statement depends
    premises: tuple[str, ...]  # the predicates that need a witness

    @property
    def speaks_of_a_mechanism(self) -> bool:
        """Return whether the theorem looks like a theorem on a whole mechanism, by its name and its statement.

        The name of such a theorem starts with the name of a definition, and ends in _dp or _zcdp. Its statement
        mentions this definition and a relation of neighbouring data sets.
        """
        stem, _, notion = self.theorem.rpartition("_")
        named = [name for name in self.definitions if f"{stem}_".startswith(f"{name.rpartition('.')[2]}_")]
        own = any(f"{name} " in self.statement for name in named)
        return notion in ("dp", "zcdp") and own and any(relation in self.statement for relation in NEIGHBOURS)

    def says_the_same_as(self, other: "LockedTheorem") -> bool:
        """Return whether two entries have the same theorem with the same statement.

        The definitions that the statement uses are not compared.
        """
        return (self.file, self.theorem, self.statement, self.explicit) == (
            other.file, other.theorem, other.statement, other.explicit,
        )  # fmt: skip


@dataclass(frozen=True)
class LockedWitness(LockEntry):
    """The record of a lemma which proves that something satisfies a predicate."""

    SHOWN = "lemma"

    lemma: str
    statement: str
    premises: tuple[str, ...]  # the predicates that the lemma itself takes as premises

    @property
    def shown(self) -> str:
        """Return the lemma with its statement, because its name alone says nothing."""
        return f"{self.lemma} : {self.statement}"


@dataclass(frozen=True)
class AssumedWitness(LockEntry):
    """The record of an assumption in the ledger which says, without a proof, that something satisfies a predicate."""

    SHOWN = "assumption"

    assumption: str


@dataclass(frozen=True)
class LockedLemma(LockEntry):
    """A lemma which says that a number in proofs/vectors.json is the value of a formula in a theorem."""

    SHOWN = "statement"

    statement: str
    explicit: str  # the digest of the explicit statement
    axioms: tuple[str, ...]


@dataclass(frozen=True)
class LockedVectors:
    """The digest of proofs/vectors.json, a file of numbers that the kernel evaluated, and the lemmas named there."""

    exported: str = ""
    lemmas: Mapping[str, LockedLemma] = field(default_factory=dict)


@dataclass(frozen=True)
class RocqLock:
    """The content of proofs/rocq.lock.json, which records an audit of the proofs. `RocqLock()` records nothing."""

    tools: Mapping[str, str] = field(default_factory=dict)  # maps a program or package to its version
    theorems: Mapping[str, LockedTheorem] = field(default_factory=dict)  # by tag
    witnesses: Mapping[str, LockedWitness | AssumedWitness] = field(default_factory=dict)  # by predicate
    vectors: LockedVectors = field(default_factory=LockedVectors)
    # maps the name of every definition on which the meaning of a statement depends to the digest of the definition
    definitions: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)  # maps a file to its digest


# RECORDING THE ANSWERS OF THE KERNEL


def record(audit: Audit, folder: Path, tools: Mapping[str, str], exported: str = "") -> RocqLock:
    """Return the lock that records an audit of the proofs by the kernel.

    The argument `exported` is the text of proofs/vectors.json.
    """
    said = [*audit.theorems.values(), *audit.others.values()]
    beneath = sorted({name for statement in said for name in audit.beneath(statement)})
    lemmas = {name: LockedLemma(s.text, s.digest, s.axioms) for name, s in audit.others.items()}
    return RocqLock(
        tools=dict(tools),
        theorems={tagged.tag: _theorem(audit, tagged, statement) for tagged, statement in audit.theorems.items()},
        witnesses=_witnesses(audit),
        vectors=LockedVectors(sources.sha256(exported), lemmas),
        definitions={name: audit.definitions[name].digest for name in beneath},
        sources=sources.digests(folder),
    )


def _theorem(audit: Audit, tagged: Tagged, said: Statement) -> LockedTheorem:
    return LockedTheorem(
        file=tagged.file,
        theorem=tagged.name,
        statement=said.text,
        explicit=said.digest,
        axioms=said.axioms,
        definitions=tuple(audit.beneath(said)),
        premises=tuple(audit.to_witness(said)),
    )


def _witnesses(audit: Audit) -> dict[str, LockedWitness | AssumedWitness]:
    """Return for each predicate in witnesses.toml the assumption or the lemma which says that something satisfies it.

    A lemma is given with the statement that the kernel prints. A lemma that does not exist, or that no audited theorem
    needs, is left out. If a theorem needs a lemma that does not exist, `kernel.findings` reports it.
    """
    found: dict[str, LockedWitness | AssumedWitness] = {}
    for predicate, witness in audit.table.items():
        if witness.assumption:
            found[predicate] = AssumedWitness(witness.assumption)
        elif witness.lemma in audit.witnesses:
            lemma = audit.witnesses[witness.lemma]
            found[predicate] = LockedWitness(lemma.name, lemma.text, tuple(audit.premises_of(lemma)))
    return found


# THE FILE


def path_of(proofs: Path) -> Path:
    """Return the path of the lock."""
    return proofs / NAME


def read(proofs: Path) -> RocqLock:
    """Read the lock from its file, or return an empty lock if there is none."""
    path = path_of(proofs)
    return parse(path.read_text(encoding="utf-8")) if path.exists() else RocqLock()


def as_text(lock: RocqLock) -> str:
    """Return the text of the lock file, which is the same to the byte for equal locks."""
    content = {"generated": sources.ACCEPT, **asdict(lock)}
    return _dumped({**content, "digest": sources.sha256(_dumped(content))})


def _dumped(content: Mapping[str, object]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def parse(text: str) -> RocqLock:
    """Read the lock from the text of its file.

    An error is raised if the content is not one that `as_text` writes for a lock, for example if a key is repeated, a
    field is missing or unknown, or the digest is wrong.
    """
    try:
        content = json.loads(text, object_pairs_hook=_without_repeats)
        known = RocqLock(
            **{name: content[name] for name in ("tools", "definitions", "sources")},
            theorems=_entries(content["theorems"], LockedTheorem),
            witnesses={
                name: (AssumedWitness if "assumption" in entry else LockedWitness).read(entry)
                for name, entry in content["witnesses"].items()
            },
            vectors=LockedVectors(content["vectors"]["exported"], _entries(content["vectors"]["lemmas"], LockedLemma)),
        )
    except (json.JSONDecodeError, LookupError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{NAME}: no lock ({type(error).__name__}: {error}); `{sources.ACCEPT}` writes it") from None
    if as_text(known) != _dumped(content):
        raise InvalidInput(f"{NAME}, digest: the file was edited; `{sources.ACCEPT}` writes it")
    return known


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a JSON object from its pairs of keys and values. The function raises an error if a key occurs twice."""
    names = [name for name, _ in pairs]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"{NAME}: {', '.join(repeated)} stands twice in one object")
    return dict(pairs)


def _entries(content: Mapping[str, Any], kind: type[Entry]) -> dict[str, Entry]:
    return {name: kind.read(entry) for name, entry in content.items()}


def axioms(lock: RocqLock) -> dict[str, tuple[str, ...]]:
    """Return the locked axioms of every theorem and lemma, keyed by the name by which the kernel is asked."""
    theorems = {f"{entry.file.removesuffix('.v')}.{entry.theorem}": entry.axioms for entry in lock.theorems.values()}
    return theorems | {name: lemma.axioms for name, lemma in lock.vectors.lemmas.items()}


# CHANGES


def theorem_digest(lock: RocqLock, tag: str) -> str:
    """Return one digest for a locked theorem: of its statement, its axioms, and all definitions that it depends on."""
    entry = lock.theorems[tag]
    beneath = [lock.definitions[name] for name in entry.definitions]
    return sources.sha256("\n".join([entry.explicit, *entry.axioms, *beneath]))


def changed_theorems(old: RocqLock, new: RocqLock) -> list[str]:
    """Return the tags of theorems that only one of the two locks has, or whose digests differ."""

    def said(lock: RocqLock, tag: str) -> str:
        return theorem_digest(lock, tag) if tag in lock.theorems else ""

    return [tag for tag in sorted(old.theorems.keys() | new.theorems.keys()) if said(old, tag) != said(new, tag)]


def changed_statements(old: RocqLock, new: RocqLock) -> list[str]:
    """Return the names of the statements that two locks do not share, and that a person must read before accepting the
    new lock.

    The result names theorems by their tags, witnesses by their predicates, and the lemmas about the numbers in
    proofs/vectors.json by their names.
    """
    pairs = (old.witnesses, new.witnesses), (old.vectors.lemmas, new.vectors.lemmas)
    others = {name for before, after in pairs for name in {**before, **after} if before.get(name) != after.get(name)}
    return [*changed_theorems(old, new), *sorted(others)]


def changes(old: RocqLock, new: RocqLock, texts: Mapping[str, str]) -> list[str]:
    """Return the differences between the old and the new lock, as messages for the person who accepts the new one.

    For a definition that is new or changed, the message shows the text of the definition, which `texts` contains.
    """
    return [
        *_changed("theorem", old.theorems, new.theorems),
        *_changed_definitions(old.definitions, new.definitions, texts),
        *_changed("witness", old.witnesses, new.witnesses),
        *_changed("lemma of the vectors", old.vectors.lemmas, new.vectors.lemmas),
        *(["exported numbers differ from the locked ones"] if old.vectors.exported != new.vectors.exported else []),
        *_replaced("tool", old.tools, new.tools),
        *_replaced("source", old.sources, new.sources),
    ]


def _changed(kind: str, old: Mapping[str, LockEntry], new: Mapping[str, LockEntry]) -> list[str]:
    lines = []
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) == new.get(name):
            continue
        lines.append(f"{kind} {name}")
        if name in old and name in new and type(old[name]) is type(new[name]):
            before, after = asdict(old[name]), asdict(new[name])
            for key in before:
                if before[key] != after[key]:
                    lines += [f"  - {key}: {before[key]}", f"  + {key}: {after[key]}"]
            continue
        lines += [f"  - {old[name].shown}"] if name in old else []
        lines += [f"  + {new[name].shown}"] if name in new else []
    return lines


def _changed_definitions(old: Mapping[str, str], new: Mapping[str, str], texts: Mapping[str, str]) -> list[str]:
    lines = []
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            lines += [f"definition {name}", f"  + {texts[name]}" if name in new else "  - is no longer used"]
    return lines


def _replaced(kind: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    names = sorted(old.keys() | new.keys())
    return [
        f"{kind} {name}: {old.get(name, 'none')} -> {new.get(name, 'none')}"
        for name in names
        if old.get(name) != new.get(name)
    ]
