"""Find coincidences, such as repeated values, which draws from a continuous law almost surely never show.

Additive noise with a continuous law is never exactly zero and never the same twice, and its entries satisfy no exact
relation. On data sets of several shapes, the check compares the draws on one data set with one another, and the entries
of a draw with one another.

The following bounds say how many coincidences between draws occur by chance. The noise may have been computed in
float32, where the relative distance of successive numbers is 2⁻²³. Two independent entries in float32 therefore have a
relative difference below `CLOSE` with a probability of a few times `CLOSE`. The number of agreeing entries is compared
with a binomial law of probability `CHANCE`, which is 64 times as large as `CLOSE`. The factor 64 suffices for all
mechanisms of the reference: in units of the spread of its noise, the density of the noise stays below 64. Repeated
values in float64 are 2²⁹ times rarer than in float32. Noise on a coarse lattice may repeat values. For noise on a
lattice, the probability c of the most probable value is known, and two numbers agree up to their signs with probability
at most 2c. The check makes many comparisons, so the probability of an observed coincidence is multiplied by the number
of comparisons. The coincidence becomes a finding only if this product is at most the false-alarm probability of the
check.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.symmetry import places
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.rounding import rounded_up
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tail_probabilities import binomial_at_least

NAME = "coincidences"
NAME_SEEN = "coincidences in the draws of the law"
SHAPES_OF_DRAWS = (65, 1), (12, 2), (5, 3), (65, 3), (20, 5), (5, 7), (65, 7), (8, 12)
DRAWS = 48  # the number of draws on data of each shape, which suffices to detect a relation between any two entries
CLOSE = 2.0**-22  # two numbers count as equal if their relative difference is at most this
# a bound on the probability that two independent numbers from a continuous law differ by at most `CLOSE`
CHANCE = 2.0**-16
SINGLE = 2.0**-24  # the unit of float32
# a residual below this share of the output counts as zero, because the query is rounded
EXACT = 2.0**-50
# a singular value of standardised residuals below this share of the largest means an exact linear relation
FULL_RANK = 1e-5
# linear relations are sought only if the number of draws exceeds the number of entries by at least this number;
# with fewer draws, a singular value could be small by chance
SPARE_DRAWS = 12
# a finding needs this many draws in which two entries have the same ratio, or this many repeated values of one entry
SMALLEST_GROUP = 5
FEW_DECIMALS = 6  # outputs with at most this many decimals are rounded
SURE_REPEATS = 20  # if this many repeats are expected, fewer than 5 occur with a probability below 1e-4
# clipping and projection repeat a few values, such as 0, so a finding needs this many different repeated outputs
REPEATED = 8
# outputs, divided by their size, are rounded to this many decimals: clipped values are equal only up to rounding
DECIMALS = 12
NAMED = 3  # a report describes this many findings in full
LARGE_COEFFICIENT = 0.2  # a coefficient of a relation is large if it exceeds this share of the largest coefficient


@dataclass(frozen=True)
class _Draws:
    """The residuals of draws on one data set, with one row for each draw and one column for each entry of the
    output.
    """

    x: Matrix
    residuals: Matrix  # (draws, entries)
    sizes: Matrix  # the absolute values of the entries of the outputs, (draws, entries)
    entries: tuple[tuple[int, ...], ...]
    atom: float = 0.0  # the largest probability of any single value of an entry

    @property
    def chance(self) -> float:
        """Return a bound on the probability that two independent entries agree up to their signs."""
        return max(CHANCE, 2 * self.atom)

    @property
    def shape(self) -> str:
        """Return the shape of the data as text."""
        return f"n = {self.x.shape[0]}, d = {self.x.shape[1]}"


def entry_name(place: tuple[int, ...]) -> str:
    """Return the name of an entry of the output in words."""
    if not place:
        return "the output"
    if len(place) == 1:
        return f"component {place[0] + 1}"
    return f"entry ({', '.join(str(i + 1) for i in place)})"


def _collect(setting: Setting, path: DataPath, n: int, d: int) -> _Draws | None:
    """Return draws with new generators on one data set, or None if too many draws fail."""
    assert path.query is not None
    x = zoo(n, d, setting.seed)[0].x
    outputs = []
    for i in range(DRAWS):
        rng = np.random.default_rng(stream(setting.seed, NAME, n, d, i))
        outcome = setting.one(x, rng)
        if isinstance(outcome, Failure):
            if outcome.kind == "time-out":
                return None
            continue
        outputs.append(outcome)
    if len(outputs) < DRAWS // 2:
        return None
    return as_draws(x, np.array(outputs), path.query(x), path)


def as_draws(x: Matrix, outputs: Matrix, query: Matrix, path: DataPath) -> _Draws:
    """Return the residuals of outputs on x; for symmetric matrices, return only the entries on and above the
    diagonal.
    """
    shape = outputs.shape[1:]
    own = places(shape, path.symmetric)
    kept = [int(np.ravel_multi_index(place, shape)) if place else 0 for place in own]
    residuals, sizes = outputs - query, np.abs(outputs) + np.abs(query)

    def columns(values: Matrix) -> Matrix:
        flat: Matrix = values.reshape(len(values), -1)[:, kept]
        return flat

    return _Draws(x, columns(residuals), columns(sizes), tuple(own), path.atom)


# FINDINGS AND THEIR PROBABILITIES

Counted = tuple[float, str]


def _count_p(count: int, of: float, probability: float, comparisons: float) -> float:
    """Return the probability that at least one of many comparisons shows at least this many coincidences."""
    trials = max(round(of), 1)
    return rounded_up(comparisons * float(binomial_at_least(count, trials, min(probability, 1.0))), trials)


def zeros(draws: _Draws) -> list[Counted]:
    """Find residuals that are exactly zero, several times in one entry or in whole draws."""
    size, entries = draws.residuals.shape
    spread = np.median(np.abs(draws.residuals), axis=0)
    zero = np.abs(draws.residuals) <= EXACT * draws.sizes
    # noise lies within w of 0 with a probability of about w divided by the spread of the noise;
    # the factor 64 allows for laws whose density has a peak at 0
    chance = 64 * EXACT * draws.sizes.max(axis=0) / np.where(spread > 0, spread, np.inf)
    chance = np.minimum(1.0, chance + draws.atom)
    found = []
    always = [place for column, place in enumerate(draws.entries) if zero[:, column].all() and not draws.atom]
    whole = int(zero.all(axis=1).sum())
    if whole:
        p = _count_p(whole, size, float(np.prod(np.maximum(chance, 1e-30)) if entries < 9 or draws.atom else 1e-30), 1)
        found.append((p, f"{whole} of {size} draws have no noise at all"))
        return found
    for column in range(entries):
        count = int(zero[:, column].sum())
        if count:
            p = 0.0 if draws.entries[column] in always else _count_p(count, size, float(chance[column]), entries)
            found.append(
                (p, f"the noise of {entry_name(draws.entries[column])} is exactly zero in {count} of {size} draws")
            )
    return found


def repeats(draws: _Draws) -> list[Counted]:
    """Find two draws with the same residuals in all entries, up to their signs."""
    size, entries = draws.residuals.shape
    magnitude = np.abs(draws.residuals)
    magnitude = magnitude[np.argsort(magnitude[:, 0])]
    one, next_one = magnitude[:-1], magnitude[1:]
    close = (np.abs(next_one - one) <= CLOSE * np.maximum(one, next_one)).all(axis=1)
    same = int((close & next_one.any(axis=1)).sum())
    if not same:
        return []
    p = _count_p(same, size * (size - 1) / 2, draws.chance ** min(entries, 4), 1)
    return [(p, f"only {size - same} of {size} draws have noise of their own: the others repeat it")]


def few_values(draws: _Draws) -> list[Counted]:
    """Find entries whose noise takes fewer values than there are draws, because the noise lies on a coarse grid."""
    size, entries = draws.residuals.shape
    spread = np.median(np.abs(draws.residuals), axis=0)
    # float32 rounds an output to about 2⁻²³ of its size; if the noise is small in comparison with the output,
    # two different noises are often rounded to the same value
    apart = 2.0**-20 * draws.sizes.max(axis=0) / np.where(spread > 0, spread, np.inf)
    ordered = np.sort(draws.residuals, axis=0)
    close = (np.diff(ordered, axis=0) <= CLOSE * np.abs(ordered[1:])) & (ordered[1:] != 0)
    found = []
    for column in np.flatnonzero(close.sum(axis=0) >= SMALLEST_GROUP):
        same = int(close[:, column].sum())
        p = _count_p(same, size * (size - 1) / 2, max(draws.chance, float(apart[column])), entries)
        what = f"the noise of {entry_name(draws.entries[column])} takes only {size - same} values in {size} draws"
        found.append((p, what))
    return found


def atoms(draws: _Draws) -> list[Counted]:
    """Find a residual that many draws share up to its sign, because the noise is clipped or lies on a grid."""
    size, entries = draws.residuals.shape
    magnitude = np.abs(draws.residuals)
    groups = [(entry_name(place), magnitude[:, [i]]) for i, place in enumerate(draws.entries)]
    found = []
    for what, values in (*groups, ("an entry", magnitude)) if entries > 1 else groups:
        values, spread = np.sort(values.ravel()), float(np.median(values))
        close = (np.diff(values) <= CLOSE * values[1:]) & (values[1:] > EXACT * draws.sizes.max())
        if not close.any() or not spread:
            continue
        start, stop = _longest_run(close)
        count = stop - start + 1
        rounded = 64 * SINGLE * float(draws.sizes.max()) / spread  # an output in float32
        p = _count_p(count - 1, len(values) - 1, max(draws.chance, rounded), len(values) * (entries + 1))
        size_of = values[(start + stop) // 2]
        found.append((p, f"the noise of {what} is {size_of:.6g}, up to its sign, {count} times in {size} draws"))
    return found


def relations(draws: _Draws) -> list[Counted]:
    """Find pairs of entries whose ratio is the same in many draws, such as equal or opposite entries."""
    size, entries = draws.residuals.shape
    pairs = entries * (entries - 1) / 2
    found: list[Counted] = []
    for a in range(entries):
        later = draws.residuals[:, a + 1 :]
        with np.errstate(all="ignore"):
            ratios = later / draws.residuals[:, [a]]
        sorted_ratios = np.sort(np.where(np.isfinite(ratios), np.abs(ratios), np.nan), axis=0)
        sorted_ratios[sorted_ratios == 0] = np.nan  # `zeros` reports entries without noise
        close = np.diff(sorted_ratios, axis=0) <= CLOSE * np.abs(sorted_ratios[1:])
        for b in np.flatnonzero(close.sum(axis=0) > 2):
            start, stop = _longest_run(close[:, b])
            count = stop - start + 1
            # two equal draws also have equal ratios, so the same ratio in a few draws does not prove a relation
            if count < SMALLEST_GROUP:
                continue
            ratio = float(sorted_ratios[(start + stop) // 2, b])
            p = _count_p(count - 1, size * (size - 1) / 2, draws.chance, pairs)
            signed = ratios[:, b][np.abs(np.abs(ratios[:, b]) - ratio) <= 4 * CLOSE * ratio]
            found.append((p, _related(draws, a, a + 1 + int(b), float(signed[0]), signed, count)))
    return found


def _longest_run(flags: Matrix) -> tuple[int, int]:
    """Return the start and the end (exclusive) of the longest run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    starts, stops = edges[::2], edges[1::2]
    longest = int((stops - starts).argmax())
    return int(starts[longest]), int(stops[longest])


