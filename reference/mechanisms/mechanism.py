"""What every mechanism says about itself, in one form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from covassay.reference.domain import require_choice
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Spend

Calibration = Literal["paper", "tight"]
CALIBRATIONS: tuple[Calibration, ...] = ("paper", "tight")

Released = Literal["matrix", "direction", "vector", "coefficients", "gaussian", "number", "level"]


@dataclass(frozen=True)
class About:
    """The entry of one mechanism in the table of contents.

    name, title, paper, algorithm : what it is called, and where it is from.
    notion : of privacy; it fixes the budget's keywords (`epsilon`, `rho`, or `epsilon` and `delta`).
    released : see `output_shape`.
    release, sample, spend : the functions of the mechanism's file.
    choices : public choices by name, the paper's first; `release`, `sample` and `spend` take them all.
    parameters : other public numbers by name, with their defaults; `release` and `sample` take them.
    degree : the output is in the unit of x to this power.
    domain : "ball": rows in a ball of radius `row_bound`. "space": any rows. "cube": entries in [0, 1].
    ordered : records are used in their order (disjoint blocks, pairs), so that reordering them changes the output.
    repeats : one output can come again and again, because it is discrete, or constant.
    smallest_dimension : fewer columns than that make no sense.
    sampler : "approximate" if the noise is drawn by a Markov chain: the guarantee is then only approximate too.
    """

    name: str
    title: str
    paper: str
    algorithm: str
    notion: Literal["pure", "zcdp", "approximate"]
    released: Released
    symmetric: bool
    release: Callable[..., Any]
    sample: Callable[..., Any]
    spend: Callable[..., Spend]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    degree: int = 2
    domain: Literal["ball", "space", "cube"] = "ball"
    adjacency: str = "replace-one"
    ordered: bool = False
    repeats: bool = False
    smallest_dimension: int = 1
    sampler: Literal["exact", "approximate"] = "exact"

    @property
    def source(self) -> str:
        """Paper and number in one phrase."""
        return f"{self.paper} {self.algorithm}"

    def resolve(self, options: Mapping[str, str | float]) -> dict[str, Any]:
        """`options` as keyword arguments: every choice filled in, numbers read, nothing unknown.

        Raises
        ------
        InvalidInput : an option that this mechanism has not, or a value that it does not take.
        """
        chosen: dict[str, Any] = {
            name: require_choice(name, str(options.get(name, allowed[0])), allowed)
            for name, allowed in self.choices.items()
        }
        for name, value in options.items():
            if name in self.parameters:
                try:
                    number = float(value)
                except ValueError:
                    raise InvalidInput(f"{name} = {value!r}: must be a number") from None
                if isinstance(self.parameters[name], int) and not number.is_integer():
                    raise InvalidInput(f"{name} = {value!r}: must be a whole number")
                chosen[name] = int(number) if isinstance(self.parameters[name], int) else number
            elif name not in self.choices:
                known = ", ".join((*self.choices, *self.parameters)) or "no options"
                raise InvalidInput(f"{name} = {value!r}: {self.name} takes {known}")
        return chosen


def output_shape(released: str, dimension: int) -> tuple[int, ...]:
    """The shape of one output on data with that many columns.

    "matrix" (d, d): an estimate of the second moment. "direction" (d,): a unit vector up to its sign. "vector" (d,).
    "coefficients" (d − 1,): the last column is a target. "gaussian" (d + 1, d): a mean, and below it a covariance.
    "number" (). "level" (): a number of a public finite set.
    """
    d = dimension
    shapes = {"matrix": (d, d), "direction": (d,), "vector": (d,), "coefficients": (d - 1,), "gaussian": (d + 1, d)}
    return shapes.get(released, ())
