"""`covassay audit`: look for a violation in an implementation."""

import argparse
import os
import sys
from pathlib import Path

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.user_data import load_user_data
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.reports.junit import as_junit
from covassay.verification.audit.reports.terminal import print_report
from covassay.verification.audit.run import FALSE_ALARM, SAMPLES, audit
from covassay.verification.audit.targets.target import TIME_LIMIT, CannotRun, TargetReference, adapters, load
from covassay.verification.cli.options import chosen, guarantee
from covassay.verification.cli.screen import console, print_json, progress

PARSER = {
    "description": "Look for a violation in an implementation. Finding none is not a certificate.",
    "epilog": """\
examples:
  covassay audit covassay:nuclear-laplace --epsilon 1
  covassay audit mymodule:release --as nuclear-laplace --epsilon 1
  covassay audit 'exec:node release.js' --as nuclear-laplace --epsilon 1

targets: a function f(x, *, epsilon, rng), or a process in any language that
reads lines of JSON such as
  {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 81129638414606}
from standard input and answers each with a line, flushed, on standard output:
  {"output": [[3.17, -0.72], [1.94, 0.05]]}
or, if there is no output,
  {"error": "why there is none"}

exit status: 0 not refuted, 1 refuted, 2 invalid use, 3 inconclusive or the
target cannot be run""",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add(
        "target", nargs="?", help="module:function (looked up from the current directory), exec:COMMAND or ADAPTER:NAME"
    )
    add("--list", action="store_true", help="list the targets that the adapters offer")
    add("--as", dest="mechanism", metavar="MECHANISM", help="the mechanism that it claims to be (covassay mechanisms)")
    add("--epsilon", type=float, help="the claimed ε (default: 1 for pure and approximate DP)")
    add("--delta", type=float, help="the claimed δ (default: 1e-6 for approximate DP)")
    add("--rho", type=float, help="the claimed ρ of zCDP (default: 0.5)")
    add("--calibration", help="which constants it uses, where there is a choice: paper (or reconstructed) or tight")
    add(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="another option of the mechanism (covassay mechanisms NAME)",
    )
    add("--released", choices=tuple(OUTPUTS), metavar="KIND", help=f"when --as is not given: {', '.join(OUTPUTS)}")
    add("--data", help="also try the target on a file (.csv, .npy, .parquet) or on wine, digits, breast-cancer")
    add("--samples", type=int, default=SAMPLES, help="draws for every scenario and side (default %(default)s)")
    add("--seed", type=int, default=0, help="seed of all randomness (default 0)")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="parallel workers; results do not depend on their number")
    add(
        "--false-alarm",
        type=float,
        default=FALSE_ALARM,
        help="probability that a run refutes a target that keeps its promises (default %(default)g)",
    )
    add("--time-limit", type=float, default=TIME_LIMIT, help="seconds that one draw may take (default %(default)g)")
    add("--json", action="store_true", help="print the report as JSON (covassay schema audit)")
    add("--junit", metavar="FILE", help="also write the report as JUnit XML, one case for every check")
    add("--verbose", action="store_true", help="print a line for every check, also for those that found nothing")
    add("--quiet", action="store_true", help="print the verdict alone")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the audit and print its report."""
    try:
        return _list() if options.list else _audit(options)
    except CannotRun as error:
        print(f"covassay: {error}", file=sys.stderr)
        return 3
    except SystemExit as error:  # from an adapter, or from a part of the output that runs code
        print(f"covassay: {options.target}: it ended the audit with sys.exit({error.code!r})", file=sys.stderr)
        return 3


def _list() -> int:
    for prefix, point in sorted(adapters().items()):
        print(*(f"{prefix}:{name}" for name in point.load().TARGETS), sep="\n")
    return 0


def _audit(options: argparse.Namespace) -> int:
    if not options.target:
        raise InvalidInput("target: give module:function, exec:COMMAND or ADAPTER:NAME (see covassay audit --list)")
    source = TargetReference(options.target, os.getcwd())
    if options.junit and not Path(options.junit).absolute().parent.is_dir():
        raise InvalidInput(f"junit = {options.junit}: must be in a directory that exists")
    data = load_user_data(options.data) if options.data else None
    if options.jobs < 1:
        raise InvalidInput(f"jobs = {options.jobs}: must be at least 1")
    with progress("contract", None, quiet=options.quiet or options.json) as advance:
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
            progress=advance,
        )
    if options.junit:
        Path(options.junit).write_text(as_junit(report), encoding="utf-8")
    if options.json:
        print_json(as_json(report))
    elif options.quiet:
        print(report.verdict.value)
    else:
        print_report(report, console(80), verbose=options.verbose)
    return report.verdict.exit_status
