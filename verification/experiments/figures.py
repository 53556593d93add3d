"""Draw the pictures of proofs/paper from tables of numbers.

Every picture is drawn from a table, which a CSV file beside the picture holds. The bytes of a picture depend on the
drawing library, but the bytes of a table do not, so a check compares the tables.
"""

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace

RELATIVE, ABSOLUTE = 1e-7, 1e-12  # these tolerances allow for the rounding errors of different linear algebra libraries
SMALLEST_TAIL = 1e-9  # float64 cannot represent smaller tail probabilities of this law
Table = dict[str, list[float]]  # a table maps the name of a column to its values, and the first column is the abscissa


@dataclass(frozen=True)
class Figure:
    """A picture, with its name, its caption, the function that computes its numbers and the function that draws
    them.
    """

    name: str
    caption: str
    table: Callable[[], Table]
    draw: Callable[[Any, Table], None]


def _marks(axes: Any, marks: Sequence[tuple[float, str]], top: float) -> None:
    """Draw vertical lines with labels into a picture."""
    for x, text in marks:
        axes.axvline(x, color="0.35", linestyle="--", linewidth=0.9)
        axes.text(x, top, text, rotation=90, ha="right", va="top", fontsize=8, color="0.25")


def spectral_norm_curves() -> Table:
    """Return the exact probability P(‖Z‖ ≤ cρd) of nuclear-Laplace noise Z as a function of c, for several d."""
    grid = [round(0.5 + 0.05 * k, 2) for k in range(91)]
    columns: Table = {"c": grid}
    for d in (5, 10, 20, 50, 100):
        columns[f"d = {d}"] = [float(nuclear_laplace.spectral_norm_cdf(d, c * d)) for c in grid]
    return columns


def _draw_spectral_norm(axes: Any, table: Table) -> None:
    for name in list(table)[1:]:
        axes.plot(table["c"], table[name], label=name)
    _marks(axes, ((1.1, "Theorem 6: 1.1"), (1.5, "Theorem 1, p = ∞: 1.5"), (math.pi, "π")), 0.98)
    axes.set(xlabel="c", ylabel="P(‖Z‖ ≤ cρd)", xlim=(0.5, 5), ylim=(0, 1))
    axes.legend(loc="lower right", frameon=False)


def tail_curves() -> Table:
    """Return the exact probability P(‖Z‖ ≥ cρd) and the upper bound on it as functions of c, for several d."""
    grid = [round(3.2 + 0.05 * k, 2) for k in range(77)]
    columns: Table = {"c": grid}
    for d in (5, 20, 100):
        law = nuclear_laplace.ensemble(d)
        exact = [law.largest_survival(c * d) for c in grid]
        columns[f"d = {d}"] = [p if p > SMALLEST_TAIL else math.nan for p in exact]
        columns[f"bound, d = {d}"] = [nuclear_laplace.spectral_norm_tail_bound(d, c * d) for c in grid]
    return columns


def _draw_tail(axes: Any, table: Table) -> None:
    for k, d in enumerate((5, 20, 100)):
        axes.semilogy(table["c"], table[f"d = {d}"], color=f"C{k}", label=f"d = {d}")
        axes.semilogy(table["c"], table[f"bound, d = {d}"], color=f"C{k}", linestyle="--", label="its bound")
    axes.set(xlabel="c", ylabel="P(‖Z‖ ≥ cρd)", xlim=(3.2, 7), ylim=(SMALLEST_TAIL, 1))
    axes.legend(loc="upper right", ncols=3, frameon=False, fontsize=8)


def schatten_curve() -> Table:
    """Return the limiting constant C_p = 2 lim_{d→∞} ‖Z‖_{S_p}/(ρ d^{1 + 1/p}) as a function of p."""
    grid = [float(f"{p:.4g}") for p in np.geomspace(1, 100, 81)]
    return {"p": grid, "C_p": [2 * float(nuclear_laplace.schatten_limit(p)) for p in grid]}


def _draw_schatten(axes: Any, table: Table) -> None:
    axes.semilogx(table["p"], table["C_p"], label="C_p, the constant that is true in the limit")
    axes.axhline(3, color="0.35", linestyle="--", linewidth=0.9)
    axes.text(95, 2.95, "3, as printed in Theorem 1", fontsize=8, color="0.25", ha="right", va="top")
    axes.axhline(2 * math.pi, color="0.35", linestyle=":", linewidth=0.9)
    axes.text(1.05, 2 * math.pi - 0.05, "2π, p = ∞", fontsize=8, color="0.25", va="top")
    _marks(axes, ((3.0724357, "p* = 3.0724"),), 2.3)
    axes.set(xlabel="p", ylabel="C_p", xlim=(1, 100), ylim=(1, 6.6))


FIGURES = (
    Figure("spectral-norm", "The exact law of ‖Z‖/(ρd)", spectral_norm_curves, _draw_spectral_norm),
    Figure("tail", "The tail of ‖Z‖/(ρd) and its bound", tail_curves, _draw_tail),
    Figure("schatten-constant", "The constant of Theorem 1", schatten_curve, _draw_schatten),
)


def as_csv(table: Table) -> str:
    """Return the table as CSV text with 10 significant digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows([f"{value:.10g}" for value in row] for row in zip(*table.values(), strict=True))
    return text.getvalue()


def from_csv(text: str) -> Table:
    """Return the table in a text that `as_csv` made."""
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}


def differs(kept: Table, now: Table) -> bool:
    """Return whether two tables differ by more than rounding errors."""
    if list(kept) != list(now):
        return True
    pairs = zip(kept.values(), now.values(), strict=True)
    return not all(
        len(a) == len(b) and np.allclose(a, b, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True) for a, b in pairs
    )


def write(figure: Figure, folder: Path) -> None:
    """Draw the figure as folder/NAME.svg and write its table to folder/NAME.csv."""
    try:
        import matplotlib
    except ImportError:
        raise InvalidInput("drawing needs matplotlib: pip install 'covassay[figures]'") from None
    matplotlib.use("svg")
    from matplotlib import pyplot

    table = figure.table()
    settings: Any = {"svg.hashsalt": figure.name, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with pyplot.rc_context(settings):
        drawing, axes = pyplot.subplots(figsize=(6.4, 3.8), layout="constrained")
        figure.draw(axes, table)
        axes.set_title(figure.caption, fontsize=11)
        drawing.savefig(folder / f"{figure.name}.svg", metadata={"Date": None, "Creator": None})
        pyplot.close(drawing)
    (folder / f"{figure.name}.csv").write_text(as_csv(table), encoding="utf-8")


def problems(folder: Path) -> list[str]:
    """Return a message for every figure that is missing or whose stored table differs from the table that the code
    computes now.
    """
    found = []
    for figure in FIGURES:
        path = folder / f"{figure.name}.csv"
        if not path.exists() or not path.with_suffix(".svg").exists():
            found.append(f"figure {figure.name}: missing")
        elif differs(from_csv(path.read_text(encoding="utf-8")), figure.table()):
            found.append(f"figure {figure.name}: differs from what the code computes now; draw it again")
    return found
