"""Draw small pictures as SVG inside a page, with two axes, lines, points and bands.

A picture needs no other file, no script and no drawing library. A picture is 360 × 250 units large. A unit is about a
pixel on a phone, so that the letters are legible.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from covassay.verification.audit.reports.plain import plain

WIDTH, HEIGHT = 360, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 26, 38
TICKS = 5  # the approximate number of ticks on an axis
LONGEST = 46  # a label with more letters than this does not fit into the width of a picture
Points = Iterable[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """An axis that shows the numbers from `low` to `high` over `length` units from `start`, on a logarithmic scale if
    `log` is set.
    """

    label: str
    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 at the low end to 1 at the high end; values outside of the
        axis get 0 or 1.
        """
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, self._within(value)))
        return (at - low) / (high - low)

    def _within(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def ticks(self) -> list[float]:
        """Return round numbers for the ticks of the axis."""
        if self.log:
            low, high = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**k for k in range(low, high + 1, max(1, (high - low) // (TICKS - 1)))]
        raw = (self.high - self.low) / TICKS
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


@dataclass
class Picture:
    """A plot with two axes, to which lines, points and bands are added; `title` describes it in words."""

    title: str
    x: Axis
    y: Axis
    root: Element = field(init=False)

    def __post_init__(self) -> None:
        self.root = Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "picture"})
        SubElement(self.root, "title").text = plain(self.title)
        frame = f"M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"
        SubElement(self.root, "path", {"class": "axis", "d": frame})
        for value in self.x.ticks():
            self._text(self._across(value), HEIGHT - BOTTOM + 15, _number(value), "middle")
        for value in self.y.ticks():
            self._text(LEFT - 5, self._down(value) + 4, _number(value, self.y.log), "end")
            ends = f"M{LEFT},{self._down(value):.1f}H{WIDTH - RIGHT}"
            SubElement(self.root, "path", {"class": "grid", "d": ends})
        self._text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 5, _short(self.x.label), "middle")
        self._text(4, 14, _short(self.y.label), "start")

    def line(self, points: Points, kind: str) -> None:
        """Add a line through the points; `kind` names the style of the page in which it is drawn."""
        path = "L".join(self._place(x, y) for x, y in points if _finite(x, y))
        if path:
            SubElement(self.root, "path", {"class": f"line {kind}", "d": f"M{path}"})

    def points(self, points: Points, kind: str) -> None:
        """Add a dot at each of the points that lie within the axes."""
        for x, y in points:
            if _finite(x, y) and self.x.low <= x <= self.x.high and self.y.low <= y <= self.y.high:
                place = {"cx": f"{self._across(x):.1f}", "cy": f"{self._down(y):.1f}"}
                SubElement(self.root, "circle", {"class": f"dot {kind}", "r": "2.6", **place})

    def band(self, lower: Points, upper: Points, kind: str) -> None:
        """Fill the region between two curves."""
        edge = [*lower, *reversed(list(upper))]
        path = "L".join(self._place(x, y) for x, y in edge if _finite(x, y))
        if path:
            SubElement(self.root, "path", {"class": f"band {kind}", "d": f"M{path}Z"})

    def boxes(self, boxes: Iterable[tuple[tuple[float, float], tuple[float, float]]], kind: str) -> None:
        """Fill the region that the boxes cover together; each box is given by two opposite corners."""
        corners = ((*self._place(*low).split(","), *self._place(*high).split(",")) for low, high in boxes)
        path = "".join(f"M{x},{y}H{right}V{top}H{x}Z" for x, y, right, top in corners)
        if path:
            SubElement(self.root, "path", {"class": f"band boxes {kind}", "d": path})

    def upright(self, x: float, kind: str) -> None:
        """Add a vertical line from the bottom of the plot to its top."""
        self.line([(x, self.y.low), (x, self.y.high)], kind)

    def _across(self, value: float) -> float:
        return LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)

    def _down(self, value: float) -> float:
        return HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)

    def _place(self, x: float, y: float) -> str:
        return f"{self._across(x):.1f},{self._down(y):.1f}"

    def _text(self, x: float, y: float, text: str, anchor: str) -> None:
        SubElement(self.root, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}).text = plain(text)


def _finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _number(value: float, log: bool = False) -> str:
    """Write the number at a tick with few characters."""
    if log or (value and not 1e-3 <= abs(value) < 1e5):
        digits, _, exponent = f"{value:.0e}".partition("e")
        return "1" if value == 1 else f"{digits}e{int(exponent)}".replace("-", "−")
    return f"{round(value, 10):g}".replace("-", "−")


def swatch(shape: str, kind: str) -> Element:
    """Return a sample of a style, for a legend. "line", "dot" or "band"."""
    root = Element("svg", {"viewBox": "0 0 24 12", "class": "swatch", "aria-hidden": "true"})
    shapes: dict[str, tuple[str, dict[str, Any]]] = {
        "line": ("path", {"d": "M1,6H23"}),
        "dot": ("circle", {"cx": "12", "cy": "6", "r": "3.2"}),
        "band": ("path", {"d": "M1,1H23V11H1Z"}),
    }
    name, drawn = shapes[shape]
    SubElement(root, name, {"class": f"{shape} {kind}", **drawn})
    return root


def span(values: Sequence[float], room: float = 0.04) -> tuple[float, float]:
    """Return the ends of an axis for these values, with a margin on both sides."""
    low, high = min(values), max(values)
    extra = room * (high - low) or abs(high) * 0.1 or 1.0
    return low - extra, high + extra
