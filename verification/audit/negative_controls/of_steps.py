"""Negative controls of mechanisms in several steps: a step is bare, skipped or not paid for, or it shares its noise."""

from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.verification.audit.negative_controls.broken import bare, other_noise, other_output, part, times
from covassay.verification.audit.negative_controls.negative_control import NegativeControl


def exact_direction(m: Matrix) -> Matrix:
    """The leading eigenvector itself."""
    return np.asarray(np.linalg.eigh(m)[1][:, -1])


def spends_again(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Directions at four times their exponents."""
    return replace(z, direction=lambda m: z.direction(4 * m))


def forgets_the_data(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Uniform directions."""
    return replace(z, direction=lambda m: z.direction(0 * m))


def first_direction_only(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """The first direction is drawn, the others are the exact eigenvectors of what is left."""
    d = x.shape[1]
    return replace(z, direction=lambda m: z.direction(m) if len(m) == d else exact_direction(m))


def search_shared(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Noise of the threshold is used for all queries too."""
    return replace(z, search=replace(z.search, queries=np.full_like(z.search.queries, z.search.threshold)))


def round_bare(i: int) -> Any:
    """No noise in round i of a stack."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[i] = 0
        return z

    return noise


def only_last_round(factor: float) -> Any:
    """The rounds before the last have a fraction of their noise."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[:-1] *= factor
        return z

    return noise


def rounds_of(change: Any) -> Any:
    """A change of the rounds of preconditioning."""
    return lambda z, rng, x: replace(z, rounds=change(z.rounds, rng, x))


def scaled_by_trace(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """The noise of all steps times the trace of the data."""
    return times(float(np.trace(second_moment(unit_rows(x)))))(z, rng, x)


def exact_diagonal(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """The exact eigenvalues of the data on the eigenvectors of the output."""
    vectors = np.linalg.eigh((y + y.T) / 2)[1]
    return np.asarray((vectors * np.linalg.eigvalsh(second_moment(unit_rows(x)))) @ vectors.T)


def rescaled_to_trace(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """The output is scaled to the exact trace of the data."""
    trace = float(np.trace(y))
    return np.asarray(y * np.trace(second_moment(unit_rows(x))) / trace) if abs(trace) > 1e-9 else y


def shrunk_by_the_data(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Shrinkage toward a multiple of I, with an intensity read off the data (Ledoit and Wolf)."""
    moment, d = second_moment(unit_rows(x)), x.shape[1]
    spread = float(np.linalg.norm(moment - np.trace(moment) / d * np.eye(d)))
    intensity = 1 / (1 + len(x) * spread)
    return np.asarray((1 - intensity) * y + intensity * np.trace(y) / d * np.eye(d))


def without(name: str, mechanism_name: str, mistake: str, step: str) -> NegativeControl:
    """The reference without the noise of one step."""
    return other_noise(name, mechanism_name, mistake, bare(step))


PRIVATE = (("threshold", "private"),)
NEGATIVE_CONTROLS = (
    # eigenvalues and eigenvectors
    other_noise(
        "iterative-directions-exact",
        "iterative-eigenvectors",
        "Uses the exact eigenvectors.",
        lambda z, rng, x: replace(z, direction=exact_direction),
    ),
    other_noise(
        "iterative-directions-spent-again",
        "iterative-eigenvectors",
        "Gives every direction the budget of all.",
        spends_again,
    ),
    without(
        "iterative-eigenvalues-bare", "iterative-eigenvectors", "Releases the eigenvalues as they are.", "eigenvalues"
    ),
    other_noise(
        "iterative-first-direction-only",
        "iterative-eigenvectors",
        "Draws the first direction only.",
        first_direction_only,
    ),
    other_noise(
        "iterative-directions-uniform", "iterative-eigenvectors", "Draws all directions uniformly.", forgets_the_data
    ),
    other_noise(
        "em-directions-exact",
        "em-cov",
        "Uses the exact eigenvectors.",
        lambda z, rng, x: replace(z, direction=exact_direction),
    ),
    without("em-eigenvalues-bare", "em-cov", "Releases the eigenvalues as they are.", "eigenvalues"),
    other_noise("em-directions-spent-again", "em-cov", "Gives every direction four times its exponent.", spends_again),
    other_noise("em-last-direction-forgotten", "em-cov", "Draws the first direction only.", first_direction_only),
    without("deflation-values-bare", "kapralov-talwar", "Releases the values as they are.", "values"),
    other_noise(
        "deflation-one-draw",
        "kapralov-talwar",
        "Adds one noise to all values.",
        part("values", lambda z: np.full_like(z, z[0])),
    ),
    other_noise("deflation-directions-uniform", "kapralov-talwar", "Draws all directions uniformly.", forgets_the_data),
    without("separate-eigenvalues-bare", "separate-cov", "Releases the eigenvalues as they are.", "eigenvalues"),
    other_noise(
        "separate-matrix-third",
        "separate-cov",
        "Uses a third of the noise for the eigenvectors.",
        part("matrix", lambda z: z / 3),
    ),
    other_noise(
        "separate-noise-with-trace", "separate-cov", "Scales all noise with the trace of the data.", scaled_by_trace
    ),
    without(
        "separate-pure-eigenvalues-bare", "separate-cov-pure", "Releases the eigenvalues as they are.", "eigenvalues"
    ),
    without("separate-pure-vectors-exact", "separate-cov-pure", "Uses the eigenvectors of the data.", "matrix"),
    other_noise(
        "separate-pure-noise-with-trace",
        "separate-cov-pure",
        "Scales all noise with the trace of the data.",
        scaled_by_trace,
    ),
    other_output(
        "exact-eigenvalues", "projection-mechanism", "Puts the exact eigenvalues on noisy eigenvectors.", exact_diagonal
    ),
    other_output("exact-trace", "gauss-cov", "Scales the output to the exact trace.", rescaled_to_trace),
    other_output(
        "ledoit-wolf",
        "nuclear-laplace-symmetric",
        "Shrinks the output with an intensity read off the data.",
        shrunk_by_the_data,
    ),
    other_noise(
        "projection-noise-with-trace",
        "projection-mechanism",
        "Scales the noise with the trace of the data.",
        scaled_by_trace,
    ),
    # projections and clipping
    without("ball-trace-bare", "nuclear-ball-projection", "Uses the exact trace for the radius.", "trace"),
    without("ball-matrix-bare", "nuclear-ball-projection", "Projects the exact matrix.", "matrix"),
    other_noise(
        "ball-trace-from-the-matrix",
        "nuclear-ball-projection",
        "Uses an entry of the matrix noise for the trace.",
        lambda z, rng, x: replace(z, trace=float(z.matrix[0, 0])),
    ),
    other_noise(
        "clipped-threshold-bare",
        "clipped-cov",
        "Searches the threshold without noise.",
        lambda z, rng, x: bare("search.queries")(bare("search.threshold")(z, rng, x), rng, x),
        options=PRIVATE,
    ),
    other_noise(
        "clipped-search-shared",
        "clipped-cov",
        "Uses the noise of the threshold for the queries.",
        search_shared,
        options=PRIVATE,
    ),
    without(
        "clipped-eigenvalues-bare",
        "clipped-cov",
        "Releases the eigenvalues of the clipped rows as they are.",
        "base.eigenvalues",
    ),
    without("clipped-base-bare", "clipped-cov", "Adds no noise after the clip.", "base.matrix"),
    without("adaptive-trace-bare", "adaptive-cov", "Uses the exact trace to choose.", "trace"),
    other_noise(
        "adaptive-search-bare",
        "adaptive-cov",
        "Searches the threshold without noise.",
        lambda z, rng, x: bare("search.queries")(bare("search.threshold")(z, rng, x), rng, x),
    ),
    without("adaptive-base-bare", "adaptive-cov", "Adds no noise to the matrix.", "base.matrix"),
    without("adaptive-pure-trace-bare", "adaptive-cov-pure", "Uses the exact trace to choose.", "trace"),
    other_noise(
        "sparse-vector-threshold-as-query",
        "above-threshold",
        "Uses the noise of the threshold for the queries.",
        lambda z, rng, x: replace(z, queries=np.full_like(z.queries, z.threshold)),
    ),
    without("radius-threshold-bare", "private-radius", "Adds no noise to the threshold.", "threshold"),
    without("radius-queries-bare", "private-radius", "Adds no noise to the counts.", "queries"),
    # rounds
    other_noise("coinpress-first-step-bare", "coinpress-mean", "Adds no noise in the first step.", round_bare(0)),
    other_noise("coinpress-last-step-bare", "coinpress-mean", "Adds no noise in the last step.", round_bare(-1)),
    other_noise(
        "coinpress-steps-tenth",
        "coinpress-mean",
        "Adds a tenth of the noise in all steps but the last.",
        only_last_round(0.1),
    ),
    other_noise(
        "coinpress-covariance-first-bare", "coinpress-covariance", "Adds no noise in the first round.", round_bare(0)
    ),
    other_noise(
        "coinpress-covariance-last-bare", "coinpress-covariance", "Adds no noise in the last round.", round_bare(-1)
    ),
    other_noise("ppc-first-bare", "ppc", "Adds no noise in the first round.", round_bare(0)),
    other_noise("ppc-last-tenth", "ppc", "Adds a tenth of the noise in all rounds but the last.", only_last_round(0.1)),
    without("pgce-estimate-bare", "pgce", "Adds no noise to the estimate.", "estimate"),
    without("pgce-rounds-bare", "pgce", "Adds no noise in the rounds of preconditioning.", "rounds"),
    other_noise(
        "pgce-noise-reused",
        "pgce",
        "Uses the noise of the last round for the estimate.",
        lambda z, rng, x: replace(z, estimate=z.rounds[-1]),
    ),
    without("kv-counts-bare", "kv-mean", "Finds the bin without noise.", "counts"),
    without("kv-mean-bare", "kv-mean", "Adds no noise to the mean.", "mean"),
    other_noise(
        "kv-mean-reused",
        "kv-mean",
        "Uses the noise of the first counts for the mean.",
        lambda z, rng, x: replace(z, mean=z.counts[:, z.counts.shape[1] // 2]),
    ),
    without("pme-mean-bare", "pme", "Adds no noise to the mean.", "mean.mean"),
    other_noise("pme-rounds-bare", "pme", "Adds no noise in the rounds of preconditioning.", rounds_of(times(0.0))),
    without("naive-pme-counts-bare", "naive-pme", "Finds the bin without noise.", "counts"),
    without("learner-mean-bare", "gaussian-learner", "Adds no noise to the mean.", "mean.mean.mean"),
    without("learner-covariance-bare", "gaussian-learner", "Adds no noise to the covariance.", "covariance.estimate"),
    other_noise(
        "learner-noise-shared",
        "gaussian-learner",
        "Uses the rounds of the covariance for the mean too.",
        lambda z, rng, x: replace(z, mean=replace(z.mean, rounds=z.covariance.rounds)),
    ),
    other_noise("ppde-first-block-bare", "ppde", "Adds no noise in the first block.", round_bare(0)),
    other_noise(
        "ppde-blocks-share",
        "ppde",
        "Uses one noise for all blocks.",
        lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    other_noise("ppde-last-block-bare", "ppde", "Adds no noise in the last block.", round_bare(-1)),
    other_noise("weak-ppc-bare", "weak-ppc", "Adds no noise.", times(0.0)),
    without("naive-pme-mean-bare", "naive-pme", "Adds no noise to the mean.", "mean"),
)
