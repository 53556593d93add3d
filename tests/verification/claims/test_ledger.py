"""Test the ledger of claims. Every check must hold and must reject wrong formulas, and inconsistent entries must be
detected.
"""

import json
import math
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import sympy as sp

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.claims import coverage, ledger, pages, render
from covassay.verification.claims.checks import checks
from covassay.verification.claims.checks.own import spends
from covassay.verification.claims.checks.own.theorems import QUOTED
from covassay.verification.claims.evidence import MORE, ClaimCheck, Evidence, Result, check, concluded, mutant, scaled
from covassay.verification.claims.kernel import lock as rocq_lock
from covassay.verification.cli import mutant_table
from covassay.verification.cli.main import run

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
# These checks of the ledger take 0.3 s or more.
LONG = {
    "dly22.adaptive:adaptive_error",
    "dly22.adaptive:adaptive_release",
    "dly22.adaptive:bias_bins",
    "dly22.adaptive:radius_release",
    "dly22.noise:laplace_wigner_bounds",
    "dn25.privacy:centred_algorithm_2",
    "klsu19.covariance:accuracy",
    "klsu19.covariance:rows_for_accuracy",
    "klsu19.distances:consequences_of_regularity",
    "klsu19.lower_bounds:precision_moments",
    "klsu19.preconditioning:a_round_makes_progress",
    "klsu19.privacy:zcdp_composition",
    "klsu19.products:divergence_order",
    "klsu19.products:ppde_distance",
    "klsu19.products:rounds_noise",
    "klsu19.products:squared_length_tails",
    "own.box_moments:l1_sensitivity",
    "own.box_moments:l2_sensitivity",
    "own.budgets:multiplier_is_enough",
    "own.budgets:threshold_spend",
    "own.l2_approximate:least_scale",
    "own.l2_approximate:loss_density",
    "own.lattice:exponential_chance",
    "own.laws:concentration",
    "own.laws:float_cdf",
    "own.laws:float_moments",
    "own.routes:centred_sensitivity_twice",
    "own.routes:norm_table",
    "own.samplers:gamma_radius",
    "own.samplers:spectral_law",
    "own.spends:every_spend",
    "own.tail:smoothing_and_integrating",
    "own.tail:tail_bound",
    "own.theorems:quantiles",
    "own.theorems:tail_algebra",
    "own.theorems:theorem_2_on_releases",
    "own.zcdp:randomised_response_divergence",
    "own.zcdp:threshold_range",
}


def marks(name: str, first: bool = True) -> list[pytest.MarkDecorator]:
    """Return the pytest marks of a test. CI runs every check, its first wrong formula, and a part of its other wrong
    formulas.
    """
    if not first:
        return [pytest.mark.slow]
    return [pytest.mark.thorough] if name in LONG else []


CHECKS = [pytest.param(name, marks=marks(name)) for name in checks()]
MUTANTS = [
    pytest.param(c, slots, id=f"{c.name}-{name}", marks=marks(c.name, first=i == 0))
    for c in checks().values()
    for i, (name, slots) in enumerate(c.mutants.items())
]


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_holds(name: str) -> None:
    """The test fails if a formula of the reference contradicts a claim in the ledger."""
    evidence = checks()[name]()
    assert evidence.holds, evidence.detail
    assert checks()[name].scope


@pytest.mark.parametrize(("c", "slots"), MUTANTS)
def test_a_check_rejects_its_mutants(c, slots) -> None:  # type: ignore[no-untyped-def]
    """The test fails if a check accepts a wrong formula. The check must find the error, and a crash does not count."""
    assert not c(**slots).holds


def test_a_check_without_a_mutant_cannot_be_written() -> None:
    """The test fails if a check can be declared without a wrong formula that it must reject."""
    with pytest.raises(ValueError, match="mutant"):
        check("exact", mutants={})(lambda: Evidence(True, "nothing"))


def test_a_check_of_an_unknown_kind_cannot_be_written() -> None:
    """The test fails if a check can be declared with an unknown kind."""
    with pytest.raises(ValueError, match="none of exact, enclosed, symbolic, floating"):
        check("property", mutants={"m": {}})  # type: ignore[arg-type]


