"""Change the Rocq proofs, and test that `covassay claims theorems` rejects every change by the intended rule."""

import argparse
import os
from pathlib import Path

from covassay.verification.claims.kernel import gate, kernel, mutants
from covassay.verification.claims.kernel.mutants import ProofMutantOutcome, read, render, share

PARSER = {"description": __doc__, "epilog": "exit status: 1 if a mutant is not rejected as intended"}


def run(options: argparse.Namespace) -> int:
    """Try the proof mutants, and return 1 if one is not rejected by the intended rule."""
    proofs = Path("proofs")
    chosen = read(proofs / "rocq")
    if options.write:
        (proofs / "rocq" / "MUTANTS.md").write_text(render(chosen), encoding="utf-8")
        return 0
    if not kernel.available():
        print(f"mutants of the proofs: {gate.RECORDED}, because Rocq is not installed on this machine")
        return 1 if kernel.required() else 0
    chosen = share(chosen, options.share) if options.share else chosen
    chosen = [m for m in chosen if options.only is None or options.only in m.name]
    outcomes = []
    with gate.build_directory(options.build) as base:
        for outcome in mutants.run(chosen, proofs, base, options.jobs):
            outcomes.append(outcome)
            _print(outcome)
    good = sum(outcome.as_intended for outcome in outcomes)
    print(f"{good} of {len(outcomes)} mutants rejected as intended")
    return 0 if good == len(outcomes) else 1


def _print(outcome: ProofMutantOutcome) -> None:
    mutant = outcome.mutant
    verdict = "rejected" if outcome.as_intended else f"NOT AS INTENDED ({mutant.rule})"
    rules = ", ".join(outcome.rules) or "nothing"
    print(f"{verdict} by {rules}: {mutant.name} ({mutant.file}, {outcome.seconds:.0f} s)", flush=True)
    if not outcome.as_intended:
        print(*(f"    {finding}" for finding in outcome.findings), sep="\n", flush=True)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    parser.add_argument("--build", type=Path, help="the directory of the compiled files, which is kept and used again")
    parser.add_argument("--share", metavar="K/N", help="only the mutants with the numbers K, K + N, K + 2N, …")
    parser.add_argument("--only", metavar="TEXT", help="only mutants with this text in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true", help="write proofs/rocq/MUTANTS.md, and try none")
    parser.set_defaults(run=run)
