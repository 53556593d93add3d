"""Compare the recommendation with simulation: whether its first choice is truly the best, and whether its predictions
are right.

    python -P -m covassay.verification.maintain recommendation-grid FILE [--points 60] [--kind equal]
                                                                    [--power 1] [--seed 1]

At every point of a random grid, every candidate is simulated on new rows. The rows have equal norm √t with random signs
in a random basis or, with --kind gaussian, are correlated Gaussian rows clipped to the ball. The point gives n, the
budget, d and t. A recommendation is compared with simulations on the kind of rows for which it was made. Half of the
points have a budget ε, and the others a budget ρ. All points lie where a release may be useful: n is at least d/(εt) or
√d/(√ρ t), where the noise is about as large as the trace. With --power p the eigenvalues decrease like i^{−p}; the
recommendation assumes p = 1, so that other values test its robustness.

The candidate with the least simulated root mean square Frobenius error is called truly best, and so is every candidate
whose error differs from the least error by less than 2.58 standard errors. A point with several truly best candidates
is a tie. Before the truly best candidates are determined, candidates within 15 % of the best are simulated again with
three times as many draws.

FILE has a line of JSON for every point. A point that is already in the file is not simulated again.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.laws import haar
from covassay.reference.privacy import ZCDP, PureDP
from covassay.reference.recommendation import CANDIDATES, Candidate, Prediction, Setting, model_spectrum, recommend
from covassay.reference.recommendation.ranking import ROWS, STANDARD_ERRORS, RowsAre
from tests.recommendation.constants import rng_of, root_mean_square

SIZES, DIMENSIONS, TRACES = (200, 5000), (2, 32), (0.01, 1.0)
EPSILONS, RHOS = (0.1, 4.0), (0.005, 8.0)
CLOSE, MORE = 1.15, 3  # candidates within the factor CLOSE of the best get MORE times as many further draws
TOLD_APART = 2.58  # two errors count as different if they differ by at least this number of standard errors


def points(count: int, seed: int) -> list[Setting]:
    """Return the points of the grid, the first half under pure DP; every coordinate is uniform in its logarithm."""
    rng = rng_of(seed, "points")
    found: list[Setting] = []
    while len(found) < count:
        pure = len(found) < count // 2
        n, d, amount, trace = (
            math.exp(rng.uniform(math.log(low), math.log(high)))
            for low, high in (SIZES, DIMENSIONS, EPSILONS if pure else RHOS, TRACES)
        )
        amount, trace = float(f"{amount:.3g}"), float(f"{trace:.3g}")
        point = Setting(round(n), round(d), PureDP(amount) if pure else ZCDP(amount), trace)
        if point.size * point.trace >= (point.dimension if pure else point.dimension**0.5):
            found.append(point)
    return found


def rows_of(point: Setting, power: float, rng: np.random.Generator, kind: RowsAre = "equal") -> Matrix:
    """Make rows whose second moment has nearly the eigenvalues of `model_spectrum`, in a random basis.

    kind : The kind "equal" means rows of equal norm, and "gaussian" means Gaussian rows that are clipped to the unit
    ball.
    """
    if kind == "gaussian":
        turn = haar.sample(point.dimension, rng)
        spread = np.sqrt(model_spectrum(point.dimension, point.trace, power))
        return unit_rows(rng.normal(size=(point.rows, point.dimension)) * spread @ turn)
    signs = rng.choice([-1.0, 1.0], size=(point.rows, point.dimension))
    return signs * np.sqrt(model_spectrum(point.dimension, point.trace, power)) @ haar.sample(point.dimension, rng)


def squared_errors(
    candidates: Sequence[Candidate], x: Matrix, point: Setting, rng: np.random.Generator, draws: int
) -> dict[str, Matrix]:
    """Return the squared errors ‖Σ̂ − Σ‖_F² of several releases of each candidate; a release and its projection
    share draws.
    """
    truth, budget = second_moment(x), point.budget.keywords()
    found: dict[str, list[float]] = {candidate.name: [] for candidate in candidates}
    alike: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        alike.setdefault(replace(candidate, project=False, law="").name, []).append(candidate)
    for group in alike.values():
        first = group[0]
        for _ in range(draws):
            released = first.declared.sample(x, rng, **budget, **first.options)
            for candidate in group:
                found[candidate.name].append(float(((candidate.finish(released) - truth) ** 2).sum()))
    return {name: np.array(squares) for name, squares in found.items()}


def simulate(point: Setting, power: float, seed: int, kind: RowsAre = "equal") -> dict[str, Any]:
    """Return the results at one point: the root mean square error of each candidate, its relative standard error, and
    the number of draws.
    """
    rng = rng_of(seed, repr(point), repr(power), *([] if kind == "equal" else [kind]))
    x = rows_of(point, power, rng, kind)
    draws = max(48, 800 // point.dimension)
    candidates = [c for c in CANDIDATES if c.pure == point.pure]
    squares = squared_errors(candidates, x, point, rng, draws)
    least = min(float(np.mean(s)) for s in squares.values())
    close = [c for c in candidates if np.mean(squares[c.name]) <= CLOSE**2 * least]
    for name, further in squared_errors(close, x, point, rng, MORE * draws).items():
        squares[name] = np.append(squares[name], further)
    simulated = {name: root_mean_square(values) for name, values in squares.items()}
    return {
        "rows": point.rows,
        "dimension": point.dimension,
        "budget": point.budget.keywords(),
        "trace": point.trace,
        "power": power,
        "kind": kind,
        "seed": seed,
        "simulated": {
            name: [float(f"{v:.5g}") for v in (*pair, len(squares[name]))] for name, pair in simulated.items()
        },
    }


@dataclass(frozen=True)
class Comparison:
    """A comparison of the simulated errors at one point of the grid with what the package recommends for the point.

    truly_best : the candidate with the least simulated error, and the candidates whose simulated errors do not differ
        significantly from it.
    loss : the relative excess of the recommended candidate's simulated error over the least simulated error.
    missed : the candidates whose simulated error is outside the interval of the prediction.
    predictions : the number of predicted errors.
    """

    setting: Setting
    recommended: str
    best: str
    truly_best: tuple[str, ...]
    loss: float
    missed: tuple[str, ...]
    predictions: int

    @property
    def right(self) -> bool:
        """Return whether the candidate that is ranked first is truly best."""
        return self.recommended in self.truly_best


def compared(row: Mapping[str, Any]) -> Comparison:
    """Return a simulated point together with what the package recommends for it now."""
    budget = row["budget"]
    claim = PureDP(budget["epsilon"]) if "epsilon" in budget else ZCDP(budget["rho"])
    setting = Setting(row["rows"], row["dimension"], claim, row["trace"])
    simulated = {name: (error, own) for name, (error, own, _) in row["simulated"].items()}
    best = min(simulated, key=lambda name: simulated[name][0])
    found = recommend(setting, rows=row["kind"])
    chosen = found.best.candidate.name
    return Comparison(
        setting=setting,
        recommended=chosen,
        best=best,
        truly_best=tuple(name for name in simulated if not told_apart(simulated[name], simulated[best])),
        loss=simulated[chosen][0] / simulated[best][0] - 1,
        missed=tuple(p.candidate.name for p in found.ranked if misses(p, *simulated[p.candidate.name])),
        predictions=len(found.ranked),
    )


def told_apart(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Return whether two errors with relative standard errors differ by more than chance explains."""
    return abs(math.log(first[0] / second[0])) > TOLD_APART * math.hypot(first[1], second[1])


