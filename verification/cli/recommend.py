"""Implement the command `covassay recommend`, which recommends a mechanism from public facts alone.

Rank the mechanisms for the second moment of rows in the unit ball by the error
that they are predicted to make. The command reads no data; n, d, the budget
and the trace must be public. Mechanisms are compared under one notion of privacy,
which is pure DP with --epsilon and zCDP with --rho.

examples:
  covassay recommend --rows 10000 --dimension 20 --epsilon 1
  covassay recommend --rows 10000 --dimension 20 --rho 0.5 --trace 0.2 --picture map.svg
  covassay recommend --rows 10000 --dimension 20 --epsilon 1 --goal pca --json

The error of a mechanism is the root mean square of the norm of the difference to the
true second moment. If the error of a mechanism depends on the data, it is predicted for
two kinds of rows, both with eigenvalues proportional to 1, 1/2, …, 1/d. The first kind
of rows has equal norms √t for the trace t, and the second kind is correlated Gaussian.
Mechanisms are ranked by the larger of the two errors. If the rows lie in a ball of
radius r, divide the rows by r and the trace by r², and multiply errors by r². The
option --picture needs matplotlib (pip install 'covassay[figures]').
"""

import argparse
from pathlib import Path
from typing import Any

from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, PureDP
from covassay.reference.recommendation import Recommendation, Setting, recommend
from covassay.reference.recommendation.additive import KINDS
from covassay.reference.recommendation.ranking import GOALS, NORM_SIGNS
from covassay.reference.rounded import WITH_ROUNDED_FORM, cost
from covassay.verification.cli.options import texts
from covassay.verification.cli.screen import console, print_json

