"""The command line: `covassay audit | release | law | mechanisms | claims | vectors | experiments | figures`.

Exit status: 0 done, or not refuted; 1 refuted; 2 invalid use or input, one line on standard error; 3 inconclusive,
or the target cannot be run.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham, nuclear_laplace
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.registry import MECHANISMS, default_claim
from covassay.verification.audit.engine.run import FALSE_ALARM, SAMPLES, audit
from covassay.verification.audit.engine.user_data import load_user_data
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.reports.junit import as_junit
from covassay.verification.audit.reports.terminal import print_report
from covassay.verification.audit.targets.target import TIME_LIMIT, CannotRun, TargetReference, adapters, load
from covassay.verification.cli import claims, experiments, figures, release, theorems
from covassay.verification.cli.options import chosen, guarantee
from covassay.verification.exact.spectral_cdf import enclose_spectral_cdf
from covassay.verification.statistics.streams import no_progress

EXACT_DIMENSION = 60  # up to here the distribution function is enclosed in interval arithmetic


class _Parser(argparse.ArgumentParser):
    """argparse with one line per error."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message} (see {self.prog} --help)")


def _print_json(data: Any) -> None:
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


# audit


def _audit(options: argparse.Namespace) -> int:
    if options.list:
        for prefix, point in sorted(adapters().items()):
            print(*(f"{prefix}:{name}" for name in point.load().TARGETS), sep="\n")
        return 0
    if not options.target:
        raise InvalidInput("target: give module:function, exec:COMMAND or ADAPTER:NAME (see covassay audit --list)")
    source = TargetReference(options.target, os.getcwd())
    if options.junit and not Path(options.junit).absolute().parent.is_dir():
        raise InvalidInput(f"junit = {options.junit}: must be in a directory that exists")
    data = load_user_data(options.data) if options.data else None
    if options.jobs < 1:
        raise InvalidInput(f"jobs = {options.jobs}: must be at least 1")
    console = Console(stderr=True)
    quiet = options.quiet or options.json or not console.is_terminal
    bar: AbstractContextManager[Any] = (
        nullcontext()
        if quiet
        else Progress(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console, transient=True
        )
    )
    with bar as progress:
        task = None if progress is None else progress.add_task("contract", total=None)

        def report_progress(label: str, count: int) -> None:
            progress.update(task, description=label, advance=count)

        report = audit(
            source,
            guarantee(options, options.mechanism or load(source).mechanism),
            claimed=options.mechanism,
            options=chosen(options),
            released=options.released,
            samples=options.samples,
            seed=options.seed,
            jobs=options.jobs,
            false_alarm=options.false_alarm,
            seconds=options.time_limit,
            user_data=data,
            progress=no_progress if progress is None else report_progress,
        )
    if options.junit:
        Path(options.junit).write_text(as_junit(report), encoding="utf-8")
    if options.json:
        _print_json(as_json(report))
    elif options.quiet:
        print(report.verdict.value)
    else:
        print_report(report, Console(width=None if sys.stdout.isatty() else 150))
    return report.verdict.exit_status


# law


