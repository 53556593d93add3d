"""Define the class of the result of a rounded release or of a release on a lattice. The result has the released
integers, the factors that turn them into the unit of the data, and the entries that an output file contains.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from covassay.reference.domain.exact_data import ExactData
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Spend

UNIT_BALL = "rows in the unit ball"


@dataclass(frozen=True)
class ExactRelease:
    """A release of integers.

    integers : for every released part, the integers k; the part is k · grid, with rows in the unit ball.
    grid : the distance between neighbouring points of the grid, with rows in the unit ball.
    unit : the factor by which k · grid is converted to the unit of the data. If the parts have different units, the
        result is a dictionary with one factor for each part.
    values : the output of the mechanism in float64, in the unit of the data, computed from the integers and public
        numbers alone.
    spend : the claimed and the proven budget.
    rows : words that say how the rows are scaled before the integers are computed, such as "rows in the unit ball".
    """

    kind: ClassVar[str]
    guarantee: ClassVar[str]
    assumptions: ClassVar[tuple[str, ...]]
    mechanism: str
    integers: Mapping[str, list[int]]
    grid: Fraction
    unit: float | Mapping[str, float]
    values: Any
    spend: Spend
    input_bits: int
    seeded: bool
    rows: str = field(default=UNIT_BALL, kw_only=True)

    @property
    def grid_text(self) -> str:
        """Return the grid as a text, such as "1/4096", for messages and output files."""
        return str(self.grid)

    def provenance(self) -> dict[str, Any]:
        """Return the entries of an output file about the release, besides the mechanism and its budget."""
        return {
            "grid": self.grid_text,
            "integers": dict(self.integers),
            "unit": self.unit if isinstance(self.unit, float) else dict(self.unit),
            "input": f"rows of integers over 2^{self.input_bits}, rounded toward zero; all sums of them are exact",
            "bits": "from a seed: not private, for tests only" if self.seeded else "of the operating system",
            "guarantee": self.guarantee,
            "assumptions": list(self.assumptions),
        }


def require_rows(data: ExactData, options: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` if there are no rows, unless their number is secret."""
    if not data.n and options.get("adjacency") != "add-remove":
        raise InvalidInput("data has no row: must have at least one")