def test_two_mutants_of_one_name_cannot_be_written() -> None:
    """The test fails if two wrong formulas of a check may have the same name, because one
    of them would not be tested.
    """
    with pytest.raises(ValueError, match="two mutants are called 'm'"):
        mutant("m", x=1)(mutant("m", x=2)(lambda x: Evidence(True, "s")))


@pytest.mark.parametrize(
    ("found", "attained", "holds"),
    [
        ([], None, True),
        ([True, np.bool_(True), 0.5, Fraction(1)], None, True),
        ([np.bool_(False)], None, False),
        (["d=3"], None, False),
        ([1.03], None, False),
        ([Fraction(10**12 + 1, 10**12)], None, False),  # exact numbers have no rounding errors
        ([1 + 1e-12], None, True),
        ([math.nan], None, False),
        ([0.9, 0.97], 0.98, False),
        ([0.9, 0.99], 0.98, True),
        ([], 0.5, False),
        ([{"d=1": True, "d=2": True}, ("figure", "0.3")], None, True),
        ([{"d=1": True, "d=2": False}], None, False),
    ],
)
def test_what_a_check_yields_decides(found: list[Result], attained: float | None, holds: bool) -> None:
    """The test fails if a check holds although one of its cases is false, or one of its ratios is above 1 or NaN. The
    test also fails if the ratios stay below a value that they must attain.
    """
    evidence = concluded(iter(found), attained)
    assert evidence.holds == holds
    assert holds or evidence.detail or attained is not None


@pytest.mark.parametrize(
    ("value", "times"),
    [
        (2.0, 2.06),
        (Fraction(1, 2), Fraction(103, 200)),
        ("0.250", "0.258"),
        (("2.50", "1"), ("2.58", "1")),
        (lambda x: [x, 2.0], [Fraction(103, 100), 2.06]),
    ],
)
def test_a_slot_is_scaled_whatever_it_holds(value: Any, times: Any) -> None:
    """The test fails if a value that should be changed by 3 % stays the same."""
    changed = scaled(value, MORE)
    assert (changed(1) if callable(changed) else changed) == times


def test_evidence_is_plain_data_even_if_numpy_decided_it() -> None:
    """The test fails if the result of a check cannot be written as JSON."""
    assert json.dumps(Evidence(np.bool_(True), "s").holds) == "true"  # type: ignore[arg-type]


def test_entries_checks_code_theorems_and_pages_fit_together() -> None:
    """The test fails if an entry of the ledger refers to something that does not exist, or if no entry refers to a
    proof.
    """
    assert ledger.problems(PROOFS) == []


@pytest.mark.parametrize("name", pages.pages())
def test_a_generated_page_is_up_to_date(name: str) -> None:
    """The test fails if a page that is generated from the ledger is out of date."""
    assert (PROOFS / name).read_text(encoding="utf-8") == pages.pages()[name]


def test_the_table_of_mutants_is_up_to_date() -> None:
    """The test fails if the page of wrong formulas is out of date."""
    assert (PROOFS / "MUTANTS.md").read_text(encoding="utf-8") == mutant_table.render()
    assert (PROOFS / "mutants.jsonl").read_text(encoding="utf-8") == mutant_table.data()


# The gate sees


