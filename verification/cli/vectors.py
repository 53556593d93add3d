"""Implement the command `covassay vectors`.

Make known-answer tests, or run them on an implementation in any language. If no ACTION is
given, the command prints exact values as JSON. The Rocq kernel has computed these values
from the formulas in the theorems.

actions:
  generate    print the tests as JSON (--out FILE writes them)
  check       make all tests anew, and compare them with the file
  archive     write the tests, split by mechanism, into a .zip file (--out FILE), with a
              schema and runners in Python, R, C and Node
  run TARGET  ask TARGET the questions of the tests, and compare its answers

TARGET is exec:COMMAND or module:function. The command starts a process that reads lines of
JSON such as
  {"kind": "release", "mechanism": "gauss-cov", "parameters": {"rho": 0.5}, "x": …, "noise": …}
and answers each line with one line, which it flushes: {"output": …}, {"error": "…"} if it
refuses the question, or {"declined": "why"} if it does not have the mechanism. A function is
called with the content of such a line, and returns the output. It refuses a question by
raising an exception, and declines it by raising NotImplementedError. The page
verification/vectors/README.md describes the questions.

examples:
  covassay vectors run exec:./release --mechanism gauss-cov
  covassay vectors run mymodule:answer --mechanism gauss-cov --flag LongRow
  covassay vectors run exec:./answer --mechanism above-threshold --kind transcript

exit status: 0 every answered test passed, 1 a test failed or no test was answered,
2 invalid use, or no test.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.verification.claims.kernel import vectors
from covassay.verification.cli.options import texts
from covassay.verification.cli.screen import print_json
from covassay.verification.cli.theorems import proofs_folder

MOST_SHOWN = 3  # at most this many failures of one flag are shown, and at most this many reasons for declined tests
PARSER = texts(__doc__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    add = parser.add_argument
    add(
        "action",
        nargs="?",
        choices=("generate", "check", "archive", "run"),
        metavar="ACTION",
        help="generate, check, archive or run",
    )
    add("target", nargs="?", help="the implementation to test: exec:COMMAND or module:function")
    add("--mechanism", action="append", metavar="NAME", help="only tests of this mechanism; may be repeated")
    add("--flag", action="append", metavar="FLAG", help="only tests with this flag; may be repeated")
    add("--kind", action="append", metavar="KIND", help="only questions of this kind; may be repeated")
    add("--out", metavar="FILE", help="write the tests to this file")
    add("--json", action="store_true", help="print the result of a run as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the values of the kernel, or carry out the action that the user requested."""
    if options.action is None:
        sys.stdout.write(vectors.path_of(proofs_folder()).read_text(encoding="utf-8"))
        return 0
    if options.action == "generate":
        return _generate(options)
    if options.action == "archive":
        return _archive(options)
    return _compare(options, _reference() if options.action == "check" else _asker(options.target))


def _generate(options: argparse.Namespace) -> int:
    from covassay.verification.vectors.generate import generate

    content = generate()
    lines = [json.dumps(test, ensure_ascii=False) for test in content["tests"]]
    head = json.dumps({**content, "tests": []}, ensure_ascii=False, indent=1)
    text = head.replace('"tests": []', '"tests": [\n' + ",\n".join(lines) + "\n ]") + "\n"
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


def _archive(options: argparse.Namespace) -> int:
    from covassay.verification.vectors.archive import archive

    if not options.out:
        raise InvalidInput("out: must name the .zip file to write")
    count = archive(Path(options.out))
    print(f"{options.out}: {count} files")
    return 0


def _reference() -> tuple[Callable[[dict[str, Any]], Any], Callable[[], None]]:
    from covassay.verification.vectors.answer import answer

    return answer, lambda: None


def _asker(target: str | None) -> tuple[Callable[[dict[str, Any]], Any], Callable[[], None]]:
    from covassay.verification.audit.targets.target import TargetReference
    from covassay.verification.vectors.run import PREFIX, asker

    if not target:
        raise InvalidInput("target: give exec:COMMAND or module:function")
    if target.startswith(PREFIX):
        return asker(target.removeprefix(PREFIX), os.getcwd())
    reference = TargetReference(target, os.getcwd())
    if not reference.is_function:
        raise InvalidInput(f"target = {target!r}: must be exec:COMMAND or module:function")
    return reference.load().draw, lambda: None


