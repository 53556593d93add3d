"""Generate the Markdown pages: the index of the ledger, a page for each paper, the errata, the table of mechanisms."""

from collections import Counter
from collections.abc import Iterable

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.claims.checks import checks
from covassay.verification.claims.coverage import covers
from covassay.verification.claims.entries import assumptions, notation
from covassay.verification.claims.evidence import ClaimCheck
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
from covassay.verification.claims.render import called_wrong, known, said

TITLES = {
    "dn25": "DN25: d'Orsi and Novikov 2025, On purely private covariance estimation",
    "klsu19": "KLSU19: Kamath, Li, Singhal and Ullman 2019, Privately learning high-dimensional distributions",
    "adk19": "ADK19: Amin, Dick, Kulesza, Muñoz and Vassilvitskii 2019, Differentially private covariance estimation",
    "dly22": "DLY22: Dong, Liang and Yi 2022, Differentially private covariance revisited",
    "own": "Our own results",
    "mechanisms": "The mechanisms of this package",
}


def pages() -> dict[str, str]:
    """Return every generated page, keyed by its path below proofs/."""
    return {
        "LEDGER.md": _joined(_head(), *map(_index, TITLES), _assumptions()),
        **{f"ledger/{_file(paper)}": _joined(_paper(paper)) for paper in TITLES},
        "ledger/checks.md": _joined(_checks()),
        "errata/README.md": _joined(_list_of_errata()),
        **{f"errata/{_file(paper)}": _joined(_errata(paper)) for paper in SOURCES},
    }


def _joined(*parts: Iterable[str]) -> str:
    return "\n".join(line for part in parts for line in part) + "\n"


def _file(paper: str) -> str:
    """Return the name of a paper's file, which is the same in every folder."""
    return f"{paper.upper() if paper in SOURCES else paper}.md"


def _of(paper: str) -> list[LedgerClaim]:
    return [c for c in claims().values() if c.paper == paper]


# THE INDEX


def _head() -> list[str]:
    listed = list(claims().values())
    corrections = [c.correction_status for c in listed if c.correction_status]
    return [
        GENERATED,
        "# The ledger\n",
        "The claims of four papers on private covariance estimation, the claims of this project, and the evidence for "
        f"or against each claim. There are {len(listed)} claims. Each has a verdict:\n",
        *(
            f"- **{verdict}** ({sum(c.verdict == verdict for c in listed)}): {told}."
            for verdict, told in VERDICTS.items()
        ),
        "\nWhat is wrong in the papers is in the [errata](errata/README.md). Every claim links to its page, with all "
        "its evidence. The line *known* says how the claim was checked, and which cases were covered. Both are "
        "taken from the weakest check, theorem or page that the claim needs. A *second opinion* supports a claim that "
        'does not need it. The entries of mechanisms say "paper" even where a theorem of the kernel covers the whole '
        "mechanism, because they claim more than it, such as that the budget is attained. From strong to weak:\n",
        "- **kernel**: a theorem that the kernel of Rocq has checked, under the assumptions that the claim names. "
        "**exact**: rational or symbolic numbers, without rounding. **enclosed**: intervals that contain the number. "
        "**symbolic**: computer algebra. **paper**: a proof on a page of this project. **floating**: floating point, "
        "with a tolerance.",
        "- **all cases**; **a counterexample**, which is enough against a statement; **a named range**, which the "
        "[list of checks](ledger/checks.md) names; **random samples**.\n",
        'A check that draws at random, uses floating point or tries a list of dimensions cannot say "all cases": the '
        "gate reads its source. The table counts the statements of the claims, and of asymptotic claims the "
        "explicit versions. For a wrong statement, it counts the evidence that the statement is wrong.\n",
        *counts(c.status for c in listed),
        f"The corrections of the {len(corrections)} wrong statements:\n",
        *counts(corrections),
        'Where a formula is not read from the text of the paper, the claim says so under "provenance". Of the copies '
        "that we read:\n",
        *(f"- {_short(paper)}: {told}" for paper, told in SOURCES.items()),
        f"\n{notation()['all']} The letters of a part are explained at its head.\n",
    ]


