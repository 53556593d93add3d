"""Make one rounded release, from the data to integers and their grid."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from covassay.reference.domain import Box, DataSet, OnLargeRows, require_row_bound, shape_of
from covassay.reference.domain.exact_data import INPUT_BITS, ExactData, exact_data
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import DOMAINS
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.rounded import DEFAULT_GRID, WITH_ROUNDED_FORM
from covassay.reference.rounded.arguments import Rational, checked_arguments, rational, require_grid
from covassay.reference.rounded.balls import Refined, exact, nearest_multiple, refined
from covassay.reference.rounded.bits import OperatingSystem, Seeded, Source, Uniforms
from covassay.reference.rounded.mechanisms import Options, Parts, form_of
from covassay.reference.rounded.release_record import UNIT_BALL, ExactRelease, require_rows

# the additional bits of the first attempt; with them, an entry needs a second attempt with probability about 2^{−64}
SPARE_BITS = 64


@dataclass(frozen=True)
class RoundedRelease(ExactRelease):
    """A rounded release.

    The field `precisions` has the precisions that were tried, in bits. The precisions must NOT be released, because
    their number depends on the output.
    """

    kind = "rounded"
    guarantee = (
        "the release is the output of the ideal mechanism, rounded to the grid, so the theorem about real numbers "
        "covers every released bit"
    )
    assumptions = (
        "the bits of the operating system are fair and independent",
        "the interval arithmetic (python-flint, Arb) is correct",
        "d, the grid, all parameters and, under replace-one, n are public",
        "running time and memory use are not observed",
    )
    precisions: tuple[int, ...] = field(repr=False)

    @property
    def grid_text(self) -> str:
        """Return the grid as the text of a power of 2."""
        return f"2^{self.grid.numerator.bit_length() - self.grid.denominator.bit_length()}"

    def note(self) -> str:
        """Return a text that the user of a release must read."""
        return (
            f"the release is correctly rounded to the grid {self.grid_text}, for {self.rows}. "
            "The guarantee covers every released bit if the system's random bits are fair, the library for interval "
            "arithmetic is correct, and nobody observes the running time. "
            "Files in the formats .json and .npz also contain the release as integers, in units of the grid."
        )


def release(
    mechanism_name: str,
    data: DataSet | ExactData,
    *,
    grid: Rational = DEFAULT_GRID,
    source: Source | None = None,
    seed: int | None = None,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
    bounds: Any = None,
    input_bits: int = INPUT_BITS,
    **parameters: Rational,
) -> RoundedRelease:
    """Release by the mechanism with the given name, rounded correctly to the grid.

    Parameters
    ----------
    data : shape (n, d), an array or `Chunks`; or the exact sums of its parts, added up (`ExactData`).
    grid : a power of 2, public, as a number or as text like "2^-30"; for rows in the unit ball.
    source : the source of the bits; None means the operating system.
    seed : a seed for tests, in place of a source.
    row_bound, on_large_rows : the parameters of every mechanism on a ball.
    bounds : the parameter of every mechanism on a box.
    input_bits : b; entries are rounded toward zero to multiples of 2^−b of the row bound, or of half the width of a
        column.
    parameters : the budget and the options of the mechanism. Numbers may be text such as "0.1", with the value of this
        decimal number; a float has the value of the decimal number that Python prints for it.

    Raises
    ------
    InvalidInput : an argument breaks its rule, or the mechanism has no rounded form.
    """
    step = require_rounded_form(mechanism_name, grid)
    declared = mechanism(mechanism_name)
    arguments = {name: rational(name, value) for name, value in parameters.items()}
    spend_arguments, options = checked_arguments(declared, arguments)
    kind, chosen = declared.output_of(options), form_of(mechanism_name, options.get("adjacency"))
    box = (
        Box.of_columns(bounds, data.d if isinstance(data, ExactData) else shape_of(data, 0)[1]) if chosen.box else None
    )
    if bounds is not None and box is None:
        raise InvalidInput(f"bounds: {mechanism_name} takes {DOMAINS[declared.domain]}, so it has no bounds")
    read = exact_data(data, require_row_bound(row_bound), on_large_rows, input_bits, chosen.sums, box)
    require_rows(read, options)
    if kind.kind == "level":
        step = Fraction(1)
    bits = source or (OperatingSystem() if seed is None else Seeded(seed))
    done = rounded_parts(mechanism_name, read, arguments | options, step, bits)
    values = {name: np.array([float(k * step) for k in part]) for name, part in done.result.items()}
    output = np.asarray(chosen.finish(values, read.n, read.d, options))
    if box:
        unit, restored = 1.0, kind.restore(output, box.centre, box.half_widths)
    else:
        unit, restored = row_bound**declared.output.power, kind.times_bound(output, row_bound)
    return RoundedRelease(
        mechanism=mechanism_name,
        integers=done.result,
        grid=step,
        unit={"rows": 1.0, "sum": unit} if kind.kind == "rows-and-sum" else unit,
        values=restored,
        spend=declared.spend(dimension=read.d, **spend_arguments),
        input_bits=input_bits,
        seeded=not isinstance(bits, OperatingSystem),
        precisions=done.precisions,
        rows="columns scaled to [-1, 1]" if box else UNIT_BALL,
    )


def rounded_parts(
    name: str, data: ExactData, options: Mapping[str, Any], grid: Fraction, source: Source
) -> Refined[dict[str, list[int]]]:
    """Return the output of the ideal mechanism, rounded to the grid. For every part of the output, the result has the
    integers k of the rounded numbers k · `grid`. The result also has the precisions, in bits, at which the computation
    was tried.

    The argument `options` has the budget and the options; numbers are Fractions.
    """
    chosen = form_of(name, options.get("adjacency"))

    def compute(uniforms: Uniforms) -> dict[str, list[int]]:
        balls: Options = {key: arb(exact(v)) if isinstance(v, Fraction) else v for key, v in options.items()}
        parts: Parts = chosen.ideal(data, uniforms, balls)
        return {part: [nearest_multiple(value, grid) for value in entries] for part, entries in parts.items()}

    return refined(compute, Uniforms(source), first_precision(name, data, options, grid))


def first_precision(name: str, data: ExactData, options: Mapping[str, Any], grid: Fraction) -> int:
    """Return the precision, in bits, of the first attempt at a release. The first precision depends on public numbers
    only.
    """
    smallest = min([Fraction(1), *(value for value in options.values() if isinstance(value, Fraction) and value > 0)])
    # the noise has a scale of about 1/budget or less, and `smallest` is at most the budget; in units of the grid:
    steps = math.ceil(1 / (grid * smallest))
    chosen = form_of(name, options.get("adjacency"))
    secret = chosen.box or options.get("adjacency") == "add-remove"  # whether the number of rows may be secret
    return SPARE_BITS + steps.bit_length() + 2 * (64 if secret else data.n.bit_length()) + chosen.bits(data.d)


# ARGUMENTS


def require_rounded_form(mechanism_name: str, grid: Rational) -> Fraction:
    """Return the grid, or raise `InvalidInput` unless it is valid and the mechanism has a rounded form."""
    if mechanism(mechanism_name).name not in WITH_ROUNDED_FORM:
        known = ", ".join(WITH_ROUNDED_FORM)
        raise InvalidInput(f"mechanism = {mechanism_name!r}: it has no rounded form; these have: {known}")
    return require_grid(grid)
