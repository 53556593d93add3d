"""The ledger run and rendered: evidence for every check, the screen of one claim, the generated Markdown."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from joblib import Parallel, delayed

from covassay.verification.claims.entries import assumptions
from covassay.verification.claims.evidence import Evidence, checks
from covassay.verification.claims.ledger import VERDICTS, WORDS, LedgerClaim, claims
from covassay.verification.claims.markdown import GENERATED, cell


@dataclass(frozen=True)
class CheckOutcome:
    """One run of a check."""

    name: str
    evidence: Evidence
    seconds: float


def run_check(name: str) -> CheckOutcome:
    """Run a check by name. An exception is evidence against the claim, and its text is kept."""
    start = time.monotonic()
    try:
        evidence = checks()[name]()
    except Exception as error:
        evidence = Evidence(False, "the check itself failed", f"{type(error).__name__}: {error}")
    return CheckOutcome(name, evidence, time.monotonic() - start)


def run_checks(names: Iterable[str], jobs: int = 1) -> Iterable[CheckOutcome]:
    """Outcomes, as they come."""
    listed = list(dict.fromkeys(names))
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(run_check)(name) for name in listed)


def checks_of(selected: Iterable[LedgerClaim]) -> list[str]:
    """The checks that these claims rest on, each once."""
    return list(dict.fromkeys(leg.name for c in selected for leg in c.legs if leg.name in checks()))


def select(paper: str | None = None, verdict: str | None = None, kind: str | None = None) -> list[LedgerClaim]:
    """The claims of a paper, with a verdict, resting on a kind of leg; all by default."""
    return [
        c
        for c in claims().values()
        if (paper is None or c.paper == paper)
        and (verdict is None or c.verdict == verdict)
        and (kind is None or kind in {leg.kind for leg in c.legs})
    ]


def totals(selected: Iterable[LedgerClaim]) -> str:
    """Counts by verdict and by status, in one line each."""
    listed = list(selected)
    by_verdict, by_status = Counter(c.verdict for c in listed), Counter(c.status for c in listed)
    verdicts = ", ".join(f"{by_verdict[v]} {v}" for v in VERDICTS if by_verdict[v])
    statuses = ", ".join(f"{by_status[w]} {w}" for w in WORDS.values() if by_status[w])
    return f"{len(listed)} claims: {verdicts}\nstatus: {statuses}"


def screen(c: LedgerClaim) -> str:
    """Everything about one claim, for a person."""
    lines = [
        f"{c.id}  ({c.source})",
        "",
        f"statement   {c.statement}",
        f"verdict     {c.verdict}: {VERDICTS[c.verdict]}",
    ]
    if c.provenance != "printed":
        told = {"reconstructed": "reconstructed: the text at hand has lost the formula; no erratum of the paper",
                "code": "read from the authors' code"}  # fmt: skip
        lines.append(f"provenance  {told.get(c.provenance, c.provenance)}")
    lines += [f"{label:12}{text}" for label, text in (("corrected", c.corrected), ("reason", c.reason)) if text]
    lines += [f"note        {c.note}"] if c.note else []
    lines.append(f"status      {c.status}")
    for leg in c.legs:
        what = f"{leg.kind:12}{leg.name}" + (" (second opinion)" if leg.second_opinion else "")
        known = checks().get(leg.name)
        lines.append(f"  {what}" + (f"\n  {'':12}{known.summary}" if known else ""))
    lines += [f"assumes     {a}: {assumptions()[a]}" for a in c.assumes]
    lines += [f"code        covassay.{name}" for name in c.code]
    lines += ["", f"re-check    covassay claims check {c.id}"]
    return "\n".join(lines)


def as_json(c: LedgerClaim) -> dict[str, object]:
    """The same for a machine."""
    return {
        "id": c.id,
        "source": c.source,
        "statement": c.statement,
        "verdict": c.verdict,
        "corrected": c.corrected,
        "provenance": c.provenance,
        "status": c.status,
        "legs": [{"kind": leg.kind, "name": leg.name, "second_opinion": leg.second_opinion} for leg in c.legs],
        "assumes": list(c.assumes),
        "code": [f"covassay.{name}" for name in c.code],
        "reason": c.reason,
        "note": c.note,
    }


def render_ledger() -> str:
    """proofs/LEDGER.md."""
    lines = [GENERATED, "# The ledger\n", totals(claims().values()).replace("\n", "  \n") + "\n"]
    lines.append(
        'A claim\'s status is the weakest thing that it needs. "Formally checked" is said of claims, never of the '
    )
    lines[-1] += "package.\n"
    by_paper: dict[str, list[LedgerClaim]] = {}
    for c in claims().values():
        by_paper.setdefault(c.paper, []).append(c)
    for paper, entries in by_paper.items():
        lines += [
            f"## {paper.upper()}\n",
            "| id | statement | verdict | corrected | status | rests on |",
            "|---|---|---|---|---|---|",
        ]
        for c in entries:
            mark = " (reconstructed)" if c.provenance == "reconstructed" else ""
            rests = "<br>".join(f"{leg.kind}: `{leg.name}`" for leg in c.legs) or cell(c.reason)
            lines.append(
                f"| {c.id} | {cell(c.statement)} | {c.verdict}{mark} | {cell(c.corrected)} | {c.status} | {rests} |"
            )
        lines.append("")
    lines += ["## Assumptions and non-claims\n", *(f"- **{key}**: {text}" for key, text in assumptions().items()), ""]
    lines += [
        "## Checks\n",
        "What each of them rejects is in [MUTANTS.md](MUTANTS.md).\n",
        "| check | kind | what it shows | mutants |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{c.name}` | {c.kind} | {cell(c.summary)} | {len(c.mutants)} |" for c in checks().values()]
    return "\n".join(lines) + "\n"
