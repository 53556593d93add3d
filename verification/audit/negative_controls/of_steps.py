"""Negative controls of mechanisms in several steps: a step is bare, skipped or not paid for, or it shares its noise."""

from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.verification.audit.negative_controls.broken import bare, broken, part, times


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


PRIVATE = (("threshold", "private"),)
NEGATIVE_CONTROLS = (
    # eigenvalues and eigenvectors
    broken(
        "iterative-directions-exact",
        "iterative-eigenvectors",
        "Uses the exact eigenvectors.",
        noise=lambda z, rng, x: replace(z, direction=exact_direction),
    ),
    broken(
        "iterative-directions-spent-again",
        "iterative-eigenvectors",
        "Gives every direction the budget of all.",
        noise=spends_again,
    ),
    broken(
        "iterative-eigenvalues-bare",
        "iterative-eigenvectors",
        "Releases the eigenvalues as they are.",
        noise=bare("eigenvalues"),
    ),
    broken(
        "iterative-first-direction-only",
        "iterative-eigenvectors",
        "Draws the first direction only.",
        noise=first_direction_only,
    ),
    broken(
        "iterative-directions-uniform",
        "iterative-eigenvectors",
        "Draws all directions uniformly.",
        noise=forgets_the_data,
    ),
    broken(
        "em-directions-exact",
        "em-cov",
        "Uses the exact eigenvectors.",
        noise=lambda z, rng, x: replace(z, direction=exact_direction),
    ),
    broken("em-eigenvalues-bare", "em-cov", "Releases the eigenvalues as they are.", noise=bare("eigenvalues")),
    broken("em-directions-spent-again", "em-cov", "Gives every direction four times its exponent.", noise=spends_again),
    broken("em-last-direction-forgotten", "em-cov", "Draws the first direction only.", noise=first_direction_only),
    broken("deflation-values-bare", "kapralov-talwar", "Releases the values as they are.", noise=bare("values")),
    broken(
        "deflation-one-draw",
        "kapralov-talwar",
        "Adds one noise to all values.",
        noise=part("values", lambda z: np.full_like(z, z[0])),
    ),
    broken(
        "deflation-directions-uniform", "kapralov-talwar", "Draws all directions uniformly.", noise=forgets_the_data
    ),
    broken(
        "separate-eigenvalues-bare", "separate-cov", "Releases the eigenvalues as they are.", noise=bare("eigenvalues")
    ),
    broken(
        "separate-matrix-third",
        "separate-cov",
        "Uses a third of the noise for the eigenvectors.",
        noise=part("matrix", lambda z: z / 3),
    ),
    broken(
        "separate-noise-with-trace",
        "separate-cov",
        "Scales all noise with the trace of the data.",
        noise=scaled_by_trace,
    ),
    broken(
        "separate-pure-eigenvalues-bare",
        "separate-cov-pure",
        "Releases the eigenvalues as they are.",
        noise=bare("eigenvalues"),
    ),
    broken(
        "separate-pure-vectors-exact", "separate-cov-pure", "Uses the eigenvectors of the data.", noise=bare("matrix")
    ),
    broken(
        "separate-pure-noise-with-trace",
        "separate-cov-pure",
        "Scales all noise with the trace of the data.",
        noise=scaled_by_trace,
    ),
    broken(
        "exact-eigenvalues",
        "projection-mechanism",
        "Puts the exact eigenvalues on noisy eigenvectors.",
        output=exact_diagonal,
    ),
    broken("exact-trace", "gauss-cov", "Scales the output to the exact trace.", output=rescaled_to_trace),
    broken(
        "ledoit-wolf",
        "nuclear-laplace-symmetric",
        "Shrinks the output with an intensity read off the data.",
        output=shrunk_by_the_data,
    ),
    broken(
        "projection-noise-with-trace",
        "projection-mechanism",
        "Scales the noise with the trace of the data.",
        noise=scaled_by_trace,
    ),
    # projections and clipping
    broken("ball-trace-bare", "nuclear-ball-projection", "Uses the exact trace for the radius.", noise=bare("trace")),
    broken("ball-matrix-bare", "nuclear-ball-projection", "Projects the exact matrix.", noise=bare("matrix")),
    broken(
        "ball-trace-from-the-matrix",
        "nuclear-ball-projection",
        "Uses an entry of the matrix noise for the trace.",
        noise=lambda z, rng, x: replace(z, trace=float(z.matrix[0, 0])),
    ),
    broken(
        "clipped-threshold-bare",
        "clipped-cov",
        "Searches the threshold without noise.",
        noise=lambda z, rng, x: bare("search.queries")(bare("search.threshold")(z, rng, x), rng, x),
        options=PRIVATE,
    ),
    broken(
        "clipped-search-shared",
        "clipped-cov",
        "Uses the noise of the threshold for the queries.",
        noise=search_shared,
        options=PRIVATE,
    ),
    broken(
        "clipped-eigenvalues-bare",
        "clipped-cov",
        "Releases the eigenvalues of the clipped rows as they are.",
        noise=bare("base.eigenvalues"),
    ),
    broken("clipped-base-bare", "clipped-cov", "Adds no noise after the clip.", noise=bare("base.matrix")),
    broken("adaptive-trace-bare", "adaptive-cov", "Uses the exact trace to choose.", noise=bare("trace")),
    broken(
        "adaptive-search-bare",
        "adaptive-cov",
        "Searches the threshold without noise.",
        noise=lambda z, rng, x: bare("search.queries")(bare("search.threshold")(z, rng, x), rng, x),
    ),
    broken("adaptive-base-bare", "adaptive-cov", "Adds no noise to the matrix.", noise=bare("base.matrix")),
    broken("adaptive-pure-trace-bare", "adaptive-cov-pure", "Uses the exact trace to choose.", noise=bare("trace")),
    broken(
        "sparse-vector-threshold-as-query",
        "above-threshold",
        "Uses the noise of the threshold for the queries.",
        noise=lambda z, rng, x: replace(z, queries=np.full_like(z.queries, z.threshold)),
    ),
    broken("radius-threshold-bare", "private-radius", "Adds no noise to the threshold.", noise=bare("threshold")),
    broken("radius-queries-bare", "private-radius", "Adds no noise to the counts.", noise=bare("queries")),
    # rounds
    broken("coinpress-first-step-bare", "coinpress-mean", "Adds no noise in the first step.", noise=round_bare(0)),
    broken("coinpress-last-step-bare", "coinpress-mean", "Adds no noise in the last step.", noise=round_bare(-1)),
    broken(
        "coinpress-steps-tenth",
        "coinpress-mean",
        "Adds a tenth of the noise in all steps but the last.",
        noise=only_last_round(0.1),
    ),
    broken(
        "coinpress-covariance-first-bare",
        "coinpress-covariance",
        "Adds no noise in the first round.",
        noise=round_bare(0),
    ),
    broken(
        "coinpress-covariance-last-bare",
        "coinpress-covariance",
        "Adds no noise in the last round.",
        noise=round_bare(-1),
    ),
    broken("ppc-first-bare", "ppc", "Adds no noise in the first round.", noise=round_bare(0)),
    broken(
        "ppc-last-tenth", "ppc", "Adds a tenth of the noise in all rounds but the last.", noise=only_last_round(0.1)
    ),
    broken("pgce-estimate-bare", "pgce", "Adds no noise to the estimate.", noise=bare("estimate")),
    broken("pgce-rounds-bare", "pgce", "Adds no noise in the rounds of preconditioning.", noise=bare("rounds")),
    broken(
        "pgce-noise-reused",
        "pgce",
        "Uses the noise of the last round for the estimate.",
        noise=lambda z, rng, x: replace(z, estimate=z.rounds[-1]),
    ),
    broken("kv-counts-bare", "kv-mean", "Finds the bin without noise.", noise=bare("counts")),
    broken("kv-mean-bare", "kv-mean", "Adds no noise to the mean.", noise=bare("mean")),
    broken(
        "kv-mean-reused",
        "kv-mean",
        "Uses the noise of the first counts for the mean.",
        noise=lambda z, rng, x: replace(z, mean=z.counts[:, z.counts.shape[1] // 2]),
    ),
    broken("pme-mean-bare", "pme", "Adds no noise to the mean.", noise=bare("mean.mean")),
    broken("pme-rounds-bare", "pme", "Adds no noise in the rounds of preconditioning.", noise=rounds_of(times(0.0))),
    broken("naive-pme-counts-bare", "naive-pme", "Finds the bin without noise.", noise=bare("counts")),
    broken("learner-mean-bare", "gaussian-learner", "Adds no noise to the mean.", noise=bare("mean.mean.mean")),
    broken(
        "learner-covariance-bare",
        "gaussian-learner",
        "Adds no noise to the covariance.",
        noise=bare("covariance.estimate"),
    ),
    broken(
        "learner-noise-shared",
        "gaussian-learner",
        "Uses the rounds of the covariance for the mean too.",
        noise=lambda z, rng, x: replace(z, mean=replace(z.mean, rounds=z.covariance.rounds)),
    ),
    broken("ppde-first-block-bare", "ppde", "Adds no noise in the first block.", noise=round_bare(0)),
    broken(
        "ppde-blocks-share",
        "ppde",
        "Uses one noise for all blocks.",
        noise=lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    broken("ppde-last-block-bare", "ppde", "Adds no noise in the last block.", noise=round_bare(-1)),
    broken("weak-ppc-bare", "weak-ppc", "Adds no noise.", noise=times(0.0)),
    broken("naive-pme-mean-bare", "naive-pme", "Adds no noise to the mean.", noise=bare("mean")),
)
