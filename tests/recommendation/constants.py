"""Measure the constants that `reference.recommendation` needs, and write one file for every law.

    python -P -m covassay.verification.maintain constants FOLDER [--only LAW]

The files of the package are in `reference/recommendation/constants`. Every error is the root mean square of a norm of
the difference from the true second moment. The letter m is the effective number of rows, nε or n√ρ.
"""

import argparse
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import hadamard

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import k_norm, nuclear_laplace, wigner
from covassay.reference.recommendation import CANDIDATES, Candidate, model_spectrum
from covassay.reference.recommendation.additive import (
    ADDITIVE,
    gaussian_edge,
    linf_edge,
    nuclear_frobenius,
    nuclear_spectral,
)
from covassay.reference.recommendation.measured import NORMS, OF_GAUSSIAN_ROWS
from covassay.reference.recommendation.ranking import UNPROJECTED

SEED = 20261122
COMMAND = "python -P -m covassay.verification.maintain constants reference/recommendation/constants"


def rng_of(seed: int, *labels: str | int) -> np.random.Generator:
    """Return the random generator for one purpose."""
    return np.random.default_rng([seed, *(zlib.crc32(str(label).encode()) for label in labels)])


def root_mean_square(squares: Vector) -> tuple[float, float]:
    """Return the root of the mean of these squares, and its relative standard error."""
    mean = float(np.mean(squares))
    return mean**0.5, float(np.std(squares, ddof=1) / (2 * mean * len(squares) ** 0.5))


def squared_norms(differences: Matrix, symmetric: bool) -> Matrix:
    """Return the squares of ‖M‖_F and ‖M‖ for every matrix of a stack: (size, d, d) -> (size, 2)."""
    return np.column_stack([(differences**2).sum(axis=(1, 2)), spectral_squares(differences, symmetric)])


# CONSTANTS OF NOISE

DIMENSIONS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
FURTHER = (96, 128)
BATCH = 500


def _in_batches(
    draw: Callable[[int, np.random.Generator, int], Matrix], symmetric: bool = True
) -> Callable[..., Vector]:
    """Return a function that draws many matrices in batches, and returns the squares of their spectral norms."""

    def squares(d: int, rng: np.random.Generator, count: int) -> Vector:
        sizes = [min(BATCH, count - start) for start in range(0, count, BATCH)]
        return np.concatenate([spectral_squares(draw(d, rng, size), symmetric) for size in sizes])

    return squares


def spectral_squares(matrices: Matrix, symmetric: bool) -> Vector:
    """Return the square of ‖M‖ for every matrix of a stack."""
    values = np.linalg.eigvalsh(matrices) if symmetric else np.linalg.svd(matrices, compute_uv=False)
    return (values**2).max(axis=-1)


NOISE: dict[str, tuple[Callable[..., Vector], Callable[[float], float]]] = {
    "laplace-full": (
        _in_batches(lambda d, rng, k: rng.laplace(size=(k, d, d)), False),
        lambda d: 2**0.5 * gaussian_edge(d),
    ),
    "laplace-symmetric": (_in_batches(wigner.sample_laplace), lambda d: 2**0.5 * gaussian_edge(d)),
    "linf-ball": (_in_batches(lambda d, rng, k: k_norm.sample("linf", d, rng, k)), linf_edge),
    "wigner": (_in_batches(wigner.sample_wigner), gaussian_edge),
    "goe": (_in_batches(wigner.sample_goe), lambda d: 0.5**0.5 * gaussian_edge(d)),
}


def measure_noise(law: str, seed: int, draws: Callable[[int], int], dimensions: Sequence[int]) -> dict[str, Any]:
    """Return the root mean square spectral norm of noise at scale 1, divided by a formula of the same order."""
    squares, order = NOISE[law]
    found = [root_mean_square(squares(d, rng_of(seed, law, d), draws(d))) for d in dimensions]
    spectral = [value / order(d) for (value, _), d in zip(found, dimensions, strict=True)]
    errors = [error for _, error in found]
    return _document(law, "noise", {"d": dimensions}, (spectral, errors), (spectral, errors), seed, draws, dimensions)


