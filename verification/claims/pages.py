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

EVIDENCE = {  # For each method in HOW, these words describe the evidence within a sentence.
    "rocq": "a theorem that the kernel of Rocq has checked",
    "exact": "a computation in exact arithmetic",
    "enclosed": "a computation in interval arithmetic",
    "symbolic": "a computation by computer algebra",
    "page": "a proof on paper",
    "floating": "a floating-point computation with a tolerance",
}
REACH = {  # For each coverage in COVERED, these words end a sentence that begins with "The evidence that …".
    "all": "covers all cases",
    "case": "shows a counterexample",
    "range": "covers a stated range of cases",
    "random": "covers cases drawn at random",
}
COVERAGE = {  # LEDGER.md lists the coverages in COVERED, and prints these words after the name of a coverage.
    "all": "",
    "case": ", which is enough to refute a statement",
    "range": ", which the [list of checks](ledger/checks.md) names",
    "random": "",
}
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
        "The ledger lists the claims of four papers on private covariance estimation, the claims of this project, and "
        f"the evidence for or against each claim. There are {len(listed)} claims. Each claim has one of the "
        "following verdicts:\n",
        *(
            f"- **{verdict}** ({sum(c.verdict == verdict for c in listed)}): {told}."
            for verdict, told in VERDICTS.items()
        ),
        "\nThe [errata](errata/README.md) list what is wrong in the papers. Every claim links to its page, with all "
        "its evidence. The line *known* says how strong the evidence is, and which cases it covers. The strength and "
        "the coverage of a verdict are those of the weakest check, theorem or page that the claim needs. The words "
        "*also supported* mark evidence that the verdict does not need. The evidence for the privacy of a mechanism is "
        "often a proof on paper, even if the kernel of Rocq has checked a theorem on the whole mechanism. In this case "
        "the claim says more than the theorem, for example that the privacy loss of some neighbours comes arbitrarily "
        "close to the budget. The kinds of evidence, from strong to weak, are:\n",
        *(f"- **{HOW[how]}**: {told}" for how, told in EVIDENCE.items()),
        "\nThe coverage of the evidence is one of the following, from wide to narrow:\n",
        *(f"- **{COVERED[covered]}**{told}" for covered, told in COVERAGE.items()),
        '\nA check that draws at random, uses floating point or tries a list of dimensions cannot say "all cases"; a '
        "program reads the source of every check to make sure. The next table counts the statements of the claims, and "
        "the explicit versions of asymptotic claims. For a wrong statement, the table counts the evidence that the "
        "statement is wrong.\n",
        *counts(c.status for c in listed),
        f"The next table counts the corrections of the {len(corrections)} wrong statements.\n",
        *counts(corrections),
        'If we did not read a formula in the text of the paper, the page says so under "provenance". We read the '
        "following copies of the papers:\n",
        *(f"- {_short(paper)}: {told}" for paper, told in SOURCES.items()),
        f"\n{notation()['all']} The head of each table explains its letters.\n",
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
    """Return the full text on one claim: the heading, the statement, and a list with the verdict and the evidence."""
    items = [
        ("source", c.source),
        ("verdict", f"`{c.verdict}`. {_sentence(VERDICTS[c.verdict])}"),
        ("correction" if c.wrong else "explicit version", c.corrected),
        ("use instead", c.instead),
        ("reason", c.reason),
        ("known", _known(c)),
        ("evidence", " ".join((*_evidence(c, second=False), *_evidence(c, second=True)))),
        ("assumptions", ", ".join(c.assumes)),
        ("provenance", _sentence(PROVENANCE[c.provenance]) if c.provenance != "printed" else ""),
        ("our copy", called_wrong(c)),
        ("note", c.note),
        *((f"covers {covered.id}", covered.says) for covered in c.covers),
    ]
    told = [f"- *{label}*: {' '.join(text.split())}\n" for label, text in items if text]
    return [f"## {c.id}\n", f"{c.statement}\n", *told]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _known(c: LedgerClaim) -> str:
    return " ".join(_strength(part, status) for part, status in known(c))


