"""This module reads the ledger: every claim, its status, and the evidence for the status.

An entry of verification/claims/entries/*.toml:

    [[claim]]
    id = "DN25.Thm6"                  # stable, never renumbered
    source = "DN25 Theorem 6"
    statement = "…"                   # as the source has it
    verdict = "refuted"               # see VERDICTS
    corrected = "…"                   # the true statement, for every verdict but "holds"
    provenance = "printed"            # where the formula comes from, see PROVENANCE
    assumes = ["A-JACOBIAN"]          # entries of assumptions.toml
    code = ["reference.laws.nuclear_laplace:spectral_norm_cdf"]
    reason = "…"                      # for "open" and "out-of-reach": why there is no check
    note = "…"                        # what a reader should know besides
    use = ["reference.tails:upsilon_star"]  # of a wrong statement: a function or a few words
    spends = { share = "1/2" }        # of a mechanism: what own.spends compares with its `spend`; by default all of it
    covers = [                        # statements that stand or fall with this one: equal, a case, a step of its proof
      { id = "DN25.Thm6-small-d", says = "…" },                   # `covassay claims show` finds this id too
    ]
    legs = [
      { check = "dn25.tail:sharper_constant", of = "statement" },    # a function of verification/claims/checks
      { theorem = "DN25.Thm6-REFUTED", of = "statement" },             # a tag in proofs/rocq
      { page = "tail-bound.md", of = "correction" },              # a page of proofs/paper
      { check = "…", second_opinion = true },                     # supports the claim, which does not need it
      { theorem = "…", whole = true },                            # of a mechanism: speaks of all of it
    ]

The checks, theorems and pages on which a claim rests are called its legs. Each check, theorem or page has a method,
which is a key of `HOW`, and a coverage, which is a key of `COVERED`. The status of a claim consists of a method and a
coverage: the weakest method and the smallest coverage among the checks, theorems and pages that the claim needs. A
refuted or corrected claim needs evidence that the statement is wrong, and evidence that the correction is true. The
field `of` of a check, theorem or page says what it is evidence for: "statement", "correction" or "both". The
function `problems` makes sure that every check, theorem and page that a claim names exists, and that some claim names
each of them. The function `problems` also makes sure that no check declares a better method or a wider coverage than
its source permits.
"""

import ast
import hashlib
import importlib
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.verification.claims import entries
from covassay.verification.claims.checks import checks
from covassay.verification.claims.coverage import covers, overclaims
from covassay.verification.claims.entries import assumptions
from covassay.verification.claims.kernel import findings
from covassay.verification.claims.kernel import lock as rocq_lock
from covassay.verification.claims.kernel.sources import ACCEPT, files, tagged

PAPERS = ("dn25", "klsu19", "adk19", "dly22", "own", "mechanisms")
VERDICTS = {
    "holds": "the statement is true",
    "corrected": "the statement has a small mistake, and the corrected statement is true",
    "refuted": "the statement is false, and the corrected statement is true",
    "refuted-reconstruction": "our reconstruction of a formula that is missing in our copy of the paper is false, "
    "and the corrected statement is true; our mistake says nothing against the paper",
    "asymptotic": "the source gives no constants, and a version of the statement with explicit constants is true",
    "open": "not settled",
    "out-of-reach": "no check is possible",
}
# a claim with one of these verdicts has two statuses: one for the statement, and one for the correction
WRONG = ("corrected", "refuted", "refuted-reconstruction")
HOW = {  # the methods by which a claim is shown, the strongest first, with the words that the pages print
    "rocq": "kernel",
    "exact": "exact",
    "enclosed": "enclosed",
    "symbolic": "symbolic",
    "page": "paper",
    "floating": "floating",
    "none": "not checked",
}
COVERED = {  # how many cases the evidence covers, the widest coverage first, with the words that the pages print
    "all": "all cases",
    "case": "a counterexample",
    "range": "a named range",
    "random": "random samples",
    "none": "nothing",
}
PROVENANCE = {  # where the formula of a claim comes from
    "printed": "the formula is read from the text of the paper",
    "code": "the formula is read from the authors' code",
    "reconstructed": "the formula is our reconstruction, which we did not compare with the text of the paper, so a "
    "mistake in the formula is not an erratum of the paper",
    "ours": "the statement is our own, and builds on the source named above",
}
# If the name of a source begins with a word in `READ`, we have a text of the source that includes the formulas.
READ = ("own", "DN25", "ADK19")
PARTS = ("statement", "correction", "both")
# For each paper, this remark says which copy we read. Every claim that calls the paper wrong is printed with it.
SOURCES = {
    "dn25": "We read a copy of DN25 with all formulas, which looks like the version published in PMLR 313, but we "
    "could not compare this copy with the publisher's file. We also read a text of the arXiv version of DN25 that "
    "lacks the formulas, and differs from our copy of the published version in a few sentences.",
    "klsu19": "We read one extracted text of KLSU19, which lacks the formulas, and no other version of the paper.",
    "adk19": "We read one extracted text of ADK19, and no other version of the paper.",
    "dly22": "We read one extracted text of DLY22, which lacks the formulas, and the authors' released code.",
}
REQUIRED = {"id", "source", "statement", "verdict"}
FIELDS = REQUIRED | {"corrected", "provenance", "assumes", "code", "reason", "legs", "note", "use", "covers", "spends"}
# the prefix of the tag of a theorem on a whole mechanism, and the prefix of the id of the claim on that mechanism
WHOLE, MECHANISM = "WHOLE.", "MECH."
SPENT_FIELDS = {"found", "share", "attained", "options"}  # checks/own/spends.py explains the fields
LEG_FIELDS = {"check", "theorem", "page", "second_opinion", "of", "whole"}
DIGEST_LENGTH = 16  # the number of hexadecimal digits of a digest, which suffices to detect every accidental change
# In claims.lock.json the key of a theorem is this word and the tag; the key of a function begins with its module.
THEOREM = "theorem"
REFERENCE = re.compile(r"[\w.]+:\w+")  # the form of a reference to a function of the project, package.module:name
SUGGESTIONS = 5  # the largest number of ids that the error about an unknown id suggests