def _short(paper: str) -> str:
    return TITLES[paper].partition(":")[0]


def counts(statuses: Iterable[Status]) -> list[str]:
    """Return a table that counts the statuses of each kind, by coverage."""
    found = Counter((status.how, status.covered) for status in statuses)
    shown = [covered for covered in COVERED if covered != "none"]
    rows = [f"| {HOW[how]} | {' | '.join(str(found[how, c] or '') for c in shown)} |" for how in HOW if how != "none"]
    header = [f"| how | {' | '.join(COVERED[c] for c in shown)} |", "|---" * (len(shown) + 1) + "|"]
    return [*header, *rows, f"\nNot checked: {found['none', 'none']}.\n"]


def _index(paper: str) -> list[str]:
    """Return the table of one paper, with the statement of each claim, its verdict, and its correction."""
    return [
        f"## {TITLES[paper]}\n",
        f"{notation()[paper]}\n",
        "| claim | statement | verdict | correction, or explicit version |",
        "|---|---|---|---|",
        *(
            f"| [{c.id}](ledger/{_file(paper)}#{anchor(c.id)}) | {cell(c.statement)} | {c.verdict} | "
            f"{cell(c.corrected)} |"
            for c in _of(paper)
        ),
        "",
    ]


def _assumptions() -> list[str]:
    return ["## Assumptions and non-claims\n", *(f"- **{key}**: {text}" for key, text in assumptions().items())]


# ONE PAGE FOR EVERY PAPER


def _paper(paper: str) -> list[str]:
    return [
        GENERATED,
        f"# {TITLES[paper]}\n",
        "The [index](../LEDGER.md) explains the verdicts and the terms.\n",
        f"{notation()['all']}\n",
        f"{notation()[paper]}\n",
        *(line for c in _of(paper) for line in _details(c)),
    ]


