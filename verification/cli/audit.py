"""`covassay audit`: look for a violation in an implementation."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any
from warnings import catch_warnings, filterwarnings

from rich.console import Console

from covassay.reference.box_sensitivity import ADJACENCIES
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.api import audit
from covassay.verification.audit.check import claim_of
from covassay.verification.audit.engine.output_kind import OUTPUTS
from covassay.verification.audit.engine.user_data import UserData, load_user_data
from covassay.verification.audit.engine.user_pair import UserPair, load_pair
from covassay.verification.audit.engine.workers import BACKENDS, local_workers
from covassay.verification.audit.options import FALSE_ALARM, SAMPLES, SCOPES, AuditSettings
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.badge import badge_text
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.reports.junit import as_junit
from covassay.verification.audit.reports.page import as_page
from covassay.verification.audit.reports.sarif import sarif_text
from covassay.verification.audit.reports.terminal import print_report
from covassay.verification.audit.reports.undecided import undecided
from covassay.verification.audit.reports.witness_file import witness_file
from covassay.verification.audit.targets import examples
from covassay.verification.audit.targets.target import TIME_LIMIT, CannotRun, TargetReference, adapters, load
from covassay.verification.cli.audit_process import INCONCLUSIVE, INTERNAL_ERROR, Finished, Screen, screen
from covassay.verification.cli.main import one_line
from covassay.verification.cli.options import chosen, guarantee, parse_bounds
from covassay.verification.cli.screen import as_text, audit_progress
from covassay.verification.declared import stated_claim

WIDTH_OF_A_PIPE = 80
WITNESS_SUFFIX = ".npz"
# The reports that are written to a file, by option; each is made of the report and of the exit status.
WRITTEN: dict[str, Callable[[AuditReport, int], str]] = {
    "junit": lambda report, status: as_junit(report),
    "sarif": sarif_text,
    "html": lambda report, status: as_page(report),
    "badge": lambda report, status: badge_text(report),
}
EXAMPLES = {"c": "release.c", "node": "release.mjs", "python": "release.py.txt", "r": "release.R", "sh": "release.sh"}

PARSER = {
    "description": "Look for a violation in an implementation. Finding none is not a certificate.",
    "epilog": """\
examples:
  covassay audit covassay:nuclear-laplace --epsilon 1
  covassay audit mymodule:release --as nuclear-laplace --epsilon 1
  covassay audit 'exec:node release.js' --as nuclear-laplace --epsilon 1
  covassay audit mymodule:release --bounds=0:1,-5:5 --epsilon 1
  covassay audit numpy:laplace --scope bits
  covassay audit covassay:gauss-cov --samples 1000000 --checkpoint run.json

targets: a function f(x, *, epsilon, rng). How another function, class or object
is called is found from the names of its parameters (eps, random_state, fit, …),
or said with --call, in Python: f is what is audited, x the data, and epsilon,
delta, rho, bounds, rng (a numpy Generator) and seed (a whole number) are given.

A target may also be a process in any language that reads lines of JSON such as
  {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 81129638414606}
from standard input and answers each with a line, flushed, on standard output:
  {"output": [[3.17, -0.72], [1.94, 0.05]]}
or, if there is no output,
  {"error": "why there is none"}
--example c, node, python, r or sh prints such a target.

--checkpoint FILE: any number of draws in bounded memory, on one data set and
one pair, for a mechanism whose law is known exactly; the same command goes on
from FILE after a kill. With f.draw_many(x, size, *, epsilon, rng), an array of
many outputs, Python is no bottleneck.

--bounds: every column j has public bounds LOW_j ≤ x_j ≤ HIGH_j, and rows lie in
that box, not in the unit ball. The value is a list LOW:HIGH,LOW:HIGH,… (write
--bounds=… if it begins with a minus sign), or a .toml or .json file with a line
`name = [low, high]` for every column, in the order of the columns. The target
gets the bounds, d pairs, if it has a parameter `bounds`, and as "bounds" in the
request if it is a process; it is then tried with other bounds too.

