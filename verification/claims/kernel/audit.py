"""Ask the kernel for the statement of each tagged theorem and the axioms on which it rests.

The audit asks the kernel in three rounds. In the first round the audit asks which constants the modules contain, and
which of them are definitions rather than proofs. In the second round the audit asks what the theorems and the
definitions say. The kernel prints each answer twice: in a fully explicit form, of which a digest is computed, and in a
readable form. In the third round the audit asks on which axioms each theorem rests, directly or through other results.
"""

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from covassay.verification.claims.kernel import kernel, terms
from covassay.verification.claims.kernel.kernel import UNABRIDGED
from covassay.verification.claims.kernel.sources import Tagged, read_table, sha256

# the axioms of mathcomp-analysis, in full, because another axiom could have one of these names
ALLOWED = {
    "boolp.propositional_extensionality": "forall P Q : Prop, P <-> Q -> P = Q",
    "boolp.functional_extensionality_dep": "forall (A : Type) (B : A -> Type) (f g : forall x : A, B x), "
    "(forall x : A, f x = g x) -> f = g",
    "boolp.constructive_indefinite_description": "forall (A : Type) (P : A -> Prop), "
    "(exists x : A, P x) -> {x : A | P x}",
}
EXPLICIT = [*UNABRIDGED, "Set Printing All."]
READABLE = [
    "From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint rat matrix mxpoly.",
    "From mathcomp.classical Require Import boolp classical_sets functions.",
    "From mathcomp Require Import reals ereal topology normedtype derive sequences measure lebesgue_measure.",
    "From mathcomp Require Import lebesgue_integral realfun exp.",
    "Import GRing.Theory Num.Theory Order.TTheory.",
    "Local Open Scope classical_set_scope. Local Open Scope ring_scope.",
    *UNABRIDGED,
]
# This command prints "proof" if a constant is a proof. It applies any other constant to all of its arguments, and
# prints the type of the result.
KIND = [
    'Ltac kind c := let t := type of c in let s := type of t in lazymatch s with Prop => idtac "proof" '
    "| _ => assert t; [repeat intro; lazymatch goal with |- ?g => let h := eval hnf in g in idtac h end|] end."
]
PROOF = "proof"
# The audit asks for the type of each constant, applied to all of its arguments. If it is one of these types, the
# constant is a predicate, a set or a type, and can be a premise of a statement.
CONDITIONS = ("Prop", "bool", "Set", "Type", "ssrfun.simpl_fun", "ssrbool.qualifier", "finset.set_type")
# This matches the space before each item in the kernel's answer to the command Print Module.
ITEM = re.compile(r"\s(?=(?:Definition|Parameter|Record|Inductive|CoInductive|Variant|Module|Axiom|Primitive) \S)")
# the name of a constructor in the definition of a type, as in `:= Build {` or `| Name :`
CONSTRUCTORS = re.compile(r":=\s*([^\s{]+)\s*\{|[|=]\s*(\S+) :")
# This text takes the place of the expected axioms if a caller names no expected axioms for a constant.
UNKNOWN = ("not expected to rest on anything in particular",)
# the word that Print Module prints for a constant whose proof Qed has sealed, so that only its type is visible
SEALED = "Parameter"


@dataclass(frozen=True)
class Printed:
    """The two forms in which the kernel prints a constant of the project."""

    name: str
    text: str  # the readable form of the constant
    digest: str  # the digest of the explicit form of the constant
    mentions: frozenset[str]


@dataclass(frozen=True)
class Definition(Printed):
    """A constant of the project that the statement of a theorem may mention.

    The constant is a definition, or Qed has sealed it, as it seals proofs. For a sealed constant the kernel prints only
    the type.
    """

    # whether the constant is a predicate, a set or a type (such as a record); a premise with it may be impossible to
    # satisfy
    is_premise: bool
    # whether Qed has sealed the constant although it is not a proof, so that the audit cannot see its meaning
    is_hidden: bool = False


@dataclass(frozen=True)
class Statement(Printed):
    """The kernel's answers about a theorem or a lemma."""

    premises: frozenset[str]  # the project's constants that occur in the quantifiers of the statement
    conclusion: str  # the part of the statement after the quantifiers, in explicit form
    axioms: tuple[str, ...]
    # the types of quantified variables that may have no element, written with all implicit arguments; types that the
    # project defines by constructors, such as records, are left out
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Witness:
    """The reason why a predicate can be satisfied: a lemma proves it, or an assumption of the ledger says it."""

    predicate: str
    lemma: str = ""
    assumption: str = ""