@dataclass(frozen=True)
class Status:
    """The strength of the evidence for a part of a claim: its method (a key of HOW) and coverage (a key of COVERED)."""

    how: str
    covered: str

    def __str__(self) -> str:
        return f"{HOW[self.how]}, {COVERED[self.covered]}" if self.how != "none" else HOW["none"]


@dataclass(frozen=True)
class Leg:
    """A check, a theorem or a page on which a claim rests, given by its name."""

    kind: str  # a key of HOW
    name: str
    second_opinion: bool = False
    covers: str = "all"  # a key of COVERED
    # one of PARTS; if empty, the leg supports the statement if the verdict is "holds", and otherwise the correction
    of: str = ""
    whole: bool = False  # a theorem on a whole mechanism


@dataclass(frozen=True)
class Covered:
    """A statement that has no entry of its own in the ledger, because the entry of a claim lists it.

    The statement is equivalent to the claim, or is a case of the claim, or is a step of the claim's proof.
    """

    id: str
    says: str


@dataclass(frozen=True)
class LedgerClaim:
    """One claim of the ledger, with the fields of its entry."""

    id: str
    paper: str
    source: str
    statement: str
    verdict: str
    legs: tuple[Leg, ...]
    corrected: str = ""
    provenance: str = "printed"
    assumes: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    reason: str = ""
    note: str = ""
    use: tuple[str, ...] = ()
    covers: tuple[Covered, ...] = ()

    @property
    def instead(self) -> str:
        """Return what to use in place of a wrong statement, as text."""
        return "; ".join(f"covassay.{told}" if REFERENCE.fullmatch(told) else told for told in self.use)

    @property
    def wrong(self) -> bool:
        """Return whether the verdict on the statement is refuted or corrected."""
        return self.verdict in WRONG

    def part(self, leg: Leg) -> str:
        """Return what a check, theorem or page is evidence for: the statement of the claim, the correction, or both."""
        return leg.of or ("statement" if self.verdict == "holds" else "correction")

    def legs_of(self, part: str) -> tuple[Leg, ...]:
        """Return the checks, theorems and pages that are needed as evidence for the statement or for the correction."""
        return tuple(leg for leg in self.legs if not leg.second_opinion and self.part(leg) in (part, "both"))

    def status_of(self, part: str) -> Status:
        """Return the weakest method and the smallest coverage of the evidence that the statement or the correction
        needs.
        """
        needed = self.legs_of(part)
        return Status(
            max((leg.kind for leg in needed), key=list(HOW).index, default="none"),
            max((leg.covers for leg in needed), key=list(COVERED).index, default="none"),
        )

    @property
    def status_part(self) -> str:
        """Return the part whose status is the status of the claim: "correction" if it is asymptotic, otherwise
        "statement".
        """
        return "correction" if self.verdict == "asymptotic" else "statement"

    @property
    def status(self) -> Status:
        """Return the status of the statement or, if it is asymptotic, of the version with explicit constants."""
        return self.status_of(self.status_part)

    @property
    def correction_status(self) -> Status | None:
        """Return the status of the correction of a wrong statement."""
        return self.status_of("correction") if self.wrong else None


