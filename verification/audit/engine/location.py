"""Find the centre of outputs that are not centred on the query, by trying simple explanations on several data sets.

The search runs only after a refutation, and cannot change the verdict. A wrong centre makes every statement about the
noise scale wrong, so the centre is found first. For example, if a division by n is missing, the outputs lie far from
the query, as if the noise were many times too large.

If equal seeds give equal noise, the output on the data minus the output on zeros shows the centre exactly.
If equal seeds give different noise, the centre is estimated by the mean of many draws, with its standard error.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.streams import stream

SMALL_SHAPES = (20, 3), (5, 2), (12, 3), (40, 2)  # (n, d)
# the noise is small relative to the query for data with these numbers of rows and columns
LARGE_SHAPES = (500, 2), (1500, 3), (3000, 2)
SEEDS = 3
DRAWS = 1000  # if equal seeds do not give equal noise, the centre is the mean of this many outputs
LARGE_DRAWS = 40
AGREE = 2.0**-16  # float32 can cause a relative error of this size
# up to this many standard errors count as chance; among a hundred entries, more occur with probability below 1e-3
ERRORS = 4.5
# an entry whose distance from the query is this many standard errors shows that the query is not the centre
SURELY = 7.0
# clipping and projections may move the centre of the outputs, even if the noise is small; on data with many rows,
# a shift by this fraction of the largest entry of the mean output is allowed
COARSE = 0.03

Query = Callable[[Matrix], Matrix]


@dataclass(frozen=True)
class Explanation:
    """A possible centre of the outputs other than the query, with a sentence about this centre for the report.

    `text` is the sentence for the report, with {q} for the query and {n} for the number of rows. `centre` takes (x,
    query(x)) and returns the centre of the outputs.
    """

    text: str
    centre: Callable[[Matrix, Matrix], Matrix]


@dataclass(frozen=True)
class Location:
    """The centre of the outputs, as a sentence and as a function of the data x."""

    sentence: str
    at: Query


def _covariance(x: Matrix) -> Matrix:
    return second_moment(x - x.mean(axis=0))


def _diagonal(q: Matrix) -> Matrix:
    return np.asarray(np.diag(np.diag(q)))


BY_SIZE = (
    Explanation(
        "n·{q} ({n}·{q} at n = {n}): is a division by n missing? If the target is meant to "
        "return a sum, audit its output divided by n: --call 'f(x, …)/len(x)'",
        lambda x, q: len(x) * q,
    ),
    Explanation("{q}/n ({q}/{n} at n = {n}): is it divided by n twice?", lambda x, q: q / len(x)),
)
OF_ANY = (
    *BY_SIZE,
    Explanation(
        "n/(n − 1)·{q}: does the target divide by n − 1 in place of n?", lambda x, q: len(x) / (len(x) - 1) * q
    ),
    Explanation(
        "(n − 1)/n·{q}: does the target divide by n in place of n − 1?", lambda x, q: (len(x) - 1) / len(x) * q
    ),
    Explanation("(n − 1)·{q}: is a division by n − 1 missing?", lambda x, q: (len(x) - 1) * q),
    Explanation("2·{q}: is a division by 2 missing?", lambda x, q: 2 * q),
    Explanation("{q}/2: is a factor of 2 missing?", lambda x, q: q / 2),
    Explanation("−{q}: does the output have the wrong sign?", lambda x, q: -q),
    Explanation("0 for all data: does the target use the data?", lambda x, q: 0 * q),
)
OF_MATRICES = (
    Explanation("the upper triangle of {q}: are the entries below the diagonal missing?", lambda x, q: np.triu(q)),
    Explanation("the lower triangle of {q}: are the entries above the diagonal missing?", lambda x, q: np.tril(q)),
    Explanation("the diagonal of {q}: are the other entries left out?", lambda x, q: _diagonal(q)),
    Explanation("{q} with its diagonal left out", lambda x, q: q - _diagonal(q)),
    Explanation("{q} with its diagonal counted twice: was Y + Yᵀ taken?", lambda x, q: q + _diagonal(q)),
    Explanation("the centred covariance: is the mean subtracted?", lambda x, q: _covariance(x)),
    Explanation("the centred covariance with the divisor n − 1, as in numpy.cov",
                lambda x, q: _covariance(x) * len(x) / (len(x) - 1)),
    Explanation("the second moment: is the mean not subtracted?", lambda x, q: second_moment(x)),
    Explanation("XᵀX/d: is it divided by the number of columns?", lambda x, q: len(x) / x.shape[1] * q),
)  # fmt: skip
OF_VECTORS = (
    Explanation(
        "the means of the columns: are the entries averaged without being squared?", lambda x, q: x.mean(axis=0)
    ),
    Explanation(
        "the means of the squares of the entries: are the entries squared before they are averaged?",
        lambda x, q: (x**2).mean(axis=0),
    ),
    Explanation("the root mean squares of the columns", lambda x, q: np.sqrt((x**2).mean(axis=0))),
)


@dataclass(frozen=True)
class _Seen:
    """The estimated centre of the outputs on one data set, and the error of every entry."""

    x: Matrix
    query: Matrix
    centre: Matrix
    error: Matrix

    def misfit(self, place: Matrix) -> float:
        """Return the largest distance of an entry from a proposed centre, divided by the error of the entry."""
        return float((np.abs(self.centre - place) / self.error).max())


def where_centred(
    setting: Setting,
    query: Query,
    name: str,
    explanations: Iterable[Explanation],
    coarse: bool,
    smallest: int = 1,
    fitted: bool = True,
) -> Location | None:
    """Return the centre of the outputs if the outputs are not centred on the query, and if one of the explanations fits
    the outputs on all data sets. If the outputs are centred on the query, but the noise on zero data does not have mean
    0, return the query with a sentence about this mean. Otherwise return None.

    `name` is the name of the query that the returned sentence uses. `coarse` says that the output equals the query only
    up to terms that vanish as n grows. If `fitted` is true and none of the explanations fits, the outputs may also be
    centred on a constant times the query; the constant is then estimated from the outputs.
    """
    seen = list(_centres(setting, query, coarse, smallest))
    if len(seen) < 2:
        return None
    if max(one.misfit(one.query) for one in seen) < SURELY / ERRORS:
        return None if coarse else _moved_noise(setting, query, smallest)
    with np.errstate(all="ignore"):
        for group in (list(explanations), _constant_factor(seen) if fitted else []):
            misfits = [max(one.misfit(e.centre(one.x, one.query)) for one in seen) for e in group]
            fitting = [number for number, misfit in enumerate(misfits) if misfit <= 1]
            # several explanations may fit a rough estimate of the centre; the first and simplest of them is taken
            if fitting:
                best = fitting[0] if coarse else int(np.argmin(misfits))
                return _explained(group[best], query, name, len(seen[0].x))
    return None


def _explained(found: Explanation, query: Query, name: str, n: int) -> Location:
    sentence = f"the outputs are centred on {found.text.format(q=name, n=n)}"
    return Location(sentence, lambda x: found.centre(x, query(x)))


def _moved_noise(setting: Setting, query: Query, smallest: int) -> Location | None:
    """Return the query itself, with a sentence about the noise, if the noise on zero rows has a mean other than
    zero.
    """
    n, d = SMALL_SHAPES[0]
    x = np.zeros((n, max(d, smallest)))
    seen = _mean(setting, x, np.asarray(query(x), dtype=np.float64), coarse=False)
    if seen is None or seen.misfit(seen.query) < SURELY / ERRORS:
        return None
    gap = np.abs(seen.centre - seen.query) / seen.error
    place = np.unravel_index(int(np.argmax(gap)), gap.shape)
    where = f" in entry ({', '.join(str(i + 1) for i in place)})" if place else ""
    moved = float((seen.centre - seen.query)[place])
    return Location(f"the noise does not have mean 0: on zero data (n = {n}) the mean is {moved:.3g}{where}", query)


def _constant_factor(seen: list[_Seen]) -> list[Explanation]:
    """Return the query times a factor that weighted least squares fits to the outputs."""
    weights = [1 / one.error**2 for one in seen]
    size = sum(float((w * one.query**2).sum()) for w, one in zip(weights, seen, strict=True))
    if size == 0:
        return []
    factor = sum(float((w * one.query * one.centre).sum()) for w, one in zip(weights, seen, strict=True)) / size
    return [Explanation(f"{factor:.4g}·{{q}} on every data set", lambda x, q: factor * q)]


def plain_rows(n: int, d: int) -> Matrix:
    """Return rows well inside the unit ball whose mean is not zero, with the same values on every machine."""
    rng = np.random.default_rng(stream(0, "location", n, d))
    rows = rng.standard_normal((n, d))
    rows *= 0.6 * rng.random((n, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    moved: Matrix = rows + 0.3 * np.arange(1, d + 1) / np.linalg.norm(np.arange(1, d + 1))
    return moved


def _centres(setting: Setting, query: Query, coarse: bool, smallest: int) -> Iterator[_Seen]:
    for n, d in LARGE_SHAPES if coarse else SMALL_SHAPES:
        x = plain_rows(n, max(d, smallest))
        try:
            value = np.asarray(query(x), dtype=np.float64)
        except InvalidInput:
            continue
        found = _exact(setting, x, value) or _mean(setting, x, value, coarse)
        if found is not None:
            yield found


def _exact(setting: Setting, x: Matrix, query: Matrix) -> _Seen | None:
    """Return the centre of the outputs, which is the output on the data minus the output on zeros under the same seed.
    Return None if this difference is not the same for all seeds, or if a draw fails.
    """
    if not setting.target.seeded:
        return None
    changes, size = [], 0.0
    for seed in range(SEEDS):
        rngs = (np.random.default_rng(stream(setting.seed, "location", *x.shape, seed)) for _ in range(2))
        first, second = (setting.one(data, rng) for data, rng in zip((x, np.zeros_like(x)), rngs, strict=True))
        if isinstance(first, Failure) or isinstance(second, Failure):
            return None
        changes.append(first - second)
        size = max(size, float(np.abs(first).max()), float(np.abs(second).max()))
    spread = float(np.ptp(changes, axis=0).max())
    error = max(AGREE * size, 1e-12)
    if spread > error:
        return None
    # the median of the outputs also exists if there is no noise, or if all draws have the same noise
    return _Seen(x, query, np.median(changes, axis=0), np.full(np.shape(query), error))


def _mean(setting: Setting, x: Matrix, query: Matrix, coarse: bool) -> _Seen | None:
    """Return an estimate of the centre by the mean of draws, or None if half of the draws fail."""
    draws = draw(setting, x, LARGE_DRAWS if coarse else DRAWS, f"location/{x.shape}")
    if len(draws.outputs) < draws.size / 2 or len(draws.outputs) < LARGE_DRAWS / 2:
        return None
    error = ERRORS * draws.outputs.std(axis=0, ddof=1) / len(draws.outputs) ** 0.5
    slack = COARSE * np.abs(draws.outputs.mean(axis=0)).max() if coarse else 0.0
    return _Seen(x, query, draws.outputs.mean(axis=0), error + slack + 1e-12)
