"""Draw plots of stored results from the file of a result alone. Marks show where the results contradict the paper."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.verification.experiments.findings import Line
from covassay.verification.experiments.results import Result, lines

# a figure with 4 panels has 2 columns of panels, and so on; a figure with another number of panels has 3 columns
COLUMNS = {4: 2, 8: 4, 12: 4}
WIDTH, HEIGHT = 4.3, 3.3  # the size of one picture in inches
WIDTH_OF_A_LABEL = 2.1  # the width of a label in the legend, in inches
LETTERS, LINE = 16, 0.18  # letters per inch, and inches per line, of the text below the panels of a figure
MOST_TICKS = 9  # an axis has at most this many ticks at points of the grid
MARKS = "osD^vP*Xhd<>"
COLOURS = (*(f"C{k}" for k in range(10)), "black", "#393b79", "#637939", "#8c6d31", "#843c39", "#7b4173", "#31a354")
NAMES = {"n": "n", "d": "d", "rho": "ρ", "epsilon": "ε", "buckets": "N", "trace": "tr Σ", "kappa": "κ"}
WORDS = {"n": "number of rows n", "d": "dimension d", "rho": "budget ρ", "epsilon": "budget ε",
         "buckets": "number of norm buckets N", "trace": "trace tr Σ", "kappa": "condition number κ"}  # fmt: skip
WIDEST, NARROWEST = 1.8, 0.9  # line widths; the first line is the widest, so that it is visible under later lines
FEWEST_DECADES = 1.0  # a logarithmic axis extends over at least this range, so that small differences do not look large
CONTRADICTION = "#c00000"
RING = "contradicts a statement below"
FAILED, HELD, UNTRIED = "✗ Does not hold here", "✓ Not contradicted here", "– Not tried here"
SETTINGS: Any = {
    "svg.hashsalt": "covassay",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "path",
}


def draw(result: Result, folder: Path, name: str) -> list[Path]:
    """Draw the result as FOLDER/NAME.svg and FOLDER/NAME.png.

    Raises
    ------
    InvalidInput : matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput("drawing needs matplotlib: install the extra covassay[figures]") from None
    pictures = [(panel, measure) for panel in result.facts["panels"] for measure in panel["measures"]]
    columns = min(COLUMNS.get(len(pictures), 3), len(pictures))
    rows = math.ceil(len(pictures) / columns)
    width = WIDTH * max(columns, 2)
    text = [*verdicts(result.facts), *_notes(result.facts)]
    wrapped = [
        (line, CONTRADICTION if item.startswith(FAILED) else "black")
        for item in text
        for line in textwrap.wrap(item, int(LETTERS * width), subsequent_indent="    ")
    ]
    styles = _styles(result.facts["panels"])
    with matplotlib.rc_context(SETTINGS):
        below = LINE * (len(wrapped) + 1)
        labels = {*styles, RING, *(label for panel, _ in pictures for label in panel["curves"])}
        across = int(width / WIDTH_OF_A_LABEL)
        legend = LINE * (math.ceil(len(labels) / across) + 1)
        height = HEIGHT * rows + 0.5 + legend + below
        figure = Figure(figsize=(width, height), layout="constrained")
        engine: Any = figure.get_layout_engine()
        engine.set(rect=(0, (below + legend) / height, 1, 1 - (below + legend) / height))
        grid = figure.subplots(rows, columns, squeeze=False).flatten()
        measured = lines(result.rows)
        for axes, (panel, measure) in zip(grid, pictures, strict=False):
            _panel(axes, panel, measure, measured, styles, result.facts["claims"])
        for axes in grid[len(pictures) :]:
            axes.set_axis_off()
        figure.suptitle(f"{result.facts['title']}\n{result.facts['source']}", fontsize=11)
        handles: dict[str, Any] = {}
        for axes in grid:  # the legend has the order of the first picture, with the marks of contradictions at its end
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        if RING in handles:
            handles[RING] = handles.pop(RING)
        figure.legend(
            handles.values(), handles.keys(), loc="lower center", bbox_to_anchor=(0.5, below / height),
            ncols=across, frameon=False, fontsize=8,
        )  # fmt: skip
        for k, (line, colour) in enumerate(wrapped):
            figure.text(0.01, (below - LINE * (k + 0.7)) / height, line, fontsize=8, va="top", color=colour)
        written = [folder / f"{name}.svg", folder / f"{name}.png"]
        figure.savefig(written[0], metadata={"Date": None, "Creator": None})
        figure.savefig(written[1], dpi=110, metadata={"Software": None})
    return written