def _leg(entry: Mapping[str, Any], where: str) -> Leg:
    unknown = set(entry) - LEG_FIELDS
    named = [key for key in ("check", "theorem", "page") if key in entry]
    if unknown or len(named) != 1 or entry.get("of", "both") not in PARTS:
        raise InvalidInput(
            f"{where}: each entry of `legs` has exactly one of the fields check, theorem and page. It may also have "
            f"the fields second_opinion, whole and of, where `of` is one of {', '.join(PARTS)}. This entry is {entry}"
        )
    name, of = str(entry[named[0]]), str(entry.get("of", ""))
    second, whole = bool(entry.get("second_opinion", False)), bool(entry.get("whole", False))
    if named[0] == "check":
        known = checks().get(name)
        return Leg(known.kind if known else "none", name, second, covers(known) if known else "none", of, whole)
    return Leg({"theorem": "rocq", "page": "page"}[named[0]], name, second, "all", of, whole)


def _claim(paper: str, entry: Mapping[str, Any]) -> LedgerClaim:
    where = f"{paper}.toml, {entry.get('id', 'an entry without id')}"
    unknown, missing = set(entry) - FIELDS, REQUIRED - set(entry)
    if unknown or missing:
        raise InvalidInput(f"{where}: unknown fields {sorted(unknown)}, missing fields {sorted(missing)}")
    if set(entry.get("spends", ())) - SPENT_FIELDS or ("spends" in entry and not entry["id"].startswith(MECHANISM)):
        raise InvalidInput(
            f"{where}: only a claim on a mechanism may have `spends`, and the fields of `spends` can only be "
            f"{', '.join(sorted(SPENT_FIELDS))}; here `spends` is {entry['spends']}"
        )
    covered = entry.get("covers", ())
    if any(set(c) != {"id", "says"} or not c["says"] for c in covered):
        raise InvalidInput(f"{where}: each entry of `covers` has an id and a text `says`; here `covers` is {covered}")
    plain = {key: entry[key] for key in FIELDS & set(entry) - {"legs", "assumes", "code", "use", "covers", "spends"}}
    return LedgerClaim(
        paper=paper,
        legs=tuple(_leg(leg, where) for leg in entry.get("legs", ())),
        assumes=tuple(entry.get("assumes", ())),
        code=tuple(entry.get("code", ())),
        use=tuple(entry.get("use", ())),
        covers=tuple(Covered(**c) for c in covered),
        **plain,
    )


@lru_cache(maxsize=1)
def claims() -> dict[str, LedgerClaim]:
    """Return every entry of the ledger, keyed by id, in the order of the files."""
    found: dict[str, LedgerClaim] = {}
    names: set[str] = set()
    for paper in PAPERS:
        for entry in entries.read(paper).get("claim", ()):
            claim = _claim(paper, entry)
            for name in (claim.id, *(c.id for c in claim.covers)):
                if name in names:
                    raise InvalidInput(f"{paper}.toml: the id {name} is used twice")
                names.add(name)
            found[claim.id] = claim
    return found


def covering() -> dict[str, LedgerClaim]:
    """Return, for every id of the ledger, the entry that has or covers the id; covered statements have ids too."""
    return {**{c.id: entry for entry in claims().values() for c in entry.covers}, **claims()}


def _plain(name: str) -> str:
    """Return the form of an id that is used in comparisons; "DLY22.Eq11" and "dly22.(11)" have the same form."""
    return re.sub(r"[()]|eq(?=\d)", "", name.lower())


def claim(name: str) -> LedgerClaim:
    """Return the claim that has or covers the given id, in upper or lower case; an equation may be given as Eq11 or
    (11).
    """
    found = {_plain(key): value for key, value in covering().items()}
    if _plain(name) not in found:
        near = [key for key in covering() if _plain(name) in _plain(key)]
        hint = f"; did you mean {', '.join(near[:SUGGESTIONS])}?" if near else ""
        raise InvalidInput(f"claim = {name!r}: no such id{hint}")
    return found[_plain(name)]


# THE GATE


def function_at(reference: str) -> Any:
    """Return the function of this project that the reference `package.module:name` names."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(f"covassay.{module}"), name)


def named_code(c: LedgerClaim) -> tuple[str, ...]:
    """Return the functions of the project that an entry of the ledger names."""
    return (*c.code, *(name for name in c.use if REFERENCE.fullmatch(name)))


def exists(reference: str) -> bool:
    """Return whether the project has the function that the reference names."""
    try:
        return callable(function_at(reference))
    except (ImportError, AttributeError):
        return False


@cache
def digest(function: Any) -> str:
    """Return a hash of the code of a function, which ignores its docstring, comments and layout."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.unparse(node).encode()).hexdigest()[:DIGEST_LENGTH]


