"""The command `python -P -m covassay.verification.maintain COMMAND` runs one of the programs of this package."""

import sys
from pathlib import Path

from covassay.verification.cli.main import INVALID_USE, Program

COMMANDS = {
    "controls": "audit the negative controls of the audit, and write proofs/CONTROLS.md",
    "null-audits": "audit correct mechanisms: how many are refuted, and whether p-values are uniform",
    "bits": "look at the low-order bits of samplers and of rounded releases, and write proofs/BITS.md",
    "findings": "audit the functions of other projects, and write proofs/FINDINGS.md",
    "peers": "run other auditors and covassay on the same tasks, and write proofs/PEERS.md",
    "constants": "measure the constants that `covassay recommend` uses",
    "recommendation-grid": "compare the recommendation with simulations at the points of a random grid",
    "readme": "write the generated parts of README.md and reference/README.md, or compare them",
    "figures": "draw the pictures of proofs/paper again, or compare the numbers behind them",
    "site": "build the web site of the project",
    "proof-mutants": "change the Rocq proofs, and test that `covassay claims theorems` rejects every change",
    "formula-mutants": "change checks and reference formulas, and report which changes the checks reject",
}
PROGRAM = Program(
    "python -P -m covassay.verification.maintain", "covassay.verification.maintain", COMMANDS,
    "Programs of the maintainers, for a clone of the repository.", "",
    elsewhere={
        "controls": "tests.negative_controls.program",
        "peers": "tests.other_auditors.program",
        "constants": "tests.recommendation.constants",
        "recommendation-grid": "tests.recommendation.grid",
    },
)  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run a program in the folder of a clone, where `tests` can be imported, and return its exit status."""
    sys.path.insert(0, str(Path.cwd()))  # the folder of the clone comes before an installed package named `tests`
    try:
        return PROGRAM.run(arguments)
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] != "tests":
            raise
        print(f"covassay: {arguments[0]}: run it in the folder of a clone, beside `tests`", file=sys.stderr)
        return INVALID_USE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