def _related(draws: _Draws, a: int, b: int, ratio: float, signed: Matrix, count: int) -> str:
    first, second = entry_name(draws.entries[a]), entry_name(draws.entries[b])
    mixed = bool((signed > 0).any() and (signed < 0).any())
    if abs(abs(ratio) - 1) <= 4 * CLOSE:
        what = f"the noise of {first} up to its sign" if mixed else f"the noise of {first}"
        what = what if ratio > 0 or mixed else f"minus the noise of {first}"
    else:
        what = f"{ratio:.6g} times the noise of {first}"
    share = "" if count >= len(draws.residuals) else f" in {count} of {len(draws.residuals)} draws"
    return f"the noise of {second} equals {what}{share}"


def dependence(draws: _Draws) -> list[Counted]:
    """Find an exact linear relation between any number of entries that holds in all draws."""
    size, entries = draws.residuals.shape
    if entries < 2 or size < entries + SPARE_DRAWS:
        return []
    spread = np.sqrt((draws.residuals**2).mean(axis=0))
    if not (spread > 0).all():
        return []
    _, values, vectors = np.linalg.svd(draws.residuals / spread, full_matrices=False)
    if values[-1] > FULL_RANK * values[0]:
        return []
    weights = vectors[-1] / spread
    weights = weights / weights[np.argmax(np.abs(weights))]
    large = np.flatnonzero(np.abs(weights) > LARGE_COEFFICIENT)
    terms = " + ".join(f"{weights[i]:.3g} × {entry_name(draws.entries[i])}" for i in large[:4])
    more = " + …" if len(large) > 4 else ""
    # by chance, a column equals a combination of the other columns only if each of its last numbers takes the one value
    # that the other columns determine, and each number does this with probability at most `atom`
    p = min(1.0, entries * draws.atom ** (size - entries + 1))
    return [(p, f"an exact linear relation between the entries of the noise: {terms}{more} = 0")]