def planted(monkeypatch: pytest.MonkeyPatch, change: Callable[[ledger.LedgerClaim], ledger.LedgerClaim]) -> list[str]:
    """Return the problems of the ledger after one entry of the paper DN25 was changed. Entries of other papers are left
    out. Some of them also use checks of DN25. If such a check is missing from the changed entry, it must be reported,
    although an entry of another paper uses it. The Rocq proofs are left out because another test checks them.
    """
    entries = {key: entry for key, entry in ledger.claims().items() if entry.paper == "dn25"}
    entries["DN25.Alg2-DP"] = change(entries["DN25.Alg2-DP"])
    monkeypatch.setattr(ledger, "claims", lambda: entries)
    monkeypatch.setattr(ledger, "_theorem_problems", lambda proofs: [])
    return ledger.problems(PROOFS)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"verdict": "certain"}, "verdict 'certain'"),
        ({"verdict": "refuted"}, "no corrected statement"),
        ({"verdict": "open"}, "no reason"),
        ({"legs": ()}, "no check, theorem or page on which it rests"),
        ({"legs": (ledger.Leg("exact", "dn25.privacy:algorithm_3"),)}, "algorithm_3, which does not exist"),
        ({"legs": (ledger.Leg("rocq", "NO-SUCH-TAG"),)}, "NO-SUCH-TAG, which does not exist"),
        ({"legs": (ledger.Leg("page", "nowhere.md"),)}, "nowhere.md, which does not exist"),
        ({"legs": (ledger.Leg("page", "nuclear-ball-projection.md"),)}, "theorem DN25.Alg2-BUDGET: no claim"),
        ({"code": ("reference.nothing:here",)}, "reference.nothing:here, which does not exist"),
        ({"assumes": ("A-LUCK",)}, "A-LUCK, which is not defined"),
        ({"provenance": "remembered"}, "provenance 'remembered'"),
        ({"verdict": "refuted", "corrected": "x", "provenance": "reconstructed"}, "our own reconstruction"),
        ({"verdict": "refuted-reconstruction", "corrected": "x"}, "its formula is read from the paper"),
        ({"note": "False as printed.", "provenance": "reconstructed"}, 'says "as printed"'),
        ({"paper": "mechanisms", "source": "DLY22 Lemma 3"}, "the text of DLY22 Lemma 3, of which we have no copy"),
        ({"verdict": "refuted", "corrected": "x"}, "no evidence for the statement"),
        ({"legs": (ledger.Leg("exact", "dn25.remarks:cap", covers="case"),)}, "a check of one case"),
        ({"use": ("reference.tails:eta",)}, "a wrong statement needs the field `use`"),
        ({"verdict": "refuted", "corrected": "x"}, "a wrong statement needs the field `use`"),
        ({"verdict": "refuted", "use": ("reference.nothing:here",)}, "reference.nothing:here, which does not exist"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_an_entry_that_does_not_fit(monkeypatch: pytest.MonkeyPatch, change: dict[str, object], told: str) -> None:
    """The test fails if an inconsistent entry of the ledger is accepted."""
    found = planted(monkeypatch, lambda c: replace(c, **change))  # type: ignore[arg-type]
    assert any(told in line for line in found), found


def test_a_check_on_which_no_claim_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a check is accepted although no entry of the ledger names it."""
    told = "check dn25.privacy:centred_on_the_line: no claim rests on it"
    assert told not in planted(monkeypatch, lambda c: c)
    entries = {key: replace(c, legs=c.legs[:0]) for key, c in ledger.claims().items()}
    monkeypatch.setattr(ledger, "claims", lambda: entries)
    assert told in ledger.problems(PROOFS)


@pytest.mark.thorough
def test_a_page_that_no_claim_rests_on(tmp_path: Path) -> None:
    """The test fails if a proof page is accepted although no entry of the ledger names it."""
    proofs = tmp_path / "proofs"
    shutil.copytree(PROOFS, proofs)
    (proofs / "paper" / "README.md").write_text("The table of contents is no proof.\n")
    before = ledger.problems(proofs)
    assert not [line for line in before if "README" in line]
    (proofs / "paper" / "orphan.md").write_text("A proof of nothing.\n")
    assert sorted({*ledger.problems(proofs)} - {*before}) == ["page orphan.md: no claim rests on it"]


def test_the_contents_name_every_page_once() -> None:
    """The test fails if a proof page is missing in the table of contents."""
    folder = PROOFS / "paper"
    listed = re.findall(r"\]\((\S+\.md)\):", (folder / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")


@pytest.mark.thorough
def test_changed_code_makes_its_claims_stale_until_they_are_accepted(tmp_path: Path) -> None:
    """The test fails if a claim remains accepted although a formula that it uses has changed."""
    proofs = tmp_path / "proofs"
    shutil.copytree(PROOFS, proofs)
    lock = ledger.read_lock(proofs)
    name = "reference.mechanisms.pure.nuclear_ball_projection:privacy_loss"
    ledger.lock_path(proofs).write_text(json.dumps({**lock, name: "0" * 16}))
    assert any("DN25.Alg2-DP: stale" in line and "privacy_loss" in line for line in ledger.problems(proofs))
    assert ledger.accept(proofs, ["DN25.Alg2-DP"]) == [name]
    assert ledger.problems(proofs) == []
    assert ledger.read_lock(proofs) == lock


@pytest.mark.parametrize("where", ["theorems", "definitions"])
def test_a_theorem_that_says_something_else_makes_its_claims_stale(tmp_path: Path, where: str) -> None:
    """The test fails if a claim remains accepted although a theorem that it uses has changed."""
    proofs = tmp_path / "proofs"
    shutil.copytree(PROOFS, proofs)
    locked, name = rocq_lock.read(proofs), "ROUNDING-DP" if where == "theorems" else "Rounding.nearest_matrix"
    entries = dict(getattr(locked, where))
    entries[name] = replace(entries[name], explicit="0" * 64) if where == "theorems" else "0" * 64
    changed = rocq_lock.as_text(replace(locked, **{where: entries}))
    rocq_lock.path_of(proofs).write_text(changed, encoding="utf-8")
    stale = ledger.stale(proofs)
    assert "theorem ROUNDING-DP" in stale["OWN.Rounding"]
    assert "OWN.Lebesgue" not in stale
    assert "theorem ROUNDING-DP" in ledger.accept(proofs, ["OWN.Rounding"])
    assert "theorem ROUNDING-DP" not in ledger.stale(proofs).get("OWN.Rounded-Releases", [])


def test_the_digest_sees_code_and_not_words() -> None:
    """The test fails if the digest of a function changes with a comment, or does not change with its code."""

    def one(x: float) -> float:
        """Return one more than x."""
        return x + 1

    first = ledger.digest(one)

    def one(x: float) -> float:  # type: ignore[no-redef]
        """Other words."""
        # and a comment
        return x + 1

    assert ledger.digest(one) == first

    def one(x: float) -> float:  # type: ignore[no-redef]
        return x + 2

    assert ledger.digest(one) != first


def test_a_lock_of_code_that_no_claim_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the lock file has code that no claim uses."""
    proofs = tmp_path / "proofs"
    shutil.copytree(PROOFS, proofs)
    monkeypatch.setattr(ledger, "_theorem_problems", lambda proofs: [])
    ledger.lock_path(proofs).write_text(json.dumps({**ledger.read_lock(proofs), "reference.domain:blocks": "0" * 16}))
    assert "lock: reference.domain:blocks belongs to no claim" in ledger.problems(proofs)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"id": "X.1", "source": "s", "statement": "t", "verdict": "holds", "colour": "red"}, "unknown fields"),
        (
            {"id": "MECH.x", "source": "s", "statement": "t", "verdict": "holds", "spends": {"cost": "1"}},
            "attained, found",
        ),
        ({"id": "X.1", "source": "s", "verdict": "holds"}, "missing fields"),
        (
            {"id": "X.1", "source": "s", "statement": "t", "verdict": "holds", "legs": [{}]},
            "each entry of `legs` has exactly one of",
        ),
        ({"id": "X.1", "source": "s", "statement": "t", "verdict": "holds", "covers": [{"id": "Y"}]}, "a text `says`"),
    ],
    ids=["unknown", "spends", "missing", "leg", "covers"],
)
def test_a_malformed_entry_is_refused(entry: dict[str, object], told: str) -> None:
    """The test fails if an entry of the ledger with an unknown or a missing field is accepted."""
    with pytest.raises(InvalidInput, match=told):
        ledger._claim("own", entry)


