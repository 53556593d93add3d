"""Change checks and reference formulas at random places, and report which of these mutants the checks reject."""

import argparse
import json
from collections import Counter

from covassay.verification.claims.mutation import draw, outcome

PARSER = {"description": __doc__}


def run(options: argparse.Namespace) -> int:
    """Print the outcome of every drawn mutant, as JSON lines, and the shares of the outcomes."""
    counts: Counter[tuple[str, str]] = Counter()
    for mutant in draw(options.count, options.seed):
        if options.part not in (None, mutant.part):
            continue
        seen = outcome(mutant)
        counts[mutant.part, seen] += 1
        print(json.dumps([seen, mutant.name, mutant.change], ensure_ascii=False), flush=True)
    for (part, seen), number in sorted(counts.items()):
        print(f"{part}: {number} {seen}")
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--part", choices=("check", "formula"), help="change only checks, or only formulas")
    parser.set_defaults(run=run)
