"""Make targets from DPpack 0.2.2, a package of R, in a copy of sgiddens/DPpack.

The environment variable COVASSAY_DPPACK names the directory of the copy. Each target runs the command `Rscript
dppack_functions.R COPY FUNCTION`, which loads the R files of the copy. R needs the packages jsonlite and rmutil. The
functions are called with `which.sensitivity='bounded'`, which is their default and means that one row is replaced while
the number of rows is fixed. The functions use Laplace noise with the budget ε.

The targets `mean`, `variance`, `standard-deviation` and `median` call `meanDP(x, eps, lower.bound, upper.bound)`,
`varDP`, `sdDP` and `medianDP` on the first column. The target `covariance` calls `covDP` on two columns.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.adapters.numbers import PURE
from covassay.verification.audit.targets.process_target import NOTE, NoReply, draw, draw_batches, starting
from covassay.verification.audit.targets.target import CannotRun, Failure, Target

COPY = "COVASSAY_DPPACK"
RANGE = (0.0, 10.0), (-1.0, 1.0)
BATCH = 1000
SCRIPT = Path(__file__).with_suffix(".R")


def _draw(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, command: tuple[str, ...]) -> Any:
    return draw(command, os.getcwd(), x, rng=rng, epsilon=epsilon, bounds=[list(pair) for pair in bounds])


def _many(
    x: Matrix, size: int, *, epsilon: float, rng: np.random.Generator, bounds: Any, command: tuple[str, ...]
) -> list[Any]:
    box = [list(pair) for pair in bounds]
    drawn = draw_batches(command, os.getcwd(), BATCH, x, size, rng=rng, epsilon=epsilon, bounds=box)
    return [Failure(one.kind, one.message) if isinstance(one, NoReply) else one for one in drawn]


def _target(name: str, function: str, columns: int = 1) -> Target:
    folder = os.environ.get(COPY)
    if not folder or not (Path(folder) / "R" / "StatFunctions.R").is_file():
        raise CannotRun(f"dppack: set the environment variable {COPY} to the directory of a copy of sgiddens/DPpack")
    described = (Path(folder) / "DESCRIPTION").read_text(encoding="utf-8").splitlines()
    version = next(line.partition(": ")[2] for line in described if line.startswith("Version: "))
    command = "Rscript", str(SCRIPT), folder, function
    return Target(
        f"dppack:{name}", partial(_draw, command=command), version=f"DPpack {version}, {function}", released="number",
        claim=PURE, adjacency="replace-one", bounds=RANGE[:columns], draw_many=partial(_many, command=command),
        notes=("called with which.sensitivity='bounded': one row is replaced", NOTE),
        starting=partial(starting, command, os.getcwd()),
    )  # fmt: skip


TARGETS: dict[str, Callable[[], Target]] = {
    "mean": partial(_target, "mean", "meanDP"),
    "variance": partial(_target, "variance", "varDP"),
    "standard-deviation": partial(_target, "standard-deviation", "sdDP"),
    "median": partial(_target, "median", "medianDP"),
    "covariance": partial(_target, "covariance", "covDP", 2),
}