@dataclass(frozen=True)
class Audit:
    """The answers of the kernel about the theorems, definitions and lemmas of the project, from one audit."""

    theorems: Mapping[Tagged, Statement]
    definitions: Mapping[str, Definition]
    table: Mapping[str, Witness]  # the contents of witnesses.toml
    # the lemmas named in `table` that exist and that the theorems need, keyed by name
    witnesses: Mapping[str, Statement]
    others: Mapping[str, Statement] = field(default_factory=dict)  # lemmas about the numbers in proofs/vectors.json

    def beneath(self, statement: Statement) -> list[str]:
        """Return all definitions on which the meaning of a statement depends, directly or through other definitions."""
        found: set[str] = set()
        todo = set(statement.mentions)
        while todo:
            found |= todo
            todo = {name for key in todo for name in self.definitions[key].mentions} - found
        return sorted(found)

    def to_witness(self, statement: Statement) -> list[str]:
        """Return the predicates that need a witness, that is, evidence that the predicate can be satisfied.

        Every predicate in a premise of the statement needs a witness. A predicate in the conclusion needs a witness
        unless the conclusion itself says that some object satisfies the predicate.
        """
        left_open = {
            name
            for name in statement.mentions - statement.premises
            if not terms.establishes(statement.conclusion, name)
        }
        return sorted(name for name in left_open | statement.premises if self.definitions[name].is_premise)

    def premises_of(self, lemma: Statement) -> list[str]:
        """Return the predicates that a lemma takes as premises."""
        return sorted(name for name in lemma.premises if self.definitions[name].is_premise)

    def all_to_witness(self, predicates: Iterable[str]) -> set[str]:
        """Return the given predicates, and all other predicates that need a witness because of them.

        The witness of a predicate may be a lemma that has other predicates as premises. These predicates then need a
        witness too.
        """
        found: set[str] = set()
        todo = set(predicates)
        while todo:
            found |= todo
            lemmas = [self.witnesses.get(self.table[name].lemma) for name in todo if name in self.table]
            todo = {name for lemma in lemmas if lemma for name in self.premises_of(lemma)} - found
        return found


def read_witnesses(folder: Path) -> dict[str, Witness]:
    """Return the contents of the hand-written file witnesses.toml, keyed by predicate."""
    return {name: Witness(name, **entry) for name, entry in read_table(folder / "witnesses.toml").items()}


# READING ANSWERS


def _flat(text: str) -> str:
    return " ".join(text.split())


def _type(answer: str) -> str:
    """Return the type in Rocq's answer `name : type` to the command Check."""
    return _flat(answer).partition(" : ")[2]


def _content(answer: str) -> str:
    """Return a type or a body, without the remarks on implicit arguments and scopes that Rocq prints after it."""
    return _flat(re.split(r"\n\s*\n\s*Arguments|\nArguments", answer)[0])


def axioms_of(answer: str) -> tuple[str, ...]:
    """Return the axioms that Print Assumptions lists: an allowed axiom by its name, any other with its statement."""
    found = []
    entries = re.sub(r"\n\s+", " ", answer.strip()).split("\n")
    for entry in entries:
        name, _, says = entry.partition(" : ")
        if entry not in ("Axioms:", "Closed under the global context"):
            found.append(name if ALLOWED.get(name.strip()) == _flat(says) else entry)
    return tuple(sorted(found))


# FIRST ROUND: THE CONSTANTS


@dataclass(frozen=True)
class Constants:
    """The constants that the project defines, with their kinds."""

    definitions: list[str]
    sealed: list[str]  # the theorems and lemmas
    owner: dict[str, str]  # maps a constructor to the type that it constructs

    @property
    def all(self) -> list[str]:
        """Return the names of all constants apart from constructors."""
        return [*self.definitions, *self.sealed]


