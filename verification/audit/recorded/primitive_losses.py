"""Compute the privacy loss of one call of a primitive, a function that adds noise to a value, in closed form.

If the noise scales are equal on both data sets, the log ratio of the two densities is monotone between the two values
and constant outside of them. If the noise scales differ, the log ratio of the two densities is linear between the two
values and the ends of the range. The extremes of the log ratio are therefore at the two values or at the ends of the
range. If values are clipped, an end of the range has positive probability, and the log ratio of its two probabilities
counts too.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.verification.audit.recorded.losses import Undecided
from covassay.verification.audit.recorded.primitives import PrimitiveCall, Range, folded

SAME_SCALE = 1e-9  # noise scales count as equal if their relative difference is below this

# the largest log ratio of the first law to the second law, and of the second law to the first
Signed = tuple[float, float]


def shifts(one: PrimitiveCall, two: PrimitiveCall) -> list[float]:
    """Return, for every entry of the output, the distance between its values without noise on the two data sets,
    divided by the noise scale. For normal noise this ratio is μ.

    Raises
    ------
    Undecided : the scales of the two normal noises differ.
    """
    found = []
    for v, w, a, b in zip(one.value, two.value, one.scale, two.scale, strict=True):
        if not math.isclose(a, b, rel_tol=SAME_SCALE):
            raise Undecided("normal noise has another scale on the neighbour")
        found.append(abs(v - w) / a if a else math.inf if v != w else 0.0)
    return found


def losses(one: PrimitiveCall, two: PrimitiveCall) -> list[Signed]:
    """Return the privacy losses of every number of a call that adds Laplace or geometric noise, in both directions.

    Raises
    ------
    Undecided : the loss of the call has no closed form in this module.
    """
    if one.range != two.range:
        raise Undecided("an output has another range on the neighbour")
    found = []
    for v, w, a, b in zip(one.value, two.value, one.scale, two.scale, strict=True):
        found.append(
            _loss(one, float(v), float(w), float(a), float(a if math.isclose(a, b, rel_tol=SAME_SCALE) else b))
        )
    return found


def _loss(call: PrimitiveCall, v: float, w: float, a: float, b: float) -> Signed:
    if not (a and b):
        return (0.0, 0.0) if v == w and a == b else (math.inf, math.inf)
    geometric, into = call.primitive.family == "geometric", call.primitive.into
    if not into:
        return _apart(abs(v - w) / a) if a == b else (math.inf, math.inf)
    if into == "folded":
        if geometric or a != b:
            raise Undecided(
                "the loss of folded noise is computed only for continuous noise with the same scale on both data sets"
            )
        return _of_folded(v, w, a, call.range)
    if geometric:
        if into != "clipped" or not all(math.isinf(end) or end.is_integer() for end in call.range):
            raise Undecided(
                "the loss of integer noise in a range is computed only for clipping to whole or infinite ends"
            )
        return _extremes(_whole_law(v, a, call.range), _whole_law(w, b, call.range), _whole_points(v, w, call.range))
    low, high = call.range
    if a != b and (math.isinf(low) or math.isinf(high)):
        return math.inf, math.inf
    law = _redrawn_law if into == "redrawn" else _clipped_law
    inner = [min(max(y, low), high) for y in (v, w, low, high) if math.isfinite(y)]
    atoms = [] if into == "redrawn" else [-math.inf, math.inf]
    return _extremes(law(v, a, call.range), law(w, b, call.range), [*inner, *atoms])


def _apart(size: float) -> Signed:
    return size, size


def _extremes(p: Callable[[float], float], q: Callable[[float], float], points: list[float]) -> Signed:
    ratios = [0.0]
    for y in points:
        one, two = p(y), q(y)
        if max(one, two) > -math.inf:
            ratios.append(one - two)
    return max(ratios), -min(ratios)


def _log_below(z: float) -> float:
    """Return log P(Z ≤ z) for Laplace noise Z of scale 1."""
    return z - math.log(2) if z < 0 else math.log1p(-0.5 * math.exp(-z))


def _clipped_law(v: float, b: float, bounds: Range) -> Callable[[float], float]:
    """Return the log density of clipped noise as a function, which gives at ∓∞ the log probabilities of the ends of the
    range.
    """
    low, high = bounds

    def law(y: float) -> float:
        if y == -math.inf:
            return _log_below((low - v) / b) if math.isfinite(low) else -math.inf
        if y == math.inf:
            return _log_below((v - high) / b) if math.isfinite(high) else -math.inf
        return -abs(y - v) / b - math.log(b)

    return law


def _redrawn_law(v: float, b: float, bounds: Range) -> Callable[[float], float]:
    low, high = bounds
    inside = math.exp(_log_below((high - v) / b)) - math.exp(_log_below((low - v) / b))
    return lambda y: -abs(y - v) / b - math.log(b) - math.log(inside)


def _of_folded(v: float, w: float, b: float, bounds: Range) -> Signed:
    """Return the loss of Laplace noise that is reflected at the ends of the range.

    Let b be the scale, and let low and high be the ends of the range. For outputs below both values v and w, the log
    ratio of the densities is log cosh((high − v)/b) − log cosh((high − w)/b). For outputs above both values, it is
    log cosh((v − low)/b) − log cosh((w − low)/b).
    """
    low, high = bounds
    v, w = (float(folded(np.array([y]), low, high)[0]) for y in (v, w))
    ratios = [0.0]
    for end, sign in ((high, 1.0), (low, -1.0)):
        if math.isinf(end):
            ratios.append(sign * (w - v) / b)
        else:
            ratios.append(_log_cosh((end - v) / b) - _log_cosh((end - w) / b))
    return max(ratios), -min(ratios)


def _log_cosh(t: float) -> float:
    return abs(t) + math.log1p(math.exp(-2 * abs(t))) - math.log(2)


def _whole_points(v: float, w: float, bounds: Range) -> list[float]:
    low, high = bounds
    inner = [y for y in (v, w, low + 1, high - 1) if low < y < high]
    return [*inner, *(end for end in bounds if math.isfinite(end)), *([min(v, w)] if low == -math.inf else [])]


def _whole_law(v: float, scale: float, bounds: Range) -> Callable[[float], float]:
    """Return the log probability of an output as a function. The outputs are whole numbers that are clipped to a range,
    so an end of the range has the probability of all numbers at and beyond this end.
    """
    if not v.is_integer():
        raise Undecided("noise of whole numbers is added to a value that is not a whole number")
    low, high = bounds

    def beyond(k: float) -> float:
        """log P(Z ≥ k)."""
        if k >= 1:
            return -k / scale - math.log1p(math.exp(-1 / scale))
        return math.log1p(-math.exp((k - 1) / scale) / (1 + math.exp(-1 / scale)))

    def law(y: float) -> float:
        if y == low:
            return beyond(v - low)
        if y == high:
            return beyond(high - v)
        return -abs(y - v) / scale + math.log(math.tanh(0.5 / scale))

    return law