def _fraction(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(f"{text!r}: must be a number such as 1.1 or 11/10") from None


def _law(options: argparse.Namespace) -> int:
    facts = _bingham_law(options) if options.law == "bingham" else _nuclear_law(options)
    if options.json:
        _print_json(facts)
    else:
        for key, value in facts.items():
            print(f"{key}: {value}")
    return 0


def _nuclear_law(options: argparse.Namespace) -> dict[str, Any]:
    symmetric = options.law.endswith("symmetric")
    if options.dimension is None:
        raise InvalidInput("--dimension is missing: a whole number of at least 1")
    d = options.dimension
    if d < 1:
        raise InvalidInput(f"dimension = {d}: must be at least 1")
    if options.eigenvalues is not None:
        raise InvalidInput("--eigenvalues belongs to the law bingham")
    facts: dict[str, Any] = {"law": options.law, "dimension": d}
    if options.spectral_cdf is not None:
        c = _fraction(options.spectral_cdf)
        if c <= 0:
            raise InvalidInput(f"spectral-cdf = {options.spectral_cdf}: must be above 0")
        key = f"P(‖Z‖ ≤ {options.spectral_cdf} ρd)"
        if d <= EXACT_DIMENSION:
            enclosure = enclose_spectral_cdf(d, c * d, symmetric=symmetric, digits=options.digits + 2)
            facts[key] = enclosure.text(options.digits)
            facts["method"] = "interval arithmetic: every digit printed is certain, given the joint density"
        else:
            facts[key] = f"{nuclear_laplace.spectral_norm_cdf(d, float(c * d), symmetric):.10g}"
            facts["method"] = f"float64 Pfaffian, absolute error near 1e-15 (enclosed up to d = {EXACT_DIMENSION})"
    if options.quantile is not None:
        t = nuclear_laplace.spectral_norm_quantile(d, options.quantile, symmetric)
        facts[f"quantile {options.quantile:g} of ‖Z‖/(ρd)"] = t / d
    if options.moment is not None:
        value = nuclear_laplace.mean_power_sum(d, options.moment, symmetric)
        facts[f"E ‖Z‖_{{S_{options.moment:g}}}^{options.moment:g} / ρ^{options.moment:g}"] = value
    if len(facts) == 2:
        facts |= {
            "‖Z‖_*/ρ": f"Gamma({nuclear_laplace.radius_shape(d, symmetric):g})",
            "E ‖Z‖_F²/ρ²": nuclear_laplace.mean_power_sum(d, 2.0, symmetric),
            "median of ‖Z‖/(ρd)": nuclear_laplace.spectral_norm_quantile(d, 0.5, symmetric) / d,
            "limit of ‖Z‖/(ρd)": "π/2" if symmetric else "π",
        }
    return facts


def _bingham_law(options: argparse.Namespace) -> dict[str, Any]:
    if options.eigenvalues is None:
        raise InvalidInput("--eigenvalues is missing: the eigenvalues of M, such as 6,3,0,0,0")
    if options.spectral_cdf is not None or options.quantile is not None or options.moment is not None:
        raise InvalidInput("bingham takes --eigenvalues alone")
    try:
        values = sorted((float(v) for v in options.eigenvalues.split(",")), reverse=True)
    except ValueError:
        raise InvalidInput(f"eigenvalues = {options.eigenvalues!r}: must be numbers separated by commas") from None
    if not np.isfinite(values).all():
        raise InvalidInput(f"eigenvalues = {options.eigenvalues!r}: must be finite")
    m = np.diag(values)
    return {
        "law": "bingham, density ∝ exp(uᵀMu)",
        "eigenvalues of M": values,
        "E ⟨u, v_i⟩²": [round(float(v), 12) for v in bingham.second_moments(m)],
        "acceptance rate of the sampler": bingham.acceptance_rate(m),
    }


# mechanisms


def _mechanisms(options: argparse.Namespace) -> int:
    rows: list[dict[str, Any]] = []
    for declared in MECHANISMS.values():
        budget = default_claim(declared.name).keywords()
        for values in product(*declared.choices.values()):
            choices = dict(zip(declared.choices, values, strict=True))
            spend = declared.spend(**budget, dimension=max(options.dimension, declared.smallest_dimension), **choices)
            rows.append(
                {
                    "name": declared.name,
                    "title": declared.title,
                    "paper": declared.paper,
                    "algorithm": declared.number,
                    "notion": declared.notion.name,
                    "adjacency": declared.adjacency,
                    "choices": choices,
                    "parameters": dict(declared.parameters),
                    "domain": declared.domain,
                    "releases": declared.output.kind,
                    "symmetric": declared.output.symmetric,
                    "sampler": declared.sampler,
                    "provenance": declared.provenance,
                    "claimed": spend.claimed.keywords(),
                    "proven": spend.proven.keywords(),
                    "attained": spend.attained,
                    "remark": spend.remark,
                }
            )
    if options.json:
        _print_json(rows)
        return 0
    table = Table("mechanism", "choices", "source", "claimed", "proven", "attained", "releases")
    for row in rows:
        table.add_row(
            str(row["name"]), " ".join(row["choices"].values()), f"{row['paper']} {row['algorithm']}",
            _budget_text(row["claimed"]), _budget_text(row["proven"]), "yes" if row["attained"] else "no",
            str(row["releases"]),
        )  # fmt: skip
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    return 0


def _budget_text(budget: dict[str, float]) -> str:
    symbols = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
    return ", ".join(f"{symbols[key]} = {value:.4g}" for key, value in budget.items())


# the parser


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="covassay", description="Differentially private covariance: reference and auditor.")
    parser.add_argument("--version", action="version", version=f"covassay {version('covassay')}")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    formatter = argparse.RawDescriptionHelpFormatter

    a = commands.add_parser(
        "audit",
        formatter_class=formatter,
        help="look for a violation in an implementation",
        description="Look for a violation in an implementation. Finding none is not a certificate.",
        epilog=(
            "examples:\n  covassay audit covassay:nuclear-laplace --epsilon 1\n"
            "  covassay audit mymodule:release --as nuclear-laplace --epsilon 1\n"
            "  covassay audit 'exec:node release.js' --as nuclear-laplace --epsilon 1\n\n"
            "targets: a function f(x, *, epsilon, rng), or a process in any language that reads lines such as\n"
            '  {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 81129638414606}\n'
            "from standard input and answers each with a line, flushed, on standard output:\n"
            '  {"output": [[3.17, -0.72], [1.94, 0.05]]}   or   {"error": "why there is none"}\n\n'
            "exit status: 0 not refuted, 1 refuted, 2 invalid use, 3 inconclusive or the target cannot be run"
        ),
    )
    a.add_argument(
        "target", nargs="?", help="module:function (from the current directory), exec:COMMAND or ADAPTER:NAME"
    )
    a.add_argument("--list", action="store_true", help="list the targets that the adapters offer")
    a.add_argument("--as", dest="mechanism", metavar="MECHANISM", help="what it claims to be (covassay mechanisms)")
    a.add_argument("--epsilon", type=float, help="claimed ε (default: 1 for pure and approximate DP)")
    a.add_argument("--delta", type=float, help="claimed δ (default 1e-6 for approximate DP)")
    a.add_argument("--rho", type=float, help="claimed ρ of zCDP (default 0.5)")
    a.add_argument("--calibration", help="paper or tight, where the mechanism has both")
    a.add_argument("--set", action="append", metavar="NAME=VALUE", help="another choice or parameter of the mechanism")
    a.add_argument("--released", choices=tuple(OUTPUTS), help="what comes out, when --as is not given")
    a.add_argument("--data", help="also try it on a file (.csv, .npy, .parquet) or on wine, digits, breast-cancer")
    a.add_argument("--samples", type=int, default=SAMPLES, help=f"draws per scenario and side (default {SAMPLES})")
    a.add_argument("--seed", type=int, default=0, help="default 0")
    a.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="parallel workers; results do not depend on it"
    )
    a.add_argument("--false-alarm", type=float, default=FALSE_ALARM, help=f"per run (default {FALSE_ALARM:g})")
    a.add_argument(
        "--time-limit", type=float, default=TIME_LIMIT, help=f"seconds a single draw may take (default {TIME_LIMIT:g})"
    )
    a.add_argument("--json", action="store_true", help="the report as JSON on standard output")
    a.add_argument("--junit", metavar="FILE", help="write the report as JUnit XML too, a case for every check")
    a.add_argument("--quiet", action="store_true", help="the verdict alone")
    a.set_defaults(run=_audit)

    release.add_parser(commands)

    w = commands.add_parser(
        "law",
        formatter_class=formatter,
        help="exact figures of a noise law",
        description="Exact figures of a noise law, at scale ρ.",
        epilog=(
            "examples:\n  covassay law nuclear-laplace --dimension 10 --spectral-cdf 1.1\n"
            "  covassay law bingham --eigenvalues 6,3,0,0,0"
        ),
    )
    w.add_argument("law", choices=("nuclear-laplace", "nuclear-laplace-symmetric", "bingham"))
    w.add_argument("--dimension", type=int)
    w.add_argument("--spectral-cdf", metavar="C", help="P(‖Z‖ ≤ C ρd), enclosed; C such as 1.1 or 11/10")
    w.add_argument("--digits", type=int, default=12, help="significant digits of --spectral-cdf (default 12)")
    w.add_argument("--quantile", type=float, metavar="P", help="of ‖Z‖/(ρd)")
    w.add_argument("--moment", type=float, metavar="p", help="E ‖Z‖_{S_p}^p")
    w.add_argument("--eigenvalues", help="of M, for bingham: 6,3,0,0,0")
    w.add_argument("--json", action="store_true")
    w.set_defaults(run=_law)

    claims.add_parser(commands)
    theorems.add_vectors_parser(commands)
    experiments.add_parser(commands)
    figures.add_parser(commands)

    m = commands.add_parser("mechanisms", help="every mechanism, with what it claims and what is proven")
    m.add_argument("--dimension", type=int, default=10, help="where the proven spend depends on it (default 10)")
    m.add_argument("--json", action="store_true")
    m.set_defaults(run=_mechanisms)
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        status: int = options.run(options)
        return status
    except InvalidInput as error:
        print(f"covassay: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"covassay: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        print("covassay: there is not enough memory for this: the data have too many columns", file=sys.stderr)
        return 2
    except CannotRun as error:
        print(f"covassay: {error}", file=sys.stderr)
        return 3


def main() -> NoReturn:
    """The console script."""
    try:
        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        print("covassay: interrupted", file=sys.stderr)
        sys.exit(130)
