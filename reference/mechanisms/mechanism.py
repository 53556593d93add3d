"""The declaration of a mechanism: one object a file, in which programs find its functions and what they are about.

From a `Mechanism` come the registry, the options of the command line, the table of the README and the provenance of a
release. Its functions stand in the file as they are.
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

import numpy as np

from covassay.reference.domain import DataSet
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import Output
from covassay.reference.mechanisms.parameters import Parameter, parameters_of
from covassay.reference.privacy import Guarantee, Notion, Spend

P = ParamSpec("P")
N = TypeVar("N")
R = TypeVar("R")

Domain = Literal["ball", "space", "cube", "box"]
DOMAINS: dict[Domain, str] = {
    "ball": "rows in the ball of radius `row_bound`",
    "space": "rows of any real numbers",
    "cube": "rows with entries in [0, 1]",
    "box": "rows with every column between its `bounds`",
}
Provenance = Literal["printed", "code", "reconstructed", "ours"]
PROVENANCES: dict[Provenance, str] = {
    "printed": "as the source prints it",
    "code": "read from the authors' code, because the copy of the source that we had has lost its formulas",
    "reconstructed": "our reconstruction: the source, or our copy of it, lacks steps, formulas or constants",
    "ours": "ours, after the source",
}
BUDGET = ("epsilon", "rho", "delta")
OF_THE_DOMAIN = ("row_bound", "on_large_rows", "on_outside")
BOUNDS = "bounds"  # the option that takes bounds of columns, and is no choice of words


@dataclass(frozen=True)
class About:
    """The name of a mechanism, and its source.

    provenance : whether the steps and constants are those that the source prints.
    """

    name: str
    title: str
    paper: str
    number: str
    provenance: Provenance = "printed"


@dataclass(frozen=True)
class Mechanism(Generic[N, P, R]):
    """One mechanism.

    about : its name and its source.
    notion : of privacy; it fixes the keywords of the budget.
    output : what comes out.
    release : release(x, noise, *, …): the same data and the same noise give the same output, always.
    draw_noise : draw_noise(dimension, rng, …), the noise that `release` takes. It may also take parameters of `sample`
        by name, `rows`, the number of records, and `size`, for many draws at once.
    sample : sample(x, rng, *, …): draws the noise and calls `release`. Its annotations declare the parameters, see
        `parameters`.
    spend : spend(*, …budget, dimension, …choices), the budget claimed and proven.
    domain : where rows must lie. adjacency : which data sets are neighbours, by default where there is a choice.
    ordered : records are used in their order (disjoint blocks, pairs), so that reordering them changes the output.
    repeats : one output can come again and again, because its law has atoms.
    smallest_dimension : fewer columns than that make no sense.
    sampler : "approximate" if the noise is drawn by a Markov chain: the guarantee is then only approximate too.
    declared : the parameters of `sample`; of_the_draw : those that `release` does not take.
    counted : the kind of output under add-remove, or options -> that kind; None if there is no such choice.
    unranked : why `recommend` does not compare the mechanism with others, where it does not.
    lattice : the output is integers times a public unit, drawn without floating point.
    """

    about: About
    notion: Notion
    output: Output
    release: Callable[Concatenate[DataSet, N, P], R]
    draw_noise: Callable[..., N]
    sample: Callable[Concatenate[DataSet, np.random.Generator, P], R]
    spend: Callable[..., Spend]
    _: KW_ONLY
    domain: Domain = "ball"
    adjacency: str = "replace-one"
    ordered: bool = False
    repeats: bool = False
    smallest_dimension: int = 1
    sampler: Literal["exact", "approximate"] = "exact"
    lattice: bool = False
    counted: Output | Callable[[Mapping[str, Any]], Output] | None = None
    unranked: str = ""
    declared: Mapping[str, Parameter] = field(init=False)
    of_the_draw: Mapping[str, Parameter] = field(init=False)

    def __post_init__(self) -> None:
        released = parameters_of(self.release)
        object.__setattr__(self, "declared", parameters_of(self.sample))
        own = {name: parameter for name, parameter in self.declared.items() if name not in released}
        object.__setattr__(self, "of_the_draw", own)

    @property
    def name(self) -> str:
        """The name in the registry, on the command line and of the page with the proof."""
        return self.about.name

    @property
    def title(self) -> str:
        """The name in words."""
        return self.about.title

    @property
    def source(self) -> str:
        """Paper and number in one phrase."""
        return f"{self.about.paper} {self.about.number}"

    @property
    def arithmetic(self) -> str:
        """Of what arithmetic the theorem speaks."""
        return "in integers, for fair bits" if self.lattice else "in real arithmetic"

    @property
    def page(self) -> str:
        """The page with the whole proof."""
        return f"proofs/paper/{self.name}.md"

    @property
    def claim(self) -> str:
        """The entry of the ledger."""
        return f"MECH.{self.name}"

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """The words that may be chosen, by parameter; the first is the default."""
        return {p.name: p.choices for p in self.declared.values() if p.choices and p.name not in OF_THE_DOMAIN}

    @property
    def parameters(self) -> dict[str, float]:
        """The public numbers, the budget and the bounds of the rows apart, with their defaults."""
        given = (*BUDGET, *OF_THE_DOMAIN, BOUNDS)
        return {p.name: p.default for p in self.declared.values() if not p.choices and p.name not in given}

    def adjacency_of(self, options: Mapping[str, Any]) -> str:
        """Which data sets are neighbours with these options."""
        return str(options.get("adjacency", self.adjacency))

    def output_of(self, options: Mapping[str, Any]) -> Output:
        """The kind of output with these options."""
        if self.counted is None or self.adjacency_of(options) == self.adjacency:
            return self.output
        return self.counted if isinstance(self.counted, Output) else self.counted(options)

    def resolve(self, options: Mapping[str, str | float]) -> dict[str, Any]:
        """`options` as keyword arguments: every choice filled in, numbers read, nothing unknown.

        Raises
        ------
        InvalidInput : the mechanism has no such option, or the option does not take that value.
        """
        known = (*self.choices, *self.parameters)
        for name, value in options.items():
            if name not in known:
                raise InvalidInput(
                    f"{name} = {value!r}: {self.name} has no such option; it takes {', '.join(known) or 'no options'}"
                )
        defaults: dict[str, Any] = {name: words[0] for name, words in self.choices.items()}
        return {name: self.declared[name].read(value) for name, value in {**defaults, **options}.items()}

    def require_budget(self, budget: Guarantee) -> None:
        """Raise `InvalidInput` unless the budget is of the notion of privacy that the mechanism satisfies."""
        if type(budget) is not type(self.notion.default):
            wanted, given = (" and ".join(f"--{key}" for key in b.keywords()) for b in (self.notion.default, budget))
            raise InvalidInput(f"{self.name} is {self.notion.label}: give {wanted} instead of {given}")
