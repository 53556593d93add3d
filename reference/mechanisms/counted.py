"""Add a noisy number of rows to a noisy sum, for additive mechanisms whose neighbours differ by one row.

Under add-remove the number of rows n is private, so these mechanisms release a sum over the rows in place of its mean
(Σ_i x_i x_iᵀ in place of Σ), and n with noise of its own. Adding or removing a row changes n by 1 and, at the same
time, the sum by at most its sensitivity for one row, so n and the sum share the budget: ε = ε₀ + ε₁ or ρ = ρ₀ + ρ₁,
with the first share for n. A row that moves the sum by as much as the noise is calibrated to attains the whole budget.

The share of the budget for n is public. It minimises a bound on the error of the estimate of Σ that divides the noisy
sum by the noisy n. The error is computed to first order in the noise, and for rows at which it is largest. Let V be the
mean squared norm of the noise of the sum at ε₁ = 1 or ρ₁ = ½. The norm of Σ is at most 1. The squared error is
therefore at most 1/n² times V/ε₁² + 2/ε₀² under pure DP, and at most 1/n² times (V/ρ₁ + 1/ρ₀)/2 under zCDP.

The output is a vector: the noisy n, and then the noisy sum, entry by entry. If the noise of the sum is symmetric, the
vector has the entries on and above the diagonal, row by row. A data set without rows is allowed, and its n and its sum
are 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from covassay.reference.domain import (
    Adjacency,
    Array,
    IntegerMatrix,
    Matrix,
    Number,
    Rows,
    Vector,
    require_number,
    sum_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import Output
from covassay.reference.sensitivity import cube_root, square_root

Entries = Literal["vector", "full", "triangle"]

# FORMULAS


def pure_share(noise: Number, cbrt: Callable[[Number], Number] = cube_root) -> Number:
    """The share ε₀/ε = 1/(1 + (V/2)^{1/3}) that minimises V/ε₁² + 2/ε₀²; `noise` is V."""
    return 1 / (1 + cbrt(noise / 2))


def gaussian_share(noise: Number, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The share ρ₀/ρ = 1/(1 + √V) that minimises V/ρ₁ + 1/ρ₀; `noise` is V."""
    return 1 / (1 + sqrt(noise))