def found_in(draws: _Draws, alpha: float) -> list[str]:
    """Return a sentence for every finding on one data set whose p-value is at most `alpha`."""
    counted = (*zeros(draws), *repeats(draws), *few_values(draws), *atoms(draws), *relations(draws))
    few = [text for p, text in counted if p <= alpha]
    few = few or [text for p, text in dependence(draws) if p <= alpha]
    return [f"{text} ({draws.shape})" for text in few]


def _is_coarse(outputs: Matrix) -> bool:
    """Return whether all outputs have few digits; such outputs may be rounded, and rounded values repeat."""
    few_decimals = np.array_equal(outputs, outputs.round(FEW_DECIMALS))
    with np.errstate(over="ignore"):  # numbers too large for float16 become infinite, and then differ from the output
        return few_decimals or np.array_equal(outputs, outputs.astype(np.float16))


def same_outputs(outputs: Matrix) -> list[Counted]:
    """Find draws that repeat a whole output. This check is for mechanisms that add no noise to a query and have no
    output of positive probability.
    """
    size, flat = len(outputs), outputs.reshape(len(outputs), -1)
    same = size - len(np.unique(flat, axis=0))
    if not same or flat.shape[1] <= 2 or _is_coarse(flat):
        return []
    # an output has more than two entries here; even in a unit vector, at least two of them are free, and two draws
    # agree in two free entries with probability at most CHANCE²
    p = _count_p(same, size * (size - 1) / 2, CHANCE**2, 1)
    return [(p, f"only {size - same} of {size} draws have an output of their own: the others repeat it")]


