"""The declaration of a mechanism: one object a file, from which everything that repeats is derived.

From a `Mechanism` come `sample`, the table of the parameters with their rules, the docstring of `release`, the
registry, the options of the command line, the table of the README and the provenance of a release.
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast, get_args, get_origin

import numpy as np

from covassay.reference.domain import Chunks, DataSet, as_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import Output
from covassay.reference.mechanisms.parameters import Parameter, parameters_of, require_all
from covassay.reference.privacy import Guarantee, Notion, Spend

P = ParamSpec("P")
N = TypeVar("N")
R = TypeVar("R")

Domain = Literal["ball", "space", "cube"]
DOMAINS: dict[Domain, str] = {
    "ball": "rows in the ball of radius `row_bound`",
    "space": "rows of any real numbers",
    "cube": "rows with entries in [0, 1]",
}
Provenance = Literal["printed", "code", "reconstructed", "ours"]
PROVENANCES: dict[Provenance, str] = {
    "printed": "as the source prints it",
    "code": "read from the authors' code, because the copy of the source that we had has lost its formulas",
    "reconstructed": "our reconstruction: the source, or our copy of it, lacks steps, formulas or constants",
    "ours": "ours, after the source",
}
APPROXIMATE_SAMPLER = (
    "This holds for noise of the exact law; `sample` draws it only approximately, with an unknown error. "
)
BUDGET = ("epsilon", "rho", "delta")
OF_THE_DOMAIN = ("row_bound", "on_large_rows")


@dataclass(frozen=True)
class About:
    """What a mechanism is called, and where it is from.

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
    release : release(x, noise, *, …), deterministic. Its annotations declare the parameters, see `parameters`.
    draw_noise : draw_noise(dimension, rng, *, …), the noise that `release` takes. It may also take parameters of
        `release` by name, and `rows`, the number of records. A keyword of its own that has a rule is a parameter of
        `sample` too.
    spend : spend(*, …budget, dimension, …choices), the budget claimed and proven.
    domain : where rows must lie. adjacency : which data sets are neighbours.
    ordered : records are used in their order (disjoint blocks, pairs), so that reordering them changes the output.
    repeats : one output can come again and again, because its law has atoms.
    smallest_dimension : fewer columns than that make no sense.
    sampler : "approximate" if the noise is drawn by a Markov chain: the guarantee is then only approximate too.
    lattice : the output is integers times a public unit, drawn without floating point.
    """

    about: About
    notion: Notion
    output: Output
    release: Callable[Concatenate[DataSet, N, P], R]
    draw_noise: Callable[..., N]
    spend: Callable[..., Spend]
    _: KW_ONLY
    domain: Domain = "ball"
    adjacency: str = "replace-one"
    ordered: bool = False
    repeats: bool = False
    smallest_dimension: int = 1
    sampler: Literal["exact", "approximate"] = "exact"
    lattice: bool = False
    declared: Mapping[str, Parameter] = field(init=False)
    of_the_draw: Mapping[str, Parameter] = field(init=False)
    sample: Callable[Concatenate[DataSet, np.random.Generator, P], R] = field(init=False)

    def __post_init__(self) -> None:
        taken = parameters_of(inspect.unwrap(self.release))
        own = {name: p for name, p in parameters_of(self.draw_noise).items() if name not in taken}
        object.__setattr__(self, "declared", {**taken, **own})
        object.__setattr__(self, "of_the_draw", own)
        object.__setattr__(self, "sample", _sampler(self))
        self.release.__doc__ = f"{inspect.getdoc(self.release)}\n\n{_sections(self, 'noise')}"
        vars(self.release)["__signature__"] = _readable(inspect.signature(inspect.unwrap(self.release)))

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
        """The public numbers, the budget and the row bound apart, with their defaults."""
        given = (*BUDGET, *OF_THE_DOMAIN)
        return {p.name: p.default for p in self.declared.values() if not p.choices and p.name not in given}

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


def shape_of(x: DataSet) -> tuple[int, int]:
    """(n, d), without a pass over the rows; a data set that has no such shape raises `InvalidInput`."""
    if not isinstance(x, Chunks):
        try:
            shape = np.shape(x)
        except ValueError:
            shape = ()
        if len(shape) == 2 and min(shape) >= 1:
            return shape[0], shape[1]
    return as_rows(x).shape[0], as_rows(x).shape[1]


def _sampler(mechanism: Mechanism[N, P, R]) -> Callable[Concatenate[DataSet, np.random.Generator, P], R]:
    """`sample` of a mechanism: the parameters are checked once, the noise is drawn, `release` does the rest."""
    release, draw_noise = inspect.unwrap(mechanism.release), inspect.unwrap(mechanism.draw_noise)
    taken = [p.name for p in inspect.signature(mechanism.draw_noise).parameters.values()]
    defaults = {name: p.default for name, p in mechanism.declared.items()}

    def sample(x: DataSet, rng: np.random.Generator, *args: P.args, **kwargs: P.kwargs) -> R:
        require_all(mechanism.declared, kwargs)
        rows, dimension = shape_of(x)
        known = {**defaults, **kwargs, "rows": rows}
        noise = draw_noise(dimension, rng, **{name: known[name] for name in taken if name in known})
        given = {name: value for name, value in kwargs.items() if name not in mechanism.of_the_draw}
        output: R = cast(Callable[..., R], release)(x, noise, *args, **given)
        return output

    signature = inspect.signature(release)
    x, _, *rest = signature.parameters.values()
    rng = inspect.Parameter("rng", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=np.random.Generator)
    own = [p for p in inspect.signature(mechanism.draw_noise).parameters.values() if p.name in mechanism.of_the_draw]
    vars(sample)["__signature__"] = _readable(signature.replace(parameters=[x, rng, *rest, *own]))
    sample.__module__, sample.__qualname__ = release.__module__, "sample"
    weakness = "the bits of `rng` are not secret" if mechanism.lattice else "the noise is float64"
    sample.__doc__ = (
        f"Draw the noise from `rng`, then `release`. Not for production: {weakness}.\n\n{_sections(mechanism, 'rng')}"
    )
    return cast(Callable[Concatenate[DataSet, np.random.Generator, P], R], sample)


def _readable(signature: inspect.Signature) -> inspect.Signature:
    """The signature without the rules in its annotations, for `help`."""
    shown = [
        p.replace(annotation=get_args(p.annotation)[0] if get_origin(p.annotation) is Annotated else p.empty)
        for p in signature.parameters.values()
    ]
    return signature.replace(parameters=shown, return_annotation=signature.empty)


def _sections(mechanism: Mechanism[Any, ..., Any], second: str) -> str:
    """What the docstrings of `release` and `sample` have in common in every mechanism."""
    output = mechanism.output
    randomness = {"noise": "see above", "rng": "the source of all randomness"}[second]
    left_out = mechanism.of_the_draw if second == "noise" else {}
    read = "Whether the entries of x are finite"
    if "row_bound" in mechanism.declared:
        read += ', and with on_large_rows="raise" whether its rows are short,'
    sections = {
        "Parameters": [
            f"x : (n, d), n ≥ 1 records, d ≥ {mechanism.smallest_dimension} features; {DOMAINS[mechanism.domain]}.",
            f"{second} : {randomness}.",
            *(
                f"{name} : {parameter.meaning}."
                for name, parameter in mechanism.declared.items()
                if name not in left_out
            ),
        ],
        "Returns": [f"{output.layout}, {'symmetric, ' if output.symmetric else ''}in {output.unit}."],
        "Raises": [
            f"InvalidInput : an argument breaks its rule. {read} is read off the data: a precondition, not part of the "
            "mechanism."
        ],
    }
    approximate = APPROXIMATE_SAMPLER if mechanism.sampler == "approximate" else ""
    closing = [
        f"Privacy : {mechanism.notion.label} ({mechanism.adjacency}), n public, {mechanism.arithmetic}. {approximate}"
        "`spend` says what is proven for every choice of parameters.",
        f"Source : {mechanism.source}; {PROVENANCES[mechanism.about.provenance]}. Proof: {mechanism.page}",
    ]
    text = [line for title, lines in sections.items() for line in (title, "-" * len(title), *map(_filled, lines), "")]
    return "\n".join([*text, *map(_filled, closing)])


def _filled(line: str) -> str:
    return textwrap.fill(line, 100, subsequent_indent="    ", break_on_hyphens=False)
