"""Define the declaration of a mechanism.

Every file of a mechanism defines one `Mechanism` object. Programs read from this object which functions the mechanism
has, and what the functions do.

The registry, the options of the command line, the table of the README and the provenance of a release are derived from
`Mechanism` objects.
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast

import numpy as np

from covassay.reference.domain import Adjacency, DataSet
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
BOUNDS = "bounds"  # the option that gives the bounds of the columns, which are numbers


@dataclass(frozen=True)
class About:
    """The name and the source of a mechanism.

    The field `provenance` says whether the steps and constants are those that the source prints.
    """

    name: str
    title: str
    paper: str
    number: str
    provenance: Provenance = "printed"


@dataclass(frozen=True)
class Mechanism(Generic[N, P, R]):
    """The declaration of one mechanism.

    about : its name and its source.
    notion : the notion of privacy, which determines the keywords of the budget.
    output : the kind of output.
    release : called as release(x, noise, *, …); the output is a function of the data and the noise.
    draw_noise : called as draw_noise(dimension, rng, …); returns the noise that `release` takes. Its other arguments,
        given by name, are parameters of `sample`, the number of records `rows`, and the number of draws `size`.
    sample : called as sample(x, rng, *, …); draws the noise and calls `release`. The annotations of `sample` declare
        the parameters (module `parameters`).
    spend : called as spend(*, …budget, dimension, …choices); returns the claimed and the proven budget.
    domain : the set in which rows must lie.
    adjacency : which data sets are neighbours. If the caller can choose, this is the default.
    ordered : whether records are used in their order (disjoint blocks, pairs), so that reordering them changes the
        output.
    repeats : whether outputs can coincide, because their law has atoms.
    smallest_dimension : the smallest number of columns for which the mechanism makes sense.
    sampler : value "approximate" if a Markov chain draws the noise, so that the guarantee is only approximate too.
    declared : the declarations of the parameters of `sample`.
    of_the_draw : the parameters that `release` does not take.
    counted : the kind of output under add-remove, or a function of the options that returns it; None if the mechanism
        has no add-remove form.
    unranked : the reason why `recommend` does not compare the mechanism with others; empty if the mechanism is
        compared.
    lattice : whether the output consists of integers times a public unit, drawn without floating point.
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
        """Return the name that the registry, the command line and the page of the proof use."""
        return self.about.name

    @property
    def title(self) -> str:
        """Return the name of the mechanism in words."""
        return self.about.title

    @property
    def source(self) -> str:
        """Return the source in one phrase, with the paper and the number of the algorithm in it."""
        return f"{self.about.paper} {self.about.number}"

    @property
    def arithmetic(self) -> str:
        """Return the arithmetic to which the theorem applies, such as real numbers or integers."""
        return "in integers, for fair bits" if self.lattice else "in real arithmetic"

    @property
    def page(self) -> str:
        """Return the path of the page with the whole proof."""
        return f"proofs/paper/{self.name}.md"

    @property
    def claim(self) -> str:
        """Return the id of the mechanism's entry in the ledger."""
        return f"MECH.{self.name}"

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """Return, for every parameter whose values are words, these words; the first one is the default."""
        return {p.name: p.choices for p in self.declared.values() if p.choices and p.name not in OF_THE_DOMAIN}

    @property
    def parameters(self) -> dict[str, float]:
        """Return the public numeric parameters, except the budget and the bounds of the rows, with their defaults."""
        given = (*BUDGET, *OF_THE_DOMAIN, BOUNDS)
        return {p.name: p.default for p in self.declared.values() if not p.choices and p.name not in given}

    def adjacency_of(self, options: Mapping[str, Any]) -> Adjacency:
        """Return the adjacency that the given options select, which says which data sets are neighbours."""
        return cast(Adjacency, options.get("adjacency", self.adjacency))

    def output_of(self, options: Mapping[str, Any]) -> Output:
        """Return the kind of output that the given options select."""
        if self.counted is None or self.adjacency_of(options) == self.adjacency:
            return self.output
        return self.counted if isinstance(self.counted, Output) else self.counted(options)

    def resolve(self, options: Mapping[str, str | float]) -> dict[str, Any]:
        """Convert `options` to keyword arguments: missing choices get their defaults, and texts of numbers become
        numbers.

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
