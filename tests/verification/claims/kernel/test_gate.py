"""Test the checks of the Rocq proofs: what they find without Rocq, and, if Rocq is installed, that they ask its
kernel.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.claims import ledger
from covassay.verification.claims.kernel import audit, findings, gate, kernel, lock, mutants, sources, terms, vectors
from covassay.verification.claims.kernel.audit import Audit, Definition, Statement, Witness
from covassay.verification.claims.kernel.sources import Tagged
from covassay.verification.cli.main import run

PROOFS = Path(__file__).resolve().parents[4] / "proofs"
needs_rocq = pytest.mark.skipif(not kernel.available() and not kernel.required(), reason="needs Rocq")


@pytest.fixture
def proofs(tmp_path: Path) -> Path:
    """Return a copy of the folder proofs, which a test may change."""
    return shutil.copytree(PROOFS, tmp_path / "proofs")


def without_rocq(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "available", lambda: False)
    monkeypatch.delenv(kernel.REQUIRE, raising=False)


# The scan


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Lemma l : False. Admitted.", "line 1: Admitted"),
        ("Lemma l : True.\nProof. admit. Abort.", "line 2: admit"),
        ("Axiom a : False.", "Axiom is not allowed"),
        ("Parameters (a : nat).", "Parameters"),
        ("Conjecture c : False.", "Conjecture"),
        ("Unset Guard  Checking.", "Unset Guard Checking"),
        ("#[bypass_check(universes)] Definition d := 0.", "bypass_check"),
        ("Declare Module M.", "Declare Module"),
        ("Hypothesis h : False.", "Hypothesis outside a section"),
        ("Section S. End S.\nContext (n : nat).", "line 2: Context outside a section"),
        ('Notation "x @(* y" := (x + y). Check 1 @(* 2. Axiom a : False. (* *)', "could hide forbidden words"),
        ("(* (* *) *) Axiom a : False.", "Axiom"),
    ],
)
def test_a_banned_token_is_seen(text: str, told: str) -> None:
    """The test fails if the scan accepts a statement without proof, or a notation that could hide such a statement."""
    found = sources.banned("F.v", text)
    assert len(found) == 1
    assert told in found[0]


@pytest.mark.parametrize(
    "text",
    [
        "(* Admitted. (* Axiom *) admit *) Definition axioms_free := 0.",
        'Definition s := "Axiom". Definition admitted := 0.',
        "Section S. Variable n : nat. Hypothesis h : n = 0. End S.",
        "Module M := N. Section S. Context (n : nat). Section T. End T. Variables m : nat. End S.",
    ],
)
def test_what_is_no_banned_token(text: str) -> None:
    """The test fails if a valid proof is rejected because of a word in a comment, in a string or inside a section."""
    assert sources.banned("F.v", text) == []


def test_a_tag_belongs_to_the_theorem_that_follows() -> None:
    """The test fails if a tag in a proof file is attributed to another theorem than the next one."""
    text = "(*@ A.One *) Theorem one : True.\n(*@ two *)\n(* words *)\n#[local] Lemma two' : True.\n(* (*@ THREE *) *)"
    found, problems = sources.tagged({"F.v": text})
    assert {tag: t.qualified for tag, t in found.items()} == {"A.One": "F.one", "two": "F.two'"}
    assert problems == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("(*@ A *)\nDefinition d := 0.", "no theorem follows"),
        ("(*@ A *)\nLemma a : True.\n(*@ A *)\nLemma b : True.", "the tag A is taken"),
    ],
)
def test_a_tag_without_a_theorem_of_its_own(text: str, told: str) -> None:
    """The test fails if a tag with two theorems, or with none, is accepted."""
    assert told in sources.tagged({"F.v": text})[1][0]


@pytest.mark.parametrize("name", ["-arg -type-in-type.v", "Two words.v", "δ.v", "1.v"])
def test_the_name_of_a_file_passes_no_option(tmp_path: Path, name: str) -> None:
    """The test fails if a proof file is accepted whose name the compiler would read as an option."""
    (tmp_path / name).write_text("")
    assert [f.rule for f in findings.scan_findings(tmp_path)] == ["token"]
    assert f"{name!r} is no name for a file" in findings.scan_findings(tmp_path)[0].text


def test_two_files_cannot_have_one_name(tmp_path: Path) -> None:
    """The test fails if two proof files with the same name are accepted, because one would replace the other in the
    build folder.
    """
    for folder in ("privacy", "lib/measure"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "Norms.v").write_text("")
    assert [f.text for f in findings.scan_findings(tmp_path)] == ["Norms.v: two files have this name"]


def test_every_file_is_compiled_and_a_move_changes_nothing(tmp_path: Path) -> None:
    """The test fails if a proof file in a subfolder is not compiled, or if moving a file
    makes Rocq compile it again.
    """
    build, proofs = tmp_path / "build", shutil.copytree(PROOFS / "rocq", tmp_path / "proofs")
    kernel.stage(proofs, build)
    names = {path.name for path in (PROOFS / "rocq").rglob("*.v")}
    assert {path.name for path in build.glob("*.v")} == names == set(sources.files(proofs))
    assert (build / kernel.PROJECT).read_text().split() == ["-Q", ".", "covassay", *sorted(names)]
    before, compiled = sources.digests(proofs), build / "Norms.vo"
    compiled.write_bytes(b"")
    sources.path_of(proofs, "Norms.v").rename(proofs / "Norms.v")
    kernel.stage(proofs, build)
    assert compiled.exists()
    assert sources.digests(proofs) == before


# THE LOCK, WITHOUT ROCQ


def test_the_proofs_are_those_that_were_audited() -> None:
    """The test fails if a proof was changed but the lock file still has the digest of the old proof."""
    assert findings.scan_findings(PROOFS / "rocq") == []
    assert findings.source_findings(PROOFS) == []


def change_in(*place_and_value: object) -> Callable[[str], str]:
    """Return a function that changes one value in a JSON text. The last argument is the new value, and the other
    arguments are the path to the old one.
    """
    *place, last, value = place_and_value

    def spoil(text: str) -> str:
        content = json.loads(text)
        entry = content
        for key in place:
            entry = entry[key]
        entry[last] = value
        return json.dumps(content)

    return spoil


def test_the_lock_is_written_as_the_command_writes_it() -> None:
    """The test fails if the lock file was edited by hand."""
    assert lock.path_of(PROOFS).read_text(encoding="utf-8") == lock.as_text(lock.read(PROOFS))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda text: text[:-3], "rocq.lock.json: no lock (JSONDecodeError: "),
        (lambda _: "[]", "rocq.lock.json: no lock (TypeError: "),
        (change_in("generated", "by hand"), "digest: the file was edited"),
        (change_in("theorems", []), "rocq.lock.json: no lock (AttributeError: "),
        (change_in("theorems", "KNORM-DP", "axioms", "none"), "digest: the file was edited"),
        (change_in("theorems", "KNORM-DP", "axioms", [1]), "digest: the file was edited"),
        (change_in("theorems", "KNORM-DP", "colour", "red"), "unexpected keyword argument 'colour'"),
        (change_in("witnesses", "Norms.is_norm", {}), "'lemma', 'statement', and 'premises'"),
        (change_in("vectors", {"exported": ""}), "rocq.lock.json: no lock (KeyError: 'lemmas')"),
        (lambda text: text.replace('"tools": {', '"tools": {}, "tools": {', 1), "rocq.lock.json: tools stands twice"),
        (change_in("sources", "KNorm.v", None), "digest: the file was edited"),
        (change_in("theorems", "KNORM-DP", "axioms", []), "digest: the file was edited"),
        (change_in("witnesses", "Euclidean.psd", "lemma", "Norms.other"), "digest: the file was edited"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_malformed_lock_is_one_clear_error(proofs: Path, spoil: Callable[[str], str], told: str) -> None:
    """The test fails if a damaged lock file is accepted, or ends in a traceback in place of one clear error."""
    path = lock.path_of(proofs)
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InvalidInput) as error:
        lock.read(proofs)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_the_command_says_what_is_malformed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], proofs: Path
) -> None:
    """The test fails if the error message does not say what is wrong with the lock file."""
    without_rocq(monkeypatch)
    lock.path_of(proofs).write_text("{}", encoding="utf-8")
    monkeypatch.chdir(proofs.parent)
    assert run(["claims", "theorems"]) == 2
    assert capsys.readouterr().err.startswith("covassay: rocq.lock.json: no lock (KeyError: 'tools')")


def test_no_lock_is_an_empty_lock(tmp_path: Path) -> None:
    """The test fails if the program crashes because no lock file exists yet."""
    assert lock.read(tmp_path) == lock.RocqLock()


def test_no_locked_theorem_rests_on_more_than_three_axioms() -> None:
    """The test fails if a theorem depends on an axiom that is not allowed."""
    theorems = lock.read(PROOFS).theorems
    assert {axiom for entry in theorems.values() for axiom in entry.axioms} <= set(audit.ALLOWED)


def test_every_locked_premise_has_a_witness() -> None:
    """The test fails if no lemma shows that the premises of a theorem can be satisfied."""
    locked = lock.read(PROOFS)
    lemmas = [w for w in locked.witnesses.values() if isinstance(w, lock.LockedWitness)]
    asked = {predicate for entry in (*locked.theorems.values(), *lemmas) for predicate in entry.premises}
    assert asked == set(locked.witnesses) == set(audit.read_witnesses(PROOFS / "rocq"))


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(proofs: Path) -> None:
        path = sources.path_of(proofs / "rocq", name) if name.endswith(".v") else proofs / name
        assert old in path.read_text(encoding="utf-8")
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    return change


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (edit("Hessian.v", "(*@ HESSIAN-FORM *)", "(*@ HESSIAN-SHAPE *)"), "HESSIAN-SHAPE is not in the lock"),
        (edit("Hessian.v", "(*@ HESSIAN-FORM *)", ""), "HESSIAN-FORM is in the lock, but no longer"),
        (edit("Hessian.v", "(* ", "(*  "), "Hessian.v is not what was audited"),
        (edit("rocq/witnesses.toml", "Norms.l1_norm", "Norms.norm0"), "witnesses.toml is not what was audited"),
        (edit("vectors.json", "7/10", "8/10"), "vectors.json is not what the kernel evaluated"),
        (lambda proofs: lock.path_of(proofs).unlink(), "KNORM-DP is not in the lock"),
    ],
    ids=["renamed", "untagged", "edited", "witness", "vector", "no lock"],
)
def test_the_ledger_sees_proofs_that_were_not_audited(proofs: Path, change: Callable[[Path], None], told: str) -> None:
    """The test fails if the ledger reports no problem although a proof was not audited."""
    change(proofs)
    assert any(told in line for line in ledger.problems(proofs))


# Statements taken apart

FORALL = "forall (R : F.ring) (n m : nat) (_ : @M.small R (n m)), and (@M.good R n) (not (M.bad R))"


def test_a_statement_has_binders_and_a_conclusion() -> None:
    """The test fails if the statement of a theorem is split at the wrong comma."""
    assert terms.binders(FORALL) == (["F.ring", "nat", "@M.small R (n m)"], "and (@M.good R n) (not (M.bad R))")
    assert terms.binders("forall d : nat, let x := d in M.even x") == (["nat"], "M.even x")
    assert terms.binders("(forall d : nat, M.even d)") == (["nat"], "M.even d")


def test_the_names_of_the_project_are_found() -> None:
    """The test fails if a definition of the project is not found in a statement, because the digest of the definition
    would be missing.
    """
    assert terms.names(FORALL, frozenset({"M"})) == {"M.small", "M.good", "M.bad"}
    beyond_ascii = "forall n : nat, M.δ n -> @M.ℵ' (covassay.M.x₁ n) N.y"
    assert terms.names(beyond_ascii, frozenset({"M"})) == {"M.δ", "M.ℵ'", "M.x₁"}


@pytest.mark.parametrize(
    ("binder", "yes"),
    [
        ("nat", True),
        ("reals.Real.type", True),
        ("reals.Real.sort R", True),
        ("matrix.matrix (reals.Real.sort R) (S n) d", True),
        ("fintype.ordinal (S k)", True),
        ("forall (_ : X) (_ : X), Prop", True),
        ("False", False),
        ("Empty_set", False),
        ("fintype.ordinal n", False),
        ("fintype.Finite.sort fintype.void_finType", False),
        ("matrix.matrix Empty_set n n", False),
        ("is_true (leq (S O) n)", False),
        ("forall n : nat, is_true (leq (S O) n)", False),
        ("@eq nat O (S O)", False),
        ("@sig nat (fun n : nat => False)", False),
        ("M.type", False),
    ],
)
def test_what_a_witness_may_speak_of(binder: str, yes: bool) -> None:
    """The test fails if a lemma may assume the property that it is meant to establish."""
    assert terms.is_plain(binder, frozenset({"M"})) is yes


@pytest.mark.parametrize(
    ("conclusion", "yes"),
    [
        ("@M.p R n", True),
        ("(M.p)", True),
        ("and (M.q) (@M.p R)", True),
        ("ssrbool.and4 (M.q) M.r (M.p x) M.s", True),
        ("@ex nat (fun n : nat => @M.p R n)", True),
        ("is_true (M.p n)", True),
        ("not (M.p n)", False),
        ("M.q (M.p n)", False),
        ("or (M.p n) (M.q)", False),
        ("@eq Prop (M.p n) True", False),
    ],
)
def test_what_a_conclusion_establishes(conclusion: str, yes: bool) -> None:
    """The test fails if a lemma counts as a proof of a property that its conclusion does not state."""
    assert terms.establishes(conclusion, "M.p") is yes


# Witnesses


def planted(table: dict[str, Witness]) -> Audit:
    """Return what an audit of Rocq files would find: one theorem, whose premise is M.p, and four lemmas. M.holds proves
    M.p without a premise, M.needs_q proves M.p from M.q, M.q_from_p proves M.q from M.p, and M.other proves something
    else.
    """

    def said(name: str, premises: set[str], conclusion: str) -> Statement:
        return Statement(name, "", "", frozenset(premises), frozenset(premises), conclusion, ())

    lemmas = [said("M.holds", set(), "M.p 0"), said("M.needs_q", {"M.q"}, "M.p 0"), said("M.other", set(), "M.r 0"),
              said("M.q_from_p", {"M.p"}, "M.q 0")]  # fmt: skip
    definitions = {n: Definition(n, "", "", frozenset(), is_premise=True) for n in ("M.p", "M.q")}
    theorem = {Tagged("T", "M.v", "t"): said("M.t", {"M.p"}, "M.r 1")}
    return Audit(theorem, definitions, table, {lemma.name: lemma for lemma in lemmas})


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({}, "M.p: has no witness"),
        ({"M.p": Witness("M.p", lemma="M.holds")}, None),
        ({"M.p": Witness("M.p", assumption="A-X")}, None),
        ({"M.p": Witness("M.p", assumption="A-Y")}, "the assumption A-Y is not defined"),
        ({"M.p": Witness("M.p", lemma="M.holds", assumption="A-X")}, "give a lemma or an assumption"),
        ({"M.p": Witness("M.p", lemma="M.nothing")}, "there is no lemma M.nothing"),
        ({"M.p": Witness("M.p", lemma="M.other")}, "M.other does not conclude it"),
        ({"M.p": Witness("M.p", lemma="M.needs_q")}, "M.q: has no witness"),
        (
            {"M.p": Witness("M.p", lemma="M.needs_q"), "M.q": Witness("M.q", lemma="M.q_from_p")},
            "M.needs_q needs it: circular",
        ),
        (
            {"M.p": Witness("M.p", lemma="M.holds"), "M.q": Witness("M.q", lemma="M.q_from_p")},
            "M.q: no premise needs this witness",
        ),
    ],
)
def test_a_premise_needs_a_witness(table: dict[str, Witness], told: str | None) -> None:
    """The test fails if a premise is accepted although no lemma shows that it can be satisfied. The test also fails if
    the proof of this lemma assumes the premise.
    """
    found = [f.text for f in findings.witness_findings(planted(table), {"A-X": "x"}, whole=True)]
    assert (found == []) if told is None else any(told in text for text in found)


# Axioms


def test_axioms_are_read_with_what_they_say() -> None:
    """The test fails if an axiom is accepted by its name although its statement has changed."""
    name = "boolp.propositional_extensionality"
    good = f"Axioms:\n{name}\n  : {audit.ALLOWED[name]}"
    assert audit.axioms_of(good) == (name,)
    assert audit.axioms_of("Closed under the global context") == ()
    assert audit.axioms_of(f"Axioms:\n{name} : forall P Q : Prop, P = Q") != (name,)
    assert audit.axioms_of("Axioms:\nboolp.more : False") == ("boolp.more : False",)
    assert audit.axioms_of("Axioms:\nf is assumed to be guarded.") == ("f is assumed to be guarded.",)


# Changes of the lock file


def test_only_the_definition_has_changed() -> None:
    """The test fails if a changed definition is not reported because the statement of its theorem is unchanged."""
    old = lock.read(PROOFS)
    name = "Algorithm2.budget_composition"
    now = replace(old, definitions={**old.definitions, name: "0" * 64})
    found = findings.lock_findings(old, now)
    assert {f.rule for f in found} == {"definition"}
    assert ("DN25.Alg2-BUDGET",) in {f.tags for f in found}
    assert lock.changes(old, now, {name: "its text"}) == [f"definition {name}", "  + its text"]


def test_a_person_reads_every_change_before_it_is_accepted() -> None:
    """The test fails if a change enters the lock file without being shown to a person."""
    old = lock.read(PROOFS)
    assert lock.changes(old, old, {}) == []
    lemma = "Algorithm2.budget_joint_rat"
    lemmas = {**old.vectors.lemmas, lemma: replace(old.vectors.lemmas[lemma], statement="False")}
    now = replace(old, theorems={}, vectors=replace(old.vectors, lemmas=lemmas))
    lines = lock.changes(old, now, {})
    assert lines[-3:-1] == [f"lemma of the vectors {lemma}", f"  - statement: {old.vectors.lemmas[lemma].statement}"]
    assert lines[-1] == "  + statement: False"
    assert lines[1] == f"  - {old.theorems[lines[0].removeprefix('theorem ')].statement}"


def test_what_was_read_is_named_for_lemmas_of_vectors_and_witnesses_too() -> None:
    """The test fails if a changed lemma is not named before it enters the lock file. The test changes two lemmas. The
    first lemma proves that the formula with which Rocq computes certain numbers is the formula of a theorem. The second
    lemma proves that a premise of theorems can be satisfied.
    """
    old = lock.read(PROOFS)
    lemma, predicate = "Algorithm2.budget_joint_rat", "Norms.is_norm"
    lemmas = {**old.vectors.lemmas, lemma: replace(old.vectors.lemmas[lemma], statement="True")}
    witnesses = {**old.witnesses, predicate: lock.LockedWitness("Norms.other", "True", ())}
    now = replace(old, vectors=replace(old.vectors, lemmas=lemmas), witnesses=witnesses)
    assert lock.changed_statements(old, old) == []
    assert lock.changed_statements(old, now) == [lemma, predicate]


@pytest.mark.thorough
def test_accepting_asks_for_the_theorems_that_say_something_else(
    proofs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test fails if a theorem with a changed statement is accepted without being named on the command line."""
    old = lock.read(proofs)
    name = "Algorithm2.budget_composition"
    now = replace(old, definitions={**old.definitions, name: "0" * 64})
    report = gate.GateReport({}, [], [], now, vectors.exported(proofs), {name: "its text"})
    monkeypatch.setattr(kernel, "available", lambda: True)
    monkeypatch.setattr(gate, "recheck", lambda *_: report)
    monkeypatch.chdir(proofs.parent)
    changed = lock.changed_theorems(old, now)
    assert "DN25.Alg2-BUDGET" in changed
    assert "KNORM-DP" not in changed
    for named in ([], changed[1:], [*changed, "KNORM-DP"]):
        assert run(["claims", "accept", "--rocq", *named]) == 2
        assert lock.read(proofs) == old
    assert f"definition {name}" in capsys.readouterr().out
    assert run(["claims", "accept", "--rocq", *changed]) == 0
    assert lock.read(proofs) == now
    assert any("stale" in line and "theorem DN25.Alg2-BUDGET" in line for line in ledger.problems(proofs))


