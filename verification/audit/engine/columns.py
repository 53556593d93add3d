"""Test by draws how a target treats the columns of a box: the noise and value of every entry, and whether columns are
treated alike.

All draws are on one data set with many rows, where noise is small in comparison with the covariance, and on changed
copies of the data set. The changes reorder the columns, rescale their units by powers of 2, or reflect a column about
the centre of its bounds.

If the target releases a matrix of second moments or covariances, the check answers two questions about it.

- The first question is on which value each entry of the output is centred, and whether the noise scale of the entry
  fits the bounds of its own columns. If the noise scale does not fit these bounds, it may fit the bounds of another
  entry. A mechanism may choose other noise scales than the products of the widths of the bounds. Findings about entries
  therefore only explain a violation that another question found.

- The second question is whether columns are treated alike. Suppose that the mechanism uses the bounds only to scale the
  columns. If the columns of the data are permuted, the output is then permuted in the same way. If a column is rescaled
  or reflected, the output changes in a known way. Not every mechanism promises that columns are treated alike. Unequal
  treatment of columns refutes a target only if the mechanism promises equal treatment. Otherwise the report only
  mentions the difference.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from covassay.reference.box_sensitivity import second_moment_sensitivity
from covassay.reference.domain import Box, Matrix, Vector, second_moment
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.targets.bounds import BOUNDS
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import two_sample

ROWS = 500
SHARE = 0.5  # the number of draws is this share of the number of draws on other data sets
FEWEST = 200
CHANGES = 3  # the largest number of changes of the columns
FACTORS = (8.0, 1.0, 0.5)  # the units of the columns are multiplied by powers of 2, which cause no rounding
# A deviation of a median or of a spread counts as chance if it is at most this many standard errors. This limit is the
# same for matrices of any size.
DEVIATIONS = 7.0
NAMED = 4  # a report describes this many entries in full

COVARIANCE = "covariance"

Place = tuple[int, int]


@dataclass(frozen=True)
class ColumnFindings:
    """The results of the tests of entries and columns. `explanations` has sentences that may explain a violation, and
    `query` is the name of the query on which the output is centred.
    """

    checks: tuple[Finding, ...] = ()
    explanations: tuple[str, ...] = ()
    query: str = ""


def _entry(place: Place) -> str:
    return f"({place[0] + 1}, {place[1] + 1})"


def _data(box: Box, seed: int) -> Matrix:
    """Return rows with correlated columns of different spreads, so that no two covariances are alike."""
    rng = np.random.default_rng(stream(seed, "columns"))
    d = box.dimension
    own, common = rng.random((ROWS, d)), rng.random((ROWS, 1))
    weight = np.linspace(0.15, 0.7, d)
    shares = (1 - weight) * own ** np.linspace(1, 3, d) + weight * common
    return box.place(np.clip(shares, 0, 1))


# VALUES AND NOISE SCALES


@dataclass(frozen=True)
class _Entries:
    """The median and the spread of every entry on and above the diagonal over the draws, with the query (`kind`) that
    explains the medians best.
    """

    places: tuple[Place, ...]
    median: Vector
    spread: Vector
    size: int
    kind: str
    values: Vector  # the values of the query at these entries
    units: Vector  # the units of the entries; a noise scale may be proportional to them

    @property
    def error(self) -> Vector:
        """Return the largest sampling error of a median that still counts as chance."""
        return DEVIATIONS * self.spread / math.sqrt(self.size)

    def source_of_value(self, k: int) -> int | None:
        """Return the number of the entry of the query on which entry k of the output is centred. If the draws fit entry
        k of the query, this number is k. If they do not, the function returns the only other entry that the draws fit.
        It returns None if there is no such entry, if there are several, or if the draws fit the value 0.
        """
        off = np.abs(self.values - self.median[k])
        allowed = self.error[k] + 1e-9 * np.abs(self.values).max()
        if off[k] <= allowed:
            return k
        if abs(self.median[k]) <= allowed:  # whatever the data are, the entry may be centred on 0
            return None
        fitting = np.flatnonzero(off <= allowed)
        return int(fitting[0]) if len(fitting) == 1 else None

    @property
    def expected(self) -> Vector:
        """Return the spread that every entry should have if noise scales are proportional to `units`, as is usual."""
        return np.asarray(np.median(self.spread / self.units) * self.units)

    def alike(self, one: float, other: float) -> bool:
        """Return whether the difference of two spreads may be chance."""
        return one > 0 and other > 0 and abs(math.log(one / other)) <= DEVIATIONS / math.sqrt(self.size)


def _queries(box: Box, x: Matrix) -> dict[str, tuple[Matrix, Matrix]]:
    """Return the value of each query by its name, and the units in which the noise scales of the query are given."""
    c = x - x.mean(axis=0)
    products = np.outer(box.widths, box.widths)
    return {
        COVARIANCE: (second_moment(c), products),
        f"{COVARIANCE} over n − 1": (second_moment(c) * len(x) / (len(x) - 1), products),
        "second moment": (second_moment(x), second_moment_sensitivity(box, 1).entries),
    }


def _entries(box: Box, x: Matrix, outputs: Matrix) -> _Entries:
    d = box.dimension
    rows, columns = np.triu_indices(d)
    values = outputs[:, rows, columns]
    median = np.median(values, axis=0)
    spread = np.abs(values - median).mean(axis=0)
    made = [
        _Entries(
            tuple((int(i), int(j)) for i, j in zip(rows, columns, strict=True)),
            median, spread, len(outputs), kind, query[rows, columns], units[rows, columns],
        )
        for kind, (query, units) in _queries(box, x).items()
    ]  # fmt: skip
    sources = [[e.source_of_value(k) for k in range(len(e.places))] for e in made]
    own = [sum(source == k for k, source in enumerate(found)) for found in sources]
    known = [sum(source is not None for source in found) for found in sources]
    return made[max(range(len(made)), key=lambda m: (known[m], own[m]))]


def _misplaced(e: _Entries, order: Mapping[int, int]) -> list[str]:
    """Return sentences about two sorts of entries of the output: entries that are centred on the value of a different
    entry of the query, and entries whose noise scale does not fit the bounds of their columns.
    """
    found = []
    expected = e.expected
    one_scale = all(e.alike(spread, float(np.median(e.spread))) for spread in e.spread)
    for k, place in enumerate(e.places):
        source = e.source_of_value(k)
        value = k if source is None else source
        if one_scale or not expected[value] > 0 or e.alike(e.spread[k], expected[value]):
            if value != k:
                found.append(f"entry {_entry(place)} of the output is entry {_entry(e.places[value])} of the {e.kind}")
            continue
        other = f", which is entry {_entry(e.places[value])} of the {e.kind}," if value != k else ""
        text = (
            f"entry {_entry(place)} of the output{other} has noise that is {_times(e.spread[k] / expected[value])} for "
            "its bounds, in comparison with the noise of the other entries"
        )
        fitting = [m for m in range(len(e.places)) if e.alike(e.spread[k], expected[m])]
        likely = [m for m in (k, order.get(k)) if m in fitting] or fitting
        if likely:
            text += f": the noise has the scale of entry {' or '.join(_entry(e.places[m]) for m in likely[:NAMED])}"
        found.append(text)
    return found


def _times(factor: float) -> str:
    if factor == 0:
        return "missing"
    return f"{factor:.3g} times too large" if factor > 1 else f"{1 / factor:.3g} times too small"


def _triangle_orders(e: _Entries, d: int) -> dict[int, int]:
    """Return a map of entries if the values or the noise scales look as if one triangle of the matrix had been filled
    in the order of the other triangle. If they do not look so, the map is empty.

    The entries of each triangle are numbered row by row. The map takes the p-th entry of the lower triangle to the p-th
    entry of the upper triangle. The map leaves out every p for which these two entries of the symmetric matrix are the
    same.
    """
    index = {place: k for k, place in enumerate(e.places)}
    lower = (index[int(j), int(i)] for i, j in zip(*np.tril_indices(d), strict=True))
    moved = {low: up for up, low in enumerate(lower) if low != up}
    by_noise = all(e.alike(e.spread[low], e.expected[up]) for low, up in moved.items())
    own_noise = all(e.alike(e.spread[low], e.expected[low]) for low in moved)
    # the source of a value is None if the noise is too large to tell which entry of the query the value belongs to
    sources = {up: e.source_of_value(up) for up in moved.values()}
    by_place = any(sources.values()) and all(sources[up] in (low, None) for low, up in moved.items())
    return moved if by_place or (by_noise and not own_noise) else {}


ORDERS = (
    "the values have the order of a lower triangle that is read row by row (np.tril_indices), but the noise scales "
    "have the order of an upper triangle (np.triu_indices)"
)


def entry_findings(box: Box, x: Matrix, outputs: Matrix) -> tuple[str, list[str]]:
    """Return the name of the query on which most entries are centred, and sentences about entries whose value is that
    of another entry or whose noise scale does not fit.
    """
    e = _entries(box, x, outputs)
    order = _triangle_orders(e, box.dimension)
    found = _misplaced(e, order)
    if found:
        more = [f"and {len(found) - NAMED} more"] if len(found) > NAMED else []
        found = ["; ".join([*found[:NAMED], *more, *([ORDERS] if order else [])])]
    fitting = sum(e.source_of_value(k) == k for k in range(len(e.places)))
    return (e.kind if 2 * fitting > len(e.places) else ""), found


# COLUMNS ALIKE


@dataclass(frozen=True)
class _Change:
    """A change of the columns, with the function that maps outputs on the changed data back to the original data."""

    name: str
    box: Box
    x: Matrix
    order: tuple[int, ...]  # entry a of the changed data is entry order[a] of the original data
    # the change multiplies every column by a factor: by a change of units, or by −1 if the column is reflected
    factors: Vector

    def expected(self, outputs: Matrix) -> Matrix:
        """Return the output on the changed data that corresponds to an output on the original data."""
        if outputs.ndim == 2:
            return np.asarray(outputs[:, self.order] * self.factors)
        turned = outputs[:, self.order][:, :, self.order]
        return np.asarray(turned * np.outer(self.factors, self.factors))


def _changes(setting: Setting, box: Box, x: Matrix, covariance: bool) -> list[_Change]:
    d = box.dimension
    told = BOUNDS in setting.budget
    same, ones = tuple(range(d)), np.ones(d)
    changes = []
    order = tuple(np.roll(same, 1).tolist()) if told else _among_equal_bounds(box)
    if order != same:
        changes.append(_Change("other order of the columns", box.columns(order), x[:, order], order, ones))
    if told:
        factors = np.resize(FACTORS, d)
        changes.append(
            _Change("other units of the columns", box.stretched(factors.tolist()), x * factors, same, factors)
        )
    if covariance and d > 1:
        turned = x.copy()
        turned[:, 0] = box.reflect(x)[:, 0]
        changes.append(_Change("column 1 reflected", box, turned, same, np.where(np.arange(d) == 0, -1.0, 1.0)))
    return changes


def _among_equal_bounds(box: Box) -> tuple[int, ...]:
    """Return an order of the columns in which only columns with equal bounds change places, so that the list of bounds
    stays the same.
    """
    order = list(range(box.dimension))
    for bounds in dict.fromkeys(box.bounds):
        places = [j for j, other in enumerate(box.bounds) if other == bounds]
        for place, other in zip(places, (*places[1:], places[0]), strict=True):
            order[place] = other
    return tuple(order)


def _compared(setting: Setting, change: _Change, base: Matrix, alpha: float, promised: bool) -> Finding:
    drawn = draw(setting.within(change.box), change.x, len(base), f"columns/{change.name}").outputs
    size = min(len(drawn), len(base))
    if size < FEWEST // 2:
        return Finding("law", change.name, Status.SKIPPED, "too few outputs on the changed data")
    flat = [np.nan_to_num(values[:size].reshape(size, -1)) for values in (change.expected(base), drawn)]
    tests = [two_sample(flat[0][:, k], flat[1][:, k], "") for k in range(flat[0].shape[1])]
    worst = min(range(len(tests)), key=lambda k: tests[k].p_value)
    p = min(1.0, len(tests) * tests[worst].p_value)
    threshold = alpha / CHANGES
    if p >= threshold:
        seen = tests[worst].detectable(threshold / len(tests))
        detail = (
            f"every entry has the expected law ({size} draws on each data set; a distance of {seen:.2f} between "
            "distribution functions would be detected)"
        )
        return Finding("law", change.name, Status.NOT_REFUTED, detail, n=2 * size)
    one, other = (values[:, worst] for values in flat)
    place = np.unravel_index(worst, base.shape[1:])
    middles = [float(np.median(values)) for values in (one, other)]
    spreads = [float(np.abs(values - middle).mean()) for values, middle in zip((one, other), middles, strict=True)]
    detail = (
        f"entry ({', '.join(str(int(i) + 1) for i in place)}) has median {middles[1]:.4g} and spread {spreads[1]:.4g} "
        f"on the changed data; the draws on the unchanged data predict median {middles[0]:.4g} and spread "
        f"{spreads[0]:.4g} (p = {p:.2g})"
    )
    if not promised:
        detail += (
            ". Unequal treatment of columns breaks a promise only if the mechanism promises to use the bounds for "
            "nothing but the scaling of the columns (--equivariant)"
        )
    return Finding("law", change.name, Status.REFUTED if promised else Status.NOTED, detail, n=2 * size)


@np.errstate(all="ignore")
def columns(setting: Setting, samples: int, alpha: float, promised: bool) -> ColumnFindings:
    """Make draws to test the value and the noise scale of every entry, and to test whether all columns are treated in
    the same way.

    A target that treats columns alike is refuted with probability at most `alpha`.
    """
    box, power = setting.box, setting.output.power
    if box is None or power == 0 or setting.output.shape(box.dimension) != (box.dimension,) * power:
        return ColumnFindings()
    x = _data(box, setting.seed)
    base = draw(setting, x, max(FEWEST, round(SHARE * samples)), "columns/data").outputs
    if len(base) < FEWEST // 2:
        return ColumnFindings((Finding("law", "columns", Status.SKIPPED, "too few outputs"),))
    checks: list[Finding] = []
    kind, found = entry_findings(box, x, base) if power == 2 else ("", [])
    if power == 2:
        centre = f"the output is centred on {f'the {kind}' if kind else 'neither the covariance nor the second moment'}"
        detail = "; ".join((centre, *(found or ["every entry has its own value and a noise scale that fits"])))
        checks.append(Finding("law", "entries", Status.NOTED if found else Status.NOT_REFUTED, detail, n=len(base)))
    for change in _changes(setting, box, x, kind.startswith(COVARIANCE)):
        checks.append(_compared(setting, change, base, alpha, promised))
    return ColumnFindings(tuple(checks), tuple(found), kind)
