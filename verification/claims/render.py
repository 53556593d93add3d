"""Run the checks of the ledger, and print its claims."""

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from joblib import Parallel, delayed

from covassay.verification.claims.checks import checks
from covassay.verification.claims.entries import assumptions, notation
from covassay.verification.claims.evidence import Evidence
from covassay.verification.claims.ledger import HOW, PROVENANCE, SOURCES, VERDICTS, LedgerClaim, Status, claims


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of one run of a check."""

    name: str
    evidence: Evidence
    seconds: float


def run_check(name: str) -> CheckOutcome:
    """Run the check with the given name, and return its outcome. An exception counts as evidence against the claim, and
    its text is kept.
    """
    start = time.monotonic()
    try:
        evidence = checks()[name]()
    except Exception as error:
        evidence = Evidence(False, f"{type(error).__name__}: {error}")
    return CheckOutcome(name, evidence, time.monotonic() - start)


def run_checks(names: Iterable[str], jobs: int = 1) -> Iterable[CheckOutcome]:
    """Yield the outcome of every check as soon as it is known."""
    listed = list(dict.fromkeys(names))
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(run_check)(name) for name in listed)


def checks_of(selected: Iterable[LedgerClaim]) -> list[str]:
    """Return the names of the checks on which the given claims rest, each name once."""
    return list(dict.fromkeys(leg.name for c in selected for leg in c.legs if leg.name in checks()))


def select(
    paper: str | None = None, verdict: str | None = None, kind: str | None = None, wrong: bool = False
) -> list[LedgerClaim]:
    """Return the claims that satisfy all given conditions; without conditions, all claims.

    The arguments `paper` and `verdict` give the paper of the claim and its verdict. The argument `kind` gives a method
    (a key of `HOW`) that at least one check, theorem or page of the claim must have. If `wrong` is true, the statement
    of the claim must be wrong.
    """
    return [
        c
        for c in claims().values()
        if (paper is None or c.paper == paper)
        and (verdict is None or c.verdict == verdict)
        and (c.wrong or not wrong)
        and (kind is None or kind in {leg.kind for leg in c.legs})
    ]


def totals(selected: Iterable[LedgerClaim]) -> str:
    """Return the number of claims with each verdict, and with each status, in two lines."""
    listed = list(selected)
    by_verdict, by_how = Counter(c.verdict for c in listed), Counter(c.status.how for c in listed)
    verdicts = ", ".join(f"{by_verdict[v]} {v}" for v in VERDICTS if by_verdict[v])
    ways = ", ".join(f"{by_how[key]} {word}" for key, word in HOW.items() if by_how[key])
    return f"{len(listed)} claims: {verdicts}\nhow: {ways}"


WRONG_WORDS = re.compile(r"\b(false|fails?|wrong|do not carry over|refuted)\b")


def called_wrong(c: LedgerClaim) -> str:
    """Return the remark on our copy of the paper if the claim calls the paper wrong by its verdict or in words."""
    return SOURCES.get(c.paper, "") if c.wrong or WRONG_WORDS.search(f"{c.corrected} {c.note} {c.reason}") else ""


def known(c: LedgerClaim) -> list[tuple[str, Status]]:
    """Return the status of each part of a claim, with the label of the part."""
    label = {"holds": "statement", "asymptotic": "explicit version"}.get(c.verdict, "that the statement is wrong")
    parts = [(label, c.status)] if c.legs else []
    return parts + ([("correction", c.correction_status)] if c.correction_status else [])


def screen(c: LedgerClaim) -> str:
    """Return everything about one claim as text for a person."""
    lines = [
        f"{c.id}  ({c.source})",
        "",
        f"statement   {c.statement}",
        f"verdict     {c.verdict}: {VERDICTS[c.verdict]}",
    ]
    if c.provenance != "printed":
        lines.append(f"provenance  {PROVENANCE.get(c.provenance, c.provenance)}")
    texts = (("corrected", c.corrected), ("reason", c.reason), ("note", c.note), ("source", called_wrong(c)))
    lines += [f"{label:12}{text}" for label, text in texts if text]
    lines += [f"known       {label}: {status}" for label, status in known(c)]
    lines += [f"covers      {covered.id}: {covered.says}" for covered in c.covers]
    for leg in c.legs:
        what = f"{HOW[leg.kind]:12}{leg.name}" + (" (second opinion)" if leg.second_opinion else "")
        told = checks().get(leg.name)
        lines.append(f"  {what}" + (f"\n  {'':12}{told.summary}" if told else ""))
    lines += [f"assumes     {a}: {assumptions()[a]}" for a in c.assumes]
    lines += [f"code        covassay.{name}" for name in c.code]
    lines += [f"use         {c.instead}"] if c.use else []
    lines += ["", f"letters     {notation()[c.paper]} {notation()['all']}"]
    lines += ["", f"re-check    covassay claims check {c.id}"]
    return "\n".join(lines)


def as_json(c: LedgerClaim) -> dict[str, object]:
    """Return everything about one claim as JSON."""
    return {
        "id": c.id,
        "source": c.source,
        "statement": c.statement,
        "verdict": c.verdict,
        "corrected": c.corrected,
        "use": c.instead,
        "covers": [{"id": covered.id, "says": covered.says} for covered in c.covers],
        "provenance": c.provenance,
        "status": str(c.status),
        "correction_status": str(c.correction_status or ""),
        "legs": [
            {
                "kind": leg.kind,
                "covers": leg.covers,
                "name": leg.name,
                "of": c.part(leg),
                "second_opinion": leg.second_opinion,
            }
            for leg in c.legs
        ],
        "assumes": list(c.assumes),
        "code": [f"covassay.{name}" for name in c.code],
        "reason": c.reason,
        "note": c.note,
        "source_read": SOURCES.get(c.paper, ""),
    }


def said(c: LedgerClaim) -> str:
    """Return where a wrong statement comes from: the printed paper, the authors' code, or our reconstruction."""
    return {"printed": "printed", "code": "in the authors' code"}.get(c.provenance, "our reconstruction")


def erratum(c: LedgerClaim) -> str:
    """Return the erratum of one claim as text: the statement of the source, the true one, and what to use instead."""
    told = {said(c): c.statement, "true": c.corrected, "use": c.instead}
    return "\n".join([f"{c.id}  ({c.source})", *(f"  {word:21}{text}" for word, text in told.items())])
