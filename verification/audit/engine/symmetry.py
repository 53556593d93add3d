"""Check that a matrix which a mechanism promises to be symmetric equals its transpose in every draw.

The check makes a few draws on data sets of several shapes, and also uses the draws that test the law. One matrix that
is not symmetric breaks the promise, so no test of significance is needed. Independent noise below the diagonal would
also release every entry twice, and the mean of both copies has less noise than was claimed.
"""

from collections.abc import Iterable

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.finding import Finding, Kind, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.streams import stream

NAME = "symmetry"
NAME_SEEN = "symmetry in the draws of the law"
SYMMETRY_SHAPES = (20, 3), (1, 2), (65, 2), (5, 7), (8, 12)
MEMBERS = 4  # this many data sets of each shape are tried
# rounding may change an entry by this share of the largest entry, and the noise here is a much larger share
ROUNDING = 2.0**-16


def places(shape: tuple[int, ...], symmetric: bool) -> list[tuple[int, ...]]:
    """Return the indices of the entries of an output. If its matrix is symmetric, entries below the diagonal are left
    out. If there is a row above the square matrix, all its entries are kept.
    """
    above = rows_above(shape)
    return [place for place in np.ndindex(shape) if not symmetric or len(place) < 2 or place[0] - above <= place[1]]


def rows_above(shape: tuple[int, ...]) -> int:
    """Return the number of rows above the square matrix in an output, which is 1 for a mean above a second moment, and
    otherwise 0.
    """
    return max(shape[0] - shape[1], 0) if len(shape) == 2 else 0


def square_part(output: Output, values: Matrix) -> Matrix | None:
    """Return the square matrix in an output of this kind, or None if the output has none."""
    for part in output.parts(values).values():
        if part.ndim == 2 and part.shape[0] == part.shape[1]:
            return part
    return None


def asymmetry(y: Matrix) -> float:
    """Return the largest difference between an entry and its mirror image, which is 0 if rounding explains it."""
    gap = float(np.abs(y - y.T).max())
    return gap if gap > ROUNDING * float(np.abs(y).max()) else 0.0


def symmetry(setting: Setting, smallest_dimension: int = 1) -> Finding:
    """Check on data of several kinds and shapes that the outputs of a target are symmetric if the target promises
    symmetry.
    """
    outputs = []
    for n, d in SYMMETRY_SHAPES:
        if d < smallest_dimension:
            continue
        members = zoo(n, d, setting.seed)
        for i, member in enumerate(members[:: len(members) // MEMBERS]):
            rng = np.random.default_rng(stream(setting.seed, "symmetry", n, d, i))
            outcome = setting.one(member.x, rng)
            if isinstance(outcome, Failure):
                if outcome.kind == "time-out":
                    break
                continue
            outputs.append((f"“{member.category}”, n = {n}, d = {d}", member.x, outcome))
    if not outputs:
        return Finding("contract", NAME, Status.SKIPPED, "no output on any data set")
    return _checked("contract", NAME, setting.output, outputs)


def symmetry_seen(output: Output, draws: Iterable[tuple[str, Matrix, Matrix]]) -> list[Finding]:
    """Check the matrices in the draws that test the law for symmetry; `draws` has (scenario, data set, outputs)."""
    outputs = [(name, x, y) for name, x, many in draws for y in many]
    return [_checked("data path", NAME_SEEN, output, outputs)] if outputs else []


def _checked(kind: Kind, name: str, output: Output, outputs: list[tuple[str, Matrix, Matrix]]) -> Finding:
    parts = [(on, x, part) for on, x, y in outputs if (part := square_part(output, y)) is not None]
    broken = [(on, x, part) for on, x, part in parts if asymmetry(part)]
    if not broken:
        return Finding(kind, name, Status.NOT_REFUTED, f"all {len(parts)} matrices equal their transposes")
    on, x, part = max(broken, key=lambda found: asymmetry(found[2]))
    detail = (
        f"{len(broken)} of {len(parts)} matrices are not symmetric; on {on} an entry differs from its mirror image by "
        f"{asymmetry(part):.3g}{_empty_half(broken)}"
    )
    return Finding(kind, name, Status.REFUTED, detail, data=(x,))


def _empty_half(broken: list[tuple[str, Matrix, Matrix]]) -> str:
    """Return a message if all matrices are 0 on one side of the diagonal, and otherwise an empty string."""
    if all(not np.tril(part, -1).any() for _, _, part in broken):
        return "; below the diagonal there are zeros"
    if all(not np.triu(part, 1).any() for _, _, part in broken):
        return "; above the diagonal there are zeros"
    return ""
