"""Give the reference's answers about single steps, with all intermediate numbers of a search or a loop."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from covassay.reference.domain import require_shape, row_norms, sized_unit_rows, sum_rows, unit_rows
from covassay.reference.domain.exact_data import integer_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius, private_trace
from covassay.reference.mechanisms.building_blocks.above_threshold import AboveThresholdNoise
from covassay.reference.mechanisms.concentrated import adaptive_cov, clipped_cov
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import adaptive_cov_pure
from covassay.reference.mechanisms.pure.iterative_eigenvectors import Direction
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.vectors.numbers import DIGITS, digits, exact, read

Parts = Mapping[str, Any]


def transcript(name: str, step: str, parameters: Parts, given: Parts) -> Any:
    """Return the values of one step of a mechanism, which are exact if the given numbers are."""
    parameters, given = read(parameters), read(given)
    declared = mechanism(name)
    for key, value in parameters.items():
        if key in declared.declared:
            declared.declared[key].require(key, value)
    return STEPS[step](declared, parameters, given)


def search_noise(value: Parts) -> AboveThresholdNoise:
    """Return the noise of a search, in the form that the reference's `release` takes."""
    return AboveThresholdNoise(value["threshold"], np.array(value["queries"], dtype=float))


def _search(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts) -> Any:
    if declared.name == "private-radius":
        return _radius_search(parameters, given)
    if declared.name != "above-threshold":
        return _level_search(declared.name, parameters, given)
    return _above(given, given["threshold"], parameters["epsilon"], parameters["calibration"])


def _above(given: Parts, threshold: float, epsilon: float, calibration: Any) -> dict[str, Any]:
    """Return the noisy threshold, the noisy queries up to the one at which the search stops, and the position of this
    query, counted from 1.
    """
    values, noise = np.array(given["queries"], dtype=float), search_noise(given["noise"])
    position = above_threshold.first_above(values, threshold, noise, epsilon=epsilon, calibration=calibration)
    exactly = exact(given)
    b1 = above_threshold.threshold_scale(Fraction(epsilon))
    b2 = above_threshold.query_scale(Fraction(epsilon), calibration)
    noisy = [f + b2 * v for f, v in zip(exactly["queries"], exactly["noise"]["queries"], strict=True)]
    limit = Fraction(threshold) + b1 * exactly["noise"]["threshold"]
    return {"threshold": limit, "queries": noisy[: position + 1], "index": position + 1}


def _level_search(name: str, parameters: Parts, given: Parts) -> Any:
    calibration = "paper"
    if name == "adaptive-cov-pure":
        calibration = parameters["calibration"]
        epsilon = adaptive_cov_pure.search_epsilon(parameters["epsilon"], calibration)
    else:
        epsilon = (clipped_cov if name == "clipped-cov" else adaptive_cov).search_epsilon(parameters["rho"])
    found = _above(given, 0.0, epsilon, calibration)
    level = found["index"] - 1  # levels are counted from 0
    return {**found, "index": level, "clip": Fraction(clipped_cov.clip_level(level))}


def _radius_search(parameters: Parts, given: Parts) -> Any:
    rows, n, _ = sized_unit_rows(np.array(given["x"], dtype=float), 1.0, "clip")
    radii = private_radius.public_radii(parameters["precision"])
    counts = np.asarray(sum_rows(lambda block: (row_norms(block)[:, None] <= radii).sum(axis=0), rows), dtype=float)
    budget = {key: parameters[key] for key in ("epsilon", "calibration")}
    slack = above_threshold.accuracy(len(radii), parameters["beta"], **budget)
    noise = search_noise(given["noise"])
    index = 1 + above_threshold.first_above(counts, private_radius.search_threshold(n, slack), noise, **budget)
    with mpmath.workdps(2 * DIGITS):
        figures = {key: mpmath.mpf(parameters[key]) for key in ("beta", "epsilon")}
        alpha = above_threshold.accuracy(len(radii), calibration=parameters["calibration"], log=mpmath.log, **figures)
        slack = digits(alpha)
    return {"radii": exact(radii.tolist()), "counts": [int(c) for c in counts], "slack": slack, "index": index}


def _bias(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts) -> Any:
    rows, n, _ = sized_unit_rows(np.array(given["x"], dtype=float), 1.0, "clip")
    counts = [Fraction(count) for count in clipped_cov.bin_counts(rows, given["last"])]
    return [Fraction(clipped_cov.bias_bound(counts, k, 1)) / n for k in range(given["last"] + 1)]


def _trace(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts) -> Any:
    require_shape("noise", given["noise"], ())
    with mpmath.workdps(2 * DIGITS):
        n, failure = parameters["n"], mpmath.mpf(parameters["beta"]) / 8
        if declared.name == "adaptive-cov":
            scale = private_trace.gaussian_scale(n, adaptive_cov.trace_budget(mpmath.mpf(parameters["rho"])))
            margin = private_trace.gaussian_margin(failure, mpmath.log)
        else:
            share = adaptive_cov_pure.step_epsilon(mpmath.mpf(parameters["epsilon"]))
            scale, margin = private_trace.laplace_scale(n, share), private_trace.laplace_margin(failure, mpmath.log)
        return digits(private_trace.upper_bound(mpmath.mpf(given["trace"]), given["noise"], scale, margin))


def _noise(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts) -> Any:
    g, a, e = (Fraction(given[key]) for key in ("g", "a", "e"))
    return [Fraction(adaptive_cov_pure.noise_level(k, g, a, e)) for k in range(given["last"] + 1)]


def _sampler(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts) -> Any:
    asked: list[Any] = []

    def direction(m: Any) -> Any:
        asked.append(m)
        return np.eye(len(m))[0]

    def subspace(m: Any, k: int) -> Any:
        asked.append({"matrix": m, "rank": k})
        return np.diag([1.0] * k + [0.0] * (len(m) - k))

    sampler = subspace if declared.output.kind == "projection" else direction
    declared.release(np.array(given["x"], dtype=float), sampler, **parameters)
    return asked[0]


def recorded(directions: list[Any], asked: list[Any]) -> Direction:
    """Return a sampler that returns the given directions, one in each step, and records the laws that were
    requested.
    """

    def direction(m: Any, step: int) -> Any:
        if step >= len(directions):
            raise InvalidInput(f"noise.directions: must have more than {len(directions)} directions")
        asked.append(m)
        return np.array(directions[step], dtype=float)

    return direction


def _rounds(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts) -> Any:
    asked: list[Any] = []
    numbers = {key: np.array(value, dtype=float) for key, value in given["noise"].items() if key != "directions"}
    x = np.array(given["x"], dtype=float)
    example = declared.draw_noise(x.shape[1], np.random.default_rng(0))
    noise = type(example)(**numbers, direction=recorded(given["noise"]["directions"], asked))
    released = declared.release(x, noise, **parameters)
    return {"matrices": asked, "released": released}


def _lattice(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts) -> Any:
    x = np.array(given["x"], dtype=float)
    options = {"row_bound": 1.0, "on_large_rows": "clip", **parameters}
    if options["on_large_rows"] == "raise":
        unit_rows(x, options["row_bound"], "raise")
    blocks = integer_rows(x, **options)
    return [[int(v) for v in row] for block in blocks for row in block]


STEPS: dict[str, Callable[[Mechanism[Any, ..., Any], Parts, Parts], Any]] = {
    "search": _search,
    "bias": _bias,
    "trace": _trace,
    "noise": _noise,
    "sampler": _sampler,
    "rounds": _rounds,
    "lattice": _lattice,
}