def _styles(panels: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the plot style of each method. Methods of the paper have full lines; our methods have dashed lines and
    hollow marks.
    """
    labels = {method["label"]: method["ours"] for panel in panels for method in panel["methods"]}
    widths = np.linspace(WIDEST, NARROWEST, len(labels))
    return {
        label: {
            "color": COLOURS[k % len(COLOURS)],
            "marker": MARKS[k % len(MARKS)],
            "linestyle": "--" if ours else "-",
            "markerfacecolor": "white" if ours else COLOURS[k % len(COLOURS)],
            "markersize": 2.6 * width**0.5 + 1,
            "linewidth": width,
        }
        for k, ((label, ours), width) in enumerate(zip(labels.items(), widths, strict=True))
    }


def _panel(
    axes: Any,
    panel: Mapping[str, Any],
    measure: str,
    measured: Mapping[tuple[str, str, str], Line],
    styles: Mapping[str, Mapping[str, Any]],
    claims: Sequence[Mapping[str, Any]],
) -> None:
    """Draw one picture, which has the curves of the theory, the means with their intervals, and rings around
    contradictions."""
    for k, (label, values) in enumerate(panel["curves"].items()):
        style = ("-.", ":", (0, (5, 1)))[k % 3]
        axes.plot(panel["grid"], values, color="0.35", linestyle=style, linewidth=1.2, label=label)
    for method in panel["methods"]:
        line = measured.get((panel["name"], measure, method["label"]))
        if line:
            _line(axes, line, method["label"], styles[method["label"]])
    for claim in claims:
        for name, what, method, value in claim["contradicted"]:
            if (name, what) == (panel["name"], measure):
                mean = measured[name, what, method][value].mean
                axes.plot([value], [mean], "o", markersize=10, markerfacecolor="none", color=CONTRADICTION, label=RING)
    _scales(
        axes, panel, [line for (name, what, _), line in measured.items() if (name, what) == (panel["name"], measure)]
    )
    words = WORDS.get(panel["varied"], "")
    axes.set(xlabel=words if words.endswith(f" {panel['axis']}") else panel["axis"], ylabel=measure)
    axes.set_title(title(panel, "\n"), fontsize=9)


def _scales(axes: Any, panel: Mapping[str, Any], shown: Sequence[Line]) -> None:
    """Set logarithmic or linear axes that show every mean; an interval that reaches far down is cut off at the axis."""
    if panel["log"][0]:
        axes.set_xscale("log")
        grid = panel["grid"]
        if len(grid) <= MOST_TICKS and min(grid) > 1e-3 and max(grid) < 1e5 and all(map(_is_short, grid)):
            axes.set_xticks(grid, [f"{value:g}" for value in grid], rotation=45 if max(grid) > 999 else 0)
            axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    drawn = [value for values in panel["curves"].values() for value in values]
    means = [mean.mean for line in shown for mean in line.values() if math.isfinite(mean.mean)] + drawn
    if not panel["log"][1]:
        axes.set_ylim(0, 1.15 * max(means))
        return
    axes.set_yscale("log")
    positive = [mean for mean in means if mean > 0] or [1.0]
    low, high = min(positive) / 1.5, max(positive) * 1.5
    margin = 10 ** (max(FEWEST_DECADES - math.log10(high / low), 0) / 2)
    axes.set_ylim(low / margin, high * margin)


def _is_short(value: float) -> bool:
    """Return whether the value has at most three significant digits."""
    return float(f"{value:.3g}") == value


def _line(axes: Any, line: Line, label: str, style: Mapping[str, Any]) -> None:
    values = sorted(line)
    means = [line[value].mean for value in values]
    low = [mean - max(line[value].low, mean / 100) for value, mean in zip(values, means, strict=True)]
    high = [line[value].high - mean for value, mean in zip(values, means, strict=True)]
    known = all(map(math.isfinite, high))
    axes.errorbar(values, means, [low, high] if known else None, label=label, capsize=1.5, elinewidth=0.8, **style)


def title(panel: Mapping[str, Any], between: str = ", ") -> str:
    """Return the heading of a panel: its name, its title, and the quantities that are not varied."""
    shown = [f"{NAMES[name]} = {value:g}" for name, value in panel["fixed"].items() if name in NAMES]
    extra = [item for item in shown if item != "N = 1" and item.split(" = ")[0] + " = " not in panel["title"]]
    return between.join([f"{panel['name']}: {panel['title']}", *([", ".join(extra)] if extra else [])])


def verdicts(facts: Mapping[str, Any]) -> list[str]:
    """Return one line for each statement of the paper. The line says whether the results contradict the statement, and
    at which points of the panels, or says that the results were not compared with the statement.
    """
    found = []
    panels = {panel["name"]: panel for panel in facts["panels"]}
    for claim in facts["claims"]:
        entry = f" [{claim['ledger']}]" if claim["ledger"] else ""
        points: dict[str, set[float]] = {}
        for name, measure, _, value in claim["contradicted"]:
            what = f", {measure}" if len(panels[name]["measures"]) > 1 else ""
            points.setdefault(f"panel {name}{what}, {panels[name]['axis']}", set()).add(value)
        where = "; ".join(
            f"{place} = {', '.join(f'{value:g}' for value in sorted(values))}" for place, values in points.items()
        )
        told = f"{FAILED} ({where})" if where else HELD if claim["compared"] else UNTRIED
        found.append(f"{told}: “{claim['statement']}”{entry}")
    return found


def _notes(facts: Mapping[str, Any]) -> list[str]:
    reasons = dict.fromkeys(facts["left_out"].values())
    left_out = [
        f"Left out: {', '.join(name for name, its in facts['left_out'].items() if its == reason)} ({reason})."
        for reason in reasons
    ]
    smaller = (
        ['At scale "small", sizes are smaller, grids are shorter and repetitions are fewer than at scale "paper".']
        if facts["scale"] == "small"
        else []
    )
    count = facts["repetitions"]
    run = f"{count} repetition{'s' * (count > 1)}, scale {facts['scale']}, seed {facts['seed']}"
    return [
        *facts["notes"],
        *left_out,
        *smaller,
        *(["In brackets: the entry of proofs/LEDGER.md."] if any(c["ledger"] for c in facts["claims"]) else []),
        f"Mean and {facts['interval']}; {run}. Full lines: methods of the paper; dashed: ours.",
    ]