def test_a_status_is_the_weakest_necessary_leg_in_how_and_in_what_was_covered() -> None:
    """The test fails if the status of a claim is better than that of the weakest evidence on which it depends."""
    strong, weak = ledger.Leg("rocq", "a"), ledger.Leg("floating", "b", covers="random")
    c = ledger.LedgerClaim("X", "own", "s", "t", "holds", (strong, weak))
    assert str(c.status) == "floating, random samples"
    assert str(replace(c, legs=(strong, replace(weak, second_opinion=True))).status) == "kernel, all cases"
    assert str(replace(c, legs=()).status) == "not checked"
    exact = ledger.Leg("exact", "c", covers="random")
    assert str(replace(c, legs=(exact, ledger.Leg("page", "p"))).status) == "paper, random samples"


def test_a_wrong_statement_and_its_correction_have_a_status_each() -> None:
    """The test fails if a corrected statement gets the status of the wrong statement."""
    legs = (ledger.Leg("exact", "a", covers="case", of="statement"), ledger.Leg("symbolic", "b", of="correction"))
    c = ledger.LedgerClaim("X", "own", "s", "t", "refuted", legs)
    assert str(c.status) == "exact, a counterexample"
    assert str(c.correction_status) == "symbolic, all cases"
    assert replace(c, verdict="holds").correction_status is None


