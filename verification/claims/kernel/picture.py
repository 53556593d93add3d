"""Draw which folders of proofs/rocq rest on which: a box for each folder, with lines down to the folders that it rests
on.

A line from one folder down to another means that a file in the first folder loads a file in the second by the command
`Require`. No line is drawn to a folder that is already reached through another folder.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from covassay.verification.claims.kernel import sources

REQUIRE = re.compile(r"\bFrom\s+covassay\s+Require\s+(?:(?:Import|Export)\s+)?([^.]*)\.")
NAME = "rocq.svg"
# width and height of a box, distance of rows, gaps and margins, all in pixels
BOX, ROW, GAP, MARGIN = (150, 44), 78, 36, 12
PASS = 10  # the width of the gap through which lines cross a row
Graph = Mapping[str, set[str]]
# A pair of a folder and the number of a row stands for the box of the folder if the box is in this row. In a higher row
# it stands for the gap through which lines run down to the folder.
Place = tuple[str, int]


def rests_on(folder: Path) -> dict[str, set[str]]:
    """Return for every folder with .v files the other folders that its files require. An error is raised if the folders
    form a cycle.
    """
    home = {path.stem: path.parent.relative_to(folder).as_posix() for path in sources.paths(folder)}
    graph: dict[str, set[str]] = {name: set() for name in sorted(set(home.values()))}
    for path in sources.paths(folder):
        for required in REQUIRE.findall(sources.code(path.read_text(encoding="utf-8"))):
            graph[home[path.stem]] |= {home[name] for name in required.split()}
    graph = {name: needed - {name} for name, needed in graph.items()}
    levels(graph)
    return graph


def levels(graph: Graph) -> dict[str, int]:
    """Return for each folder the length of the longest chain of folders below it. An error is raised if the folders
    form a cycle.
    """
    found: dict[str, int] = {}
    while len(found) < len(graph):
        ready = {name for name in graph if name not in found and graph[name] <= found.keys()}
        if not ready:
            raise ValueError(
                f"folders of proofs that rest on each other: {', '.join(sorted(graph.keys() - found.keys()))}"
            )
        found |= {name: max((found[needed] + 1 for needed in graph[name]), default=0) for name in ready}
    return found


def direct(graph: Graph) -> dict[str, set[str]]:
    """Return the graph without edges to folders that are already reached through another folder."""

    def below(name: str) -> set[str]:
        return graph[name].union(*(below(needed) for needed in graph[name]))

    return {name: needed - {far for near in needed for far in below(near)} for name, needed in graph.items()}


def _rows(graph: Graph, level: Mapping[str, int]) -> list[list[Place]]:
    """Return the rows of the picture, the lowest first. A row contains the boxes of some folders. If a line between a
    higher and a lower row crosses the row, the row also contains a gap for this line.

    The lines from a box or a gap lead to boxes and gaps in the row below. The boxes and gaps of a row are sorted by the
    average position of those to which their lines lead.
    """
    highest = dict(level)  # maps a folder to the highest row that has its box, or a gap for lines to it
    for name, needed in graph.items():
        highest |= {far: max(highest[far], level[name] - 1) for far in needed}
    rows: list[list[Place]] = []
    for row in range(max(level.values()) + 1):
        below = {folder: k for k, (folder, _) in enumerate(rows[-1])} if rows else {}

        def weight(name: str, row: int = row, below: Mapping[str, int] = below) -> float:
            ends = graph[name] if level[name] == row else {name}
            return sum(below[end] for end in ends) / len(ends) if ends else 0

        here = [name for name in graph if level[name] <= row <= highest[name]]
        rows.append([(name, row) for name in sorted(here, key=lambda name: (weight(name), name))])
    return rows


def draw(folder: Path) -> str:
    """Return the picture as the text of an SVG file."""
    graph = direct(rests_on(folder))
    level = levels(graph)
    rows = _rows(graph, level)
    size = {place: BOX[0] if level[place[0]] == place[1] else PASS for row in rows for place in row}
    width = max(sum(size[place] + GAP for place in row) for row in rows) - GAP + 2 * MARGIN
    height = (len(rows) - 1) * ROW + BOX[1] + 2 * MARGIN
    across: dict[Place, float] = {}  # the horizontal position of the middle of each box and each gap
    for places in rows:
        left = (width - sum(size[place] + GAP for place in places) + GAP) / 2
        for place in places:
            across[place] = left + size[place] / 2
            left += size[place] + GAP
        first, last = places[0], places[-1]  # a line that passes outside the boxes goes straight down
        across[first] = min(across[first], across[first[0], level[first[0]]])
        across[last] = max(across[last], across[last[0], level[last[0]]])
    root = Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", width=str(width))
    SubElement(root, "rect", width="100%", height="100%", fill="white")
    top = [height - MARGIN - BOX[1] - k * ROW for k in range(len(rows))]
    for name, needed in graph.items():
        for far in sorted(needed):
            stops = [(across[name, level[name]], top[level[name]] + BOX[1])]
            for row in range(level[name] - 1, level[far], -1):
                stops += [(across[far, row], top[row]), (across[far, row], top[row] + BOX[1])]
            stops.append((across[far, level[far]], top[level[far]]))
            SubElement(root, "polyline", points=" ".join(f"{x:g},{y}" for x, y in stops), fill="none", stroke="#777")
    for name in graph:
        _box(root, folder / name, name, across[name, level[name]], top[level[name]])
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def _box(root: Element, folder: Path, name: str, middle: float, top: int) -> None:
    """Draw the box of a folder, with its name and the numbers of its files and tagged theorems."""
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.v")}
    theorems = len(sources.tagged(files)[0])
    shape = {"x": f"{middle - BOX[0] / 2:g}", "y": str(top), "width": str(BOX[0]), "height": str(BOX[1]), "rx": "4"}
    SubElement(root, "rect", shape, fill="#f4f4f0", stroke="#333")
    counts = f"{len(files)} files" + (f", {theorems} theorems" if theorems else "")
    for text, weight, points, down in ((name, "bold", 14, 18), (counts, "normal", 11, 35)):
        place = {"x": f"{middle:g}", "y": str(top + down), "text-anchor": "middle", "font-family": "sans-serif"}
        SubElement(root, "text", place | {"font-size": str(points), "font-weight": weight}).text = text
