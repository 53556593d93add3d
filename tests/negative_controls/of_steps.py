"""Negative controls of mechanisms with several steps, in which one step is wrong or has no noise of its own."""

from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from tests.negative_controls.broken import Noise, bare, other_noise, other_output, part, times
from tests.negative_controls.negative_control import NegativeControl


def exact_direction(m: Matrix, step: int) -> Matrix:
    """Return the exact leading eigenvector, without noise."""
    return np.asarray(np.linalg.eigh(m)[1][:, -1])


def exact_directions(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Use the exact eigenvectors."""
    return replace(z, direction=exact_direction)


def spends_again(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Draw the directions with four times the correct exponents."""
    return replace(z, direction=lambda m, step: z.direction(4 * m, step=step))


def forgets_the_data(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Draw all directions uniformly, independently of the data."""
    return replace(z, direction=lambda m, step: z.direction(0 * m, step=step))


def first_direction_only(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Draw only the first direction at random, and use exact eigenvectors for the others."""
    return replace(z, direction=lambda m, step: (exact_direction if step else z.direction)(m, step=step))


def search_bare(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Add no noise to the threshold and the queries of the search."""
    return bare("search.queries")(bare("search.threshold")(z, rng, x), rng, x)


def search_shared(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Use the noise of the threshold also as the noise of all queries."""
    return replace(z, search=replace(z.search, queries=np.full_like(z.search.queries, z.search.threshold)))


def round_bare(i: int) -> Any:
    """Return a function that sets the noise of round i to zero."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[i] = 0
        return z

    return noise


def only_last_round(factor: float) -> Any:
    """Return a function that multiplies the noise of all rounds but the last by a factor."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[:-1] *= factor
        return z

    return noise


def rounds_of(change: Any) -> Any:
    """Return a function that applies `change` to the noise of the rounds of preconditioning."""
    return lambda z, rng, x: replace(z, rounds=change(z.rounds, rng, x))


def scaled_by_trace(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Multiply the noise of all steps by the exact trace of the second moment."""
    return times(float(np.trace(second_moment(unit_rows(x)))))(z, rng, x)


def exact_diagonal(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Release the exact eigenvalues of the data with the eigenvectors of the output."""
    vectors = np.linalg.eigh((y + y.T) / 2)[1]
    return np.asarray((vectors * np.linalg.eigvalsh(second_moment(unit_rows(x)))) @ vectors.T)


def rescaled_to_trace(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Scale the output to the exact trace of the second moment."""
    trace = float(np.trace(y))
    return np.asarray(y * np.trace(second_moment(unit_rows(x))) / trace) if abs(trace) > 1e-9 else y


def shrunk_by_the_data(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Shrink the output toward a multiple of I with an intensity computed from the data, similar to Ledoit and Wolf."""
    moment, d = second_moment(unit_rows(x)), x.shape[1]
    spread = float(np.linalg.norm(moment - np.trace(moment) / d * np.eye(d)))
    intensity = 1 / (1 + len(x) * spread)
    return np.asarray((1 - intensity) * y + intensity * np.trace(y) / d * np.eye(d))


def steps_of(mechanism_name: str, *mistakes: tuple[str, str, Noise]) -> tuple[NegativeControl, ...]:
    """Return a negative control with changed noise for each triple (name, mistake, noise)."""
    return tuple(other_noise(name, mechanism_name, mistake, noise) for name, mistake, noise in mistakes)


PRIVATE = (("threshold", "private"),)
NEGATIVE_CONTROLS = (
    # eigenvalues and eigenvectors
    *steps_of(
        "iterative-eigenvectors",
        ("iterative-directions-exact", "Use the exact eigenvectors.", exact_directions),
        (
            "iterative-directions-spent-again",
            "Draw the directions with four times the correct exponents.",
            spends_again,
        ),
        ("iterative-eigenvalues-bare", "Add no noise to the eigenvalues.", bare("eigenvalues")),
        (
            "iterative-first-direction-only",
            "Draw only the first direction at random, and use exact eigenvectors for the others.",
            first_direction_only,
        ),
        ("iterative-directions-uniform", "Draw all directions uniformly, independently of the data.", forgets_the_data),
    ),
    *steps_of(
        "em-cov",
        ("em-directions-exact", "Use the exact eigenvectors.", exact_directions),
        ("em-eigenvalues-bare", "Add no noise to the eigenvalues.", bare("eigenvalues")),
        ("em-directions-spent-again", "Draw the directions with four times the correct exponents.", spends_again),
        (
            "em-last-direction-forgotten",
            "Draw only the first direction at random, and use exact eigenvectors for the others.",
            first_direction_only,
        ),
    ),
    *steps_of(
        "kapralov-talwar",
        ("deflation-values-bare", "Add no noise to the values.", bare("values")),
        ("deflation-one-draw", "Add the same noise to all values.", part("values", lambda z: np.full_like(z, z[0]))),
        ("deflation-directions-uniform", "Draw all directions uniformly, independently of the data.", forgets_the_data),
    ),
    *steps_of(
        "separate-cov",
        ("separate-eigenvalues-bare", "Add no noise to the eigenvalues.", bare("eigenvalues")),
        ("separate-matrix-third", "Use a third of the noise for the eigenvectors.", part("matrix", lambda z: z / 3)),
        ("separate-noise-with-trace", "Multiply all noise by the exact trace of the second moment.", scaled_by_trace),
    ),
    *steps_of(
        "separate-cov-pure",
        ("separate-pure-eigenvalues-bare", "Add no noise to the eigenvalues.", bare("eigenvalues")),
        ("separate-pure-vectors-exact", "Use the exact eigenvectors of the data.", bare("matrix")),
        (
            "separate-pure-noise-with-trace",
            "Multiply all noise by the exact trace of the second moment.",
            scaled_by_trace,
        ),
    ),
    other_output(
        "exact-eigenvalues",
        "projection-mechanism",
        "Release exact eigenvalues with noisy eigenvectors.",
        exact_diagonal,
    ),
    other_output(
        "exact-trace", "gauss-cov", "Scale the output to the exact trace of the second moment.", rescaled_to_trace
    ),
    other_output(
        "ledoit-wolf",
        "nuclear-laplace-symmetric",
        "Shrink the output with an intensity that is computed from the data.",
        shrunk_by_the_data,
    ),
    other_noise(
        "projection-noise-with-trace",
        "projection-mechanism",
        "Multiply the noise by the exact trace of the second moment.",
        scaled_by_trace,
    ),
    # projections and clipping
    *steps_of(
        "nuclear-ball-projection",
        ("ball-trace-bare", "Compute the radius from the exact trace.", bare("trace")),
        ("ball-matrix-bare", "Project the exact matrix, without noise.", bare("matrix")),
        (
            "ball-trace-from-the-matrix",
            "Use an entry of the matrix noise as the noise of the trace.",
            lambda z, rng, x: replace(z, trace=float(z.matrix[0, 0])),
        ),
    ),
    other_noise(
        "clipped-threshold-bare", "clipped-cov", "Search for the threshold without noise.", search_bare, options=PRIVATE
    ),
    other_noise(
        "clipped-search-shared",
        "clipped-cov",
        "Use the noise of the threshold as the noise of the queries.",
        search_shared,
        options=PRIVATE,
    ),
    *steps_of(
        "clipped-cov",
        ("clipped-eigenvalues-bare", "Add no noise to the eigenvalues of the clipped rows.", bare("base.eigenvalues")),
        ("clipped-base-bare", "Add no noise to the matrix after clipping.", bare("base.matrix")),
    ),
    *steps_of(
        "adaptive-cov",
        ("adaptive-trace-bare", "Use the exact trace in the choice of the threshold.", bare("trace")),
        ("adaptive-search-bare", "Search for the threshold without noise.", search_bare),
        ("adaptive-base-bare", "Add no noise to the matrix.", bare("base.matrix")),
    ),
    other_noise(
        "adaptive-pure-trace-bare",
        "adaptive-cov-pure",
        "Use the exact trace in the choice of the threshold.",
        bare("trace"),
    ),
    other_noise(
        "sparse-vector-threshold-as-query",
        "above-threshold",
        "Use the noise of the threshold as the noise of the queries.",
        lambda z, rng, x: replace(z, queries=np.full_like(z.queries, z.threshold)),
    ),
    *steps_of(
        "private-radius",
        ("radius-threshold-bare", "Add no noise to the threshold.", bare("threshold")),
        ("radius-queries-bare", "Add no noise to the counts.", bare("queries")),
    ),
    # rounds
    *steps_of(
        "coinpress-mean",
        ("coinpress-first-step-bare", "Add no noise in the first step.", round_bare(0)),
        ("coinpress-last-step-bare", "Add no noise in the last step.", round_bare(-1)),
        ("coinpress-steps-tenth", "Add a tenth of the noise in all steps but the last.", only_last_round(0.1)),
    ),
    *steps_of(
        "coinpress-covariance",
        ("coinpress-covariance-first-bare", "Add no noise in the first round.", round_bare(0)),
        ("coinpress-covariance-last-bare", "Add no noise in the last round.", round_bare(-1)),
    ),
    *steps_of(
        "ppc",
        ("ppc-first-bare", "Add no noise in the first round.", round_bare(0)),
        ("ppc-last-tenth", "Add a tenth of the noise in all rounds but the last.", only_last_round(0.1)),
    ),
    *steps_of(
        "pgce",
        ("pgce-estimate-bare", "Add no noise to the estimate.", bare("estimate")),
        ("pgce-rounds-bare", "Add no noise in the rounds of preconditioning.", bare("rounds")),
        (
            "pgce-noise-reused",
            "Use the noise of the last round as the noise of the estimate.",
            lambda z, rng, x: replace(z, estimate=z.rounds[-1]),
        ),
    ),
    *steps_of(
        "kv-mean",
        ("kv-counts-bare", "Find the bin of the mean without noise.", bare("counts")),
        ("kv-mean-bare", "Add no noise to the mean.", bare("mean")),
        (
            "kv-mean-reused",
            "Add the noise of the middle bin's count to the mean, in place of new noise.",
            lambda z, rng, x: replace(z, mean=z.counts[:, z.counts.shape[1] // 2]),
        ),
    ),
    *steps_of(
        "pme",
        ("pme-mean-bare", "Add no noise to the mean.", bare("mean.mean")),
        ("pme-rounds-bare", "Add no noise in the rounds of preconditioning.", rounds_of(times(0.0))),
    ),
    other_noise("naive-pme-counts-bare", "naive-pme", "Find the bin of the mean without noise.", bare("counts")),
    *steps_of(
        "gaussian-learner",
        ("learner-mean-bare", "Add no noise to the mean.", bare("mean.mean.mean")),
        ("learner-covariance-bare", "Add no noise to the covariance.", bare("covariance.estimate")),
        (
            "learner-noise-shared",
            "Use the noise of the rounds for the covariance also in the rounds for the mean.",
            lambda z, rng, x: replace(z, mean=replace(z.mean, rounds=z.covariance.rounds)),
        ),
    ),
    *steps_of(
        "ppde",
        ("ppde-first-block-bare", "Add no noise in the first block.", round_bare(0)),
        ("ppde-blocks-share", "Use the same noise for all blocks.", lambda z, rng, x: np.repeat(z[:1], len(z), axis=0)),
        ("ppde-last-block-bare", "Add no noise in the last block.", round_bare(-1)),
    ),
    other_noise("weak-ppc-bare", "weak-ppc", "Add no noise.", times(0.0)),
    other_noise("naive-pme-mean-bare", "naive-pme", "Add no noise to the mean.", bare("mean")),
)
