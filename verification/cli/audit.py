"""Implement the command `covassay audit`.

Look for a violation in an implementation. An audit that finds no violation does not
certify that the implementation is private.

examples:
  covassay audit covassay:nuclear-laplace --epsilon 1
  covassay audit mymodule:release --mechanism nuclear-laplace --epsilon 1
  covassay audit 'exec:node release.js' --mechanism nuclear-laplace --epsilon 1
  covassay audit mymodule:release --bounds=0:1,-5:5 --epsilon 1
  covassay audit numpy:laplace --scope bits
  covassay audit covassay:gauss-cov --samples 1000000 --checkpoint run.db

A target may be a function f(x, *, epsilon, rng). For another function, a class or an
object, the audit infers the call from names such as eps, random_state and fit. The
option --call gives the call as a Python expression instead. In this expression, f
is the function, x the data, and epsilon, delta, rho, bounds, rng (a numpy Generator)
and seed (a whole number) may be used.

A target may also be a process in any language. The process reads lines of JSON from
standard input, such as
  {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 81129638414606}
The process answers each line with one line on standard output, and flushes the output:
  {"output": [[3.17, -0.72], [1.94, 0.05]]}
or, if there is no output,
  {"error": "why there is none"}
The option --example c prints the source of such a process in C. There are also examples
for node, python, r and sh.

--checkpoint FILE stores the draws in FILE. After an interruption, a kill or a power
cut, the same command continues from FILE, and makes the same report.

The number of draws (--samples) has no upper limit. The first 50000 draws of a series
are kept, and of later draws only sums. A check that cannot use sums says how many draws
it uses. If the function f has an attribute draw_many, the call f.draw_many(x, size, *,
epsilon, rng) must return an array of `size` outputs, which makes the audit faster.

With --bounds every column j has public bounds LOW_j ≤ x_j ≤ HIGH_j, and rows lie in
this box instead of the unit ball. The value of --bounds is a list LOW:HIGH,LOW:HIGH,…
(write --bounds=… if the list begins with a minus sign), or a .toml or .json file with a
line `name = [low, high]` for every column, in the order of the columns. A function with
a parameter `bounds` gets the bounds as d pairs (low, high), and a process gets them as
"bounds" in the request. A target that gets the bounds is also audited with other bounds.

--expected-failures FILE names checks that are known to fail, each with the reason. A
name stands for one check of the contract, such as "row order", or for all checks of one
kind: data path, law, privacy or bits. The option does not change the report. The exit
status ignores the failures of named checks. If a named check did not fail, an exit
status of 0 becomes 1.

exit status: 0 not refuted, 1 refuted, 2 invalid use, 3 inconclusive or the target
cannot be run, 4 internal error of covassay, 130 or 143 interrupted by SIGINT or
SIGTERM, with a report of the findings until then. An audit that did not finish never
has the exit status 0. COVASSAY_DEBUG=1 shows the traceback of an error.
"""

import argparse
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any
from warnings import catch_warnings, filterwarnings

from rich.console import Console

from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import reason
from covassay.verification.audit import option_kinds as kinds
from covassay.verification.audit.api import audited
from covassay.verification.audit.check import by_group, group_of
from covassay.verification.audit.engine.finding import Finding, Verdict
from covassay.verification.audit.engine.workers import local_workers
from covassay.verification.audit.expected import claim_of
from covassay.verification.audit.options import OLD, OPTIONS, AuditOptions, Option
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.formats import formats
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.reports.terminal import print_report
from covassay.verification.audit.reports.undecided import undecided
from covassay.verification.audit.reports.witness_file import witness_file
from covassay.verification.audit.run import verdict
from covassay.verification.audit.targets import examples
from covassay.verification.audit.targets.target import CannotRun, TargetReference, adapters, load
from covassay.verification.cli.audit_process import INCONCLUSIVE, INTERNAL_ERROR, Finished, Screen, screen
from covassay.verification.cli.main import one_line
from covassay.verification.cli.options import texts
from covassay.verification.cli.screen import as_text, audit_progress
from covassay.verification.declared import stated_claim

WIDTH_OF_A_PIPE = 80
WITNESS_SUFFIX = ".npz"
EXAMPLES = {"c": "release.c", "node": "release.mjs", "python": "release.py.txt", "r": "release.R", "sh": "release.sh"}