def _strength(part: str, status: Status) -> str:
    """Return one or two sentences on the strength and the coverage of the evidence for a part of a claim."""
    proof = f"evidence {part}" if part.startswith("that") else f"evidence for the {part}"
    if status.how == "none":
        return f"The {proof} is missing."
    return f"The {proof} {REACH[status.covered]}. The weakest part of this evidence is {EVIDENCE[status.how]}."


def _evidence(c: LedgerClaim, second: bool) -> Iterable[str]:
    """Return sentences that name the checks, theorems and pages which the claim needs.

    If `second` is true, the sentences name the checks, theorems and pages that support the claim although the claim
    does not need them.

    One sentence names all checks, theorems and pages that have the same method and support the same part of the claim.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for leg in c.legs:
        if leg.second_opinion == second:
            groups.setdefault((_rests(c, leg), EVIDENCE[leg.kind]), []).append(_named(leg))
    return [f"{rests} {evidence} ({', '.join(names)})." for (rests, evidence), names in groups.items()]


def _rests(c: LedgerClaim, leg: Leg) -> str:
    """Return the beginning of the sentence that names a check, theorem or page, such as "The correction rests on"."""
    if leg.second_opinion:
        return "The verdict is also supported by"
    parts = {"statement": "The verdict on the statement rests", "correction": "The correction rests"}
    parts |= {"both": "The verdict on the statement and the correction rest"}
    return f"{parts[c.part(leg)] if c.wrong else 'The verdict rests'} on"


def _named(leg: Leg) -> str:
    return f"[{leg.name}](../paper/{leg.name})" if leg.kind == "page" else f"`{leg.name}`"


# ERRATA


def _list_of_errata() -> list[str]:
    lines = [
        GENERATED,
        "# Errata\n",
        "These pages list wrong statements about private covariance estimation: in the texts of four papers, in their "
        "authors' code, and in our reconstructions of formulas that our copies of the papers lack. The pages say what "
        "is true, and what to use instead. `covassay claims list --wrong` prints these statements, and wrong "
        "statements that belong to no paper.\n",
        "Where our copy of a paper lacks a formula, we read the formula from the authors' code or reconstructed it. "
        "A mistake in our reconstruction of a formula says nothing against the paper.\n",
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
        f"{SOURCES[paper]} The [ledger](../ledger/{_file(paper)}) names the evidence for every entry, and explains "
        "the notation in the statements.\n",
        *(line for c in wrong if c not in ours for line in _erratum(c)),
    ]
    if ours:
        lines += [
            "# Wrong in our reconstruction\n",
            "These formulas are missing in our copy of the paper, and our reconstruction of them is wrong, which says "
            "nothing against the paper. A reader with a complete copy can compare our formulas with the paper.\n",
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
        f"- *{said(c)}*: {c.statement}\n",
        f"- *true*: {c.corrected}\n",
        f"- *use instead*: {c.instead}.\n",
        f"- *known*: {_known(c)} The [ledger](../ledger/{_file(c.paper)}#{anchor(c.id)}) names the evidence.\n",
    ]


# CHECKS


def _checks() -> list[str]:
    return [
        GENERATED,
        "# The checks of the ledger\n",
        f"There are {len(checks())} checks. The page on [mutants](../MUTANTS.md) lists the wrong formulas that the "
        'checks reject. The column "range" says which cases a check covers. If a check declares no coverage, the '
        'column "covered" says "random samples" if the check draws at random, and otherwise "a named range". A program '
        "rejects a declared coverage that the source of the check does not allow.\n",
        "| check | what it shows | how | covered | range | mutants |",
        "|---|---|---|---|---|---|",
        *map(_check_row, checks().values()),
    ]


def _check_row(c: ClaimCheck) -> str:
    shows = cell(c.summary) + (f" (A short list covers all cases: {c.exhausts}.)" if c.exhausts else "")
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
    """Return the row of a mechanism in the table of proofs/README.md.

    The row names the theorems on the whole mechanism that the kernel of Rocq has checked or, if there is none, the
    theorems on parts of the mechanism.
    """
    entry = claims().get(f"MECH.{mechanism_name}")
    legs = [leg for leg in entry.legs if leg.kind == "rocq"] if entry else []
    whole = [leg for leg in legs if leg.whole]
    word = "whole" if whole else "part" if legs else "none"
    return f"| `{mechanism_name}` | {word} | {', '.join(f'`{leg.name}`' for leg in whole or legs)} |"
