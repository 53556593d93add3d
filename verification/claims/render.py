"""Running the checks of the ledger, and showing it: one claim on a screen, all claims in generated Markdown."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from joblib import Parallel, delayed

from covassay.verification.claims.checks import checks
from covassay.verification.claims.entries import assumptions
from covassay.verification.claims.evidence import Evidence
from covassay.verification.claims.ledger import PROVENANCE, VERDICTS, WORDS, LedgerClaim, claims
from covassay.verification.claims.markdown import GENERATED, cell

AS_READ = {  # provenance -> what "as printed" in a verdict means
    "code": "as in the authors' code",
    "reconstructed": "as reconstructed",
}


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of one run of a check."""

    name: str
    evidence: Evidence
    seconds: float


def run_check(name: str) -> CheckOutcome:
    """Run a check by name. An exception counts as evidence against the claim, and its text is kept."""
    start = time.monotonic()
    try:
        evidence = checks()[name]()
    except Exception as error:
        evidence = Evidence(False, "the check itself failed", f"{type(error).__name__}: {error}")
    return CheckOutcome(name, evidence, time.monotonic() - start)


def run_checks(names: Iterable[str], jobs: int = 1) -> Iterable[CheckOutcome]:
    """The outcomes of the checks, each as soon as it is there."""
    listed = list(dict.fromkeys(names))
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(run_check)(name) for name in listed)


def checks_of(selected: Iterable[LedgerClaim]) -> list[str]:
    """The names of the checks on which these claims rest, each once."""
    return list(dict.fromkeys(leg.name for c in selected for leg in c.legs if leg.name in checks()))


def select(paper: str | None = None, verdict: str | None = None, kind: str | None = None) -> list[LedgerClaim]:
    """The claims of a paper, with a verdict, and with a leg of some kind; by default all claims."""
    return [
        c
        for c in claims().values()
        if (paper is None or c.paper == paper)
        and (verdict is None or c.verdict == verdict)
        and (kind is None or kind in {leg.kind for leg in c.legs})
    ]


def totals(selected: Iterable[LedgerClaim]) -> str:
    """How many claims have each verdict and each status, in two lines."""
    listed = list(selected)
    by_verdict, by_status = Counter(c.verdict for c in listed), Counter(c.status for c in listed)
    verdicts = ", ".join(f"{by_verdict[v]} {v}" for v in VERDICTS if by_verdict[v])
    statuses = ", ".join(f"{by_status[w]} {w}" for w in WORDS.values() if by_status[w])
    return f"{len(listed)} claims: {verdicts}\nstatus: {statuses}"


def _verdict_told(c: LedgerClaim) -> str:
    """What the verdict means; only a printed statement holds, or is false, as printed."""
    return VERDICTS[c.verdict].replace("as printed", AS_READ.get(c.provenance, "as printed"))


def screen(c: LedgerClaim) -> str:
    """Everything about one claim, as text for a person."""
    lines = [f"{c.id}  ({c.source})", "", f"statement   {c.statement}", f"verdict     {c.verdict}: {_verdict_told(c)}"]
    if c.provenance != "printed":
        lines.append(f"provenance  {PROVENANCE.get(c.provenance, c.provenance)}")
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
    """Everything about one claim, as JSON."""
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
    return "\n".join([*_head(), *_papers(), *_assumptions(), *_checks()]) + "\n"


def _head() -> list[str]:
    return [
        GENERATED,
        "# The ledger\n",
        totals(claims().values()).replace("\n", "  \n") + "\n",
        'The status of a claim is the word for the weakest of the checks, theorems and pages that it needs. "Formally '
        'checked" is said of claims, never of the package. The verdicts:\n',
        *(f"- **{verdict}**: {told}" for verdict, told in VERDICTS.items()),
        f'\n"(reconstructed)" beside a verdict: {PROVENANCE["reconstructed"].removeprefix("reconstructed: ")}; '
        '"as printed" then means "as reconstructed".\n',
    ]


def _papers() -> list[str]:
    """A table of claims for every paper."""
    by_paper: dict[str, list[LedgerClaim]] = {}
    for c in claims().values():
        by_paper.setdefault(c.paper, []).append(c)
    lines = []
    for paper, listed in by_paper.items():
        lines += [
            f"## {paper.upper()}\n",
            "| id | statement | verdict | corrected | status | rests on |",
            "|---|---|---|---|---|---|",
            *map(_row, listed),
            "",
        ]
    return lines


def _row(c: LedgerClaim) -> str:
    mark = " (reconstructed)" if c.provenance == "reconstructed" else ""
    rests = "<br>".join(f"{leg.kind}: `{leg.name}`" for leg in c.legs) or cell(c.reason)
    return f"| {c.id} | {cell(c.statement)} | {c.verdict}{mark} | {cell(c.corrected)} | {c.status} | {rests} |"


def _assumptions() -> list[str]:
    return ["## Assumptions and non-claims\n", *(f"- **{key}**: {text}" for key, text in assumptions().items()), ""]


def _checks() -> list[str]:
    return [
        "## Checks\n",
        "[MUTANTS.md](MUTANTS.md) lists what each of them rejects.\n",
        "| check | kind | what it shows | mutants |",
        "|---|---|---|---|",
        *(f"| `{c.name}` | {c.kind} | {cell(c.summary)} | {len(c.mutants)} |" for c in checks().values()),
    ]