def constants(build: Path, modules: Iterable[str]) -> Constants:
    """Return the constants of the compiled modules."""
    listed = list(modules)
    preamble = [f"From covassay Require {' '.join(listed)}.", *UNABRIDGED]
    answers = kernel.ask(build, preamble, {module: f"Print Module {module}." for module in listed})
    found = Constants([], [], {})
    for module, answer in answers.items():
        for item in ITEM.split(answer)[1:]:
            kind, name, *_ = item.split()
            if kind == "Module":
                raise kernel.KernelError(f"{module} contains the module {name}, which the audit does not follow")
            (found.sealed if kind == SEALED else found.definitions).append(f"{module}.{name}")
            if kind not in (SEALED, "Definition"):
                made = {a or b for a, b in CONSTRUCTORS.findall(item)}
                found.owner.update({f"{module}.{constructor}": f"{module}.{name}" for constructor in made})
    return found


# SECOND ROUND: THE MEANING OF THE CONSTANTS


@dataclass(frozen=True)
class Answers:
    """What the kernel prints for each constant: its type, its kind and, for a definition, its body.

    The types and the bodies are in explicit form for digests, and in readable form.
    """

    constants: Constants
    modules: frozenset[str]
    explicit: Mapping[str, str]  # the explicit form; for a constant NAME, the keys are "type NAME" and "body NAME"
    readable: Mapping[str, str]
    # for each constant, PROOF if it is a proof, and otherwise the type that it has when it is applied to all of its
    # arguments
    kinds: Mapping[str, str]

    def mentioned(self, text: str) -> frozenset[str]:
        """Return the constants of the project that occur in a term, given in the explicit form that the kernel prints.

        If a constructor occurs in the term, the result contains the type of the objects that it constructs.
        """
        owner = self.constants.owner
        found = frozenset(owner.get(name, name) for name in terms.names(text, self.modules))
        unknown = sorted(found - set(self.constants.all))
        if unknown:
            raise kernel.KernelError(f"{unknown[0]}: mentioned, but not a kind of constant that the audit knows")
        return found

    def definition(self, name: str) -> Definition:
        """Return the definition of a constant that a statement mentions."""
        key = f"body {name}" if f"body {name}" in self.explicit else f"type {name}"
        body = _content(self.explicit[key])
        kind = _flat(self.kinds[name])
        return Definition(
            name=name,
            text=_content(self.readable[key]),
            digest=sha256(body),
            mentions=self.mentioned(body) - {name},
            is_premise=terms.head(kind) in CONDITIONS or name in self.constants.owner.values(),
            is_hidden=name in self.constants.sealed and kind != PROOF,
        )

    def statement(self, name: str) -> Statement:
        """Return the statement of a theorem or a lemma, without its axioms."""
        says = _type(self.explicit[f"type {name}"])
        bound, conclusion = terms.binders(says)
        return Statement(
            name=name,
            text=_type(self.readable[f"type {name}"]),
            digest=sha256(says),
            mentions=self.mentioned(says),
            premises=self.mentioned(" ; ".join(bound)),
            conclusion=conclusion,
            axioms=(),
            assumes=tuple(b for b in bound if not self._is_data(b)),
        )

    def _is_data(self, binder: str) -> bool:
        """Return whether the type of a quantified variable is left out of `Statement.assumes`.

        The field `Statement.assumes` has the types that may have no element. A type is left out if it certainly has an
        element. A type that the project defines by constructors, such as a record, is also left out, because
        `to_witness` asks for a separate witness that this type has an element.
        """
        return terms.head(binder) in self.constants.owner.values() or terms.is_plain(binder, self.modules)


def _ask_what_they_say(build: Path, require: str, known: Constants, modules: Iterable[str], jobs: int) -> Answers:
    questions = {f"type {name}": f"Check @{name}." for name in known.all}
    questions |= {f"body {name}": f"Print {name}." for name in known.definitions}
    kinds = {n: f"Goal True. kind @{n}. Abort." for n in known.all}
    asked = [(EXPLICIT, questions), (READABLE, questions), ([*EXPLICIT, *KIND], kinds)]
    with ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(lambda one: kernel.ask(build, [require, *one[0]], one[1]), asked))
    return Answers(known, frozenset(modules), *answers)


# THIRD ROUND: THE AXIOMS