exit status: 0 not refuted, 1 refuted, 2 invalid use, 3 inconclusive or the
target cannot be run, 4 internal error of covassay, 130 interrupted. Only a
completed audit gives 0. COVASSAY_DEBUG=1 shows the traceback of an error.""",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add(
        "target",
        nargs="?",
        help="module:function or file.py:function (from the current directory), exec:COMMAND or ADAPTER:NAME (covassay "
        "adapters)",
    )
    add("--list", action="store_true", help="list the targets that the adapters offer")
    add("--example", choices=EXAMPLES, help="print a whole target in that language, to start from")
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
    add("--call", metavar="EXPR", help="how the function is called, such as 'f(x, eps=epsilon, random_state=seed)[0]'")
    add("--data", help="also look at the data path on a file (.csv, .npy, .parquet) or on wine, digits, breast-cancer")
    add("--pair", metavar="FILE", help="also test your own pair of neighbours: x and y in a .npz or .json file")
    add("--bounds", metavar="BOUNDS", help="rows lie in a box: LOW:HIGH,LOW:HIGH,… or a file as for covassay release")
    add("--equivariant", action="store_true", help="with --bounds: it promises to treat all columns alike, up to scale")
    add("--adjacency", choices=ADJACENCIES, help="which data sets are neighbours (default: what the mechanism says)")
    add(
        "--scope",
        choices=SCOPES,
        default=SCOPES[0],
        help="real: the verdict is about real arithmetic, and low-order bits are a finding beside it; bits: both count "
        "(default %(default)s)",
    )
    add("--samples", type=int, default=SAMPLES, help="draws for every scenario and side (default %(default)s)")
    add("--seed", type=int, default=0, help="seed of all randomness (default 0)")
    add("--unseeded", action="store_true", help="the target draws from the operating system and not from rng")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="parallel workers; results do not depend on their number")
    add(
        "--backend",
        choices=BACKENDS,
        default=BACKENDS[0],
        help="what starts the workers: loky, or dask or ray with the extra covassay[scale], with equal results "
        "(default %(default)s)",
    )
    add("--checkpoint", metavar="FILE", help="with --as: many draws in bounded memory; a killed run goes on from FILE")
    add("--dimension", type=int, metavar="D", help="with --checkpoint: the number of columns (default 3)")
    add(
        "--false-alarm",
        type=float,
        default=FALSE_ALARM,
        help="probability that a run refutes a target that keeps its promises (default %(default)g)",
    )
    add("--time-limit", type=float, default=TIME_LIMIT, help="seconds that one draw may take (default %(default)g)")
    add("--json", action="store_true", help="print the report as JSON (covassay schema audit)")
    add("--junit", metavar="FILE", help="also write the report as JUnit XML, one case for every check")
    add("--sarif", metavar="FILE", help="also write what was found as SARIF 2.1.0, for code-scanning services")
    add("--html", metavar="FILE", help="also write the report as one HTML page with pictures")
    add("--badge", metavar="FILE", help="also write the verdict as a badge, the JSON that shields.io reads")
    add("--witness", metavar="FILE", help="write the data sets of a refutation to a .npz file, for --pair")
    add("--verbose", action="store_true", help="print a line for every check, also for those that found nothing")
    add("--quiet", action="store_true", help="print the verdict alone")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the audit and print its report; what the target prints goes to standard error."""
    return finished(options, screen()).deliver()


def finished(
    options: argparse.Namespace, place: Screen, told: Callable[[dict[str, Any]], None] = lambda claim: None
) -> Finished:
    """The report of an audit as it will be printed. `told` is called with the claim once the target is loaded."""
    claim: dict[str, Any] = {}

    def tell(mechanism: str | None, stated: Guarantee) -> None:
        claim.update(mechanism=mechanism, budget=stated.keywords())
        told(claim)

    try:
        with redirect_stdout(sys.stderr):
            if options.example:
                return Finished(0, _example(options.example))
            return Finished(0, _list()) if options.list else _audit(options, place, tell)
    except CannotRun as error:
        ending = str(error)
        if options.list:
            return Finished(INCONCLUSIVE, err=f"covassay: {ending}\n")
        return replace(unfinished(options, ending, place, INCONCLUSIVE, **claim), err=f"covassay: {ending}\n")
    except Exception as error:
        failed = one_line(error)
        if failed.status != INTERNAL_ERROR or not options.target:
            return failed
        ending = f"covassay itself failed ({type(error).__name__})"
        return replace(unfinished(options, ending, place, INTERNAL_ERROR, **claim), err=failed.err)