def _compare(options: argparse.Namespace, asked: tuple[Callable[[dict[str, Any]], Any], Callable[[], None]]) -> int:
    from covassay.verification.vectors import run as runner

    content = runner.tests_file()
    tests = [test for test in content["tests"] if _wanted(test, options, content)]
    if not tests:
        raise InvalidInput("--mechanism, --flag and --kind: no test has all these properties")
    ask, end = asked
    if options.action == "check":
        _require_current(content)
    try:
        outcomes = runner.run(tests, ask, content["tolerances"])
    finally:
        end()
    failed = [outcome for outcome in outcomes if outcome.wrong]
    declined = [outcome for outcome in outcomes if outcome.declined]
    answered = len(outcomes) - len(declined)
    by_flag: dict[str, list[runner.Outcome]] = {}
    for outcome in failed:
        for flag in outcome.test["flags"]:
            by_flag.setdefault(flag, []).append(outcome)
    if options.json:
        print_json(_as_json(len(outcomes), len(declined), by_flag, content["flags"]))
        return 1 if failed or not answered else 0
    for flag, outcomes_of_flag in by_flag.items():
        print(f"{flag} ({len(outcomes_of_flag)} failed): {content['flags'][flag]['description']}")
        for outcome in outcomes_of_flag[:MOST_SHOWN]:
            print(f"  test {outcome.test['id']}, {_subject(outcome.test)}: {outcome.wrong}")
        if len(outcomes_of_flag) > MOST_SHOWN:
            print(f"  … and {len(outcomes_of_flag) - MOST_SHOWN} more")
    reasons = sorted({outcome.declined for outcome in declined})
    for reason in reasons[:MOST_SHOWN]:
        print(f"declined: {reason}")
    told = f", {len(declined)} declined" if declined else ""
    print(f"{answered - len(failed)} of {len(outcomes)} tests passed{told}")
    return 1 if failed or not answered else 0


def _require_current(content: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` if the file is not what the generator makes; the expected outputs are not compared."""
    from covassay.verification.vectors.generate import generate

    made = generate()
    changed = [key for key in made if key != "tests" and made[key] != content.get(key)]
    nothing: dict[str, Any] = {}
    pairs = zip_longest(made["tests"], content["tests"], fillvalue=nothing)
    changed += [f"test {i}" for i, (new, old) in enumerate(pairs, 1) if {**new, "output": 0} != {**old, "output": 0}]
    if changed:
        raise InvalidInput(f"{', '.join(changed[:5])}: the file is not what `covassay vectors generate` makes")


def _as_json(count: int, declined: int, by_flag: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tests": count,
        "declined": declined,
        "failed": [
            {"flag": flag, **flags[flag], "tests": [{"id": o.test["id"], "wrong": o.wrong} for o in outcomes]}
            for flag, outcomes in by_flag.items()
        ],
    }


def _wanted(test: Mapping[str, Any], options: argparse.Namespace, content: Mapping[str, Any]) -> bool:
    kinds = list(dict.fromkeys(entry["kind"] for entry in content["tests"]))
    for name, given, known in (("flag", options.flag, content["flags"]), ("kind", options.kind, kinds)):
        for word in given or ():
            if word not in known:
                raise InvalidInput(f"{name} = {word!r}: must be one of {', '.join(known)}")
    if options.kind and test["kind"] not in options.kind:
        return False
    if options.mechanism:
        from covassay.reference.mechanisms.registry import mechanism

        if test.get("mechanism") not in [mechanism(name).name for name in options.mechanism]:
            return False
    return not options.flag or bool(set(options.flag) & set(test["flags"]))


def _subject(test: Mapping[str, Any]) -> str:
    about = test.get("mechanism") or test.get("projection")
    details = [test[key] for key in ("step", "law") if key in test]
    return f"{test['kind']}{' of ' + about if about else ''} ({', '.join([*details, test['comment']])})"