def test_the_page_quotes_the_rates_that_a_check_encloses() -> None:
    """The test fails if a number on the proof page is not confirmed by the check."""
    page = (PROOFS / "paper" / "norm-tail.md").read_text(encoding="utf-8")
    assert all(digits in page for digits in QUOTED)


# WHAT CHECKS MAY CLAIM


def test_the_summary_of_every_check_is_a_whole_sentence() -> None:
    """The test fails if the page of checks cuts off a sentence that is wrapped in the docstring."""
    assert [name for name, told in checks().items() if not told.summary.endswith(".")] == []


@check("exact", covers="all", mutants={"m": {}})
def draws_at_random() -> Evidence:
    rng = np.random.default_rng(0)
    return Evidence(bool(rng.integers(2) < 2), "all")


@check("exact", mutants={"m": {}})
def has_a_tolerance() -> Evidence:
    return Evidence(abs(Fraction(1, 3) - Fraction(1, 3)) < 1e-9, "one third")


@check("floating", covers="all", mutants={"m": {}})
def says_all_in_floats() -> Evidence:
    return Evidence(math.exp(0) == 1, "all")


@check("exact", covers="all", mutants={"m": {}})
def counts_dimensions() -> Evidence:
    return Evidence(all(d < 10 for d in range(2, 9)), "all d")


@check("exact", covers="all", exhausts="nobody needs more", mutants={"m": {}})
def counts_dimensions_and_has_an_excuse() -> Evidence:
    largest = 9
    return Evidence(all(d < 10 for d in range(largest)), "all d")


@check("exact", covers="all", mutants={"m": {}})
def tries_a_list_in_a_slot(dimensions: tuple[int, ...] = (2, 3, 5)) -> Evidence:
    return Evidence(all(d < 10 for d in dimensions), "all d")


@check("enclosed", mutants={"m": {}})
def encloses_nothing() -> Evidence:
    return Evidence(bool(sp.pi.evalf(30) > 3), "π")


@check("symbolic", covers="all", mutants={"m": {}})
def hides_the_generator_in_a_helper() -> Evidence:
    return Evidence(bool(np.array(sample_of_three()).size), "all")


def sample_of_three() -> list[float]:
    return list(np.random.default_rng(1).standard_normal(3))


@check("symbolic", covers="all", exhausts="both signs", mutants={"m": {}})
def is_honest() -> Evidence:
    x = sp.Symbol("x")
    return Evidence(all(sp.expand((s * x) ** 2 - x**2) == 0 for s in (1, -1)), "all x")


@pytest.mark.parametrize(
    ("c", "told"),
    [
        (draws_at_random, "draws at random"),
        (has_a_tolerance, "computes in floating point"),
        (says_all_in_floats, "with a tolerance"),
        (counts_dimensions, "a finite list"),
        (counts_dimensions_and_has_an_excuse, "a finite list"),
        (tries_a_list_in_a_slot, "a finite list"),
        (encloses_nothing, "computes in floating point"),
        (hides_the_generator_in_a_helper, "draws at random"),
        (is_honest, ""),
    ],
    ids=lambda value: value.function.__name__ if isinstance(value, ClaimCheck) else "",
)
def test_a_check_that_claims_more_than_its_source_is_refused(c: ClaimCheck, told: str) -> None:
    """The test fails if a check may claim to cover all cases although it draws at random or computes in floats."""
    found = coverage.overclaims(c)
    assert any(told in line for line in found) if told else found == []


def test_what_a_check_covers_is_read_from_its_source_unless_it_says_less() -> None:
    """The test fails if a check that declares no coverage counts as covering all cases."""
    assert coverage.covers(replace(draws_at_random, covers=None)) == "random"
    assert coverage.covers(replace(counts_dimensions, covers=None)) == "range"
    assert coverage.covers(is_honest) == "all"


