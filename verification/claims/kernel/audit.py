"""What each tagged theorem says, and rests on, according to the kernel.

Three rounds of questions. Which constants do the modules have, and which are definitions rather than proofs? What do
the theorems and the definitions say, once with everything explicit, for digests, and once as a person would read it?
And which axioms does each theorem rest on, directly or through whatever it uses?
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from covassay.verification.claims.kernel import kernel, terms
from covassay.verification.claims.kernel.sources import Tagged, sha256

# The axioms of mathcomp-analysis, with what they say.
ALLOWED = {
    "boolp.propositional_extensionality": "forall P Q : Prop, P <-> Q -> P = Q",
    "boolp.functional_extensionality_dep": "forall (A : Type) (B : A -> Type) (f g : forall x : A, B x), "
    "(forall x : A, f x = g x) -> f = g",
    "boolp.constructive_indefinite_description": "forall (A : Type) (P : A -> Prop), "
    "(exists x : A, P x) -> {x : A | P x}",
}
WIDE = ["Set Printing Width 1000000.", "Set Printing Depth 1000000."]
EXPLICIT = [*WIDE, "Set Printing All."]
READABLE = [
    "From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint rat matrix mxpoly.",
    "From mathcomp.classical Require Import boolp classical_sets functions.",
    "From mathcomp Require Import reals ereal topology normedtype derive sequences measure lebesgue_measure.",
    "From mathcomp Require Import lebesgue_integral realfun exp.",
    "Import GRing.Theory Num.Theory Order.TTheory.",
    "Local Open Scope classical_set_scope. Local Open Scope ring_scope.",
    *WIDE,
]
ITEM = re.compile(r"\s(?=(?:Definition|Parameter|Record|Inductive|CoInductive|Variant|Module|Axiom|Primitive) \S)")
CONSTRUCTORS = re.compile(r":=\s*(\w+)\s*\{|[|=]\s*(\w+) :")
SEALED = "Parameter"  # Print Module's word for a constant whose body Qed has sealed: only its type matters to others


@dataclass(frozen=True)
class Definition:
    """A constant that a statement may mention: a definition, or a sealed proof, of which the type counts."""

    name: str
    text: str  # for people
    digest: str  # of the explicit form
    mentions: frozenset[str]
    is_premise: bool  # a predicate, or a type with conditions: it could be empty


@dataclass(frozen=True)
class Statement:
    """What the kernel says of a constant."""

    name: str
    text: str
    digest: str
    mentions: frozenset[str]
    premises: frozenset[str]  # the names of the project in what it quantifies over
    conclusion: str  # explicit
    axioms: tuple[str, ...]


@dataclass(frozen=True)
class Witness:
    """Why a predicate is not empty: a lemma that establishes it, or an assumption of the ledger."""

    predicate: str
    lemma: str = ""
    assumption: str = ""


@dataclass(frozen=True)
class Audit:
    """The answers."""

    theorems: Mapping[Tagged, Statement]
    definitions: Mapping[str, Definition]
    table: Mapping[str, Witness]  # witnesses.toml
    witnesses: Mapping[str, Statement]  # the lemmas of the table that are needed and exist
    others: Mapping[str, Statement] = field(default_factory=dict)  # what else was asked for

    def beneath(self, statement: Statement) -> list[str]:
        """The definitions beneath a statement, and beneath those."""
        found: set[str] = set()
        todo = set(statement.mentions)
        while todo:
            found |= todo
            todo = {name for key in todo for name in self.definitions[key].mentions} - found
        return sorted(found)

    def asked(self, statement: Statement) -> list[str]:
        """What must not be empty: the predicates in its premises, and those of its conclusion that it leaves open."""
        left = {
            name
            for name in statement.mentions - statement.premises
            if not terms.establishes(statement.conclusion, name)
        }
        return sorted(name for name in left | statement.premises if self.definitions[name].is_premise)

    def premises(self, lemma: Statement) -> list[str]:
        """The predicates in the premises of a witness."""
        return sorted(name for name in lemma.premises if self.definitions[name].is_premise)

    def needed(self, predicates: Iterable[str]) -> set[str]:
        """These predicates, and those that their witnesses ask for in turn."""
        found: set[str] = set()
        todo = set(predicates)
        while todo:
            found |= todo
            lemmas = [self.witnesses.get(self.table[name].lemma) for name in todo if name in self.table]
            todo = {name for lemma in lemmas if lemma for name in self.premises(lemma)} - found
        return found


def read_witnesses(folder: Path) -> dict[str, Witness]:
    """The hand-written witnesses.toml, by predicate."""
    path = folder / "witnesses.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: Witness(name, **entry) for name, entry in table.items()}


def _flat(text: str) -> str:
    return " ".join(text.split())


def _type(answer: str) -> str:
    return _flat(answer).partition(" : ")[2]


def axioms_of(answer: str) -> tuple[str, ...]:
    """What Print Assumptions lists: the names of allowed axioms, as the library states them, and all else in full."""
    found = []
    entries = re.sub(r"\n\s+", " ", answer.strip()).split("\n")
    for entry in entries:
        name, _, says = entry.partition(" : ")
        if entry not in ("Axioms:", "Closed under the global context"):
            found.append(name if ALLOWED.get(name.strip()) == _flat(says) else entry)
    return tuple(sorted(found))


@dataclass(frozen=True)
class Constants:
    """The constants of the project."""

    definitions: list[str]
    sealed: list[str]
    owner: dict[str, str]  # of a constructor: the type that it belongs to


def constants(build: Path, modules: Iterable[str]) -> Constants:
    """What the modules contain, as compiled."""
    listed = list(modules)
    preamble = [f"From covassay Require {' '.join(listed)}.", *WIDE]
    answers = kernel.ask(build, preamble, {module: f"Print Module {module}." for module in listed})
    found = Constants([], [], {})
    for module, answer in answers.items():
        for item in ITEM.split(answer)[1:]:
            kind, name, *_ = item.split()
            if kind == "Module":
                raise kernel.KernelError(f"{module}: has the inner module {name}, which the audit does not follow")
            (found.sealed if kind == SEALED else found.definitions).append(f"{module}.{name}")
            if kind not in (SEALED, "Definition"):
                made = {a or b for a, b in CONSTRUCTORS.findall(item)}
                found.owner.update({f"{module}.{constructor}": f"{module}.{name}" for constructor in made})
    return found


def _content(answer: str) -> str:
    """A type and a body, without the remarks on implicit arguments and scopes that follow them."""
    return _flat(re.split(r"\n\s*\n\s*Arguments|\nArguments", answer)[0])


def audit(
    build: Path,
    tagged: Iterable[Tagged],
    table: Mapping[str, Witness],
    jobs: int = 1,
    files: Iterable[str] | None = None,
    others: Iterable[str] = (),
) -> Audit:
    """Ask the kernel about theorems, about the witnesses that they need, and about other constants.

    Only those files are at hand, or all.
    """
    theorems, others = {t.qualified: t for t in tagged}, list(others)
    modules = sorted(Path(name).stem for name in (kernel.compiled(build) if files is None else files))
    known = constants(build, modules)
    everything = [*known.definitions, *known.sealed]
    missing = sorted({*theorems, *others} - set(everything))
    if missing:
        raise kernel.KernelError(f"{missing[0]}: the kernel has nothing of that name")
    require = f"From covassay Require {' '.join(modules)}."
    checks = {f"type {name}": f"Check @{name}." for name in everything}
    prints = {f"body {name}": f"Print {name}." for name in known.definitions}
    explicit = kernel.ask(build, [require, *EXPLICIT], {**checks, **prints})
    readable = kernel.ask(build, [require, *READABLE], {**checks, **prints})

    def mentioned(text: str) -> frozenset[str]:
        found = frozenset(known.owner.get(name, name) for name in terms.names(text, frozenset(modules)))
        unknown = sorted(found - set(everything))
        if unknown:
            raise kernel.KernelError(f"{unknown[0]}: mentioned, but of no kind that the audit knows")
        return found

    def definition(name: str) -> Definition:
        key = f"body {name}" if f"body {name}" in prints else f"type {name}"
        body, final = _content(explicit[key]), terms.binders(_type(explicit[f"type {name}"]))[1]
        return Definition(
            name, _content(readable[key]), sha256(body), mentioned(body) - {name},
            is_premise=name in known.owner.values() or (name in known.definitions and final in ("Prop", "bool")),
        )  # fmt: skip

    def statement(name: str) -> Statement:
        says = _type(explicit[f"type {name}"])
        bound, conclusion = terms.binders(says)
        premises, text = mentioned(" ; ".join(bound)), _type(readable[f"type {name}"])
        return Statement(name, text, sha256(says), mentioned(says), premises, conclusion, axioms=())

    definitions = {name: definition(name) for name in everything}
    lemmas = {w.lemma: statement(w.lemma) for w in table.values() if w.lemma in definitions}
    said = {name: statement(name) for name in [*theorems, *others]}
    draft = Audit({tag: said[name] for name, tag in theorems.items()}, definitions, table, lemmas)
    needed = draft.needed(name for name in theorems for name in draft.asked(said[name]))
    lemmas = {name: lemma for name, lemma in lemmas.items() if name in {table[p].lemma for p in needed if p in table}}
    questions = {name: f"Print Assumptions {name}." for name in sorted({*said, *lemmas})}
    axioms = kernel.ask_in_parts(build, [require, *WIDE], questions, jobs)
    said, lemmas = (
        {name: replace(s, axioms=axioms_of(axioms[name])) for name, s in group.items()} for group in (said, lemmas)
    )
    named = {tag: said[name] for name, tag in theorems.items()}
    return Audit(named, definitions, table, lemmas, {name: said[name] for name in others})
