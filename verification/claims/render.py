"""Running the checks of the ledger, and showing it: one claim on a screen, all claims in generated Markdown."""

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from joblib import Parallel, delayed

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.claims.checks import checks
from covassay.verification.claims.coverage import covers, scope
from covassay.verification.claims.entries import assumptions, notation
from covassay.verification.claims.evidence import ClaimCheck, Evidence
from covassay.verification.claims.ledger import (
    COVERED,
    HOW,
    PROVENANCE,
    SOURCES,
    VERDICTS,
    LedgerClaim,
    Leg,
    Status,
    claims,
)
from covassay.verification.claims.markdown import GENERATED, cell

TITLES = {
    "dn25": "DN25: d'Orsi and Novikov 2025, On purely private covariance estimation",
    "klsu19": "KLSU19: Kamath, Li, Singhal and Ullman 2019, Privately learning high-dimensional distributions",
    "adk19": "ADK19: Amin, Dick, Kulesza, Muñoz and Vassilvitskii 2019, Differentially private covariance estimation",
    "dly22": "DLY22: Dong, Liang and Yi 2022, Differentially private covariance revisited",
    "own": "Our own results",
    "mechanisms": "The mechanisms of this package",
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
    """How many claims have each verdict, and how many are known in each way, in two lines."""
    listed = list(selected)
    by_verdict, by_how = Counter(c.verdict for c in listed), Counter(c.status.how for c in listed)
    verdicts = ", ".join(f"{by_verdict[v]} {v}" for v in VERDICTS if by_verdict[v])
    ways = ", ".join(f"{by_how[key]} {word}" for key, word in HOW.items() if by_how[key])
    return f"{len(listed)} claims: {verdicts}\nhow: {ways}"


WRONG_WORDS = re.compile(r"\b(false|fails?|wrong|do not carry over|refuted)\b")


def _called_wrong(c: LedgerClaim) -> str:
    """What has to be said of our copy of the paper, if the claim calls it wrong, by its verdict or in words."""
    return SOURCES.get(c.paper, "") if c.wrong or WRONG_WORDS.search(f"{c.corrected} {c.note} {c.reason}") else ""


def known(c: LedgerClaim) -> list[tuple[str, Status]]:
    """What is known of each part of a claim: the label of the part and its status."""
    label = {"holds": "statement", "asymptotic": "explicit version"}.get(c.verdict, "that it is wrong")
    parts = [(label, c.status)] if c.legs else []
    return parts + ([("correction", c.correction_status)] if c.correction_status else [])


def screen(c: LedgerClaim) -> str:
    """Everything about one claim, as text for a person."""
    lines = [
        f"{c.id}  ({c.source})",
        "",
        f"statement   {c.statement}",
        f"verdict     {c.verdict}: {VERDICTS[c.verdict]}",
    ]
    if c.provenance != "printed":
        lines.append(f"provenance  {PROVENANCE.get(c.provenance, c.provenance)}")
    texts = (("corrected", c.corrected), ("reason", c.reason), ("note", c.note), ("source", _called_wrong(c)))
    lines += [f"{label:12}{text}" for label, text in texts if text]
    lines += [f"known       {label}: {status}" for label, status in known(c)]
    for leg in c.legs:
        what = f"{HOW[leg.kind]:12}{leg.name}" + (" (second opinion)" if leg.second_opinion else "")
        told = checks().get(leg.name)
        lines.append(f"  {what}" + (f"\n  {'':12}{told.summary}" if told else ""))
    lines += [f"assumes     {a}: {assumptions()[a]}" for a in c.assumes]
    lines += [f"code        covassay.{name}" for name in c.code]
    lines += ["", f"letters     {notation()[c.paper]} {notation()['all']}"]
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


# THE MARKDOWN


def render_ledger() -> str:
    """proofs/LEDGER.md."""
    return "\n".join([*_head(), *_papers(), *_assumptions(), *_checks()]) + "\n"


TABLE_START = "<!-- the table of mechanisms is generated by: covassay claims render -->\n"
TABLE_END = "<!-- end of the table -->"


def with_kernel_table(readme: str) -> str:
    """The text of proofs/README.md, with its table of mechanisms as it must be."""
    before, _, rest = readme.partition(TABLE_START)
    after = rest.partition(TABLE_END)[2]
    lines = ["| name | whole | theorem |", "|---|---|---|", *map(_kernel_row, MECHANISMS)]
    return f"{before}{TABLE_START}" + "\n".join(lines) + f"\n{TABLE_END}{after}"


def _kernel_row(mechanism_name: str) -> str:
    """What the kernel has proved of a mechanism."""
    entry = claims().get(f"MECH.{mechanism_name}")
    legs = [leg for leg in entry.legs if leg.kind == "rocq"] if entry else []
    whole = [leg for leg in legs if leg.whole]
    word = "whole" if whole else "part" if legs else "none"
    return f"| `{mechanism_name}` | {word} | {', '.join(f'`{leg.name}`' for leg in whole or legs)} |"


def counts(statuses: Iterable[Status]) -> list[str]:
    """A table of how many statuses there are of each kind, by what was covered."""
    found = Counter((status.how, status.covered) for status in statuses)
    shown = [covered for covered in COVERED if covered != "none"]
    rows = [f"| {HOW[how]} | {' | '.join(str(found[how, c] or '') for c in shown)} |" for how in HOW if how != "none"]
    header = [f"| how | {' | '.join(COVERED[c] for c in shown)} |", "|---" * (len(shown) + 1) + "|"]
    return [*header, *rows, f"\nNot checked: {found['none', 'none']}.\n"]


def _head() -> list[str]:
    listed = list(claims().values())
    corrections = [c.correction_status for c in listed if c.correction_status]
    return [
        GENERATED,
        "# The ledger\n",
        "What four papers on private covariance estimation claim, what this project claims, and what is known of each "
        f"claim. There are {len(listed)} claims. Each has a verdict:\n",
        *(
            f"- **{verdict}** ({sum(c.verdict == verdict for c in listed)}): {told}."
            for verdict, told in VERDICTS.items()
        ),
        "\nTwo facts are told of what is known: how it was checked, and what was covered. Each is that of the weakest "
        "check, theorem or page that the claim needs. From strong to weak:\n",
        "- **kernel**: a theorem that the kernel of Rocq has checked, under the assumptions that the claim names. "
        "**exact**: rational or symbolic numbers, without rounding. **enclosed**: intervals that contain the number. "
        "**symbolic**: computer algebra. **paper**: a proof on a page of this project. **floating**: floating point, "
        "with a tolerance.",
        "- **all cases**; **a counterexample**, which is enough against a statement; **a named range**, which the list "
        "of checks names; **random samples**.\n",
        'A check that draws at random, uses floating point or tries a list of dimensions cannot say "all cases": the '
        "gate reads its source. The table is about the statement of each claim, or the explicit version of an "
        "asymptotic one; of a wrong statement it says how it is known to be wrong.\n",
        *counts(c.status for c in listed),
        f"The corrections of the {len(corrections)} wrong statements:\n",
        *counts(corrections),
        'Where a formula is not read from the text of the paper, the claim says so under "provenance". Of the copies '
        "that we read:\n",
        *(f"- {TITLES[paper].partition(':')[0]}: {told}" for paper, told in SOURCES.items()),
        f"\n{notation()['all']} The letters of a part are explained at its head.\n",
    ]


def _papers() -> list[str]:
    """For every paper a short table of its claims, and below it the details of each."""
    by_paper: dict[str, list[LedgerClaim]] = {}
    for c in claims().values():
        by_paper.setdefault(c.paper, []).append(c)
    lines = []
    for paper, listed in by_paper.items():
        lines += [
            f"## {TITLES[paper]}\n",
            f"{notation()[paper]}\n",
            "| claim | place | verdict | statement | correction |",
            "|---|---|---|---|---|",
            *map(_row, listed),
            "",
            *(line for c in listed for line in _details(c)),
        ]
    return lines


def _row(c: LedgerClaim) -> str:
    correction = str(c.correction_status or "")
    return f"| [{c.id}](#{anchor(c.id)}) | {cell(c.source)} | {c.verdict} | {c.status} | {correction} |"


def anchor(name: str) -> str:
    """The anchor that GitHub gives to a heading."""
    kept = "".join(ch for ch in name.lower() if ch.isalnum() or ch in " -_")
    return kept.replace(" ", "-")


def _details(c: LedgerClaim) -> list[str]:
    """Everything about one claim below its heading."""
    items = [
        ("verdict", f"{c.verdict}: {VERDICTS[c.verdict]}"),
        ("correction" if c.wrong else "explicit version", c.corrected),
        ("reason", c.reason),
        *(("known", f"{label}: {status}") for label, status in known(c)),
        *(("rests on", told) for told in _evidence(c, second=False)),
        *(("second opinion", told) for told in _evidence(c, second=True)),
        ("assumptions", ", ".join(c.assumes)),
        ("provenance", PROVENANCE[c.provenance] if c.provenance != "printed" else ""),
        ("source", _called_wrong(c)),
        ("note", c.note),
    ]
    told = [f"- *{label}*: {' '.join(text.split())}" for label, text in items if text]
    return [f"### {c.id}\n", f"{c.source}. {c.statement}\n", *told, ""]


def _evidence(c: LedgerClaim, second: bool) -> Iterable[str]:
    """The legs of a claim, those of one part and of one kind in one line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for leg in c.legs:
        if leg.second_opinion == second:
            part = "" if not c.wrong or second else f" ({c.part(leg)})"
            groups.setdefault((HOW[leg.kind], part), []).append(_named(leg))
    return [f"{how}{part}: {', '.join(names)}" for (how, part), names in groups.items()]


def _named(leg: Leg) -> str:
    return f"[{leg.name}](paper/{leg.name})" if leg.kind == "page" else f"`{leg.name}`"


def _assumptions() -> list[str]:
    return ["## Assumptions and non-claims\n", *(f"- **{key}**: {text}" for key, text in assumptions().items()), ""]


def _checks() -> list[str]:
    return [
        "## Checks\n",
        "[MUTANTS.md](MUTANTS.md) lists what each of them rejects. The range is in the words of the check.\n",
        "| check | how | covered | range | mutants |",
        "|---|---|---|---|---|",
        *map(_check_row, checks().values()),
        "\nWhat each of them shows:\n",
        *(f"- `{c.name}`: {' '.join(c.summary.split())}{_exhausts(c)}" for c in checks().values()),
    ]


def _check_row(c: ClaimCheck) -> str:
    return f"| `{c.name}` | {HOW[c.kind]} | {COVERED[covers(c)]} | {cell(scope(c))} | {len(c.mutants)} |"


def _exhausts(c: ClaimCheck) -> str:
    return f" (A short list is enough: {c.exhausts}.)" if c.exhausts else ""