def unfinished(
    options: argparse.Namespace,
    ending: str,
    place: Screen,
    status: int,
    mechanism: str | None = None,
    budget: dict[str, float] | None = None,
) -> Finished:
    """The INCONCLUSIVE report of an audit without a result; mechanism and budget are known if the target was loaded."""
    mechanism = mechanism or options.mechanism
    stated = stated_claim(mechanism, **budget) if budget else guarantee(options, mechanism)
    source = TargetReference(options.target, os.getcwd(), not options.unseeded, options.call)
    return _printed(undecided(source, stated, _settings(options), mechanism, ending), options, place, status)


def _example(language: str) -> str:
    return (resources.files(examples) / EXAMPLES[language]).read_text(encoding="utf-8")


def _list() -> str:
    return "".join(
        f"{prefix}:{name}\n" for prefix, point in sorted(adapters().items()) for name in point.load().TARGETS
    )


def _settings(options: argparse.Namespace, data: UserData | None = None, pair: UserPair | None = None) -> AuditSettings:
    return AuditSettings(
        claimed=options.mechanism,
        options=chosen(options),
        released=options.released,
        samples=options.samples,
        seed=options.seed,
        false_alarm=options.false_alarm,
        seconds=options.time_limit,
        user_data=data,
        user_pair=pair,
        box=parse_bounds(options.bounds) if options.bounds else None,
        adjacency=options.adjacency,
        equivariant=options.equivariant,
        scope=options.scope,
        checkpoint=options.checkpoint or "",
        dimension=options.dimension,
    )


def _audit(options: argparse.Namespace, place: Screen, tell: Callable[[str | None, Guarantee], None]) -> Finished:
    if not options.target:
        raise InvalidInput(
            "target: give module:function, file.py:function, exec:COMMAND or ADAPTER:NAME (see covassay audit --list)"
        )
    source = TargetReference(options.target, os.getcwd(), not options.unseeded, options.call)
    _require_files(options)
    if options.witness and Path(options.witness).suffix != WITNESS_SUFFIX:
        raise InvalidInput(f"witness = {options.witness}: must end in {WITNESS_SUFFIX}")
    if options.jobs < 1:
        raise InvalidInput(f"jobs = {options.jobs}: must be at least 1")
    if options.seed < 0:
        raise InvalidInput(f"seed = {options.seed}: must be 0 or more")
    data = load_user_data(options.data) if options.data else None
    settings = _settings(options, data, load_pair(options.pair) if options.pair else None)
    guarantee(options, options.mechanism)  # a mistake in the options is told before the target is loaded
    mechanism = options.mechanism or load(source).mechanism
    _require_use(options, mechanism)
    claim = claim_of(source, mechanism, options.epsilon, options.delta, options.rho)
    tell(mechanism, claim)
    if options.checkpoint:
        return _streaming(options, source, claim, place)
    with audit_progress(options.quiet) as watch, _own_warnings_hidden(), local_workers(options.backend, options.jobs):
        report = audit(
            source,
            claim,
            claimed=settings.claimed,
            options=settings.options,
            released=settings.released,
            samples=settings.samples,
            seed=settings.seed,
            jobs=options.jobs,
            false_alarm=settings.false_alarm,
            seconds=settings.seconds,
            user_data=settings.user_data,
            pair=settings.user_pair,
            bounds=settings.box,
            adjacency=settings.adjacency,
            equivariant=settings.equivariant,
            scope=settings.scope,
            progress=watch,
        )
    return _printed(report, options, place, report.verdict.exit_status)