def test_the_gate_refuses_a_check_of_the_ledger_that_over_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the ledger accepts a check that claims to cover more cases than it does."""
    name = "dn25.utility:small_radius"
    monkeypatch.setattr(ledger, "_theorem_problems", lambda proofs: [])
    monkeypatch.setitem(checks(), name, replace(checks()[name], covers="all"))
    assert any(
        f'check {name}: declares the coverage "all", but draws at random' in line for line in ledger.problems(PROOFS)
    )


# These checks get floats from the reference. The floats are whole numbers and therefore exact: 1.0 for a supremum that
# is attained, and d(d + 1)/2.
REFERENCE_FLOATS = {"dly22.adaptive:trace_step", "own.laws:radius", "own.sensitivities:spectral_suprema"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, c in checks().items() if c.kind != "floating"])
def test_a_check_that_is_not_floating_gets_no_floats_from_the_reference(name: str) -> None:
    """The test fails if a check that is declared exact gets floats from a function of the reference."""
    floats: set[str] = set()

    def watch(frame: FrameType, event: str, value: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "return" and module.startswith("covassay.reference"):
            array = isinstance(value, np.ndarray) and value.dtype.kind == "f"
            if isinstance(value, float | np.floating) or array:
                floats.add(f"{module}:{frame.f_code.co_name}")

    sys.setprofile(watch)
    try:
        assert checks()[name]().holds
    finally:
        sys.setprofile(None)
    assert not floats or name in REFERENCE_FLOATS, floats


# The command


def test_a_claim_is_shown_on_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if `covassay claims show` leaves out the correction of a claim or the command that checks it."""
    assert run(["claims", "show", "dn25.thm6"]) == 0
    text = capsys.readouterr().out
    for part in ("DN25 Theorem 6", "refuted", "corrected", "‖Z‖/(ρd) ≤ π + o(1)", "covassay claims check DN25.Thm6"):
        assert part in text
    assert text.count("\n") < 50


def test_a_reconstructed_claim_is_never_shown_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if a paper is called wrong although we had to reconstruct its formula."""
    assert run(["claims", "show", "KLSU19.Thm5.1"]) == 0
    text = capsys.readouterr().out
    assert "refuted-reconstruction: our reconstruction of a formula that is missing in our copy" in text
    assert "as printed" not in text


def test_wherever_dn25_is_called_wrong_the_copy_that_was_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if a paper is called wrong without naming the copy that was read."""
    assert run(["claims", "show", "DN25.Thm6"]) == 0
    assert "PMLR 313" in capsys.readouterr().out
    details = (PROOFS / "ledger" / "DN25.md").read_text(encoding="utf-8").split("## ")
    wrong = [c.id for c in ledger.claims().values() if c.paper == "dn25" and c.wrong]
    told = [part for part in details if part.partition("\n")[0] in wrong]
    assert len(told) == len(wrong)
    assert all("PMLR 313" in part for part in told)


