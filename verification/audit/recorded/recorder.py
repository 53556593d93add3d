"""Run a target with random draws from a tape, which is an object that records the draws, or repeats recorded draws."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.recorded.primitives import Primitive, primitives_standing
from covassay.verification.audit.recorded.stand_ins import handed_generator, running, standing
from covassay.verification.audit.recorded.tape import Tape
from covassay.verification.audit.targets.target import TIME_LIMIT, Failure, Target, TargetSource, as_source, call, load

Source = TargetSource | Callable[..., Any] | str


@dataclass(frozen=True)
class Recorded:
    """The result of one run of a target, which is its output as a vector, and its tape. If the run has no output,
    `failure` says why.
    """

    output: Vector
    shape: tuple[int, ...]
    tape: Tape
    failure: str = ""


@dataclass(frozen=True)
class Recorder:
    """Run a target with random draws from tapes, which record the draws.

    `budget` has the keywords of the claim. If the data lie in a box, `budget` also has the keyword `bounds`. `seconds`
    is the time limit of one run.
    """

    target: Target
    budget: Mapping[str, Any]
    primitives: tuple[Primitive, ...] = ()
    seconds: float = TIME_LIMIT

    @contextlib.contextmanager
    def standing(self) -> Iterator[None]:
        """Keep numpy's generators replaced in the `with` block, so that many runs in the block are cheap."""
        with standing(), primitives_standing(self.primitives):
            yield

    def run(self, x: Matrix, tape: Tape) -> Recorded:
        """Run the target once on the data x. The caller must be inside of a block `with self.standing():`."""
        given = np.array(x, dtype=np.float64)
        with running(tape):
            output, _ = call(self.target, given, dict(self.budget), handed_generator(), self.seconds)
        if isinstance(output, Failure):
            return Recorded(np.zeros(0), (), tape, str(output))
        try:
            array = np.asarray(output)
            if array.dtype.kind not in "biuf":
                array = np.array([float(value) for value in array.reshape(-1)]).reshape(array.shape)
        except (TypeError, ValueError):
            return Recorded(np.zeros(0), (), tape, f"the output is no array of numbers, but {type(output).__name__}")
        values = array.astype(np.float64).reshape(-1)
        if not np.isfinite(values).all():
            return Recorded(values, array.shape, tape, "the output is not finite")
        return Recorded(values, array.shape, tape)


def recorder(
    source: Source, budget: Mapping[str, Any], primitives: Sequence[Primitive] = (), seconds: float = TIME_LIMIT
) -> Recorder:
    """Return the recorder of a target, which may be a function, a name such as "covassay:gauss-cov", or a `Target`.

    Raises
    ------
    InvalidInput, CannotRun : the target does not exist, or cannot be loaded.
    """
    return Recorder(load(as_source(source)), budget, tuple(primitives), seconds)


def record(
    source: Source, x: Matrix, budget: Mapping[str, Any], seed: int = 0, primitives: Sequence[Primitive] = ()
) -> Recorded:
    """Run a target once on a new tape with this seed, and return its output and its tape.

    >>> import numpy as np
    >>> def noisy(x, *, epsilon, rng):
    ...     return x.sum() + rng.laplace(scale=1 / epsilon)
    >>> str(record(noisy, np.ones((2, 1)), {"epsilon": 1.0}).tape.draws[0]).partition(" in ")[0]
    'laplace (one number)'
    """
    made = recorder(source, budget, primitives)
    with made.standing():
        return made.run(x, Tape(seed))
