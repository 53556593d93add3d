"""Test the checks of the Rocq proofs on a small project, with hand-written answers in the format of Rocq. The tests
also run on machines without Rocq, and test_gate.py tests that Rocq answers in the same format.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from covassay.verification.claims.kernel import audit, gate, kernel, lock

SOURCE = "(*@ T *)\nTheorem price_pos : True.\n"
EXTENSIONALITY = "Axioms:\nboolp.propositional_extensionality\n  : forall P Q : Prop, P <-> Q -> P = Q"
EXPLICIT = {
    "type One.price": "One.price\n     : forall _ : nat, nat",
    "type One.small": "One.small\n     : forall (_ : nat) (_ : nat), Prop",
    "type Two.table": "Two.table\n     : list (list nat)",
    "type One.weight": "One.weight\n     : Type",
    "type One.price_pos": (
        "One.price_pos\n     : forall (n m : nat) (_ : One.small n m) (_ : One.weight),\n"
        "       is_true (leq (S O) (One.price n))"
    ),
    "type One.small_inhabited": "One.small_inhabited\n     : One.small (S O) O",
    "type One.some_weight": "One.some_weight\n     : @ex One.weight (fun w : One.weight => True)",
    "type One.price_rat": "One.price_rat\n     : @eq nat (One.price O) O",
    "body One.price": (
        "One.price = fun n : nat => muln 7 n\n     : forall _ : nat, nat\n\nArguments One.price n%nat_scope"
    ),
    "body One.small": (
        "One.small = fun n m : nat => is_true (leq (S m) n)\n     : forall (_ : nat) (_ : nat), Prop\n\n"
        "Arguments One.small (n m)%nat_scope"
    ),
    "body Two.table": "Two.table = cons (cons (One.price O) nil) nil\n     : list (list nat)",
    "body One.weight": "Record weight : Type := Build_weight\n  { value : nat }.\n\nArguments One.Build_weight value",
}
READABLE = {
    **EXPLICIT,
    "type One.price_pos": "One.price_pos\n     : forall n m : nat, One.small n m -> One.weight -> (0 < One.price n)%N",
    "type One.small_inhabited": "One.small_inhabited\n     : One.small 1 0",
}
MODULE = """Module
One
 := Struct
     Definition price : forall _ : nat, nat.
     Definition small : forall (_ : nat) (_ : nat), Prop.
     Record weight : Type := Build_weight { value : nat }.
     Parameter price_pos : forall (n m : nat) (_ : small n m), is_true (leq (S O) (price n)).
     Parameter small_inhabited : small (S O) O.
     Parameter some_weight : exists _ : weight, True.
     Parameter price_rat : price O = O.
   End
"""
ROWS = "Module\nTwo\n := Struct\n     Definition table : list (list nat).\n   End\n"
AXIOMS = {
    "One.price_pos": EXTENSIONALITY,
    "One.small_inhabited": "Closed under the global context",
    "One.some_weight": "Closed under the global context",
    "One.price_rat": "Closed under the global context",
}
KINDS = {
    "One.price": "nat",
    "One.small": "Prop",
    "Two.table": "list (list nat)",
    "One.weight": "Type",
    **dict.fromkeys(("One.price_pos", "One.small_inhabited", "One.some_weight", "One.price_rat"), "proof"),
}
VALUES = "     = [:: [:: (true, 1, 2); (false, 3, 1)]]\n     : seq (seq (bool * nat * nat))"
WITNESSES = '"One.small" = { lemma = "One.small_inhabited" }\n"One.weight" = { lemma = "One.some_weight" }\n'
VECTORS = '[prices]\nrows = "Two.table"\ncolumns = ["n", "price"]\nlemmas = ["One.price_rat"]\n'


def together(known: Mapping[str, str], question: str) -> str:
    """Return the answer of Rocq to the question which axioms a lemma uses. The lemma uses several constants, and the
    answer has the axioms of all of them.
    """
    used = [known[name] for name in re.findall(r"pose proof @([\w.]+)\.", question)]
    assert used, question
    resting = [answer for answer in used if answer != "Closed under the global context"]
    return "\n".join(dict.fromkeys(resting)) or "Closed under the global context"


def pretend(monkeypatch: pytest.MonkeyPatch, changed: Mapping[str, str]) -> None:
    """Replace the answers of Rocq by the hand-written ones, with some changes."""

    def ask(build: Path, preamble: list[str], questions: Mapping[str, str]) -> dict[str, str]:
        known = {"One": MODULE, "Two": ROWS, "prices": VALUES, **AXIOMS}
        known |= EXPLICIT if "Set Printing All." in preamble else READABLE
        known |= KINDS if audit.KIND[0] in preamble else {}
        known |= changed
        return {key: known[key] if key in known else together(known, question) for key, question in questions.items()}

    monkeypatch.setattr(kernel, "ask", ask)
    monkeypatch.setattr(kernel, "build", lambda *_, **__: [])
    monkeypatch.setattr(kernel, "compiled", lambda _: {"One.v", "Two.v"})
    monkeypatch.setattr(kernel, "versions", lambda: {"coqc": "8.16.1"})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder `proofs` of a small project."""
    folder = tmp_path / "proofs" / "rocq"
    folder.mkdir(parents=True)
    (folder / "One.v").write_text(SOURCE)
    (folder / "witnesses.toml").write_text(WITNESSES)
    (folder / "vectors.toml").write_text(VECTORS)
    return folder.parent