def _ask_for_axioms(
    build: Path, require: str, names: Iterable[str], expected: Mapping[str, tuple[str, ...]], jobs: int
) -> dict[str, tuple[str, ...]]:
    """Return the axioms on which each of the given constants rests.

    Constants with the same expected axioms form a group. The kernel first checks one joint lemma for each group, which
    uses all constants of the group, so that the kernel visits the parts that they share only once. If the kernel finds
    exactly the expected axioms for the joint lemma, no constant of the group rests on another axiom. The kernel is
    asked separately about the constants of all other groups, and about constants without expected axioms.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(set(names)):
        groups.setdefault(expected.get(name, UNKNOWN), []).append(name)
    single = groups.pop(UNKNOWN, [])
    preamble, listed = [require, *UNABRIDGED], list(groups.items())
    together = {
        str(k): "Lemma all_{0} : True. Proof. {1} exact I. Qed. Print Assumptions all_{0}.".format(
            k, " ".join(f"pose proof @{name}." for name in members)
        )
        for k, (_, members) in enumerate(listed)
    }
    answers = kernel.ask_in_parallel(build, preamble, together, jobs) if together else {}
    found: dict[str, tuple[str, ...]] = {}
    for k, (axioms, members) in enumerate(listed):
        if axioms_of(answers[str(k)]) == axioms:
            found |= dict.fromkeys(members, axioms)
        else:
            single += members
    questions = {name: f"Print Assumptions {name}." for name in single}
    alone = kernel.ask_in_parallel(build, preamble, questions, jobs) if questions else {}
    return found | {name: axioms_of(answer) for name, answer in alone.items()}


def _with_axioms(build: Path, require: str, said: Audit, expected: Mapping[str, tuple[str, ...]], jobs: int) -> Audit:
    """Return the audit with the axioms on which its theorems, witnesses and other lemmas rest."""
    statements = [*said.theorems.values(), *said.witnesses.values(), *said.others.values()]
    found = _ask_for_axioms(build, require, (s.name for s in statements), expected, jobs)

    def complete(statement: Statement) -> Statement:
        return replace(statement, axioms=found[statement.name])

    return replace(
        said,
        theorems={tagged: complete(s) for tagged, s in said.theorems.items()},
        witnesses={name: complete(s) for name, s in said.witnesses.items()},
        others={name: complete(s) for name, s in said.others.items()},
    )


def _only_needed_witnesses(said: Audit) -> Audit:
    needed = said.all_to_witness(name for s in said.theorems.values() for name in said.to_witness(s))
    lemmas = {said.table[predicate].lemma for predicate in needed if predicate in said.table}
    return replace(said, witnesses={name: lemma for name, lemma in said.witnesses.items() if name in lemmas})


def audit(
    build: Path,
    tagged: Iterable[Tagged],
    table: Mapping[str, Witness],
    jobs: int = 1,
    files: Iterable[str] | None = None,
    others: Iterable[str] = (),
    expected: Mapping[str, tuple[str, ...]] | None = None,
) -> Audit:
    """Ask the kernel about theorems, about the witnesses that they need, and about other lemmas; return the audit.

    The argument `files` has the compiled files to load, by default all of them. The argument `expected` maps the name
    of a theorem or lemma to the axioms on which it should rest. If the kernel confirms the expected axioms of several
    theorems together, it is not asked about each of these theorems. The lock does not record on which axioms the
    witnesses rest (the lemmas in `table`, which prove that something satisfies a predicate). The audit therefore
    expects that every witness rests on the axioms of `ALLOWED`.
    """
    theorems, others = list(tagged), list(others)
    modules = sorted(Path(name).stem for name in (kernel.compiled(build) if files is None else files))
    known = constants(build, modules)
    missing = sorted({*(t.qualified for t in theorems), *others} - set(known.all))
    if missing:
        raise kernel.KernelError(f"{missing[0]}: the kernel has nothing of that name")
    require = f"From covassay Require {' '.join(modules)}."
    answers = _ask_what_they_say(build, require, known, modules, jobs)
    definitions = {name: answers.definition(name) for name in known.all}
    said = Audit(
        theorems={t: answers.statement(t.qualified) for t in theorems},
        definitions=definitions,
        table=table,
        witnesses={w.lemma: answers.statement(w.lemma) for w in table.values() if w.lemma in definitions},
        others={name: answers.statement(name) for name in others},
    )
    needed = _only_needed_witnesses(said)
    if expected is not None:
        expected = {**dict.fromkeys((w.name for w in needed.witnesses.values()), tuple(sorted(ALLOWED))), **expected}
    return _with_axioms(build, require, needed, expected or {}, jobs)