def misses(prediction: Prediction, simulated: float, error: float) -> bool:
    """Return whether a simulated error, with its relative standard error, is outside the interval of the prediction.

    A bound is missed only if the error is above it. In addition, 5 standard errors of the simulation are allowed.
    """
    excess = math.log(simulated / prediction.error)
    room = math.log1p(prediction.allowance) + STANDARD_ERRORS * error
    return excess > room or (prediction.figure.kind != "bound" and excess < -room)


def summary(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return summary figures of the comparisons at all points of a grid."""
    missed = Counter(name for c in comparisons for name in c.missed)
    return {
        "points": len(comparisons),
        "right": sum(c.right for c in comparisons),
        "ties": sum(len(c.truly_best) > 1 for c in comparisons),
        "least_in_the_simulation": sum(c.recommended == c.best for c in comparisons),
        "largest_loss": max(c.loss for c in comparisons),
        "predictions": sum(c.predictions for c in comparisons),
        "missed": sum(missed.values()),
        "missed_by_candidate": dict(missed.most_common()),
    }


PARSER = {"description": "Compare the recommendation with simulations at the points of a random grid."}


def run(options: argparse.Namespace) -> int:
    """Simulate the points that are not in the file yet, and print the figures."""
    kept = options.file.read_text(encoding="utf-8").splitlines() if options.file.exists() else []
    rows = [json.loads(line) for line in kept]
    known = {(row["rows"], row["dimension"], str(row["budget"]), row["trace"], row["kind"]) for row in rows}
    for point in points(options.points, options.seed):
        if (point.rows, point.dimension, str(point.budget.keywords()), point.trace, options.kind) in known:
            continue
        rows.append(simulate(point, options.power, options.seed, options.kind))
        with options.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
    print(json.dumps(summary([compared(row) for row in rows]), indent=2, ensure_ascii=False))
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", type=Path)
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--kind", choices=ROWS, default="equal")
    parser.add_argument("--power", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.set_defaults(run=run)