def accepted(project: Path, monkeypatch: pytest.MonkeyPatch) -> gate.GateReport:
    """Return the report on the project after its lock file was written."""
    pretend(monkeypatch, {})
    report = gate.recheck(project, {})
    assert report.record is not None
    lock.path_of(project).write_text(lock.as_text(report.record), encoding="utf-8")
    (project / "vectors.json").write_text(report.vectors, encoding="utf-8")
    return report


def test_what_the_kernel_answers_is_what_is_locked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the lock file differs from the answers of Rocq."""
    report = accepted(project, monkeypatch)
    assert report.wrong == []
    assert report.record is not None
    entry = report.record.theorems["T"]
    assert entry.statement == "forall n m : nat, One.small n m -> One.weight -> (0 < One.price n)%N"
    assert entry.axioms == ("boolp.propositional_extensionality",)
    assert entry.definitions == ("One.price", "One.small", "One.weight")
    assert entry.premises == ("One.small", "One.weight")
    assert set(report.record.definitions) == {"One.price", "One.small", "One.weight"}
    assert set(report.record.vectors.lemmas) == {"One.price_rat"}
    assert '["-1/2", "3"]' in report.vectors


def test_the_same_answers_give_no_finding(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the check of the proofs reports anything although nothing has changed."""
    accepted(project, monkeypatch)
    again = gate.recheck(project, {})
    assert again.findings == []
    assert again.words == {"T": gate.RECHECKED}
    assert again.record is not None
    assert lock.as_text(again.record) == lock.path_of(project).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "rule", "told"),
    [
        (
            {"type One.price_pos": EXPLICIT["type One.price_pos"].replace("(S O)", "O")},
            "statement",
            "T: the statement is not the locked one",
        ),
        (
            {"body One.price": EXPLICIT["body One.price"].replace("7", "8")},
            "definition",
            "definitions beneath T are not the locked ones: One.price",
        ),
        ({"One.price_pos": EXTENSIONALITY + "\nboolp.more : False"}, "axioms", "T rests on boolp.more : False"),
        (
            {"type One.small_inhabited": "One.small_inhabited\n     : not (One.small (S O) O)"},
            "witness",
            "One.small: One.small_inhabited does not conclude it",
        ),
        (
            {"One.small_inhabited": "Axioms:\nboolp.more : False"},
            "witness",
            "One.small: One.small_inhabited rests on boolp.more : False",
        ),
        (
            {"type One.price_rat": "One.price_rat\n     : @eq nat O O"},
            "vector",
            "prices: the lemma One.price_rat must mention a definition that Two.table, but no other vector, uses",
        ),
        (
            {"type One.small_inhabited": "One.small_inhabited\n     : forall _ : False, One.small (S O) O"},
            "witness",
            "One.small: One.small_inhabited assumes False, but the lemma of a witness must assume nothing",
        ),
        (
            {"prices": VALUES.replace("1, 2", "1, 4")},
            "vector",
            "the numbers that the kernel evaluates are not the locked ones",
        ),
    ],
    ids=[
        "statement",
        "definition",
        "axiom",
        "witness",
        "axiom of a witness",
        "lemma of a vector",
        "premise of a witness",
        "value of a vector",
    ],
)
def test_another_answer_is_seen(
    project: Path, monkeypatch: pytest.MonkeyPatch, changed: Mapping[str, str], rule: str, told: str
) -> None:
    """The test fails if `gate.recheck` does not report that an answer of Rocq has changed. The answer is a statement, a
    definition, an axiom, a table of numbers, or a lemma which proves that a premise can be satisfied.
    """
    accepted(project, monkeypatch)
    pretend(monkeypatch, changed)
    assert (rule, told) in {(f.rule, f.text) for f in gate.recheck(project, {}).findings}