def test_a_new_witness_is_shown_with_its_statement() -> None:
    """A witness is a lemma which proves that a premise can be satisfied. The test fails if the statement of a new
    witness is not shown before the user adds it to the lock file.
    """
    old = lock.read(PROOFS)
    fewer = replace(old, witnesses={k: v for k, v in old.witnesses.items() if k != "Euclidean.psd"})
    shown = "\n".join(lock.changes(fewer, old, {}))
    assert "Euclidean.psd_outer : forall (R : rcfType) (d : nat)" in shown


def test_a_new_axiom_another_digest_and_another_tool_are_shown() -> None:
    """The test fails if a new axiom, a new digest or a new tool is accepted without being shown."""
    old = lock.read(PROOFS)
    tag = next(iter(old.theorems))
    theorem = old.theorems[tag]
    for change, shown in [({"axioms": (*theorem.axioms, "luck")}, "luck"), ({"explicit": "0" * 64}, "0" * 64)]:
        lines = lock.changes(old, replace(old, theorems={**old.theorems, tag: replace(theorem, **change)}), {})
        assert lines[0] == f"theorem {tag}"
        assert len(lines) == 3
        assert shown in lines[2]
        assert shown not in lines[1]
    lines = lock.changes(old, replace(old, tools={**old.tools, "coqc": "another version"}), {})
    assert len(lines) == 1
    assert "another version" in lines[0]