PARSER = texts(__doc__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    add = parser.add_argument
    add(
        "target",
        nargs="?",
        help="module:function or file.py:function (from the current directory), exec:COMMAND or ADAPTER:NAME (covassay "
        "adapters)",
    )
    add("--list", action="store_true", help="list the targets that the adapters offer")
    add("--example", choices=EXAMPLES, help="print a complete target in that language, to start from")
    for option in OPTIONS:
        if option.command:
            add(option.flag, **_argument(option))
    for name, (_, now) in OLD.items():
        if now:
            add(f"--{name}", nargs=1, action=_Renamed, now=now, help=argparse.SUPPRESS)
    add("--json", action="store_true", help="print the report as JSON (covassay schema audit)")
    for form in formats().values():
        add(f"--{form.name}", metavar="FILE", help=form.help.replace("%", "%%"))
    add("--witness", metavar="FILE", help="write the data sets of a refutation to a .npz file, which --pair reads")
    add("--expected-failures", metavar="FILE", help='a .toml file of known failures, such as "row order" = "issue 7"')
    add("--verbose", action="store_true", help="print a line for every check, also for those that found nothing")
    add("--quiet", action="store_true", help="print the verdict alone")
    parser.set_defaults(run=run)


def _argument(option: Option) -> dict[str, Any]:
    """Return the arguments for argparse that declare an option.

    The parsed value of an option remains text, so that mistakes are reported in one place.
    """
    text = option.help.replace("%", "%%")
    if option.kind is kinds.FLAG:
        return {"dest": option.name, "action": "store_true", "help": text}
    default = option.kind.words(option.default)[0] if option.default not in (None, {}) else ""
    return {
        "dest": option.name,
        "action": "append" if option.kind is kinds.CHOICES else "store",
        "metavar": option.kind.metavar,
        "help": f"{text} (default {default})" if default else text,
    }


class _Renamed(argparse.Action):
    """Reject an option of an earlier version with a message that gives its present name."""

    def __init__(self, *args: Any, now: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.now = now

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        raise InvalidInput(f"{option_string}: this option has another name now; write {self.now}")


def run(options: argparse.Namespace) -> int:
    """Run the audit and print its report; the output of the target goes to standard error."""
    return finished(options, screen()).deliver()


def finished(
    options: argparse.Namespace, place: Screen, told: Callable[[dict[str, Any]], None] = lambda claim: None
) -> Finished:
    """Run the audit, and return its report in the requested printed form.

    The function `told` is called with the claim as soon as the target is loaded. During the audit, `told` is called
    again whenever there are new findings, with the claim and all findings so far.
    """
    known: dict[str, Any] = {}

    def tell(**more: Any) -> None:
        known.update(more)
        told(known)

    try:
        with redirect_stdout(sys.stderr):
            if options.example:
                return Finished(0, _example(options.example))
            return Finished(0, _list()) if options.list else _audit(options, place, tell)
    except CannotRun as error:
        ending = str(error)
        if options.list:
            return Finished(INCONCLUSIVE, err=f"covassay: {ending}\n")
        return replace(unfinished(options, ending, place, INCONCLUSIVE, **known), err=f"covassay: {ending}\n")
    except Exception as error:
        failed = one_line(error)
        if failed.status != INTERNAL_ERROR or not options.target:
            return failed
        ending = f"covassay itself failed ({type(error).__name__})"
        return replace(unfinished(options, ending, place, INTERNAL_ERROR, **known), err=failed.err)


def unfinished(
    options: argparse.Namespace,
    ending: str,
    place: Screen,
    status: int,
    mechanism: str | None = None,
    budget: dict[str, float] | None = None,
    found: Sequence[Mapping[str, Any]] = (),
) -> Finished:
    """Return the INCONCLUSIVE report of an audit that has no result.

    The arguments `mechanism` and `budget` are known if the target was loaded.
    """
    given = AuditOptions.of_words(vars(options), whole=False)
    mechanism = mechanism or given.mechanism
    stated = (
        stated_claim(mechanism, **budget) if budget else stated_claim(mechanism, given.epsilon, given.delta, given.rho)
    )
    checks = [Finding.of_plain(check) for check in found]
    return _printed(undecided(_source(options), stated, given, mechanism, ending, checks), options, place, status)


def _source(options: argparse.Namespace) -> TargetReference:
    return TargetReference(options.target, os.getcwd(), not options.unseeded, options.call)


def _example(language: str) -> str:
    return (resources.files(examples) / EXAMPLES[language]).read_text(encoding="utf-8")


def _list() -> str:
    return "".join(
        f"{prefix}:{name}\n" for prefix, point in sorted(adapters().items()) for name in point.load().TARGETS
    )


def _audit(options: argparse.Namespace, place: Screen, tell: Callable[..., None]) -> Finished:
    if not options.target:
        raise InvalidInput(
            "target: give module:function, file.py:function, exec:COMMAND or ADAPTER:NAME (see covassay audit --list)"
        )
    _require_files(options)
    if options.witness and Path(options.witness).suffix != WITNESS_SUFFIX:
        raise InvalidInput(f"witness = {options.witness}: must end in {WITNESS_SUFFIX}")
    given = AuditOptions.of_words(vars(options))
    expected = _expected_failures(options.expected_failures)
    # a mistake in the options of the command is reported before the target is loaded
    stated_claim(given.mechanism, given.epsilon, given.delta, given.rho)
    source, jobs = _source(options), given.jobs or os.cpu_count() or 1
    mechanism = given.mechanism or load(source).mechanism
    claim = claim_of(source, given)
    tell(mechanism=mechanism, budget=claim.keywords())
    with (
        audit_progress(options.quiet, options.verbose, jobs) as watch,
        _own_warnings_hidden(),
        local_workers(given.backend, jobs),
    ):
        watched = replace(given, jobs=jobs, progress=watch)
        report = audited(source, watched, claim, lambda found: tell(found=[check.plain() for check in found]))
    status, told = beside_expected(report, expected) if expected else (report.verdict.exit_status, "")
    finished = _printed(report, options, place, status)
    return replace(finished, err=told + finished.err)


def _expected_failures(file: str | None) -> dict[str, str]:
    """Return the groups of checks that are known to fail, each with its reason.

    Raises
    ------
    InvalidInput : the file cannot be read, is not TOML, names nothing, names a group that does not exist, or gives no
        reason.
    """
    if file is None:
        return {}
    try:
        named = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"expected-failures = {file}: cannot be read as TOML ({reason(error)})") from None
    if not named:
        raise InvalidInput(f"expected-failures = {file}: names nothing")
    return by_group(named)


def beside_expected(report: AuditReport, expected: Mapping[str, str]) -> tuple[int, str]:
    """Return the exit status of the checks that are not expected to fail, and a line for each expected failure.

    The exit status is 1 instead of 0 if an expected failure did not occur.
    """
    others = [check for check in report.checks if group_of(check) not in expected]
    failed = {group_of(check) for check in report.refuted}
    lines = [
        f"covassay: {name}: {'refuted, as expected' if name in failed else 'NOT refuted, which was expected'} ({why})\n"
        for name, why in expected.items()
    ]
    rest = verdict(others, bits=report.scope == "bits")
    if rest is Verdict.NOT_REFUTED and not expected.keys() <= failed:
        rest = Verdict.REFUTED
    return rest.exit_status, "".join(lines)


def _require_files(options: argparse.Namespace) -> None:
    """Raise `InvalidInput` if a requested file cannot be written, or if two files have the same path."""
    names = {name: vars(options)[name] for name in (*formats(), "witness") if vars(options)[name]}
    places: dict[Path, str] = {}
    for name, file in names.items():
        path = Path(file).absolute()
        if not path.parent.is_dir():
            raise InvalidInput(f"{name} = {file}: must be in a directory that exists")
        if path.is_dir():
            raise InvalidInput(f"{name} = {file}: must be a file, is a directory")
        other = places.setdefault(path.resolve(), name)
        if other != name:
            raise InvalidInput(f"{name} = {file}: must differ from the file of {other}")


@contextmanager
def _own_warnings_hidden() -> Iterator[None]:
    """Hide warnings about overflow and division by zero in the audit's own arithmetic."""
    with catch_warnings():
        for module in (r"covassay\.", r"scipy\."):
            filterwarnings("ignore", category=RuntimeWarning, module=module)
        yield


def _printed(report: AuditReport, options: argparse.Namespace, place: Screen, status: int) -> Finished:
    """Return the report of a finished audit, in the requested formats."""
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
    for form in formats().values():
        if vars(options)[form.name]:
            finished = finished.with_file(vars(options)[form.name], form.text(report, status).encode("utf-8"))
    return _with_witness(finished, report, options) if options.witness else finished


def _with_witness(finished: Finished, report: AuditReport, options: argparse.Namespace) -> Finished:
    """Return the finished result with the witness file added, or with a line that says why there is none."""
    archive = witness_file(report)
    if archive is None:
        return replace(finished, err=f"covassay: {options.witness} was not written: no refutation has data sets\n")
    return finished.with_file(options.witness, archive)