def claimed_functions() -> dict[str, str]:
    """Return the digest of every existing function that a claim names."""
    names = sorted({name for entry in claims().values() for name in entry.code})
    return {name: digest(function_at(name)) for name in names if exists(name)}


def claimed_theorems(proofs: Path) -> dict[str, str]:
    """Return the digest of the statement of every theorem on which a claim rests, as locked in
    proofs/rocq.lock.json.
    """
    locked = rocq_lock.read(proofs)
    tags = sorted({tag for entry in claims().values() for tag in _tags(entry)} & locked.theorems.keys())
    return {f"{THEOREM} {tag}": rocq_lock.theorem_digest(locked, tag)[:DIGEST_LENGTH] for tag in tags}


def _tags(entry: LedgerClaim) -> list[str]:
    return [leg.name for leg in entry.legs if leg.kind == "rocq"]


def claimed(proofs: Path) -> dict[str, str]:
    """Return the digests of all functions and of all statements of theorems that claims name."""
    return {**claimed_functions(), **claimed_theorems(proofs)}


def _named_by(entry: LedgerClaim) -> set[str]:
    return {*entry.code, *(f"{THEOREM} {tag}" for tag in _tags(entry))}


def stale(proofs: Path) -> dict[str, list[str]]:
    """Return for every claim the functions and theorems that differ from the lock, keyed by the id of the claim."""
    now, locked = claimed(proofs), read_lock(proofs)
    changed = {name for name in now if locked.get(name) != now[name]}
    found = {c.id: sorted(changed & _named_by(c)) for c in claims().values()}
    return {key: names for key, names in found.items() if names}


def theorem_tags(proofs: Path) -> dict[str, str]:
    """Return for every tagged theorem in proofs/rocq its file, keyed by the tag."""
    return {tag: found.file for tag, found in tagged(files(proofs / "rocq"))[0].items()}


def problems(proofs: Path) -> list[str]:
    """Return a message for every inconsistency among entries, checks, code, theorems, pages and locks."""
    return [
        *_entry_problems(claims().values()),
        *_word_problems(claims().values()),
        *(f"check {c.name}: {told}" for c in checks().values() for told in overclaims(c)),
        *_link_problems(proofs),
        *_lock_problems(proofs),
        *_theorem_problems(proofs),
    ]


def _entry_problems(entries: Iterable[LedgerClaim]) -> list[str]:
    """Return messages for mistakes within one entry."""
    found = []
    for c in entries:
        if c.verdict not in VERDICTS:
            found.append(f"{c.id}: verdict {c.verdict!r} is none of {', '.join(VERDICTS)}")
        if c.provenance not in PROVENANCE:
            found.append(f"{c.id}: provenance {c.provenance!r} is none of {', '.join(PROVENANCE)}")
        if (c.wrong or c.verdict == "asymptotic") and not c.corrected:
            found.append(f"{c.id}: {c.verdict}, but no corrected statement")
        if c.verdict in ("open", "out-of-reach"):
            if not c.reason:
                found.append(f"{c.id}: {c.verdict}, but no reason")
        elif not [leg for leg in c.legs if not leg.second_opinion]:
            found.append(f"{c.id}: {c.verdict}, but no check, theorem or page on which it rests")
        elif c.wrong:
            missing = [part for part in ("statement", "correction") if not c.legs_of(part)]
            found += [f"{c.id}: {c.verdict}, but no evidence for the {part}" for part in missing]
        if bool(c.use) != c.wrong:
            found.append(f"{c.id}: {c.verdict}; a wrong statement needs the field `use`, and no other may have it")
        if c.status_of("correction" if c.wrong else c.status_part).covered == "case":
            found.append(f"{c.id}: a check of one case cannot show that something holds")
        found += [f"{c.id}: assumes {a}, which is not defined" for a in c.assumes if a not in assumptions()]
    return found


