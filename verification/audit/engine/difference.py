"""Test whether a target has the same law on two data sets; a few draws suggest where the laws differ, and new draws
test the difference.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.engine.sampling import Draws, Setting, draw
from covassay.verification.statistics.last_digits import rounded_to, unit_of
from covassay.verification.statistics.tests import two_sample

ENTRIES = 40  # the largest number of entries of an output that are compared
PILOT = 200  # the number of pilot draws on each of the two data sets, which suggest how the laws differ
PROMISING = 1e-3  # new draws are made if the p-value of the pilot is below this
CONFIRMATION = 1000  # the number of new draws on each data set, which test the difference that the pilot suggests


@dataclass(frozen=True)
class Difference:
    """A sentence that says how the laws on two data sets differ, and that is empty if no difference is proven.

    `failed` has the numbers of failed pilot draws on the two data sets if too many failed for a test, and is None
    otherwise.
    """

    what: str = ""
    failed: tuple[int, int] | None = None


def _features(outputs: Matrix) -> Matrix:
    """Return features of an output, which are the first `ENTRIES` entries and their products. The means of these
    features often differ if two laws differ.
    """
    flat = outputs.reshape(len(outputs), -1)[:, :ENTRIES]
    products = np.einsum("ni,nj->nij", flat, flat)[:, *np.triu_indices(flat.shape[1])]
    return np.hstack([flat, products])


def _directions(entries: int, a: Matrix, b: Matrix) -> list[Callable[[Matrix], Vector]]:
    """Return three functions of the features, chosen so that their means differ much between two samples of pilot
    draws. The arrays a and b have the features of these two samples.

    The functions are a weighted sum of the entries, a weighted sum of the products, and the single feature whose means
    differ most in units of its spread. The weight of a feature is the difference of its means divided by the square of
    its spread.
    """
    spread = np.concatenate([a, b]).std(axis=0)
    weights = np.divide(a.mean(axis=0) - b.mean(axis=0), spread**2, out=np.zeros_like(spread), where=spread > 0)
    linear, quadratic = weights.copy(), weights.copy()
    linear[entries:], quadratic[:entries] = 0, 0
    best = int(np.argmax(np.abs(weights) * spread))
    return [lambda f: f @ linear, lambda f: f @ quadratic, lambda f: f[:, best]]


def _least_p(a: Matrix, b: Matrix, statistics: list[Callable[[Matrix], Vector]]) -> float:
    size = min(len(a), len(b))
    tests = [two_sample(statistic(a[:size]), statistic(b[:size]), "").p_value for statistic in statistics]
    return min(1.0, len(tests) * min(tests))


def difference_in_law(
    setting: Setting, x: Matrix, other: Matrix, label: str, alpha: float, confirmation: int = CONFIRMATION
) -> Difference:
    """Return how the laws of the output on two data sets differ. If the draws prove no difference, the sentence in the
    returned `Difference` is empty.

    A target that has the same law on both data sets is found to differ with probability at most `alpha`.
    """

    def both(part: str, size: int) -> list[Draws]:
        return [draw(setting, data, size, f"{label}/{part}/{i}") for i, data in enumerate((x, other))]

    first, second = both("pilot", PILOT)
    if max(first.failed, second.failed) > PILOT // 10:
        return Difference(failed=(first.failed, second.failed))
    unit = unit_of(first.outputs, second.outputs)
    a, b = (_features(rounded_to(unit, draws.outputs)) for draws in (first, second))
    entries = min(ENTRIES, int(np.prod(first.outputs.shape[1:])))
    statistics = _directions(entries, a, b)
    if _least_p(a, b, statistics) > PROMISING:
        return Difference()
    a, b = (_features(rounded_to(unit, draws.outputs)) for draws in both("test", confirmation))
    p = _least_p(a, b, statistics)
    return Difference(f"the outputs differ in law ({confirmation} draws each, p = {p:.2g})" if p < alpha else "")