def gaussian_count_scale(rho: Number, share: Number, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The standard deviation 1/√(2ρ₀) of the noise of n."""
    return 1 / sqrt(2 * share * rho)


def laplace_count_scale(epsilon: Number, share: Number) -> Number:
    """The scale 1/ε₀ of the noise of n."""
    return 1 / (share * epsilon)


# THE NOISE AND THE OUTPUT


@dataclass(frozen=True)
class CountedNoise:
    """The noise of the number of rows and the noise of the sum, both of scale 1."""

    count: float
    sum: Array


@dataclass(frozen=True)
class CountedDraws:
    """The integer noise: `count` draws it for the number of rows, and `sum` draws it for the sum.

    Both functions take the parameter of the law of the noise.
    """

    count: Callable[[Fraction], int]
    sum: Callable[[Fraction], IntegerMatrix]

    def whole_count(self, parameter: Fraction) -> int:
        """Return the noise of the number of rows, or raise `InvalidInput` if this noise is not a Python integer."""
        drawn = self.count(parameter)
        if not isinstance(drawn, int) or isinstance(drawn, bool):
            raise InvalidInput(f"noise.count(parameter) = {drawn!r}: must be a Python integer")
        return drawn


def draws_of(noise: Any) -> CountedDraws:
    """Return the integer noise under add-remove, or raise `InvalidInput` if `noise` is of another kind."""
    if not isinstance(noise, CountedDraws):
        raise InvalidInput("noise: must be CountedDraws under add-remove")
    return noise


def parts_of(noise: Any, adjacency: Adjacency) -> tuple[float, Array]:
    """Return the noise of the number of rows, which is 0 under replace-one, and the noise of the query."""
    if adjacency == "replace-one":
        return 0.0, noise
    if not isinstance(noise, CountedNoise):
        raise InvalidInput("noise: must be a CountedNoise under add-remove")
    return require_number("noise.count", noise.count), noise.sum


def with_counts(counts: Array, sums: Array, size: int | None) -> Any:
    """Return a `CountedNoise`, or a list of `size` of them."""
    if size is None:
        return CountedNoise(float(counts), sums)
    return [CountedNoise(float(count), one) for count, one in zip(counts, sums, strict=True)]


@dataclass(frozen=True)
class RowsAndSumOutput(Output):
    """An output of shape (1 + k,): the noisy number of rows, and the k entries of a noisy sum."""

    kind: ClassVar[str] = "rows-and-sum"
    layout: ClassVar[str] = "(1 + k,)"
    entries: Entries = "triangle"

    def shape(self, dimension: int) -> tuple[int, ...]:
        """Return the shape of one output on data with `dimension` columns."""
        d = dimension
        return (1 + {"vector": d, "full": d**2, "triangle": d * (d + 1) // 2}[self.entries],)

    def parts(self, values: Array) -> dict[str, Array]:
        """Return the number of rows, the sum, and the sum divided by the number of rows, or by 1 if that is larger.

        The sum and the quotient are matrices, or vectors if `entries` is "vector".
        """
        total = self.unpacked(values[1:])
        return {"rows": values[0], "sum": total, "second_moment": total / np.maximum(values[0], 1.0)}

    def meaning(self, scaled: bool) -> dict[str, dict[str, str]]:
        """Return for every part of an output its unit and, if the part is a moment, the point about which it is taken.

        The noisy sum, and the noisy sum divided by the number of rows ("second_moment"), are taken about the same
        point.
        """
        said = super().meaning(scaled)
        point = "the point that the provenance records as `shift`" if scaled else said["second_moment"]["about"]
        for part in ("sum", "second_moment"):
            said[part] = {"about": point, "unit": said["second_moment"]["unit"]}
        return said

    def header(self, columns: Sequence[str]) -> list[str]:
        """Return the headings: one for the number of rows and, for every entry of the sum, the two columns that are
        multiplied.
        """
        d = len(columns)
        i, j = {
            "vector": (np.arange(d), np.arange(d)),
            "full": np.divmod(np.arange(d * d), d),
            "triangle": np.triu_indices(d),
        }[self.entries]
        return ["rows", *(f"{columns[a]}*{columns[b]}" for a, b in zip(i, j, strict=True))]

    @property
    def restorable(self) -> bool:
        """Whether outputs on scaled data can be converted to the units of the data: yes, all parts of them can."""
        return True

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Vector:
        """Return the output in the units of the data, given the output for scaled rows."""
        factors = scale**2 if self.entries == "vector" else np.outer(scale, scale)
        restored: Vector = values * self.packed(1.0, factors)
        return restored

    def times_bound(self, values: Array, row_bound: float) -> Vector:
        """Return the output in the unit of x. The number of rows has no unit."""
        restored: Vector = values * np.append(1.0, np.full(len(values) - 1, row_bound**2))
        return restored

    def packed(self, rows: float, total: Array) -> Vector:
        """The output."""
        entries = total[np.triu_indices(len(total))] if self.entries == "triangle" else total.ravel()
        return np.append(rows, entries)

    def unpacked(self, entries: Array) -> Array:
        """Return the sum as a matrix or vector, made from its entries, (…, k) -> (…, d, d) or (…, d)."""
        if self.entries == "vector":
            return entries
        k = entries.shape[-1]
        if self.entries == "full":
            return entries.reshape(*entries.shape[:-1], round(k**0.5), round(k**0.5))
        d = round(((8 * k + 1) ** 0.5 - 1) / 2)
        i, j = np.triu_indices(d)
        total = np.zeros((*entries.shape[:-1], d, d))
        total[..., i, j] = total[..., j, i] = entries
        return total


def moment_sum(rows: Rows) -> Matrix:
    """Return the sum Σ_i x_i x_iᵀ, symmetric, (d, d), which is 0 if there are no rows."""
    d = rows.shape[1]
    total = np.zeros((d, d)) + sum_rows(lambda block: block.T @ block, rows)
    symmetric: Matrix = (total + total.T) / 2
    return symmetric