PARSER = texts(__doc__)
REGIMES = {
    "large": "the noise is below the average eigenvalue, and the error of the release is the noise itself",
    "middle": "the noise is above the average eigenvalue, and mechanisms that project or adapt may be better",
    "small": "the noise is above the trace, and a release is expected to say little about the data",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    add = parser.add_argument
    add("--rows", type=int, required=True, metavar="N", help="the number of rows n")
    add("--dimension", type=int, required=True, metavar="D", help="the number of columns d")
    add("--epsilon", type=float, metavar="E", help="the budget of pure DP")
    add("--rho", type=float, metavar="R", help="the budget of zCDP")
    add("--trace", type=float, default=1.0, metavar="T", help="the trace of the second moment, at most 1 (default 1)")
    add(
        "--norm",
        choices=tuple(NORM_SIGNS),
        help="norm of the error (default: frobenius; spectral for pca and regression)",
    )
    add("--goal", choices=tuple(GOALS), default="covariance", help="what the matrix is for (default %(default)s)")
    add(
        "--picture",
        metavar="FILE",
        help="also draw the map of the best mechanisms as .svg or .png, which needs the extra covassay[figures]",
    )
    add("--json", action="store_true", help="print JSON (covassay schema recommend)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the recommendation, and draw the map if it is requested."""
    if (options.epsilon is None) == (options.rho is None):
        raise InvalidInput("give one budget: --epsilon for pure DP, or --rho for zCDP")
    budget = PureDP(options.epsilon) if options.rho is None else ZCDP(options.rho)
    setting = Setting(options.rows, options.dimension, budget, options.trace)
    found = recommend(setting, options.norm, options.goal)
    picture = Path(options.picture) if options.picture else None
    if picture is not None:
        from covassay.verification.experiments.regime_map import draw, require_drawable

        require_drawable(picture)
        draw(found, picture)
    if options.json:
        print_json(document(found, picture))
    else:
        show(found, picture)
    return 0


def document(found: Recommendation, picture: Path | None) -> dict[str, Any]:
    """Return the recommendation as plain data."""
    setting = found.setting
    return {
        "rows": setting.rows,
        "dimension": setting.dimension,
        "budget": setting.budget.keywords(),
        "trace": setting.trace,
        "norm": found.norm,
        "goal": found.goal,
        "regime": setting.regime,
        "enough_rows": setting.enough,
        "fewest_rows": setting.fewest,
        "error_of_zero": found.nothing,
        "useless": found.useless,
        "ranked": [
            {
                "mechanism": p.candidate.mechanism,
                "options": dict(p.candidate.options),
                "projected": p.candidate.project,
                "error": p.error,
                "equal_rows": p.equal.value,
                "gaussian_rows": p.gaussian.value,
                "kind": p.figure.kind,
                "allowance": p.allowance,
            }
            for p in found.ranked
        ],
        "unknown": found.unknown,
        "left_out": found.left_out,
        "alternative": found.alternative,
        "release": release_command(found),
        "picture": None if picture is None else str(picture),
    }


def verdict(found: Recommendation) -> list[str]:
    """Return the lines of text that state the recommendation, beginning with the recommended mechanism."""
    setting, best, sign = found.setting, found.best, NORM_SIGNS[found.norm]
    rows = "πd²/(εt)" if setting.pure else "√2 d^{3/2}/(√ρ t)"
    fewest = "πd/(εt)" if setting.pure else "√(2d)/(√ρ t)"
    lines = [
        f"use {best.candidate.name}: predicted error {best.error:.3g} in {sign} ({best.figure.kind}), "
        f"{best.error / found.nothing:.3g} times the error of releasing the zero matrix",
        f"regime: {setting.regime}, because n = {setting.rows} against {rows} = {setting.enough:.3g} and {fewest} = "
        f"{setting.fewest:.3g}, t = {setting.trace:g}: {REGIMES[setting.regime]}",
    ]
    if found.useless:
        lines.insert(1, "warning: the zero matrix, which needs no data, is predicted to be about as accurate")
    if found.near:
        lines.append(f"about as good: {'; '.join(p.candidate.name for p in found.near)}")
    if best.candidate.project:
        lines.append(
            "projected: after the release, the nearest positive semidefinite matrix with trace at most 1 is taken "
            "(reference.projections.psd_trace_ball), which costs no budget"
        )
    if best.candidate.searches:
        lines.append(
            "this mechanism searches for a clipping norm, so its error depends on how the norms of the rows vary"
        )
    if found.alternative:
        lines.append(found.alternative)
    return lines


def release_command(found: Recommendation) -> str:
    """Return the command that releases by the best mechanism, with capitals where the user must fill in values."""
    best = found.best.candidate
    budget = " ".join(f"--{name} {value:g}" for name, value in found.setting.budget.keywords().items())
    options = "".join(f" --set {name}={value}" for name, value in best.options.items())
    project = " --project trace" if best.project else ""
    return f"covassay release DATA --mechanism {best.mechanism}{options} {budget} --row-bound R{project} --out cov.json"


def show(found: Recommendation, picture: Path | None) -> None:
    """Print the verdict, the table, and what the table does not contain."""
    print(*verdict(found), sep="\n", end="\n\n")
    sign = NORM_SIGNS[found.norm]
    table = Table("", "mechanism", f"{sign}, equal norms", f"{sign}, Gaussian rows", "relative", "the prediction is")
    for place, p in enumerate(found.ranked, start=1):
        precision = f" ± {100 * p.allowance:.1f} %" if p.allowance else ""
        share = f"{p.error / found.nothing:.3g}"
        errors = (f"{figure.value:.4g}{precision}" for figure in (p.equal, p.gaussian))
        table.add_row(str(place), p.candidate.name, *errors, share, p.figure.kind)
    console().print(table)
    kinds = {p.figure.kind for p in found.ranked}
    print(*(f"{kind}: {text}" for kind, text in KINDS.items() if kind in kinds), sep="; ")
    if found.unknown:
        print("no prediction at these numbers:", "; ".join(found.unknown))
    notion = "pure DP" if found.setting.pure else "zCDP"
    print(
        f"only mechanisms that claim {found.setting.budget} are compared: claims of {notion} and of other notions are "
        "not comparable. --json says which mechanisms are left out, and why"
    )
    if picture is not None:
        print(f"picture: {picture}")
    best = found.best.candidate
    if best.mechanism in WITH_ROUNDED_FORM and (slow := cost.warning(best.mechanism, found.setting.dimension)):
        print(slow)
    print("to release, with R a public bound on the length of a row:", release_command(found), sep="\n  ")
