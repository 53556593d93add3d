"""Draw a map of the mechanisms with the least predicted error. The axes of the map are the number of rows and the trace
of the second moment. The number of rows is divided by d²/ε under pure DP, and by d^{3/2}/√ρ under zCDP.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.reference.recommendation import Recommendation, Setting, recommend

SUFFIXES = (".svg", ".png")
# let n be the number of rows at which the noise equals the average eigenvalue of a matrix of trace 1; the map extends
# from n by this many powers of ten to smaller and to larger numbers of rows
DECADES = 3.5
COLUMNS, LINES = 57, 33
TRACES = (0.01, 1.0)
RELATIVE_ERRORS = (0.01, 0.1)
NORM_WORDS = {"frobenius": "Frobenius", "spectral": "spectral"}
NOTHING = "none is predicted to be much better than the zero matrix"
# colours after Paul Tol
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#997700", "#bbbbbb")


def require_drawable(path: Path) -> None:
    """Raise `InvalidInput` unless the file can be written and matplotlib is installed."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"--picture {path}: must end in {' or '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise InvalidInput(f"--picture {path}: must be a file in a directory that exists")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InvalidInput("--picture needs matplotlib: pip install 'covassay[figures]'") from None


def axes_of(setting: Setting) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the values on the two axes of the map, which are numbers of rows and traces. Each axis extends at least to
    the value of the given setting.
    """
    middle = replace(setting, trace=1.0).enough
    low = min(middle / 10**DECADES, setting.rows)
    high = max(middle * 10**DECADES, setting.rows)
    rows = np.unique(np.maximum(1, np.round(np.geomspace(max(1.0, low), high, COLUMNS))).astype(int))
    return rows, np.geomspace(min(TRACES[0], setting.trace), TRACES[1], LINES)


def best_everywhere(found: Recommendation) -> tuple[Any, Any, list[list[Recommendation]]]:
    """Return the numbers of rows, the traces, and the recommendation at every pair of them, as one list for each
    trace.
    """
    rows, traces = axes_of(found.setting)
    everywhere = [
        [recommend(replace(found.setting, rows=int(n), trace=float(t)), found.norm, found.goal) for n in rows]
        for t in traces
    ]
    return rows, traces, everywhere


def draw(found: Recommendation, path: Path) -> None:
    """Draw the map and write the picture to `path`."""
    import matplotlib

    matplotlib.use("svg" if path.suffix.lower() == ".svg" else "agg")
    from matplotlib import patches, pyplot

    setting = found.setting
    rows, traces, everywhere = best_everywhere(found)
    names = [[NOTHING if one.useless else one.best.candidate.name for one in line] for line in everywhere]
    present = list(dict.fromkeys(name for line in names for name in line))
    index = np.array([[present.index(name) for name in line] for line in names])
    relative = np.array([[one.best.error / one.nothing for one in line] for line in everywhere])
    unit = setting.dimension**2 / setting.amount if setting.pure else setting.dimension**1.5 / setting.amount**0.5
    with pyplot.rc_context({"svg.hashsalt": "regime map", "font.size": 10}):
        figure, axes = pyplot.subplots(figsize=(8.2, 5.4), layout="constrained")
        colours = matplotlib.colors.ListedColormap(_colours(present))
        axes.pcolormesh(
            rows / unit, traces, index, cmap=colours, vmin=-0.5, vmax=len(present) - 0.5, shading="nearest", alpha=0.75
        )
        lines = axes.contour(rows / unit, traces, relative, levels=RELATIVE_ERRORS, colors="black", linewidths=0.9)
        axes.clabel(lines, fmt=lambda v: f"error {100 * v:g} %", fontsize=8)
        axes.plot(setting.enough * setting.trace / unit / traces, traces, "k--", linewidth=1.2,
                  label=_boundary(setting, "enough"))  # fmt: skip
        axes.plot(setting.fewest * setting.trace / unit / traces, traces, "k:", linewidth=1.2,
                  label=_boundary(setting, "fewest"))  # fmt: skip
        axes.plot(setting.rows / unit, setting.trace, "k*", markersize=14, label="these numbers", clip_on=False)
        handles = [patches.Rectangle((0, 0), 1, 1, color=colours(k), alpha=0.75) for k in range(len(present))]
        given, labels = axes.get_legend_handles_labels()
        figure.legend([*handles, *given], [*present, *labels], loc="outside lower center", ncols=2, frameon=False,
                      fontsize=8)  # fmt: skip
        budget = "d²/ε" if setting.pure else "d^{3/2}/√ρ"
        axes.set(xscale="log", yscale="log", xlabel=f"number of rows n, in units of {budget} = {unit:.4g}",
                 ylabel="trace of the second moment", xlim=(rows[0] / unit, rows[-1] / unit),
                 ylim=(traces[0], traces[-1]))  # fmt: skip
        axes.set_title(
            f"Least predicted error in the {NORM_WORDS[found.norm]} norm: d = {setting.dimension}, {setting.budget}",
            fontsize=11,
        )
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        pyplot.close(figure)


def _colours(names: list[str]) -> list[str]:
    """Return a colour for every name, and white where no release is useful."""
    others = [name for name in names if name != NOTHING]
    return ["white" if name == NOTHING else COLOURS[others.index(name) % len(COLOURS)] for name in names]


def _boundary(setting: Setting, which: str) -> str:
    if which == "enough":
        return f"n = {'πd²/(εt)' if setting.pure else '√2 d^{3/2}/(√ρ t)'}: the noise's norm is the average eigenvalue"
    return f"n = {'πd/(εt)' if setting.pure else '√(2d)/(√ρ t)'}: the noise's norm is the trace"
