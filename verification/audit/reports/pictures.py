"""Draw the pictures of a report, which compare the noise with its law, the tail of the noise, and the trade-off curve
with the claim.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from covassay.reference.laws import nuclear_laplace
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.facts import TestedEvent, TradeOff
from covassay.verification.audit.engine.finding import Finding
from covassay.verification.audit.engine.trade_off import claimed_curve
from covassay.verification.audit.knowledge.known import known
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.svg import Axis, Picture, span, swatch
from covassay.verification.statistics.curves import Curve

BAND = 0.999  # the probability with which a whole sample lies in the band around its law
# the name of the check whose plot may show a bound from the paper on the tail of the noise
SPECTRAL_NORM = "spectral norm"
PRINTED = 1.1  # Theorem 6 of DN25 states that ‖Z‖ ≤ 1.1 ρd with high probability
SMALLEST_TAIL = 1e-6  # a plot shows tail probabilities down to this number, or down to the rarest value that occurred
FINE = 60  # the number of points of a curve in a plot
Line = tuple[str, list[tuple[float, float]], str]  # the style, the points and the text of an entry in the legend


@dataclass(frozen=True)
class Drawn:
    """A plot with its caption, a sentence that explains the plot, and its legend, in which each entry has a shape, a
    style and a text.
    """

    picture: Element
    caption: str
    explained: str
    legend: tuple[tuple[str, str, str], ...]

    def swatches(self) -> list[tuple[Element, str]]:
        """Return a sample of every style with its text, for the legend."""
        return [(swatch(shape, kind), text) for shape, kind, text in self.legend]


def _nuclear(report: AuditReport) -> bool:
    return report.mechanism is not None and known(report.mechanism).nuclear


def pictured(report: AuditReport) -> list[Finding]:
    """Return at most two checks of a noise distribution to plot.

    The first is the check with the smallest p-value. If `tail_check` returns another check, this check is the second.
    """
    curves = [check for check in report.checks if check.curve is not None]
    if not curves:
        return []
    telling = min(curves, key=lambda check: 1.0 if check.p_value is None else check.p_value)
    tail = tail_check(report)
    return [telling] if tail is None or tail is telling else [telling, tail]


def tail_check(report: AuditReport) -> Finding | None:
    """Return the check of the spectral norm of nuclear-Laplace noise in the largest dimension, or None for another kind
    of noise.
    """
    found = [c for c in report.checks if c.name == SPECTRAL_NORM and c.curve is not None and c.data]
    if not _nuclear(report) or not found:
        return None
    return max(found, key=lambda check: check.data[0].shape[1])


def pictures(report: AuditReport) -> list[Drawn]:
    """Return all pictures that the draws in the report allow."""
    drawn = []
    shown = pictured(report)
    if shown:
        drawn += [_law(shown[0]), _tail(shown[-1], report)]
    drawn += [
        _trade_off(check.scenario, check.facts.event, check.facts.trade_off, report)
        for check in report.checks
        if isinstance(check.facts, TestedEvent) and check.facts.trade_off
    ]
    return drawn


# THE LAW


def _curve(check: Finding) -> Curve:
    assert check.curve is not None
    return check.curve


def half_width(curve: Curve) -> float:
    """Return the half-width of a band around a distribution function.

    With probability at least `BAND`, the empirical distribution function of a sample lies within the band.
    """
    sizes = [size for size in (curve.size, curve.law_size) if size]
    return sum(math.sqrt(math.log(2 * len(sizes) / (1 - BAND)) / (2 * size)) for size in sizes)


def _of_the_law(curve: Curve) -> str:
    return f"{curve.law_size} draws of the reference" if curve.law_size else "the exact law"


def _law(check: Finding) -> Drawn:
    curve, width = _curve(check), half_width(_curve(check))
    picture = Picture(
        f"Distribution functions of {curve.size} draws of the target and of {_of_the_law(curve)}",
        Axis(f"{check.name}, {check.scenario}", *span(curve.values)),
        Axis("share of the draws that are at most this value", 0.0, 1.0),
    )
    law = list(zip(curve.values, curve.law_up_to, strict=True))
    picture.band(((x, p - width) for x, p in law), ((x, p + width) for x, p in law), "law")
    picture.line(law, "law")
    picture.points(zip(curve.values, curve.up_to, strict=True), "seen")
    return Drawn(
        picture.root,
        "The noise beside its law",
        f"The picture shows the share of the draws up to each value, for {check.label}. Of all tests of a whole "
        f"distribution, this test has the strongest evidence. "
        f"If the target is correct and a test is chosen before the draws are made, all points lie within the band with "
        f"probability {_at_least(BAND)} or more.",
        (("dot", "seen", f"{curve.size} draws of the target"), ("line", "law", _of_the_law(curve)),
         ("band", "law", f"band of {_at_least(BAND)}")),
    )  # fmt: skip


# THE TAIL


def _tail(check: Finding, report: AuditReport) -> Drawn:
    curve = _curve(check)
    seen = [(x, p) for x, p in zip(curve.values, curve.from_on, strict=True) if p <= 0.5]
    law = [(x, p) for x, p in zip(curve.values, curve.law_from_on, strict=True) if p > 0]
    nuclear = check.name == SPECTRAL_NORM and _nuclear(report) and bool(check.data)
    smallest = min(SMALLEST_TAIL if nuclear else 0.1, *(p for _, p in seen), 1.0)
    lines: list[Line] = [("law", law, _of_the_law(curve))]
    marks: list[tuple[float, str, str]] = []
    explained = "The probability of a value at least as large as the one on the horizontal axis, on a logarithmic scale"
    if nuclear and report.mechanism:
        d, symmetric = check.data[0].shape[1], mechanism(report.mechanism).output.symmetric
        lines = tail_lines(d, symmetric, smallest)
        marks = [(x, "printed", f"the bound of the paper, {PRINTED} ρd, refuted") for x in printed_marks(d, symmetric)]
        explained += f": spectral norm of the noise in units of its scale ρ, d = {d}"
        if not symmetric:
            explained += (
                f". DN25 Theorem 6 says that the norm is at most {PRINTED} ρd with high probability. This statement is "
                "refuted, and the corrected bound is proven"
            )
    else:
        explained += f": {check.label}"
    xs = [x for _, points, _ in lines for x, p in points if smallest <= p <= 0.7] + [x for x, _ in seen]
    picture = Picture(
        f"Upper tail probabilities of {curve.size} draws of the target and of {_of_the_law(curve)}",
        Axis(f"{check.name}, {check.scenario}", *span([*xs, *(x for x, _, _ in marks)] or list(curve.values))),
        Axis("probability of this value or a larger one", 10.0 ** math.floor(math.log10(smallest)), 1.0, log=True),
    )
    for kind, points, _ in lines:
        picture.line(((x, p) for x, p in points if picture.x.low <= x <= picture.x.high and p >= picture.y.low), kind)
    for x, kind, _ in marks:
        picture.upright(x, kind)
    picture.points(seen, "seen")
    legend = (
        ("dot", "seen", f"{curve.size} draws of the target"),
        *(("line", kind, text) for kind, _, text in lines),
        *(("line", kind, text) for _, kind, text in marks),
    )
    return Drawn(picture.root, "The tail", f"{explained}.", legend)


def tail_lines(d: int, symmetric: bool, smallest: float) -> list[Line]:
    """Return the exact tail probabilities of the spectral norm of nuclear-Laplace noise, and the proven bound
    on them.
    """
    law, edge = nuclear_laplace.ensemble(d, symmetric), nuclear_laplace.spectral_edge(d, symmetric)
    top = nuclear_laplace.spectral_norm_bound(d, -math.log(smallest), symmetric)
    exact = [(float(t), float(law.largest_survival(float(t)))) for t in np.linspace(0.3 * edge, top, FINE)]
    beyond = np.linspace(edge, 2 * top, 2 * FINE + 1)[1:]
    bound = [(float(t), float(nuclear_laplace.spectral_norm_tail_bound(d, float(t), symmetric))) for t in beyond]
    return [
        ("law", [(t, p) for t, p in exact if p > smallest / 10], "the exact law"),
        ("bound", [(t, p) for t, p in bound if p >= smallest], "the corrected bound, proven"),
    ]


def printed_marks(d: int, symmetric: bool) -> list[float]:
    """Return the values at which a plot marks the paper's bound on the spectral norm.

    The list is empty for symmetric noise.
    """
    return [] if symmetric else [PRINTED * d]


# THE TRADE-OFF CURVE


def _at_least(confidence: float) -> str:
    """Write a probability in percent, rounded down to a tenth of a percent."""
    return f"{math.floor(confidence * 1000 + 1e-6) / 10:g} %"


def _trade_off(pair: str, event: str, curve: TradeOff, report: AuditReport) -> Drawn:
    points = curve.points
    picture = Picture(
        "Error rates of tests that tell the two data sets apart, and the trade-off curve of the claim",
        Axis("false positives", 0.0, 1.0),
        Axis("false negatives", 0.0, 1.0),
    )
    grid = np.linspace(0, 1, FINE + 1)
    claimed = list(zip(grid.tolist(), claimed_curve(report.claim, grid).tolist(), strict=True))
    sides = [[(p.false_positive[k], p.false_negative[k]) for p in points] for k in (0, 2)]
    picture.boxes(zip(*sides, strict=True), "seen")
    picture.line(claimed, "law")
    picture.points(((p.false_positive[1], p.false_negative[1]) for p in points), "seen")
    return Drawn(
        picture.root,
        "The trade-off curve beside the claim",
        f"A test tells the two data sets of “{pair}” apart by the event {event}, or by the same event with another "
        f"threshold. If the claim holds, the true error rates of every test lie on or above the curve of the claim. "
        f"A box that lies wholly below the curve refutes the claim. With probability {_at_least(curve.confidence)} or "
        f"more, every box contains the true rates of its test. With this confidence, the parameter of Gaussian "
        f"differential privacy is μ ≥ {curve.gaussian_lower_bound:.3f}.",
        (("dot", "seen", "seen in the draws"),
         ("band", "seen", f"one confidence box for each test, with joint confidence {_at_least(curve.confidence)}"),
         ("line", "law", f"the claim, {report.claim}")),
    )  # fmt: skip


def curve_facts(curve: Curve) -> dict[str, Sequence[float] | int]:
    """Return the numbers of a plotted curve as facts of a report."""
    return {
        "values": list(curve.values),
        "up_to": list(curve.up_to),
        "law_up_to": list(curve.law_up_to),
        "from_on": list(curve.from_on),
        "law_from_on": list(curve.law_from_on),
        "size": curve.size,
        "law_size": curve.law_size,
    }