def measure_covariance_body(seed: int, draws: Callable[[int], int], dimensions: Sequence[int]) -> dict[str, Any]:
    """Measure the root mean square Frobenius and spectral norms of K-norm noise for the body "covariance". Return each
    root mean square, divided by twice the root mean square of the same norm for symmetric nuclear-Laplace noise.

    Draws of nuclear-Laplace noise are weighted by the probability with which the sampler would accept them.
    """
    columns: dict[str, tuple[list[float], list[float]]] = {norm: ([], []) for norm in NORMS}
    for d in dimensions:
        spectra = nuclear_laplace.sample_spectrum(d, rng_of(seed, "covariance-body", d), draws(d), symmetric=True)
        nuclear, trace = np.abs(spectra).sum(axis=1), spectra.sum(axis=1)
        weights = k_norm.acceptance(nuclear, trace, d)
        shapes = spectra / k_norm.covariance_norm(nuclear, trace)[:, None]
        entries = float(k_norm.degrees_of_freedom(d))
        unit = {"frobenius": nuclear_frobenius(d, True), "spectral": nuclear_spectral(d, True)}
        squares = {"frobenius": (shapes**2).sum(axis=1), "spectral": (shapes**2).max(axis=1)}
        for norm in NORMS:
            mean = float(weights @ squares[norm] / weights.sum())
            scatter = float(np.linalg.norm(weights * (squares[norm] - mean)) / weights.sum())
            columns[norm][0].append((entries * (entries + 1) * mean) ** 0.5 / (2 * unit[norm].value))
            columns[norm][1].append(scatter / (2 * mean))
    return _document(
        "covariance-body",
        "noise",
        {"d": dimensions},
        columns["frobenius"],
        columns["spectral"],
        seed,
        draws,
        dimensions,
    )


# TABLES OF MECHANISMS

ROWS = 256  # the model data have this number of rows; the error depends on n and the budget only through m
# The tables have these values of q, from 0.1 to 1000. With the trace t, q is mt/d^1.5 for pure DP and mt/d for zCDP.
SIZES = tuple(float(f"{10 ** (k / 4):.4g}") for k in range(-4, 13))
TRACES = (0.01, 0.05, 0.2, 0.5, 1.0)
# Mechanisms that search for a clipping norm try powers of 2. On rows of norm √t, their error therefore jumps where t
# passes a power of 4.
OCTAVES = (0.01, 0.0156, 0.0157, 0.0624, 0.0626, 0.2499, 0.2501, 1.0)
GAUSSIAN_ROWS = 1024
SPREAD_TRACES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)
SEARCHING = ("adaptive-cov-pure", "clipped-cov-gauss", "clipped-cov-separate", "adaptive-cov")
SAMPLING = ("iterative-eigenvectors-uniform", "iterative-eigenvectors-adaptive", "kapralov-talwar", "em-cov")
SCALES_WITH_TRACE = (*SAMPLING, "nuclear-ball-projection", "separate-cov-pure", "separate-cov-goe")


def imagined_rows(d: int, trace: float) -> Matrix:
    """Make 256 rows of equal norm whose second moment is exactly diagonal, with the model's eigenvalues."""
    return hadamard(ROWS)[:, :d] * np.sqrt(model_spectrum(d, trace))


def gaussian_rows(d: int, trace: float, n: int = GAUSSIAN_ROWS, seed: int = SEED) -> Matrix:
    """Make correlated Gaussian rows, transformed to have exactly the model's eigenvalues, then clipped to the ball.

    Unlike those of `imagined_rows`, their norms vary, so that a search for a clipping norm gains less.
    """
    rng = rng_of(seed, "gaussian rows", d)
    x = rng.normal(size=(n, d))
    white = np.linalg.solve(np.linalg.cholesky(second_moment(x)), x.T).T
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return unit_rows(white * np.sqrt(model_spectrum(d, trace)) @ turn.T)


