"""Releases on a lattice: integers plus integer noise, drawn exactly. They need no interval arithmetic.

The mechanisms are `discrete-laplace-covariance` and `discrete-gaussian-covariance`. The release consists of the
integers `noisy_products` of the mechanism; everything else is computed from them and from public numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from covassay.reference.domain import DataSet, IntegerMatrix, OnLargeRows, require_row_bound
from covassay.reference.domain.exact_data import INPUT_BITS, ExactData, exact_data, in_units
from covassay.reference.laws import discrete_gaussian, discrete_laplace
from covassay.reference.laws.exact_draws import Bits, Coins, system_bits
from covassay.reference.mechanisms import discrete_gaussian_covariance, discrete_laplace_covariance
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.rounded.arguments import Rational, checked_arguments, rational, require_known_neighbours
from covassay.reference.rounded.release_record import ExactRelease


@dataclass(frozen=True)
class OnLattice:
    """A mechanism: (data, noise, budget) -> the integers that it releases, and the law of its noise."""

    noisy_products: Callable[[ExactData, Callable[[Fraction], IntegerMatrix], Fraction], IntegerMatrix]
    law: Callable[[int, Fraction, Coins], IntegerMatrix]


LATTICE: dict[str, OnLattice] = {
    "discrete-laplace-covariance": OnLattice(discrete_laplace_covariance.noisy_products, discrete_laplace.symmetric),
    "discrete-gaussian-covariance": OnLattice(discrete_gaussian_covariance.noisy_products, discrete_gaussian.symmetric),
}


@dataclass(frozen=True)
class LatticeRelease(ExactRelease):
    """A release on a lattice.

    The integers are the entries on and above the diagonal, row by row, and the grid is 1/(n 4^b).
    """

    kind = "lattice"
    guarantee = (
        "what is released are whole numbers: exact sums plus noise of the exact law, so the theorem covers every "
        "released bit"
    )
    assumptions = (
        "the bits of the operating system are fair and independent",
        "n, d, the unit and all parameters are public, and running time and memory use are not observed",
    )

    def note(self) -> str:
        """A sentence that the user of a release must know."""
        return (
            f"whole numbers times {self.grid_text}, for rows in the unit ball: the guarantee covers every released "
            "bit, if the system's random bits are fair, and nobody observes the running time; .json and .npz files "
            "hold the integers"
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
    """Release by the mechanism of that name.

    bits : a source of fair bits. seed : for tests, gives the noise that `sample` of the mechanism draws with this seed.
    The other parameters are those of `releasing.release`.
    """
    declared, chosen = mechanism(mechanism_name), LATTICE[mechanism_name]
    arguments = {name: rational(name, value) for name, value in parameters.items()}
    spend_arguments, options = checked_arguments(declared, arguments)
    require_known_neighbours(declared, options, known=False)
    read = exact_data(data, require_row_bound(row_bound), on_large_rows, input_bits)
    (budget,) = (arguments[key] for key in declared.notion.default.keywords())
    if seed is None:
        noisy = chosen.noisy_products(read, lambda parameter: chosen.law(read.d, parameter, Coins(bits)), budget)
    else:
        noisy = chosen.noisy_products(read, declared.draw_noise(read.d, np.random.default_rng(seed)), budget)
    unit = row_bound**declared.output.power
    return LatticeRelease(
        mechanism=mechanism_name,
        integers={"matrix": [int(k) for k in noisy[np.triu_indices(read.d)]]},
        grid=read.unit,
        unit=unit,
        values=in_units(noisy, read.unit) * unit,
        spend=declared.spend(dimension=read.d, **spend_arguments),
        input_bits=input_bits,
        seeded=seed is not None or bits is not system_bits,
    )