def _word_problems(entries: Iterable[LedgerClaim]) -> list[str]:
    """Return messages for claims that contradict their provenance, or name a provenance that is impossible.

    A claim must not call the paper wrong, or quote it "as printed", if the formula of the claim is our reconstruction.
    """
    found = []
    for c in entries:
        if c.provenance == "reconstructed" and c.verdict in ("refuted", "corrected"):
            found.append(f"{c.id}: {c.verdict}, but its formula is our own reconstruction")
        if c.provenance == "printed" and c.paper in ("own", "mechanisms") and not c.source.startswith(READ):
            found.append(f"{c.id}: its provenance is the text of {c.source}, of which we have no copy with formulas")
        if c.provenance == "printed" and c.verdict == "refuted-reconstruction":
            found.append(f"{c.id}: {c.verdict}, but its provenance says that its formula is read from the paper")
        used = [checks()[leg.name] for leg in c.legs if leg.name in checks() and leg.name.startswith(c.paper)]
        texts = [c.statement, c.corrected, c.note, *(text for k in used for text in (k.summary, *k.mutants))]
        if c.provenance == "reconstructed" and any("as printed" in text for text in texts):
            found.append(f'{c.id}: says "as printed" of a formula that is reconstructed')
    return found


def _link_problems(proofs: Path) -> list[str]:
    """Return messages for checks, theorems, pages and functions that a claim names but that do not exist.

    There is also a message for every check, theorem or page on which no claim rests.
    """
    found = []
    used = {leg.name for c in claims().values() for leg in c.legs}
    tags = theorem_tags(proofs)
    pages = {path.name for path in (proofs / "paper").glob("*.md")} - {"README.md"}  # the table of contents
    for c in claims().values():
        for leg in c.legs:
            known = {"rocq": tags, "page": pages}.get(leg.kind, checks())
            if leg.name not in known:
                found.append(f"{c.id}: rests on {leg.name}, which does not exist")
        found += [f"{c.id}: names the code {name}, which does not exist" for name in named_code(c) if not exists(name)]
    found += [f"check {name}: no claim rests on it" for name in checks() if name not in used]
    found += [f"theorem {tag}: no claim rests on it" for tag in tags if tag not in used]
    found += [f"page {page}: no claim rests on it" for page in sorted(pages) if page not in used]
    return found


def lock_path(proofs: Path) -> Path:
    """Return the path of the file with the digests of the functions and theorems that claims name."""
    return proofs / "claims.lock.json"


def read_lock(proofs: Path) -> dict[str, str]:
    """Return the locked digests, keyed by the name of the function or theorem."""
    path = lock_path(proofs)
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def accept(proofs: Path, names: Iterable[str]) -> list[str]:
    """Lock the present code and theorems of the given claims; return the names whose digest changed."""
    now, lock = claimed(proofs), read_lock(proofs)
    wanted = {named for name in names for named in _named_by(claim(name))} & now.keys()
    changed = sorted(name for name in wanted if lock.get(name) != now[name])
    kept = {name: value for name, value in lock.items() if name in now}
    updated = dict(sorted({**kept, **{name: now[name] for name in changed}}.items()))
    lock_path(proofs).write_text(json.dumps(updated, indent=1) + "\n", encoding="utf-8")
    return changed


def _lock_problems(proofs: Path) -> list[str]:
    """Return messages for functions and theorems that differ from the lock, and for locked functions and theorems that
    no claim names.
    """
    lock, now = read_lock(proofs), claimed(proofs)
    found = [
        f"{key}: stale, because of changes of {', '.join(names)}; "
        f"re-read the proof, then run: covassay claims accept {key}"
        for key, names in stale(proofs).items()
    ]
    return found + [f"lock: {name} belongs to no claim" for name in lock if name not in now]


def _theorem_problems(proofs: Path) -> list[str]:
    """Return messages for mistakes in the sources of the theorems, and for differences from the audited and locked
    sources.
    """
    found = [*findings.scan_findings(proofs / "rocq"), *findings.source_findings(proofs)]
    again = f"; {ACCEPT}"
    told = [f"rocq, {finding}{again if finding.rule == 'source' else ''}" for finding in found]
    return told + _whole_problems(claims().values(), rocq_lock.read(proofs))


def _whole_problems(entries: Iterable[LedgerClaim], locked: rocq_lock.RocqLock) -> list[str]:
    """Return a message for each theorem that an entry marks as `whole`, but that is not a theorem on the whole
    mechanism.
    """
    found = []
    for claim in entries:
        for leg in (leg for leg in claim.legs if leg.whole):
            theorem = locked.theorems.get(leg.name)
            if theorem is None or not theorem.speaks_of_a_mechanism:
                found.append(
                    f"{claim.id}: {leg.name} has the flag `whole`, but its name or its statement is not that of a "
                    "theorem on a mechanism and neighbouring data sets"
                )
            elif leg.name.startswith(WHOLE) and f"{MECHANISM}{leg.name.removeprefix(WHOLE)}" != claim.id:
                found.append(f"{claim.id}: {leg.name} is a theorem on another mechanism")
    return found
