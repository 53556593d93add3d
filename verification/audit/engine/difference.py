"""Whether a target has one law on two data sets: a few draws suggest where the laws differ, and fresh ones test it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.statistics.tests import two_sample

PILOT = 200  # draws on either data set that suggest a direction
PROMISING = 1e-3  # p-value of the pilot below which fresh draws are made
CONFIRMATION = 1000  # draws on either data set that test it
NEGLIGIBLE = 1e-3  # share of the false-alarm budget that one confirmation may spend


@dataclass(frozen=True)
class Difference:
    """What differs, in words; empty if nothing is proven.

    failed : how many draws of the pilot failed on either data set, if they were too many to go on.
    """

    what: str = ""
    failed: tuple[int, int] | None = None


def _features(outputs: Matrix) -> Matrix:
    """Numbers whose means show many changes of law: the first 40 entries, and their products."""
    flat = outputs.reshape(len(outputs), -1)
    flat = flat[:, :40]
    products = np.einsum("ni,nj->nij", flat, flat)[:, *np.triu_indices(flat.shape[1])]
    return np.hstack([flat, products])


def _directions(first: Matrix, second: Matrix) -> list[Callable[[Matrix], Vector]]:
    """Three statistics whose means differ much between the pilot draws on the two data sets.

    They are a weighted sum of the entries, a weighted sum of the products, and the single feature whose means differ
    most in units of its spread. The weight of a feature is the difference of its means over the square of its spread.
    """
    entries = min(40, int(np.prod(first.shape[1:])))
    a, b = _features(first), _features(second)
    spread = np.concatenate([a, b]).std(axis=0)
    weights = np.divide(a.mean(axis=0) - b.mean(axis=0), spread**2, out=np.zeros_like(spread), where=spread > 0)
    linear, quadratic = weights.copy(), weights.copy()
    linear[entries:], quadratic[:entries] = 0, 0
    best = int(np.argmax(np.abs(weights) * spread))
    return [lambda y: _features(y) @ linear, lambda y: _features(y) @ quadratic, lambda y: _features(y)[:, best]]


def _least_p(first: Matrix, second: Matrix, statistics: list[Callable[[Matrix], Vector]]) -> float:
    size = min(len(first), len(second))
    tests = [two_sample(f(first[:size]), f(second[:size]), "").p_value for f in statistics]
    return min(1.0, len(tests) * min(tests))


def difference_in_law(
    setting: Setting, x: Matrix, other: Matrix, label: str, alpha: float, confirmation: int = CONFIRMATION
) -> Difference:
    """How the law of the output on x differs from that on other data, as far as draws prove it.

    `alpha` is the false-alarm budget of the run, of which the share `NEGLIGIBLE` is spent here.
    """

    def both(part: str, size: int) -> tuple[Matrix, Matrix, int, int]:
        a, b = (draw(setting, data, size, f"{label}/{part}/{i}") for i, data in enumerate((x, other)))
        return a.outputs, b.outputs, a.failed, b.failed

    first, second, *failed = both("pilot", PILOT)
    if max(failed) > PILOT // 10:
        return Difference(failed=(failed[0], failed[1]))
    statistics = _directions(first, second)
    if _least_p(first, second, statistics) > PROMISING:
        return Difference()
    p = _least_p(*both("test", confirmation)[:2], statistics)
    return Difference(
        f"the outputs differ in law ({confirmation} draws each, p = {p:.2g})" if p < alpha * NEGLIGIBLE else ""
    )