def anchor(name: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    kept = "".join(ch for ch in name.lower() if ch.isalnum() or ch in " -_")
    return kept.replace(" ", "-")


def _details(c: LedgerClaim) -> list[str]:
    """Return the full text on one claim that stands below its heading."""
    items = [
        ("verdict", f"{c.verdict}: {VERDICTS[c.verdict]}"),
        ("correction" if c.wrong else "explicit version", c.corrected),
        ("use", c.instead),
        ("reason", c.reason),
        *(("known", f"{label}: {status}") for label, status in known(c)),
        *(("rests on", told) for told in _evidence(c, second=False)),
        *(("second opinion", told) for told in _evidence(c, second=True)),
        ("assumptions", ", ".join(c.assumes)),
        ("provenance", PROVENANCE[c.provenance] if c.provenance != "printed" else ""),
        ("source", called_wrong(c)),
        ("note", c.note),
        *((f"covers {covered.id}", covered.says) for covered in c.covers),
    ]
    told = [f"- *{label}*: {' '.join(text.split())}" for label, text in items if text]
    return [f"## {c.id}\n", f"{c.source}. {c.statement}\n", *told, ""]


def _evidence(c: LedgerClaim, second: bool) -> Iterable[str]:
    """Return the legs of a claim, with one line for each part and kind."""
    groups: dict[tuple[str, str], list[str]] = {}
    for leg in c.legs:
        if leg.second_opinion == second:
            part = "" if not c.wrong or second else f" ({c.part(leg)})"
            groups.setdefault((HOW[leg.kind], part), []).append(_named(leg))
    return [f"{how}{part}, by {', '.join(names)}" for (how, part), names in groups.items()]


def _named(leg: Leg) -> str:
    return f"[{leg.name}](../paper/{leg.name})" if leg.kind == "page" else f"`{leg.name}`"


# ERRATA


def _list_of_errata() -> list[str]:
    lines = [
        GENERATED,
        "# Errata\n",
        "What is wrong in four papers on private covariance estimation, what is true, and what to use. "
        "`covassay claims list --wrong` prints the same.\n",
        "A formula that our copy of a paper has lost is read from the authors' code, or it is our own reconstruction. "
        "A mistake in a reconstruction says nothing against the paper.\n",
        "| paper | wrong in the text | in the authors' code | in our reconstruction |",
        "|---|---|---|---|",
    ]
    for paper in SOURCES:
        found = Counter(c.provenance for c in _of(paper) if c.wrong)
        numbers = " | ".join(str(found[provenance]) for provenance in ("printed", "code", "reconstructed"))
        lines.append(f"| [{TITLES[paper]}]({_file(paper)}) | {numbers} |")
    return lines


def _errata(paper: str) -> list[str]:
    """Return the errata of one paper: theorems first, then lemmas and corollaries, then all other statements."""
    wrong = sorted((c for c in _of(paper) if c.wrong), key=_rank)
    ours = [c for c in wrong if c.provenance == "reconstructed"]
    lines = [
        GENERATED,
        f"# Errata of {TITLES[paper]}\n",
        f"{SOURCES[paper]} The [ledger](../ledger/{_file(paper)}) has the evidence for each line, and explains the "
        "letters.\n",
        *(line for c in wrong if c not in ours for line in _erratum(c)),
    ]
    if ours:
        lines += [
            "# Wrong in our reconstruction\n",
            "Our copy has lost these formulas. Our reconstruction of them is wrong, which says nothing against the "
            "paper: compare the reconstruction with the printed text.\n",
            *(line for c in ours for line in _erratum(c)),
        ]
    return lines


def _rank(c: LedgerClaim) -> int:
    """Return the key by which the page of errata sorts a statement."""
    where = c.source.partition(" ")[2]
    return 0 if where.startswith("Theorem") else 1 if where.startswith(("Lemma", "Corollary")) else 2


def _erratum(c: LedgerClaim) -> list[str]:
    """Return one erratum, with the wrong statement, the true one, and what to use instead."""
    return [
        f"## {c.source.partition(' ')[2]} ({c.id})\n",
        f"- *{said(c)}*: {c.statement}",
        f"- *true*: {c.corrected}",
        f"- *use*: {c.instead}.",
        f"- *known*: that it is wrong: {c.status}; the true statement: {c.correction_status} "
        f"([evidence](../ledger/{_file(c.paper)}#{anchor(c.id)})).\n",
    ]


# CHECKS


def _checks() -> list[str]:
    return [
        GENERATED,
        "# The checks of the ledger\n",
        f"There are {len(checks())}. The page on [mutants](../MUTANTS.md) lists the wrong formulas that they reject. "
        "Each check describes its range itself.\n",
        "| check | what it shows | how | covered | range | mutants |",
        "|---|---|---|---|---|---|",
        *map(_check_row, checks().values()),
    ]


def _check_row(c: ClaimCheck) -> str:
    shows = cell(c.summary) + (f" (A short list is enough: {c.exhausts}.)" if c.exhausts else "")
    return f"| `{c.name}` | {shows} | {HOW[c.kind]} | {COVERED[covers(c)]} | {cell(c.scope)} | {len(c.mutants)} |"


# THE TABLE OF MECHANISMS

TABLE_START = "<!-- the table of mechanisms is generated by: covassay claims render -->\n"
TABLE_END = "<!-- end of the table -->"


def with_kernel_table(readme: str) -> str:
    """Return the text of proofs/README.md with an up-to-date table of mechanisms."""
    before, _, rest = readme.partition(TABLE_START)
    after = rest.partition(TABLE_END)[2]
    lines = ["| name | whole | theorem |", "|---|---|---|", *map(_kernel_row, MECHANISMS)]
    return f"{before}{TABLE_START}" + "\n".join(lines) + f"\n{TABLE_END}{after}"


def _kernel_row(mechanism_name: str) -> str:
    """Return the row of a mechanism, which names the theorem that the kernel has checked."""
    entry = claims().get(f"MECH.{mechanism_name}")
    legs = [leg for leg in entry.legs if leg.kind == "rocq"] if entry else []
    whole = [leg for leg in legs if leg.whole]
    word = "whole" if whole else "part" if legs else "none"
    return f"| `{mechanism_name}` | {word} | {', '.join(f'`{leg.name}`' for leg in whole or legs)} |"