def test_an_unknown_claim_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if a misspelt id of a claim leads to a traceback."""
    assert run(["claims", "show", "Thm6-small"]) == 2
    assert capsys.readouterr().err == "covassay: claim = 'Thm6-small': no such id; did you mean DN25.Thm6-small-d?\n"


def test_an_old_id_shows_the_claim_that_covers_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if an old id of a claim, which may be cited elsewhere, is no longer found."""
    assert run(["claims", "show", "dly22.lem2"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("KLSU19.Lem2.5-Basic")
    assert "covers      DLY22.Lem2: DLY22 Lemma 2 makes the same statement." in text


def test_what_is_wrong_is_listed_with_what_is_true_and_what_to_use(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if an erratum is listed without the true statement."""
    assert run(["claims", "list", "--wrong", "--paper", "dn25"]) == 0
    text = capsys.readouterr().out
    listed = [c for c in ledger.claims().values() if c.paper == "dn25" and c.wrong]
    assert text.count("\n  printed ") == text.count("\n  true ") == text.count("\n  use ") == len(listed)
    assert all(c.statement in text and c.corrected in text for c in listed)
    assert text.count(" covassay.reference.laws.nuclear_laplace:spectral_norm_bound; multiply its value by ") == 2
    assert run(["claims", "list", "--wrong", "--json"]) == 0
    assert {row["verdict"] for row in json.loads(capsys.readouterr().out)} == set(ledger.WRONG)


def test_the_spend_of_every_mechanism_is_compared_and_has_a_mutant_of_3_percent() -> None:
    """The test fails if the privacy cost of some mechanism is not checked, or if a cost that is 3 % too small would
    pass.
    """
    (names,) = (p.default for p in signature(spends.every_spend.function).parameters.values() if p.name == "names")
    assert set(names) == set(MECHANISMS)
    assert {f"{name} spends 3 % less" for name in MECHANISMS} <= set(spends.every_spend.mutants)


def test_a_mechanism_of_which_the_ledger_says_nothing_is_held_to_its_whole_budget() -> None:
    """If the ledger does not say what a mechanism spends, the mechanism must spend exactly its whole budget. The test
    fails if another loss is expected of such a mechanism.
    """
    quiet = spends.account_of("coinpress-mean")
    assert (quiet.found, quiet.share, quiet.attained) == ("", "1", "1")
    assert quiet.options == {"constants": ("paper", "code")}
    assert quiet.expected("coinpress-mean", 0.5, 3, {}) == [0.5]


def test_a_share_is_arithmetic_and_names_nothing_else() -> None:
    """The test fails if the share of a budget in the ledger is executed as code."""
    account = spends.Account("", "of('pgce') / 2 + (1/4 if tight else d)", "1", {})
    assert account.share_of(2, {"calibration": "tight"}) == 0.75
    assert account.share_of(1, {"calibration": "reconstructed"}) == 1.125
    with pytest.raises(ValueError, match="Attribute is no arithmetic"):
        spends.arithmetic("d.real")
    with pytest.raises(NameError):
        spends.Account("", "open('x')", "1", {}).share_of(1, {})


@pytest.mark.thorough
def test_claims_are_checked_and_a_failure_is_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if a failed check ends with exit status 0."""
    arguments = ["claims", "check", "OWN.Wishart", "--jobs", "1", "--json"]
    assert run(arguments) == 0
    row = json.loads(capsys.readouterr().out)["checks"][0]
    assert row["holds"]
    assert row["figures"] == {"ε = 1": "0.283468689426"}
    broken = replace(checks()["own.routes:wishart_event_twice"], function=lambda: Evidence(False, "seen"))
    monkeypatch.setitem(checks(), broken.name, broken)
    assert run(arguments) == 1
    assert json.loads(capsys.readouterr().out)["checks"][0]["detail"] == "seen"


def test_a_check_that_crashes_is_evidence_against_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a check that crashes counts as successful."""

    def crash() -> Evidence:
        raise ZeroDivisionError("no")

    name = "dn25.privacy:centred_on_the_line"
    monkeypatch.setitem(checks(), name, replace(checks()[name], function=crash))
    outcome = render.run_check(name)
    assert not outcome.evidence.holds
    assert outcome.evidence.detail == "ZeroDivisionError: no"


def test_claims_are_listed_by_paper_verdict_and_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if `covassay claims list` ignores one of its filters."""
    assert run(["claims", "list", "--paper", "dn25", "--verdict", "refuted", "--kind", "enclosed", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["DN25.(4.2)", "DN25.(4.4)", "DN25.Thm6"]


def test_the_mutants_are_run_and_one_that_is_accepted_is_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if `covassay claims mutants` ends with status 0 although a check accepts a wrong formula."""
    arguments = ["claims", "mutants", "--only", "centred_on_the_line", "--jobs", "1"]
    assert run(arguments) == 0
    assert capsys.readouterr().out.endswith(" mutants, 0 not rejected\n")
    name = "dn25.privacy:centred_on_the_line"
    blind = replace(checks()[name], function=lambda **slots: Evidence(True, "s"))
    monkeypatch.setitem(checks(), name, blind)
    assert run(arguments) == 1
    assert f"NOT REJECTED by {name}" in capsys.readouterr().out
    assert run([*arguments[:3], "nothing like it"]) == 2


def test_a_mutant_that_crashes_a_check_is_not_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a check that crashes on a wrong formula counts as having rejected it."""

    def crash(**slots: object) -> Evidence:
        raise ZeroDivisionError("no")

    name = "dn25.privacy:centred_on_the_line"
    monkeypatch.setitem(checks(), name, replace(checks()[name], function=crash))
    row = next(row for row in mutant_table.rows() if row.check == name)
    assert not mutant_table.rejected(row)
