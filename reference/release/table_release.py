"""Make one release from a table of any size, with its provenance and, optionally, an account of its budget.

All requests that can be rejected without the data are rejected before the data are read: options, bounds, the output
file, the budget. The names and types of the columns are checked in all files of the table before any row is read. Each
pass over the data reads them in chunks, and a mechanism may need several passes. The release is entered in the account
before it is written. Its file is written in full or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from covassay.reference.domain import Adjacency, Box, Chunks, Vector, fewest_rows, require_row_bound
from covassay.reference.domain.exact_data import ExactData
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.counted import RowsAndSumOutput
from covassay.reference.mechanisms.mechanism import DOMAINS, PROVENANCES, Mechanism
from covassay.reference.mechanisms.output import Output
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.privacy import Guarantee, Spend
from covassay.reference.release.account_file import (
    REPLACE_ONE,
    AccountFile,
    Tell,
    fingerprint,
    open_account,
    require_patience,
)
from covassay.reference.release.accuracy import Accuracy, accuracy, accuracy_of_sum, box_accuracy
from covassay.reference.release.messages import named, shown
from covassay.reference.release.post_processing import Projection, project, projection
from covassay.reference.release.scaling import Bounds, Scaling, extremes, read_bounds, require_every_column, scaling
from covassay.reference.release.tables.reading import EVERYTHING, describe, open_table
from covassay.reference.release.tables.selection import Selection
from covassay.reference.release.tables.source import TableSource, Watch, unwatched
from covassay.reference.release.writing import require_new, require_writable, same_file, target_file, write_release
from covassay.reference.rounded import ON_A_LATTICE, cost, exact_release, require_exact_form

if TYPE_CHECKING:
    from covassay.reference.rounded.lattice import LatticeRelease
    from covassay.reference.rounded.releasing import RoundedRelease

AnyMechanism = Mechanism[Any, ..., Any]


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """The request for one release from a table.

    data : the path of a file with one record per row, or other data that `tables.reading.open_table` accepts, or the
        sum of the `exact_moments` of the parts of a table.
    selection : the columns to read, and how to read text. The selection is a public choice.
    mechanism, budget, options : the mechanism by name, the claimed budget, and its options by name. If `bounds` is
        given and `mechanism` is None, the notion of privacy of the budget determines which mechanism for bounded
        columns is used.
    out : .csv, .json, .npy or .npz; None writes CSV to standard output.
    force : replace an existing file.
    row_bound : a public bound on the Euclidean norm of a row, in the unit of the data. A mechanism for rows in a ball
        needs `row_bound` or `bounds`; there is no default.
    bounds : public bounds on every feature, given by the path of a file or by a dictionary from names to pairs.
    scale_by_data : scale features by their smallest and largest values. These values are read without noise, so the
        release is NOT private.
    account : the path of a file that adds up the releases from these data files.
    total : the total budget of a new account.
    name : the name in the account for data that are not files.
    wait : the number of seconds to wait while another command writes to the account.
    project : the name of a projection, "psd" or "trace", by which the released matrix is post-processed. The output has
        the projected matrix, and in some formats the released matrix, too.
    seed : fixed noise, for tests. A fixed seed is NOT private.
    rounded, grid : release correctly rounded to a grid (`reference.rounded`), a power of 2, for rows in the unit ball;
        None means 2^-30. A mechanism on a lattice releases only on its own grid.
    """

    data: Any
    mechanism: str | None = None
    budget: Guarantee
    options: Mapping[str, str | float] = field(default_factory=dict)
    selection: Selection = EVERYTHING
    out: Path | None = None
    force: bool = False
    row_bound: float | None = None
    bounds: Path | Mapping[str, Any] | None = None
    scale_by_data: bool = False
    account: Path | None = None
    total: Guarantee | None = None
    name: str | None = None
    wait: float | None = None
    project: str | None = None
    seed: int | None = None
    rounded: bool = False
    grid: str | None = None

    @property
    def not_private(self) -> list[str]:
        """Return the reasons why the release is not private, one for each option that gives up privacy; normally there
        are none.
        """
        reasons = []
        if self.seed is not None:
            reasons.append("with --seed the noise is known to whoever knows the seed")
        if self.scale_by_data:
            reasons.append("the features are scaled by their extremes, which the provenance reveals")
        return reasons


@dataclass(frozen=True)
class TableRelease:
    """A finished release.

    values : the output, in the units of the data wherever the output has units.
    columns : the names of the features.
    provenance : how the release was made.
    notes : sentences that the user must read.
    warnings : reasons why the release is of little use, one sentence each; normally empty.
    projected : the projection of the values, if requested.
    """

    values: Any
    columns: tuple[str, ...]
    provenance: dict[str, Any]
    spend: Spend
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    projected: Any = None


@dataclass(frozen=True)
class _Plan:
    """A request that has passed all checks which do not need the data."""

    request: ReleaseRequest
    declared: AnyMechanism
    arguments: dict[str, Any]
    row_bound: float
    bounds: Bounds | None
    rng: np.random.Generator
    account: AccountFile | None
    projection: Projection | None

    @property
    def adjacency(self) -> Adjacency:
        """Return the relation of neighbouring data sets, replace-one or add-remove."""
        return self.declared.adjacency_of(self.arguments)

    @property
    def output(self) -> Output:
        """Return the kind of output of the mechanism with the options of the request."""
        return self.declared.output_of(self.arguments)

    @property
    def n_is_public(self) -> bool:
        """Return whether the number of rows is public."""
        return self.adjacency == REPLACE_ONE

    def spend(self, dimension: int) -> Spend:
        """Return the budget that the release spends on data with d columns."""
        choices = {name: value for name, value in self.arguments.items() if name in self.declared.choices}
        return self.declared.spend(**self.request.budget.keywords(), dimension=dimension, **choices)


def release_table(request: ReleaseRequest, watch: Watch = unwatched, tell: Tell = lambda said: None) -> TableRelease:
    """Release from a table, and write the result to the file that the request names, or to standard output.

    Parameters
    ----------
    watch : a function that wraps every pass over the rows, to report its progress.
    tell : a function that shows a message to the user before a long computation, or while the release waits for another
    one.

    Raises
    ------
    InvalidInput : the request or the data break a rule. Nothing has been written. If only writing failed, the release
        is nevertheless entered in the account.
    """
    # CHECKS WITHOUT THE DATA
    plan = _plan(request)

    # THE RELEASE FROM THE DATA
    source = open_table(request.data, watch, request.selection, fewest_rows(plan.adjacency))
    n, d = source.rows.shape
    if d < plan.declared.smallest_dimension:
        raise InvalidInput(
            f"{describe(request.data)} has {d} column(s): {plan.declared.name} needs at least "
            f"{plan.declared.smallest_dimension}"
        )
    if request.rounded and (slow := cost.warning(plan.declared.name, d)):
        tell(slow)
    limits = _limits(plan, source)
    box = _box(plan, limits)
    scaled = None if limits is None or box is not None else scaling(*limits, plan.declared.domain)
    raw, exact = _values(plan, source, scaled, box)

    # RESULTS FROM THE RELEASED VALUES AND PUBLIC NUMBERS
    output = plan.output
    values = raw if scaled is None else scaled.restore(raw, output)
    projected = None
    if plan.projection is not None:
        projected = _projected(plan.projection, raw, plan.row_bound**2, scaled, box, output)
    known = _accuracy(plan, raw, n, d, scaled, box)
    warnings = known.warnings(output, values, projected is not None)

    # OUTPUT
    spend = plan.spend(d)
    provenance = {
        **_provenance(plan, spend, scaled, n, d),
        **_selection_facts(plan, source),
        **_bounds_facts(plan, limits, source.columns),
        **({} if scaled is None else {"shift": scaled.shift, "scale": scaled.scale}),
        **known.provenance(),
        **({"warnings": warnings} if warnings else {}),
        **({} if plan.projection is None else {"projected": plan.projection.description}),
    }
    if exact is not None:
        provenance[exact.kind] = exact.provenance()
    if request.not_private:
        provenance["not private"] = request.not_private
    require_new(request.out, request.force)
    total = None if plan.account is None else plan.account.enter(_entry(plan), request.wait, tell)
    write_release(request.out, values, source.columns, provenance, output, projected=projected, force=request.force)
    notes = [*_notes(plan, spend, scaled, n, d), *_selection_notes(plan, source), known.note()]
    if plan.projection is not None:
        notes.append(plan.projection.note(request.out))
    notes.append("not for production: the noise is float64" if exact is None else exact.note())
    if plan.account is not None:
        notes.append(
            f"{plan.account.path}: {total} of {plan.account.total} spent on {plan.account.data['name']}; the account "
            "cannot know of copies of the data, of releases made without it, or of other data about the same people"
        )
    return TableRelease(values, source.columns, provenance, spend, tuple(notes), tuple(warnings), projected)


def _plan(request: ReleaseRequest) -> _Plan:
    declared = mechanism(mechanism_for(request.mechanism, request.budget, bounded=request.bounds is not None))
    arguments = declared.resolve(request.options)
    declared.require_budget(request.budget)
    if request.rounded:
        require_exact_form(declared.name, request.grid)
    elif declared.name in ON_A_LATTICE:
        raise InvalidInput(f"{declared.name} has no form in float64: its noise is whole numbers")
    _require_frame(request, declared)
    adjacency = declared.adjacency_of(arguments)
    plan = _Plan(
        request=request,
        declared=declared,
        arguments=arguments,
        row_bound=1.0 if request.row_bound is None else require_row_bound(request.row_bound),
        bounds=None if request.bounds is None else read_bounds(request.bounds),
        rng=_generator(request.seed),
        account=_account(request, adjacency),
        projection=None if request.project is None else projection(request.project, declared, arguments),
    )
    plan.spend(declared.smallest_dimension)  # the call raises an error if a choice or a budget breaks its rule
    require_writable(request.out)
    data = request.data if isinstance(request.data, list | tuple) else [request.data]
    for other in (*data, request.bounds, request.account):
        if isinstance(other, str | Path):
            _require_apart(request.out, Path(other))
    for directory in data:
        if isinstance(directory, str | Path):
            _require_outside("--out", request.out, Path(directory))
            _require_outside("--budget-file", request.account, Path(directory))
    require_new(request.out, request.force)
    if plan.account is not None:
        plan.account.after(request.budget)
    return plan


def mechanism_for(name: str | None, budget: Guarantee, bounded: bool) -> str:
    """Return `name` or, if `name` is None, the default mechanism for bounded columns under the privacy notion of the
    budget.
    """
    if name is not None:
        return name
    if not bounded:
        raise InvalidInput(
            "--mechanism is missing, and so is --bounds: give --bounds FILE to use the mechanism for bounded columns, "
            "or name a mechanism (covassay recommend) and give --row-bound R"
        )
    for declared in MECHANISMS.values():
        if declared.domain == "box" and type(declared.notion.default) is type(budget):
            return declared.name
    raise InvalidInput(f"--mechanism is missing: there is no mechanism for bounded columns that claims {budget}")


def _require_frame(request: ReleaseRequest, declared: AnyMechanism) -> None:
    """Raise `InvalidInput` if the mechanism needs bounds on the rows, and not exactly one argument gives them."""
    given = [
        option
        for option, value in (
            ("--row-bound", request.row_bound is not None),
            ("--bounds", request.bounds is not None),
            ("--scale-by-data-not-private", request.scale_by_data),
        )
        if value
    ]
    if len(given) > 1:
        raise InvalidInput(f"{' and '.join(given)}: give one of them")
    if request.row_bound is not None and declared.domain != "ball":
        raise InvalidInput(f"--row-bound: {declared.name} takes {DOMAINS[declared.domain]}, so it has no row bound")
    if given or declared.domain == "space":
        return
    if declared.domain == "ball":
        raise InvalidInput(
            f"--row-bound or --bounds is missing: {declared.name} takes {DOMAINS['ball']}, and clips rows that are "
            "longer. Give --bounds FILE if every column has public limits, or --row-bound R if the length of a row "
            "has one, in the unit of the data and chosen without looking at them"
        )
    raise InvalidInput(
        f"--bounds is missing: {declared.name} takes {DOMAINS[declared.domain]}, and clips what lies elsewhere. Give "
        "--bounds FILE with public limits of every column, chosen without looking at the data"
    )


def _generator(seed: int | None) -> np.random.Generator:
    if seed is not None and seed < 0:
        raise InvalidInput(f"--seed {seed}: must be at least 0")
    return np.random.default_rng(seed)


def _require_apart(out: Path | None, other: Path) -> None:
    """Raise `InvalidInput` if the output would replace an input file of the release."""
    if out is not None and same_file(out, other):
        raise InvalidInput(f"--out {named(out)}: must be another file, not {named(other)}")


def _require_outside(option: str, path: Path | None, directory: Path) -> None:
    """Raise `InvalidInput` if a file that the release writes would lie in the folder of the data."""
    if path is not None and same_file(target_file(path).parent, directory):
        raise InvalidInput(f"{option} {named(path)}: must be outside {named(directory)}, all of whose files are data")


def _account(request: ReleaseRequest, adjacency: Adjacency) -> AccountFile | None:
    if request.account is None:
        for option, value in (("--total", request.total), ("--wait", request.wait)):
            if value is not None:
                raise InvalidInput(f"{option} belongs to an account: give --budget-file as well")
        return None
    if request.wait is not None:
        require_patience(request.wait)
    for reason in request.not_private:
        raise InvalidInput(f"--budget-file: no budget can account for this release, because {reason}")
    return open_account(request.account, fingerprint(request.data, request.name), request.total, adjacency)


def _limits(plan: _Plan, source: TableSource) -> tuple[Vector, Vector] | None:
    """Return the lower and upper bounds of the features, or None if there are none.

    If the bounds are taken from the data, this function reads the data once.
    """
    if plan.request.scale_by_data:
        return extremes(_require_rows(source.rows, "--scale-by-data-not-private"))
    if plan.bounds is None or plan.request.bounds is None:
        return None
    return require_every_column(plan.request.bounds, plan.bounds, source.columns)


def _box(plan: _Plan, limits: tuple[Vector, Vector] | None) -> Box | None:
    """Return the bounds as a `Box` for a mechanism for bounded columns, and None for every other mechanism."""
    if limits is None or plan.declared.domain != "box":
        return None
    low, high = limits
    return Box.of(np.column_stack([low, np.where(high > low, high, low + 1)]))


def _require_rows(rows: Chunks | ExactData, for_what: str) -> Chunks:
    """Return the rows, or raise `InvalidInput` if only their sums are given and the mechanism needs the rows."""
    if isinstance(rows, ExactData):
        raise InvalidInput(
            f"{for_what}: must have the rows, but the data are exact sums. Only an exact release can be "
            "computed from exact sums, with the row bound or the bounds with which the sums were made"
        )
    return rows


def _values(plan: _Plan, source: TableSource, scaled: Scaling | None, box: Box | None) -> (
    tuple[Any, "RoundedRelease | LatticeRelease | None"]
):  # fmt: skip
    """Return the output of the mechanism, and the exact release from which it was computed, if there is one."""
    rows = source.rows if scaled is None else scaled.apply(_require_rows(source.rows, "bounds"))
    if plan.declared.domain == "ball":
        plan.arguments["row_bound"] = plan.row_bound
    arguments = {**plan.request.budget.keywords(), **plan.arguments}
    if box is not None:
        arguments["bounds"] = box.bounds
    exact = None
    if plan.request.rounded:
        exact = exact_release(plan.declared.name, rows, grid=plan.request.grid, seed=plan.request.seed, **arguments)
        values = exact.values
    else:
        values = plan.declared.sample(_require_rows(rows, plan.declared.name), plan.rng, **arguments)
    return values, exact


def _projected(
    chosen: Projection, raw: Any, largest_trace: float, scaled: Scaling | None, box: Box | None, output: Output
) -> Any:
    """Return the projection of an output, computed in the unit of the noise and converted to the units of the data."""
    if box is None:
        if isinstance(output, RowsAndSumOutput):
            nearest = output.packed(raw[0], project(output.unpacked(raw[1:]), chosen, largest_trace))
        else:
            nearest = project(raw, chosen, largest_trace)
        return nearest if scaled is None else scaled.restore(nearest, output)
    unit = np.outer(box.half_widths, box.half_widths)
    projected = raw.copy()
    projected[1:, 1:] = project(raw[1:, 1:] / unit, chosen, largest_trace) * unit
    return projected


def _accuracy(plan: _Plan, raw: Any, n: int, d: int, scaled: Scaling | None, box: Box | None) -> Accuracy:
    """Return the public information on the error of the release.

    If the number of rows is secret, the error is derived from the output alone.
    """
    budget = plan.request.budget
    if box is None and plan.n_is_public:
        return accuracy(plan.declared, budget, plan.arguments, n, d, plan.row_bound, scaled)
    if box is None:
        return accuracy_of_sum(plan.declared, budget, plan.arguments, raw, d, plan.row_bound, scaled)
    arguments = {**plan.arguments, **budget.keywords()}
    return box_accuracy(plan.declared.name, arguments, plan.adjacency, float(raw[0, 0]), box)


def _provenance(plan: _Plan, spend: Spend, scaled: Scaling | None, n: int, d: int) -> dict[str, Any]:
    declared = plan.declared
    return {
        "covassay": version("covassay"),
        "mechanism": declared.name,
        "source": declared.source,
        "source_provenance": PROVENANCES[declared.about.provenance],
        "released": plan.output.kind,
        "holds": plan.output.meaning(scaled is not None),
        "options": plan.arguments,
        "adjacency": plan.adjacency,
        "claimed": spend.claimed.keywords(),
        "proven": spend.proven.keywords(),
        **({"n": n} if plan.n_is_public else {}),
        "d": d,
        "seed": plan.request.seed,
    }


def _entry(plan: _Plan) -> dict[str, Any]:
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "mechanism": plan.declared.name,
        "options": plan.arguments,
        "claimed": plan.request.budget.keywords(),
        "out": str(plan.request.out) if plan.request.out else None,
    }


def _bounds_facts(plan: _Plan, limits: tuple[Vector, Vector] | None, columns: tuple[str, ...]) -> dict[str, Any]:
    if limits is None:
        return {}
    pairs = zip(*(ends.tolist() for ends in limits), strict=True)
    return {
        "bounds": dict(zip(columns, map(list, pairs), strict=True)),
        "bounds_from": "the data: not private" if plan.request.scale_by_data else "public",
    }


def _selection_facts(plan: _Plan, source: TableSource) -> dict[str, Any]:
    index = {"row_index": list(source.index)} if source.index else {}
    if plan.request.selection.names is None:
        return index
    return {
        **index,
        "selected": f"{len(source.columns)} of {len(source.available)} columns, by name, which is a public choice",
    }


def _selection_notes(plan: _Plan, source: TableSource) -> list[str]:
    notes = []
    if source.index:
        notes.append(
            f"left out as a row index: {', '.join(map(shown, source.index))} (--columns reads it all the same)"
        )
    if plan.request.selection.names is not None:
        notes.append(
            f"{len(source.columns)} of {len(source.available)} columns were selected: the choice is public and costs "
            "no budget, so make it without looking at the data"
        )
    if plan.request.selection.header and any(map(_is_numeral, source.columns)):
        notes.append(
            "the names of the columns are released, and they come from the first line of the data; if this line is a "
            "record, the release reveals it (use --no-header)"
        )
    return notes


def _is_numeral(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _notes(plan: _Plan, spend: Spend, scaled: Scaling | None, n: int, d: int) -> list[str]:
    declared = plan.declared
    where = plan.request.out or "standard output"
    notes = [
        f"released by {declared.title} ({declared.source}) to {where}: {f'n = {n}, ' * plan.n_is_public}d = {d}",
        f"claimed {spend.claimed}, proven {spend.proven}, {plan.adjacency}, "
        f"n {'public' if plan.n_is_public else 'secret'}",
    ]
    if declared.about.provenance == "reconstructed":
        notes.append(f"the mechanism is {PROVENANCES[declared.about.provenance]}")
    for part, facts in plan.output.meaning(scaled is not None).items():
        about = f" about {facts['about']}" if "about" in facts else ""
        notes.append(f"{part.replace('_', ' ')}{about}, in {facts['unit']}")
    if scaled is not None:
        notes.append("features are clipped to their bounds, shifted and scaled: shift and scale are in the provenance")
    elif declared.domain == "box":
        notes.append("values are clipped to the bounds of their column")
    elif declared.domain == "ball":
        notes.append(
            f"rows are clipped to Euclidean norm {plan.row_bound:g} (--row-bound, in the unit of the data): choose it "
            "without looking at the data; longer rows are shortened to this norm"
        )
    if declared.sampler == "approximate":
        notes.append(
            "the noise is drawn by a Markov chain, so its law is approximate: the guarantee is approximate too"
        )
    return notes
