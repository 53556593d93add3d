"""Test whether the entries of the noise, successive draws, and the steps of a mechanism are independent.

If the query is known, the audit observes all entries of the noise. If the output shows the noises of two steps of a
mechanism separately, the audit observes both noises. If a stream of random numbers is used twice, two noises depend on
each other although each of them has its own law.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.symmetry import places
from covassay.verification.statistics.dependence import Pairs, sizes, successive_draws, triples, turned_signs

SIGNS, SIZES, SUCCESSIVE = "signs of all entries", "sizes of all entries", "successive draws"
TRIPLES = "triples of entries"
STEP_SIGNS, STEP_SIZES = "signs across steps", "sizes across steps"


@dataclass(frozen=True)
class NoiseEntries:
    """Quantities of an output whose laws are symmetric about 0, and the pairs of quantities that must be independent.

    `values` takes outputs and returns the quantities, (n, k). The masks `turned` and `skew`, (k, k), mark the pairs of
    quantities that the function `turned_signs` of `statistics.dependence` tests. The mask `sizes`, (k, k), marks the
    pairs that the function `sizes` of the same module tests.
    """

    names: tuple[str, ...]
    values: Callable[[Matrix], Matrix]
    turned: Pairs
    skew: Pairs
    sizes: Pairs

    def tests(self, signs: str = SIGNS, of_sizes: str = SIZES) -> dict[str, Test]:
        """Return the tests by their names; for a single quantity, return only the test of successive draws."""
        tests: dict[str, Test] = {SUCCESSIVE: lambda y: successive_draws(self.values(y), self.names)}
        if len(self.names) > 1:
            tests[signs] = lambda y: turned_signs(self.values(y), self.names, self.turned, self.skew)
        if np.triu(self.sizes | self.sizes.T, 1).any():
            tests[of_sizes] = lambda y: sizes(self.values(y), self.names, self.sizes)
        return tests


def entries_of(shape: tuple[int, ...], residuals: Callable[[Matrix], Matrix], symmetric: bool, independent: bool) -> (
    NoiseEntries
):  # fmt: skip
    """Return all entries of additive noise, with the pairs whose dependence is tested.

    In all cases the additive noise E and its negative −E have the same law. If the entries of a noise matrix are not
    independent, E has the same law as DED for every diagonal matrix D with entries ±1, and without symmetry also the
    same law as DE. The law of a noise vector stays the same under every change of signs. The signs of two entries are
    therefore independent, unless both entries are on the diagonal of a symmetric matrix.
    """
    listed = places(shape, symmetric)
    on_diagonal = np.array([len(place) == 2 and place[0] == place[1] for place in listed])
    every = np.ones((len(listed), len(listed)), dtype=bool)
    tied = np.logical_and.outer(on_diagonal, on_diagonal) if symmetric and not independent else ~every
    columns = [int(np.ravel_multi_index(place, shape)) if place else 0 for place in listed]

    def values(outputs: Matrix) -> Matrix:
        seen: Matrix = residuals(outputs).reshape(len(outputs), -1)[:, columns]
        return seen

    names = tuple(f"entry ({', '.join(str(i + 1) for i in place)})" if place else "the output" for place in listed)
    return NoiseEntries(names, values, every & ~tied, every, every if independent else ~every)


def with_entries(scenario: Scenario, query: Matrix, symmetric: bool, independent: bool) -> Scenario:
    """Return the data set with added tests of the entries of the noise, which is output − query."""
    entries = entries_of(query.shape, lambda y: y - query, symmetric, independent)
    of_three: dict[str, Test] = {TRIPLES: lambda y: triples(entries.values(y), entries.names, independent)}
    tests = {**scenario.tests, **entries.tests(), **(of_three if len(entries.names) > 2 else {})}
    return replace(scenario, tests=tests)


def of_steps(
    dimension: int, noise: Callable[[Matrix], Matrix], vectors: Callable[[Matrix], Matrix], apart: bool = True
) -> dict[str, Test]:
    """Return tests that the eigenvalue noises and the rotations of the eigenvectors are independent, on rows along the
    axes.

    `noise` gives the noise of the eigenvalues, (n, d), and `vectors` gives the eigenvectors as columns, (n, d, d), both
    in descending order of the eigenvalues. The component of eigenvector i along the axis j > i depends on the step that
    drew the eigenvectors. The law of the component of eigenvector i along the axis j > i is symmetric about 0. If
    `apart` is false, the claimed law allows that the sizes of the noises of the two steps depend on each other. This
    dependence is then not tested.
    """
    i, j = np.triu_indices(dimension, 1)

    def values(outputs: Matrix) -> Matrix:
        v = vectors(outputs)
        return np.hstack([noise(outputs), v[:, j, i] * np.sign(v[:, i, i])])

    names = (
        *(f"the noise of eigenvalue {a + 1}" for a in range(dimension)),
        *(f"component {b + 1} of vector {a + 1}" for a, b in zip(i, j, strict=True)),
    )
    turns: NDArray[np.bool_] = np.arange(len(names)) >= dimension
    every = np.ones((len(names), len(names)), dtype=bool)
    mixed = np.logical_xor.outer(turns, turns)
    skew = every if apart else np.repeat(turns[:, None], len(names), axis=1)
    sized = ~np.logical_or.outer(turns, turns) | (mixed if apart else ~every)
    return NoiseEntries(names, values, every, skew, sized).tests(STEP_SIGNS, STEP_SIZES)
