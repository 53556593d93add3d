"""Release on a lattice: the release consists of integers plus integer noise, drawn exactly. Releases on a lattice need
no interval arithmetic.

The mechanisms on a lattice are `discrete-laplace-covariance` and `discrete-gaussian-covariance`. The release consists
of the integers `noisy_products` of the mechanism; everything else is computed from them and from public numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from covassay.reference.domain import Adjacency, DataSet, IntegerMatrix, OnLargeRows, require_row_bound
from covassay.reference.domain.exact_data import INPUT_BITS, ExactData, exact_data, in_units
from covassay.reference.laws import discrete_gaussian, discrete_laplace
from covassay.reference.laws.exact_draws import Bits, Coins, system_bits
from covassay.reference.mechanisms import discrete_gaussian_covariance, discrete_laplace_covariance
from covassay.reference.mechanisms.counted import CountedDraws, RowsAndSumOutput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.rounded.arguments import Rational, checked_arguments, rational
from covassay.reference.rounded.release_record import ExactRelease, require_rows


@dataclass(frozen=True)
class OnLattice:
    """A mechanism on a lattice: how its integers follow from data, noise and budget, and the law of its noise.

    Under add-remove the integers are `rows_and_products`, and `number` is the law of the noise of the number of rows.
    """

    noisy_products: Callable[[ExactData, Callable[[Fraction], IntegerMatrix], Fraction], IntegerMatrix]
    law: Callable[[int, Fraction, Coins], IntegerMatrix]
    rows_and_products: Callable[[ExactData, CountedDraws, Fraction], tuple[int, IntegerMatrix]]
    number: Callable[[Fraction, Coins], int]


LATTICE: dict[str, OnLattice] = {
    name: OnLattice(file.noisy_products, law.symmetric, file.noisy_rows_and_products, law.sample)
    for name, file, law in (
        ("discrete-laplace-covariance", discrete_laplace_covariance, discrete_laplace),
        ("discrete-gaussian-covariance", discrete_gaussian_covariance, discrete_gaussian),
    )
}


@dataclass(frozen=True)
class LatticeRelease(ExactRelease):
    """A release on a lattice.

    Under replace-one the integers are the entries of the second moment on and above the diagonal, row by row, and the
    grid is 1/(n 4^b). Under add-remove the integers are the entries of the sum of products, the grid is 1/4^b, and the
    number of rows is a whole number.
    """

    kind = "lattice"
    guarantee = (
        "the release consists of integers, exact sums plus noise of the exact law, so the theorem covers every "
        "released bit"
    )
    assumptions = (
        "the bits of the operating system are fair and independent",
        "d, the unit, all parameters and, under replace-one, n are public",
        "running time and memory use are not observed",
    )

    def note(self) -> str:
        """Return a text that the user of a release must read."""
        return (
            f"the released numbers are whole numbers times {self.grid_text}, for rows in the unit ball. "
            "The guarantee covers every released bit if the system's random bits are fair and nobody observes the "
            "running time. Files in the formats .json and .npz also contain the whole numbers."
        )


def release(
    mechanism_name: str,
    data: DataSet | ExactData,
    *,
    seed: int | None = None,
    bits: Bits = system_bits,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
    input_bits: int = INPUT_BITS,
    **parameters: Rational,
) -> LatticeRelease:
    """Release by the mechanism with the given name.

    bits : a source of fair bits.
    seed : a seed for tests, which gives the noise that `sample` of the mechanism draws with this seed.

    The other parameters are those of `releasing.release`.
    """
    declared, chosen = mechanism(mechanism_name), LATTICE[mechanism_name]
    arguments = {name: rational(name, value) for name, value in parameters.items()}
    spend_arguments, options = checked_arguments(declared, arguments)
    read = exact_data(data, require_row_bound(row_bound), on_large_rows, input_bits)
    require_rows(read, options)
    (budget,) = (arguments[key] for key in declared.notion.default.keywords())
    adjacency = declared.adjacency_of(options)
    noise = (
        _noise(chosen, read.d, bits, adjacency)
        if seed is None
        else declared.draw_noise(read.d, np.random.default_rng(seed), adjacency=adjacency)
    )
    unit: Any = row_bound**declared.output.power
    integers, grid = {}, Fraction(1, 4**input_bits)
    if adjacency == "replace-one":
        noisy, grid = chosen.noisy_products(read, noise, budget), read.unit
        values = in_units(noisy, grid) * unit
    else:
        rows, noisy = chosen.rows_and_products(read, noise, budget)
        kind = cast(RowsAndSumOutput, declared.output_of(options))
        values = kind.times_bound(kind.packed(float(rows), in_units(noisy, grid)), row_bound)
        integers, unit = {"rows": [rows]}, {"rows": float(1 / grid), "sum": unit}
    integers["matrix" if adjacency == "replace-one" else "sum"] = [int(k) for k in noisy[np.triu_indices(read.d)]]
    return LatticeRelease(
        mechanism=mechanism_name,
        integers=integers,
        grid=grid,
        unit=unit,
        values=values,
        spend=declared.spend(dimension=read.d, **spend_arguments),
        input_bits=input_bits,
        seeded=seed is not None or bits is not system_bits,
    )


def _noise(chosen: OnLattice, d: int, bits: Bits, adjacency: Adjacency) -> Any:
    """Draw the noise of the mechanism from a source of fair bits."""

    def products(parameter: Fraction) -> IntegerMatrix:
        return chosen.law(d, parameter, Coins(bits))

    if adjacency == "replace-one":
        return products
    return CountedDraws(lambda parameter: chosen.number(parameter, Coins(bits)), products)