def _require_files(options: argparse.Namespace) -> None:
    """Raise `InvalidInput` if a file cannot be written where it is asked for, or if two are asked for in one place."""
    names = {name: vars(options)[name] for name in (*WRITTEN, "witness") if vars(options)[name]}
    places: dict[Path, str] = {}
    for name, file in names.items():
        path = Path(file).absolute()
        if not path.parent.is_dir():
            raise InvalidInput(f"{name} = {file}: must be in a directory that exists")
        if path.is_dir():
            raise InvalidInput(f"{name} = {file}: must be a file, is a directory")
        other = places.setdefault(path.resolve(), name)
        if other != name:
            raise InvalidInput(f"{name} = {file}: is the file of {other} too")


def _streaming(options: argparse.Namespace, source: TargetReference, claim: Guarantee, place: Screen) -> Finished:
    """A streaming audit, which keeps its state in the checkpoint."""
    from covassay.verification.audit.streaming import DIMENSION, stream_audit

    for name in ("data", "pair", "bounds", "equivariant", "adjacency", "released"):
        if getattr(options, name):
            raise InvalidInput(f"--{name} and --checkpoint: a streaming run has data of its own; leave one of them out")
    if options.scope != SCOPES[0]:
        raise InvalidInput(f"--scope {options.scope} and --checkpoint: a streaming run does not look at low-order bits")
    with audit_progress(options.quiet) as watch, _own_warnings_hidden(), local_workers(options.backend, options.jobs):
        report = stream_audit(
            source,
            claim,
            checkpoint_file=options.checkpoint,
            claimed=options.mechanism,
            options=chosen(options),
            samples=options.samples,
            dimension=DIMENSION if options.dimension is None else options.dimension,
            seed=options.seed,
            jobs=options.jobs,
            false_alarm=options.false_alarm,
            seconds=options.time_limit,
            seeded=not options.unseeded,
            call=options.call,
            progress=watch,
        )
    return _printed(report, options, place, report.verdict.exit_status)


def _require_use(options: argparse.Namespace, mechanism: str | None) -> None:
    """Raise `InvalidInput` if an option was given that this audit would not use."""
    if options.dimension is not None and not options.checkpoint:
        raise InvalidInput("--dimension: only with --checkpoint")
    if mechanism and options.released:
        raise InvalidInput(f"--released {options.released}: the output of {mechanism} is known; leave the option out")
    if mechanism is None and chosen(options):
        names = ", ".join(chosen(options))
        raise InvalidInput(f"{names}: an option of a mechanism; say with --as which mechanism the target claims to be")


@contextmanager
def _own_warnings_hidden() -> Iterator[None]:
    """Arithmetic of the audit that overflows or divides by zero says nothing of use to a user."""
    with catch_warnings():
        for module in (r"covassay\.", r"scipy\.", r"statsmodels\."):
            filterwarnings("ignore", category=RuntimeWarning, module=module)
        yield


def _printed(report: AuditReport, options: argparse.Namespace, place: Screen, status: int) -> Finished:
    """The report in the forms that were asked for."""
    if options.json:
        out = as_text({**as_json(report), "exit_status": status})
    elif options.quiet:
        out = f"{report.verdict.value}\n"
    else:
        text = StringIO()
        console = Console(file=text, width=place.width or WIDTH_OF_A_PIPE, force_terminal=place.terminal, emoji=False)
        print_report(report, console, verbose=options.verbose)
        out = text.getvalue()
    finished = Finished(status, out)
    for kind, written in WRITTEN.items():
        if vars(options)[kind]:
            finished = finished.with_file(vars(options)[kind], written(report, status).encode("utf-8"))
    return _with_witness(finished, report, options) if options.witness else finished


def _with_witness(finished: Finished, report: AuditReport, options: argparse.Namespace) -> Finished:
    """The same, with the file of the witness, or with a line that says why there is none."""
    archive = witness_file(report)
    if archive is None:
        return replace(finished, err=f"covassay: {options.witness} was not written: there is no witness of data sets\n")
    return finished.with_file(options.witness, archive)