def seeds_seen(draws: Iterable[Matrix]) -> int:
    """Return a number S of seeds. If the generator of the target had at most S different seeds, one of these lists of
    draws would almost surely contain equal draws.

    The expected number of pairs of equal draws among N draws from S seeds is about N²/(2S). If `SURE_REPEATS` pairs are
    expected, a repeat is almost sure. Only outputs with more than two numbers are used.
    """
    pairs = [len(one) * (len(one) - 1) / 2 for one in draws if one[:1].size > 2]
    return int(max(pairs, default=0.0) / SURE_REPEATS)


def findings_in(path: DataPath, x: Matrix, outputs: Matrix) -> list[Counted]:
    """Count the residuals that are zero, and the residuals that occur repeatedly, among many draws on one data set."""
    if path.query is None:
        return same_outputs(outputs)
    seen = as_draws(x, outputs, path.query(x), path)
    return [*zeros(seen), *repeats(seen), *few_values(seen), *atoms(seen)]


def coincidences_seen(path: DataPath | None, draws: Iterable[tuple[Matrix, Matrix]], alpha: float) -> list[Finding]:
    """Check the draws of the tests of the law for zeros and repeats; `draws` has pairs (data set, outputs)."""
    if path is None:
        return []
    listed = [(x, outputs) for x, outputs in draws if len(outputs)]
    if path.query is None and not path.continuous:
        return _outputs_repeated(path, listed)
    found: list[str] = []
    for x, outputs in listed:
        shape = f"n = {x.shape[0]}, d = {x.shape[1]}"
        counted = findings_in(path, x, outputs)
        found += [f"{text} ({shape})" for p, text in counted if p <= alpha / len(listed)]
    if not found:
        total = sum(len(outputs) for _, outputs in listed)
        kept = f"no {'zero and no ' if path.query is not None else ''}repeat in {total} draws"
        seeds = seeds_seen(outputs for _, outputs in listed)
        if seeds:
            kept += f"; a generator with {seeds} seeds or fewer would have shown repeats"
        return [Finding("data path", NAME_SEEN, Status.NOT_REFUTED, kept)]
    return [
        Finding("data path", NAME_SEEN, Status.REFUTED, f"almost impossible under a continuous law: {'; '.join(found)}")
    ]