def candidate_of(law: str) -> Candidate:
    """Return the candidate whose measured error is stored in the table with the name `law`."""
    return next(c for c in CANDIDATES if law in (c.law, c.law + OF_GAUSSIAN_ROWS))


def axes_of(law: str) -> dict[str, tuple[float, ...]]:
    """Return the grid of the table with the name `law`."""
    largest = 16 if law == "l2-ball-projected" else 32 if law in SAMPLING else 48
    dimensions = tuple(float(d) for d in DIMENSIONS if d <= largest)
    if law.removesuffix(OF_GAUSSIAN_ROWS) in SEARCHING:
        traces = OCTAVES if law in SEARCHING else SPREAD_TRACES
        return {"d": tuple(d for d in dimensions if math.log2(d).is_integer()), "q": SIZES[::2], "trace": traces}
    if law in SAMPLING:
        return {"d": dimensions, "q": SIZES[::2]}
    if law in SCALES_WITH_TRACE:
        return {"d": dimensions, "q": SIZES}
    return {"d": dimensions, "q": SIZES, "trace": TRACES}


def draws_of(law: str) -> Callable[[int], int]:
    """Return the number of draws as a function of the dimension: norms vary less in high dimensions."""
    if law in NOISE:
        return lambda d: max(1000, 200_000 // d)
    if law == "covariance-body":
        return lambda d: max(4000, 200_000 // d)
    if law.removesuffix(OF_GAUSSIAN_ROWS) in SEARCHING:
        return lambda d: max(32, 200 // d)
    if law in SAMPLING:
        return lambda d: max(40, 600 // d)
    if law == "nuclear-ball-projection":
        return lambda d: max(48, 1000 // d)
    return lambda d: max(64, 3000 // d)


def noises(candidate: Candidate, d: int, rng: np.random.Generator, count: int, rows: int = ROWS) -> Iterable[Any]:
    """Draw the noise of a candidate several times, from one stream."""
    given = {name: candidate.options[name] for name in ("ensemble", "body") if name in candidate.options}
    if candidate.mechanism == "k-norm":
        return list(candidate.declared.draw_noise(d, rng, size=count, **given))
    if candidate.searches:
        given["rows"] = rows
    return [candidate.declared.draw_noise(d, rng, **given) for _ in range(count)]


def budget_of(candidate: Candidate, size: float, rows: int = ROWS) -> dict[str, float]:
    """Return the budget at which the effective number of rows, m = nε or m = n√ρ, equals `size`. The number of rows n
    is the argument `rows`.
    """
    return {"epsilon": size / rows} if candidate.pure else {"rho": (size / rows) ** 2}


def outputs_of(candidate: Candidate, drawn: Any, x: Matrix, budget: dict[str, float]) -> Matrix:
    """Return the outputs of a candidate for every draw of its noise: (size, d, d)."""
    if candidate.law in UNPROJECTED:  # the computation of the loop below, for all draws together
        n, d = x.shape
        (amount,) = budget.values()
        scale = ADDITIVE[UNPROJECTED[candidate.law]].scale(n, d, amount)
        return projected(second_moment(x) + scale * np.asarray(drawn))
    outputs = [candidate.declared.release(x, noise, **candidate.options, **budget) for noise in drawn]
    return np.array([candidate.finish(output) for output in outputs])


def projected(matrices: Matrix) -> Matrix:
    """Apply `projections.psd_trace_ball` with radius 1 to a stack of symmetric matrices: (size, d, d) -> (size, d,
    d).
    """
    ascending, vectors = np.linalg.eigh(matrices)
    descending = ascending[:, ::-1]
    shifts = (np.cumsum(descending, axis=1) - 1) / np.arange(1, descending.shape[1] + 1)
    last = (descending >= shifts).shape[1] - 1 - (descending >= shifts)[:, ::-1].argmax(axis=1)
    over = np.maximum(descending, 0).sum(axis=1) > 1
    theta = np.where(over, shifts[np.arange(len(shifts)), last], 0.0)
    values = np.maximum(ascending - theta[:, None], 0.0)
    return (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)


def measure_table(
    law: str, seed: int, draws: Callable[[int], int], axes: dict[str, tuple[float, ...]]
) -> dict[str, Any]:
    """Return the product of m and the root mean square error of a candidate on the model data, at every point of
    the grid.
    """
    candidate, traces = candidate_of(law), axes.get("trace", (0.5,))
    data, n = (gaussian_rows, GAUSSIAN_ROWS) if law.endswith(OF_GAUSSIAN_ROWS) else (imagined_rows, ROWS)
    shape = len(axes["d"]), len(axes["q"]), len(traces)
    figures, errors = ({norm: np.zeros(shape) for norm in NORMS} for _ in range(2))
    symmetric = candidate.declared.output.symmetric
    for a, d in enumerate(map(int, axes["d"])):
        drawn = noises(candidate, d, rng_of(seed, law, d), draws(d), n)
        for c, trace in enumerate(traces):
            x = data(d, trace)
            truth = second_moment(x)
            for b, q in enumerate(axes["q"]):
                size = q * (d**1.5 if candidate.pure else d) / trace
                outputs = outputs_of(candidate, drawn, x, budget_of(candidate, size, n))
                squares = squared_norms(outputs - truth, symmetric)
                for norm, column in zip(NORMS, squares.T, strict=True):
                    value, errors[norm][a, b, c] = root_mean_square(column)
                    figures[norm][a, b, c] = size * value
    if "trace" not in axes:
        figures, errors = ({n: m[:, :, 0] for n, m in columns.items()} for columns in (figures, errors))
    pairs = [(figures[norm].tolist(), errors[norm].tolist()) for norm in NORMS]
    return _document(law, "table", axes, pairs[0], pairs[1], seed, draws, [int(d) for d in axes["d"]])


# FILES


def _rounded(values: Any, digits: int) -> Any:
    return [_rounded(v, digits) for v in values] if isinstance(values, list) else float(f"{values:.{digits}g}")


def _document(
    law: str, kind: str, axes: Mapping[str, Sequence[float]], frobenius: Any, spectral: Any,
    seed: int, draws: Callable[[int], int], dimensions: Sequence[int],
) -> dict[str, Any]:  # fmt: skip
    return {
        "law": law,
        "kind": kind,
        "run": {
            "command": f"{COMMAND} --only {law} --seed {seed}",
            "seed": seed,
            "draws": {str(d): draws(d) for d in dimensions},
        },
        "axes": {name: [float(v) for v in axis] for name, axis in axes.items()},
        "frobenius": _rounded(list(frobenius[0]), 6),
        "frobenius_error": _rounded(list(frobenius[1]), 2),
        "spectral": _rounded(list(spectral[0]), 6),
        "spectral_error": _rounded(list(spectral[1]), 2),
    }


LAWS = tuple(
    dict.fromkeys(
        [
            *NOISE,
            "covariance-body",
            *(c.law for c in CANDIDATES if c.law not in ADDITIVE),
            *(law + OF_GAUSSIAN_ROWS for law in SEARCHING),
        ]
    )
)


def measure(law: str, seed: int) -> dict[str, Any]:
    """Return the document with the measured figures of one law."""
    if law in NOISE:
        return measure_noise(law, seed, draws_of(law), (*DIMENSIONS, *FURTHER))
    if law == "covariance-body":
        return measure_covariance_body(seed, draws_of(law), DIMENSIONS)
    return measure_table(law, seed, draws_of(law), axes_of(law))


PARSER = {"description": "Measure the constants of the recommendation, and write one file for every law."}


def run(options: argparse.Namespace) -> int:
    """Measure the constants of the recommendation, and write one file for every law."""
    for law in LAWS if options.only is None else (options.only,):
        text = json.dumps(measure(law, options.seed), ensure_ascii=False, separators=(",", ":")) + "\n"
        (options.folder / f"{law}.json").write_text(text, encoding="utf-8")
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--only", choices=LAWS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.set_defaults(run=run)
