"""The declaration as it was; it goes when every mechanism file has a `Mechanism`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from covassay.reference.domain import require_choice
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS, Output
from covassay.reference.privacy import APPROXIMATE, CONCENTRATED, PURE, Guarantee, Notion, Spend

Calibration = Literal["paper", "tight"]
CALIBRATIONS: tuple[Calibration, ...] = ("paper", "tight")


@dataclass(frozen=True)
class About:
    """The entry of one mechanism in the table of contents."""

    name: str
    title: str
    paper: str
    algorithm: str
    notion: Any
    released: str
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
    provenance: str = "printed"

    def __post_init__(self) -> None:
        notions: dict[str, Notion] = {"pure": PURE, "zcdp": CONCENTRATED, "approximate": APPROXIMATE}
        object.__setattr__(self, "notion", notions[self.notion])

    @property
    def number(self) -> str:
        """The number in the paper."""
        return self.algorithm

    @property
    def output(self) -> Output:
        """What comes out."""
        return replace(OUTPUTS[self.released], power=self.degree, symmetric=self.symmetric)

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

    def require_budget(self, budget: Guarantee) -> None:
        """Raise `InvalidInput` unless the budget is of the notion of privacy that the mechanism satisfies."""
        if type(budget) is not type(self.notion.default):
            wanted, given = (" and ".join(f"--{key}" for key in b.keywords()) for b in (self.notion.default, budget))
            raise InvalidInput(f"{self.name} is {self.notion.label}: give {wanted} instead of {given}")

    @property
    def page(self) -> str:
        """The page with the whole proof."""
        return f"proofs/paper/{self.name}.md"

    @property
    def claim(self) -> str:
        """The entry of the ledger."""
        return f"MECH.{self.name}"
