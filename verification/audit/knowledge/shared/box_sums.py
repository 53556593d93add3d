"""Recover noisy sums from a release of the number of rows, the mean and the covariance of bounded columns, and state
the law of these sums.

The mechanism computes the released number of rows, mean and covariance from the noisy sums, and the released statistics
determine the sums. The audit therefore tests the sums, whose noise is independent and of known scales on data with any
numbers of rows and columns. The letter u_j stands for the j-th scaled column. Under replace-one, where the number of
rows is public, the first row of the tested matrix has the sums of u_j, and the other rows have the sums of u_j² − 1 and
of u_i u_j. Under add-remove the tested matrix is symmetric and also has the noisy number of rows in its corner.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covassay.reference.box_moments import Weights, moment_sums, spreads, sums_of, worst_rows
from covassay.reference.domain import Adjacency, Box, Matrix, Vector
from covassay.reference.mechanisms.output import MatrixOutput, MomentsOutput, Output
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.features import Feature, contrasts
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.engine.symmetry import places
from covassay.verification.audit.knowledge.shared.coordinate_noise import vector_noise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, Pairs, View
from covassay.verification.statistics.laws import LAPLACE, NORMAL
from covassay.verification.statistics.tests import kolmogorov_smirnov

N = 12
DIMENSIONS = (1, 2, 4)
WEIGHT = 1.5  # the number of draws for the tests on example rows is multiplied by this factor
# The entries of rows that the mechanism must clip have this absolute value, where the box has the bounds −1 and 1.
FARTHEST = 50.0
ASYMMETRY = 1e-9  # an asymmetry above this share of the entries is not a rounding error
PARTS = {"count": "number of rows", "mean": "means", "square": "squares", "product": "products of two columns"}


class SumsOutput(MatrixOutput):
    """An output of shape (d + 1, d + 1) with the noisy sums of 1, u_j, u_j² − 1 and u_i u_j, where u_j are the scaled
    columns.
    """

    kind, layout = "sums", "(d + 1, d + 1)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        """Return the shape of an output on data with `dimension` columns."""
        return dimension + 1, dimension + 1


def lifted(x: Matrix) -> Matrix:
    """Return the rows clipped to the cube, with a 1 in front of each row."""
    return np.hstack([np.ones((len(x), 1)), np.clip(x, -1, 1)])


@contrasts.register
def _(output: SumsOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    """Return three features of an output Y that separate two data sets.

    The first feature is the number of rows in Y. Let D be the change of Σ zzᵀ between the data sets, where z is a
    clipped row with a 1 in front. The second feature is the scalar product ⟨Y, D⟩ over all entries. The third feature
    is the same product, but only over the entries that are sums of single columns.
    """
    a, b = lifted(first), lifted(second)
    change = a.T @ a - b.T @ b
    parts = {"all sums": np.ones_like(change, dtype=bool), "mean": np.eye(len(change), dtype=bool)}
    parts["mean"] = np.zeros_like(change, dtype=bool)
    parts["mean"][0, 1:] = True
    return {
        "the number of rows": lambda y: y[:, 0, 0],
        **{f"⟨Y, change⟩, {name}": _product(np.where(where, change, 0.0)) for name, where in parts.items()},
    }


def _product(change: Matrix) -> Feature:
    return lambda y: np.einsum("nij,ij->n", y, change)


# THE NOISY SUMS


def _symmetric(values: Matrix) -> Matrix:
    gap = float(np.abs(values[0, 1:] - values[1:, 0]).max())
    if gap > ASYMMETRY * max(1.0, float(np.abs(values[0]).max())):
        raise ValueError("the mean in the first row of the output differs from the mean in the first column")
    return values


def sums_seen(values: Matrix, box: Box, n: int) -> Matrix:
    """Return the noisy sums together with the noisy number of rows."""
    return sums_of(_symmetric(values), box)


def moments_seen(values: Matrix, box: Box, n: int) -> Matrix:
    """Return a matrix with the noisy sums of u_j in its first row, and those of u_j² − 1 and u_i u_j below, where u_j
    are the scaled columns.
    """
    if values[0, 0] != n:
        raise ValueError(f"the number of rows is public and is {n}, but the output states {values[0, 0]:g}")
    return sums_of(_symmetric(values), box)[:, 1:]


def view(claim: ClaimUnderAudit) -> View:
    """Return the function that computes the tested sums from an output, for the claimed adjacency."""
    if claim.options["adjacency"] == "add-remove":
        return View(SumsOutput(power=1, symmetric=True), sums_seen)
    return View(MomentsOutput(power=1), moments_seen)


# LAW OF THE SUMS


@dataclass(frozen=True)
class SumsLaw:
    """The law of the noise on sums of columns, whose scales are functions of the number of columns and of the
    adjacency.

    `scale` takes (d, adjacency) and returns the noise scale of a sum with weight 1 at the claimed budget. `gaussian`
    says whether the noise is Gaussian or Laplace.
    """

    adjacency: Adjacency
    scale: Callable[[int, Adjacency], float]
    weights: Callable[[int, Adjacency], Weights]
    gaussian: bool

    @property
    def output(self) -> Output:
        """Return which sums are tested under the adjacency of the claim."""
        return SumsOutput(power=1) if self.adjacency == "add-remove" else MomentsOutput(power=1)

    def placed(self, sums: Matrix) -> Matrix:
        """Arrange the tested sums in the order of the output."""
        return sums if self.adjacency == "add-remove" else sums[:, 1:]

    def query(self, x: Matrix) -> Matrix:
        """Return the tested sums of these rows without noise."""
        return self.placed(moment_sums(np.clip(x, -1, 1), *x.shape))

    def spread(self, d: int, w: Weights | None = None, scale: float | None = None) -> Matrix:
        """Return the noise scale of every tested sum. The weights and the scale of the claim are used unless others are
        given.
        """
        usual = float(self.scale(d, self.adjacency)) if scale is None else scale
        return self.placed(spreads(usual, self.weights(d, self.adjacency) if w is None else w, d))

    def own(self, d: int) -> tuple[NDArray[np.intp], ...]:
        """Return the indices of the entries of an output that have independent noise."""
        listed = places(self.output.shape(d), symmetric=True)
        rows, columns = (np.array(index) for index in zip(*listed, strict=True))
        return rows, columns

    def scenario(self, n: int, d: int) -> Scenario:
        """Return the tests on example rows with the shape (n, d)."""
        x = example_rows(n, d)
        own, query = self.own(d), self.query(x)
        spread = self.spread(d)
        base = vector_noise(
            f"n={n}, d={d}", x, query[own], spread[own], NORMAL if self.gaussian else LAPLACE, 2 if self.gaussian else 1
        )
        tests = {name: _flat(test, own) for name, test in base.tests.items()}
        return Scenario(base.name, x, tests, self.suspects(d, query), weight=WEIGHT)

    def suspects(self, d: int, query: Matrix) -> tuple[Suspect, ...]:
        """Return laws of plausible mistakes in the weights and in the noise scales."""
        own, law = self.own(d), NORMAL if self.gaussian else LAPLACE

        def fits(spread: Matrix) -> Test:
            def test(y: Matrix) -> object:
                values = _at(y - query, own) / spread[own]
                return kolmogorov_smirnov(values.ravel(), law, "all sums have noise with the law of the mistake")

            return test  # type: ignore[return-value]

        w, usual = self.weights(d, self.adjacency), float(self.scale(d, self.adjacency))
        made = [
            Suspect("half-scale", "the noise has half the calibrated scale: too little noise",
                    fits(self.spread(d) / 2)),
            Suspect("double-scale", "the noise has twice the calibrated scale: private but wasteful",
                    fits(self.spread(d) * 2)),
            Suspect("weights-squared", "the noise of every sum is divided by the square of its weight",
                    fits(self.spread(d, Weights(*(v**2 for v in (w.count, w.mean, w.square, w.product)))))),
            Suspect("no-weights", "all sums have noise of one scale, that of weight 1",
                    fits(self.spread(d, Weights(1, 1, 1, 1)))),
        ]  # fmt: skip
        other: Adjacency = "replace-one" if self.adjacency == "add-remove" else "add-remove"
        if self.adjacency == "replace-one":
            made.append(
                Suspect("other-adjacency", f"the noise is the one for {other} neighbours",
                        fits(self.spread(d, self.weights(d, other), float(self.scale(d, other)))))
            )  # fmt: skip
        for name, words in PARTS.items():
            if getattr(w, name) and (name != "product" or d > 1):
                half = replace(w, **{name: 2 * getattr(w, name)})
                made.append(
                    Suspect(f"half-{name}", f"the noise of the {words} has half the calibrated scale",
                            fits(self.spread(d, half, usual)))
                )  # fmt: skip
        return tuple(made)

    def likelihood_ratio(self, first: Matrix, second: Matrix) -> Statistic:
        """Return the log likelihood ratio of the noisy sums between two data sets."""
        d = first.shape[1]
        own, a, b = self.own(d), self.query(first), self.query(second)
        spread = self.spread(d)[own]

        def ratio(y: Matrix) -> Vector:
            to_a, to_b = (_at(y - query, own) / spread for query in (a, b))
            if self.gaussian:
                return np.asarray(((to_b**2 - to_a**2) / 2).sum(axis=1))
            return np.asarray((np.abs(to_b) - np.abs(to_a)).sum(axis=1))

        return Statistic("log likelihood ratio", ratio)

    def pair(self, name: str, others: Matrix, x: Vector, y: Vector, weight: float = 1.0) -> Pair:
        """Return neighbours that share the rows `others`. The row x is replaced by y, or removed under add-remove."""
        first = np.vstack([others, x])
        second = others if self.adjacency == "add-remove" else np.vstack([others, y])
        statistics = (self.likelihood_ratio(first, second), *generic_statistics(first, second, self.output))
        return Pair(f"{name}, d={first.shape[1]}", first, second, statistics, weight)

    def pairs(self) -> Pairs:
        """Return neighbours that change the sums most, neighbours that change one kind of sum, and neighbours with rows
        that must be clipped.
        """
        made = []
        for d in (1, 2, 3):
            others = np.zeros((2, d))
            w = self.weights(d, self.adjacency)
            x, y = worst_rows(d, w, "l2" if self.gaussian else "l1")
            made.append(self.pair("the worst rows", others, x, y))
            made.append(self.pair("a row of zeros against a corner", others, np.zeros(d), x, 0.5))
        d = 2
        others = example_rows(N, d)
        made.append(self.pair("opposite corners among ordinary rows", others, np.ones(d), -np.ones(d), 0.5))
        made.append(self.pair("corners that differ in one column", others, np.ones(d), np.array([1.0, -1.0]), 0.5))
        far = self.pair("rows far outside the bounds", np.zeros((2, d)), FARTHEST * np.ones(d), -FARTHEST * np.ones(d))
        return (*made, replace(far, weight=0.25))

    @property
    def known(self) -> KnownLaw:
        """Return all that the audit knows of the law of the noisy sums."""
        shapes = Shapes(
            self.scenario, ("all coordinates", "total scale"), lambda d: len(self.own(d)[0]), grid(most_columns=12)
        )
        return KnownLaw(tuple(self.scenario(N, d) for d in DIMENSIONS), self.pairs(), shapes)


def _flat(test: Test, own: tuple[NDArray[np.intp], ...]) -> Test:
    return lambda outputs: test(_at(outputs, own))


def _at(values: Matrix, own: tuple[NDArray[np.intp], ...]) -> Matrix:
    """Return the entries that have independent noise, as an array of shape (size, k)."""
    seen: Matrix = values[:, own[0], own[1]]
    return seen
