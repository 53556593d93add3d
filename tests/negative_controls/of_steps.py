"""Negative controls of mechanisms with several steps: a step has no noise, is skipped or unpaid, or shares noise."""

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
    """Uses the exact eigenvectors."""
    return replace(z, direction=exact_direction)


def spends_again(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Draws directions at four times their exponents."""
    return replace(z, direction=lambda m, step: z.direction(4 * m, step=step))


def forgets_the_data(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Uniform directions."""
    return replace(z, direction=lambda m, step: z.direction(0 * m, step=step))


def first_direction_only(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Draws the first direction at random, and uses the exact eigenvectors of the remaining matrix for the others."""
    return replace(z, direction=lambda m, step: (exact_direction if step else z.direction)(m, step=step))


def search_bare(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Adds no noise in the search, neither to the threshold nor to the queries."""
    return bare("search.queries")(bare("search.threshold")(z, rng, x), rng, x)


def search_shared(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Uses the noise of the threshold for all queries too."""
    return replace(z, search=replace(z.search, queries=np.full_like(z.search.queries, z.search.threshold)))


def round_bare(i: int) -> Any:
    """Make a change that removes the noise of round i of a stack."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[i] = 0
        return z

    return noise


def only_last_round(factor: float) -> Any:
    """Make a change that multiplies the noise of all rounds but the last by a factor."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[:-1] *= factor
        return z

    return noise


def rounds_of(change: Any) -> Any:
    """Make a change of the noise that applies `change` to the rounds of preconditioning alone."""
    return lambda z, rng, x: replace(z, rounds=change(z.rounds, rng, x))


def scaled_by_trace(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Multiplies the noise of all steps by the trace of the data."""
    return times(float(np.trace(second_moment(unit_rows(x)))))(z, rng, x)


def exact_diagonal(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Puts the exact eigenvalues of the data on the eigenvectors of the output."""
    vectors = np.linalg.eigh((y + y.T) / 2)[1]
    return np.asarray((vectors * np.linalg.eigvalsh(second_moment(unit_rows(x)))) @ vectors.T)


def rescaled_to_trace(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Scales the output to the exact trace of the data."""
    trace = float(np.trace(y))
    return np.asarray(y * np.trace(second_moment(unit_rows(x))) / trace) if abs(trace) > 1e-9 else y


def shrunk_by_the_data(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Shrinks toward a multiple of I, with an intensity computed from the data (Ledoit and Wolf)."""
    moment, d = second_moment(unit_rows(x)), x.shape[1]
    spread = float(np.linalg.norm(moment - np.trace(moment) / d * np.eye(d)))
    intensity = 1 / (1 + len(x) * spread)
    return np.asarray((1 - intensity) * y + intensity * np.trace(y) / d * np.eye(d))


def steps_of(mechanism_name: str, *mistakes: tuple[str, str, Noise]) -> tuple[NegativeControl, ...]:
    """Make one control for each (name, mistake, noise): the reference with changed noise in some step."""
    return tuple(other_noise(name, mechanism_name, mistake, noise) for name, mistake, noise in mistakes)


PRIVATE = (("threshold", "private"),)
NEGATIVE_CONTROLS = (
    # eigenvalues and eigenvectors
    *steps_of(
        "iterative-eigenvectors",
        ("iterative-directions-exact", "Uses the exact eigenvectors.", exact_directions),
        ("iterative-directions-spent-again", "Gives every direction the budget of all.", spends_again),
        ("iterative-eigenvalues-bare", "Releases the eigenvalues as they are.", bare("eigenvalues")),
        ("iterative-first-direction-only", "Draws the first direction only.", first_direction_only),
        ("iterative-directions-uniform", "Draws all directions uniformly.", forgets_the_data),
    ),
    *steps_of(
        "em-cov",
        ("em-directions-exact", "Uses the exact eigenvectors.", exact_directions),
        ("em-eigenvalues-bare", "Releases the eigenvalues as they are.", bare("eigenvalues")),
        ("em-directions-spent-again", "Gives every direction four times its exponent.", spends_again),
        ("em-last-direction-forgotten", "Draws the first direction only.", first_direction_only),
    ),
    *steps_of(
        "kapralov-talwar",
        ("deflation-values-bare", "Releases the values as they are.", bare("values")),
        ("deflation-one-draw", "Adds one noise to all values.", part("values", lambda z: np.full_like(z, z[0]))),
        ("deflation-directions-uniform", "Draws all directions uniformly.", forgets_the_data),
    ),
    *steps_of(
        "separate-cov",
        ("separate-eigenvalues-bare", "Releases the eigenvalues as they are.", bare("eigenvalues")),
        ("separate-matrix-third", "Uses a third of the noise for the eigenvectors.", part("matrix", lambda z: z / 3)),
        ("separate-noise-with-trace", "Scales all noise with the trace of the data.", scaled_by_trace),
    ),
    *steps_of(
        "separate-cov-pure",
        ("separate-pure-eigenvalues-bare", "Releases the eigenvalues as they are.", bare("eigenvalues")),
        ("separate-pure-vectors-exact", "Uses the eigenvectors of the data.", bare("matrix")),
        ("separate-pure-noise-with-trace", "Scales all noise with the trace of the data.", scaled_by_trace),
    ),
    other_output(
        "exact-eigenvalues", "projection-mechanism", "Puts the exact eigenvalues on noisy eigenvectors.", exact_diagonal
    ),
    other_output("exact-trace", "gauss-cov", "Scales the output to the exact trace.", rescaled_to_trace),
    other_output(
        "ledoit-wolf",
        "nuclear-laplace-symmetric",
        "Shrinks the output with an intensity computed from the data.",
        shrunk_by_the_data,
    ),
    other_noise(
        "projection-noise-with-trace",
        "projection-mechanism",
        "Scales the noise with the trace of the data.",
        scaled_by_trace,
    ),
    # projections and clipping
    *steps_of(
        "nuclear-ball-projection",
        ("ball-trace-bare", "Uses the exact trace for the radius.", bare("trace")),
        ("ball-matrix-bare", "Projects the exact matrix.", bare("matrix")),
        (
            "ball-trace-from-the-matrix",
            "Uses an entry of the matrix noise for the trace.",
            lambda z, rng, x: replace(z, trace=float(z.matrix[0, 0])),
        ),
    ),
    other_noise(
        "clipped-threshold-bare", "clipped-cov", "Searches the threshold without noise.", search_bare, options=PRIVATE
    ),
    other_noise(
        "clipped-search-shared",
        "clipped-cov",
        "Uses the noise of the threshold for the queries.",
        search_shared,
        options=PRIVATE,
    ),
    *steps_of(
        "clipped-cov",
        (
            "clipped-eigenvalues-bare",
            "Releases the eigenvalues of the clipped rows without noise.",
            bare("base.eigenvalues"),
        ),
        ("clipped-base-bare", "Adds no noise after the clip.", bare("base.matrix")),
    ),
    *steps_of(
        "adaptive-cov",
        ("adaptive-trace-bare", "Uses the exact trace to choose.", bare("trace")),
        ("adaptive-search-bare", "Searches the threshold without noise.", search_bare),
        ("adaptive-base-bare", "Adds no noise to the matrix.", bare("base.matrix")),
    ),
    other_noise("adaptive-pure-trace-bare", "adaptive-cov-pure", "Uses the exact trace to choose.", bare("trace")),
    other_noise(
        "sparse-vector-threshold-as-query",
        "above-threshold",
        "Uses the noise of the threshold for the queries.",
        lambda z, rng, x: replace(z, queries=np.full_like(z.queries, z.threshold)),
    ),
    *steps_of(
        "private-radius",
        ("radius-threshold-bare", "Adds no noise to the threshold.", bare("threshold")),
        ("radius-queries-bare", "Adds no noise to the counts.", bare("queries")),
    ),
    # rounds
    *steps_of(
        "coinpress-mean",
        ("coinpress-first-step-bare", "Adds no noise in the first step.", round_bare(0)),
        ("coinpress-last-step-bare", "Adds no noise in the last step.", round_bare(-1)),
        ("coinpress-steps-tenth", "Adds a tenth of the noise in all steps but the last.", only_last_round(0.1)),
    ),
    *steps_of(
        "coinpress-covariance",
        ("coinpress-covariance-first-bare", "Adds no noise in the first round.", round_bare(0)),
        ("coinpress-covariance-last-bare", "Adds no noise in the last round.", round_bare(-1)),
    ),
    *steps_of(
        "ppc",
        ("ppc-first-bare", "Adds no noise in the first round.", round_bare(0)),
        ("ppc-last-tenth", "Adds a tenth of the noise in all rounds but the last.", only_last_round(0.1)),
    ),
    *steps_of(
        "pgce",
        ("pgce-estimate-bare", "Adds no noise to the estimate.", bare("estimate")),
        ("pgce-rounds-bare", "Adds no noise in the rounds of preconditioning.", bare("rounds")),
        (
            "pgce-noise-reused",
            "Uses the noise of the last round for the estimate.",
            lambda z, rng, x: replace(z, estimate=z.rounds[-1]),
        ),
    ),
    *steps_of(
        "kv-mean",
        ("kv-counts-bare", "Finds the bin without noise.", bare("counts")),
        ("kv-mean-bare", "Adds no noise to the mean.", bare("mean")),
        (
            "kv-mean-reused",
            "Uses the noise of the first counts for the mean.",
            lambda z, rng, x: replace(z, mean=z.counts[:, z.counts.shape[1] // 2]),
        ),
    ),
    *steps_of(
        "pme",
        ("pme-mean-bare", "Adds no noise to the mean.", bare("mean.mean")),
        ("pme-rounds-bare", "Adds no noise in the rounds of preconditioning.", rounds_of(times(0.0))),
    ),
    other_noise("naive-pme-counts-bare", "naive-pme", "Finds the bin without noise.", bare("counts")),
    *steps_of(
        "gaussian-learner",
        ("learner-mean-bare", "Adds no noise to the mean.", bare("mean.mean.mean")),
        ("learner-covariance-bare", "Adds no noise to the covariance.", bare("covariance.estimate")),
        (
            "learner-noise-shared",
            "Uses the rounds of the covariance for the mean too.",
            lambda z, rng, x: replace(z, mean=replace(z.mean, rounds=z.covariance.rounds)),
        ),
    ),
    *steps_of(
        "ppde",
        ("ppde-first-block-bare", "Adds no noise in the first block.", round_bare(0)),
        ("ppde-blocks-share", "Uses one noise for all blocks.", lambda z, rng, x: np.repeat(z[:1], len(z), axis=0)),
        ("ppde-last-block-bare", "Adds no noise in the last block.", round_bare(-1)),
    ),
    other_noise("weak-ppc-bare", "weak-ppc", "Adds no noise.", times(0.0)),
    other_noise("naive-pme-mean-bare", "naive-pme", "Adds no noise to the mean.", bare("mean")),
)