# The command, without Rocq


@pytest.mark.thorough
def test_without_rocq_theorems_are_recorded_and_never_passed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test fails if a theorem is reported as checked although Rocq is not installed."""
    without_rocq(monkeypatch)
    assert run(["claims", "theorems"]) == 0
    text = capsys.readouterr().out
    assert text.count(gate.RECORDED) == len(ledger.theorem_tags(PROOFS)) + 1
    for word in ("passed", gate.RECHECKED, "checked"):
        assert word not in text


@pytest.mark.thorough
def test_without_rocq_an_edited_file_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], proofs: Path
) -> None:
    """The test fails if an edited proof is accepted because Rocq is not installed."""
    without_rocq(monkeypatch)
    edit("Hessian.v", "Theorem pair_forms", "Theorem  pair_forms")(proofs)
    monkeypatch.chdir(proofs.parent)
    assert run(["claims", "theorems", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["rule"] == "source"


def test_where_rocq_is_required_its_absence_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test fails if a CI run that requires Rocq succeeds without it."""
    without_rocq(monkeypatch)
    monkeypatch.setenv(kernel.REQUIRE, "1")
    assert run(["claims", "theorems"]) == 2
    assert kernel.REQUIRE in capsys.readouterr().err


@pytest.mark.thorough
def test_a_plain_check_does_not_compile(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if `covassay claims check` compiles the proofs."""
    monkeypatch.setattr(gate, "recheck", lambda *_: pytest.fail("compiled"))
    assert run(["claims", "check", "DN25.Alg2-DP", "--jobs", "1"]) == 0
    assert f"theorem DN25.Alg2-DP: {gate.RECORDED}" in capsys.readouterr().out


# The mutants


@pytest.mark.thorough
def test_every_mutant_applies_to_the_proofs_as_they_are() -> None:
    """The test fails if one of the listed changes to the proofs no longer applies, so that it would change nothing."""
    listed = mutants.read(PROOFS / "rocq")
    assert len(listed) >= 30
    assert sum(m.rule == "definition" for m in listed) >= 8
    for m in listed:
        text = sources.path_of(PROOFS / "rocq", m.file).read_text(encoding="utf-8")
        assert m.applied(text) != text, m.name


def test_the_page_lists_the_mutants_of_today() -> None:
    """The test fails if MUTANTS.md is out of date. To update MUTANTS.md, run python -P -m
    covassay.verification.maintain proof-mutants --write.
    """
    text = (PROOFS / "rocq" / "MUTANTS.md").read_text(encoding="utf-8")
    assert text == mutants.render(mutants.read(PROOFS / "rocq"))


def test_the_shares_are_the_whole() -> None:
    """The list of deliberate changes to the proofs can be divided into four parts, which are run separately. The test
    fails if a change is in no part or in two parts.
    """
    listed = mutants.read(PROOFS / "rocq")
    shares = [m for k in range(1, 5) for m in mutants.share(listed, f"{k}/4")]
    assert sorted(m.name for m in shares) == sorted(m.name for m in listed)


@pytest.mark.thorough
@pytest.mark.parametrize("rule", ["token", "link"])
def test_the_mutants_that_need_no_kernel_are_rejected(rule: str, tmp_path: Path) -> None:
    """The test fails if the scan of the proofs accepts a change that it must reject."""
    for m in mutants.read(PROOFS / "rocq"):
        if m.rule == rule:
            assert mutants.try_one(m, PROOFS, tmp_path).as_intended, m.name


# Tests that run Rocq

FILE = """From mathcomp Require Import all_ssreflect.
Section S.
Variable n : nat.
Definition price := 7 * n.
Definition small (m : nat) : Prop := m < n.
(*@ T *)
Theorem price_pos m : small m -> 0 < price.
Proof. by move=> /(leq_ltn_trans (leq0n m)) n0; rewrite /price ?muln_gt0 ?n0. Qed.
End S.
Lemma small_inhabited : small 1 0.
Proof. by []. Qed.
"""


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, gate.GateReport]:
    """Make a small Rocq project and its lock file. Return the folder of the project, and the report from which the lock
    file was written.
    """
    folder = tmp_path_factory.mktemp("project") / "proofs" / "rocq"
    folder.mkdir(parents=True)
    (folder / "One.v").write_text(FILE)
    (folder / "witnesses.toml").write_text('"One.small" = { lemma = "One.small_inhabited" }\n')
    report = gate.recheck(folder.parent, {})
    assert report.record is not None
    lock.path_of(folder.parent).write_text(lock.as_text(report.record))
    (folder.parent / "vectors.json").write_text(report.vectors)
    return folder.parent, report


@pytest.mark.thorough
@needs_rocq
def test_the_kernel_is_asked_what_a_theorem_says(accepted: tuple[Path, gate.GateReport]) -> None:
    """The test fails if the statement of a theorem is taken from its source code and not from the kernel of Rocq."""
    project, report = accepted
    assert report.wrong == []
    assert report.record is not None
    entry = report.record.theorems["T"]
    assert entry.statement == "forall n m : nat, One.small n m -> (0 < One.price n)%N"
    assert entry.axioms == ()
    assert entry.definitions == ("One.price", "One.small")
    assert entry.premises == ("One.small",)
    again = gate.recheck(project, {})
    assert again.findings == []
    assert again.words == {"T": gate.RECHECKED}
    assert again.record is not None
    assert lock.as_text(again.record) == lock.path_of(project).read_text()


@pytest.mark.thorough
@needs_rocq
def test_an_axiom_that_the_lock_does_not_know_is_seen(accepted: tuple[Path, gate.GateReport], tmp_path: Path) -> None:
    """The test fails if an axiom that is added to a proof is not reported."""
    project = shutil.copytree(accepted[0], tmp_path / "proofs")
    classical = "From mathcomp.classical Require Import boolp.\nFrom mathcomp Require Import all_ssreflect.\n"
    text = (project / "rocq" / "One.v").read_text()
    proof = "Proof. have _ := @propext; by move=> "
    (project / "rocq" / "One.v").write_text(classical + text.replace("Proof. by move=> ", proof, 1))
    found = gate.recheck(project, {}).findings
    assert any(f.rule == "axioms" and "propositional_extensionality" in f.text for f in found), found


@pytest.mark.thorough
@needs_rocq
@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("7 * n", "8 * n", "definition"),
        pytest.param("-> 0 < price", "-> 0 <= price", "statement", marks=pytest.mark.slow),
        pytest.param("?muln_gt0", "muln_gt1", "compile", marks=pytest.mark.slow),
        pytest.param("small 1 0", "~ small 0 0", "witness", marks=pytest.mark.slow),
    ],
)
def test_the_kernel_sees_a_change(
    accepted: tuple[Path, gate.GateReport], tmp_path: Path, old: str, new: str, rule: str
) -> None:
    """The test fails if a changed proof is not reported by the expected rule."""
    project = shutil.copytree(accepted[0], tmp_path / "proofs")
    edit("One.v", old, new)(project)
    assert rule in {f.rule for f in gate.recheck(project, {}).findings}


PREMISES = {  # each entry is a premise that nothing satisfies, in a form that is easy to overlook
    "a name beyond ASCII": ("Definition δlucky (m : nat) := False.", "δlucky"),
    "a predicate by its type": ("Definition lucky : pred nat := fun=> false.", "lucky"),
    "a simple predicate": ("Definition lucky : simpl_pred nat := [pred n | false].", "lucky"),
    "a predicate that is sealed": ("Lemma lucky : nat -> Prop. Proof. exact (fun=> False). Qed.", "lucky"),
    "a type": ("Definition lucky (m : nat) : Type := void.", "lucky"),
}


@pytest.mark.slow
@needs_rocq
@pytest.mark.parametrize("name", PREMISES)
def test_a_premise_that_nothing_meets_is_seen(
    accepted: tuple[Path, gate.GateReport], tmp_path: Path, name: str
) -> None:
    """The test fails if a theorem is accepted although its premise can never be satisfied."""
    project = shutil.copytree(accepted[0], tmp_path / "proofs")
    text, predicate = PREMISES[name]
    edit("One.v", "Section S.", f"{text}\nSection S.")(project)
    edit("One.v", "small m -> 0 < price", f"small m -> {predicate} m -> 0 < price")(project)
    edit("One.v", "n0; rewrite", "n0 _; rewrite")(project)
    report = gate.recheck(project, {})
    assert f"One.{predicate}: has no witness in witnesses.toml" in {f.text for f in report.wrong}
    assert report.record is not None
    assert f"One.{predicate}" in report.record.theorems["T"].definitions
    sealed = [f for f in report.wrong if "is sealed by Qed" in f.text]
    assert len(sealed) == ("sealed" in name)


@pytest.mark.slow
@needs_rocq
@pytest.mark.parametrize("premise", ["False ->", "1 = 0 ->", "void ->", "small 0 1 ->", "{n : nat | n < 0} ->"])
def test_a_witness_assumes_nothing(accepted: tuple[Path, gate.GateReport], tmp_path: Path, premise: str) -> None:
    """The test fails if a lemma that is meant to show that a premise can be satisfied has a premise of its own."""
    project = shutil.copytree(accepted[0], tmp_path / "proofs")
    edit("One.v", "Lemma small_inhabited : small 1 0.", f"Lemma small_inhabited : {premise} small 1 0.")(project)
    assert any("the lemma of a witness must assume nothing" in f.text for f in gate.recheck(project, {}).wrong)