def _outputs_repeated(path: DataPath, draws: list[tuple[Matrix, Matrix]]) -> list[Finding]:
    """Check that outputs whose law has a density do not repeat one another.

    Clipping and projection can give a positive probability to some values of an output, such as 0, and these values
    repeat often. The check therefore counts how many different outputs occur at least twice.
    """
    if path.atoms or not draws:
        return []
    for x, outputs in draws:
        flat = outputs.reshape(len(outputs), -1)
        if _is_coarse(flat):
            continue
        unit = float(np.median(np.abs(flat))) or 1.0
        _, counts = np.unique(np.round(flat / unit, DECIMALS), axis=0, return_counts=True)
        again = int((counts > 1).sum())
        if again >= REPEATED and np.prod(outputs.shape[1:]) > 0:
            detail = (
                f"almost impossible under a continuous law: {again} different outputs occurred at least twice in "
                f"{len(outputs)} draws (n = {x.shape[0]}, d = {x.shape[1]}): the target has few seeds, or uses the "
                "same noise again"
            )
            return [Finding("data path", NAME_SEEN, Status.REFUTED, detail)]
    total = sum(len(outputs) for _, outputs in draws)
    detail = f"fewer than {REPEATED} outputs occurred twice in {total} draws"
    return [Finding("data path", NAME_SEEN, Status.NOT_REFUTED, detail)]


def coincidences(setting: Setting, path: DataPath | None, alpha: float) -> list[Finding]:
    """Check that noise which is added to a query shows no zeros, no repeated values and no exact relations.

    A target whose noise has a continuous law is refuted with probability at most `alpha`.
    """
    if path is None or path.query is None:
        return []
    shapes = [(n, d) for n, d in SHAPES_OF_DRAWS if d >= path.smallest_dimension]
    found: list[str] = []
    seen = []
    for n, d in shapes:
        draws = _collect(setting, path, n, d)
        if draws is not None:
            seen.append(f"({n}, {d})")
            found += found_in(draws, alpha / len(shapes))
        setting.progress(NAME, DRAWS)
    if found:
        more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
        detail = f"almost impossible under a continuous law: {'; '.join(found[:NAMED])}{more}"
        return [Finding("data path", NAME, Status.REFUTED, detail)]
    if not seen:
        return [Finding("data path", NAME, Status.SKIPPED, "too few draws have an output")]
    detail = f"no zero, no repeat and no exact relation in {DRAWS} draws on data of shape {', '.join(seen)}"
    return [Finding("data path", NAME, Status.NOT_REFUTED, detail)]
