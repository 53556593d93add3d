"""Negative controls of the matrix Bingham mechanism with a wrong exponent, a wrong sampler or a wrong projection."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import null_space

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.laws import bingham, haar
from covassay.reference.laws import matrix_bingham as law
from covassay.reference.mechanisms.pure.matrix_bingham import exponent, released_rank
from covassay.verification.audit.engine.kinds_of_data import NAMES
from tests.negative_controls.broken import broken
from tests.negative_controls.negative_control import NegativeControl, by_law, from_function

RANK = 2
SHARE = by_law("share of the direction")
_subspace = partial(broken, mechanism_name="matrix-bingham")


def _asked(x: Matrix, epsilon: float) -> tuple[Matrix, int]:
    """Return the matrix η Σ x xᵀ and the rank of the released projection. η is the exponent, and x runs over the
    rows."""
    rows = unit_rows(x)
    return exponent(epsilon) * len(rows) * second_moment(rows), released_rank(RANK, rows.shape[1])


def rejection(log_acceptance: Callable[[Matrix, Matrix], Matrix]) -> Callable[..., Matrix]:
    """Return a rejection sampler for the matrix Bingham law with another log acceptance probability."""

    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        m, k = _asked(x, epsilon)
        g, vectors = law.gaps(m, k)
        while True:
            proposals, _ = law.propose(g, 16, rng)
            kept = proposals[np.log(rng.random(16)) < log_acceptance(g, proposals)]
            if len(kept):
                v = vectors @ law.frames(kept[0])
                return np.asarray(v @ v.T)

    return draw


def columns_alone(g: Matrix, x: Matrix) -> Matrix:
    """Return the log acceptance probability of independent Bingham columns. The correct probability has a further
    factor, which depends on all columns together."""
    total = np.zeros(len(x))
    for i, column in enumerate(g.T):
        b = bingham.envelope_parameter(np.append(0.0, column))
        total += bingham.log_acceptance(x[:, :, i] ** 2 @ column, b, len(column) + 1)
    return total


def one_by_one(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draw the directions one by one, each orthogonal to the earlier directions."""
    m, k = _asked(x, epsilon)
    chosen = np.zeros((0, len(m)))
    for _ in range(k):
        basis = null_space(chosen).T if len(chosen) else np.eye(len(m))
        chosen = np.vstack([chosen, bingham.sample(basis @ m @ basis.T, rng) @ basis])
    return np.asarray(chosen.T @ chosen)


def one_step_of_a_chain(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draw only one direction at random, and use exact eigenvectors for the others."""
    m, k = _asked(x, epsilon)
    kept = np.linalg.eigh(m)[1].T[::-1][: k - 1]
    basis = null_space(kept).T if len(kept) else np.eye(len(m))
    u = bingham.sample(basis @ m @ basis.T, rng) @ basis
    return np.asarray(kept.T @ kept + np.outer(u, u))


def perturbed(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add symmetric Gaussian noise to the matrix, and release the projection on its leading eigenvectors."""
    m, k = _asked(x, epsilon)
    noise = rng.standard_normal(m.shape)
    top = np.linalg.eigh(m + (noise + noise.T) / 2)[1][:, -k:]
    return np.asarray(top @ top.T)


def rows_of_any_length(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Do not clip the rows."""
    return law.sample(exponent(epsilon) * x.T @ x, released_rank(RANK, x.shape[1]), rng)


def blurs_the_top(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Replace the k largest eigenvalues by their mean, where k is the rank of the projection."""
    m, k = _asked(x, epsilon)
    values, vectors = np.linalg.eigh(m)
    values[-k:] = values[-k:].mean()
    return law.sample((vectors * values) @ vectors.T, k, rng)


def turned(p: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Rotate the projection at random."""
    q = haar.sample(len(p), rng)
    return np.asarray(q @ p @ q.T)


def without_constant_columns(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Remove columns of zeros before the draw, if the number of the other columns is above the rank."""
    m, k = _asked(x, epsilon)
    kept = np.flatnonzero(np.diag(m) > 0)
    kept = kept if len(kept) > k else np.arange(len(m))
    p = np.zeros_like(m)
    p[np.ix_(kept, kept)] = law.sample(m[np.ix_(kept, kept)], k, rng)
    return p


NEGATIVE_CONTROLS = (
    _subspace("subspace-double", mistake="Use ε as the exponent in place of ε/2.", budget=2.0,
              caught_by=by_law("share of the direction", "overlap", "entry (1, 1)"),
              diagnosis="the exponent is twice the calibrated one"),
    _subspace("subspace-half", mistake="Use ε/4 as the exponent in place of ε/2.", budget=0.5, caught_by=SHARE,
              diagnosis="the exponent is half the calibrated one"),
    _subspace("subspace-quarter-more", mistake="Use an exponent that is 1.25 times too large.", budget=1.25),
    _subspace("subspace-complement", mistake="Release the projection on the orthogonal complement.",
              output=lambda p, rng, x: np.eye(len(p)) - p, caught_by=by_law("entry (3, 3)", "entry (d, d)", "tr(PC)")),
    _subspace("subspace-turned", mistake="Rotate the projection at random.", output=turned),
    _subspace("subspace-absolute", mistake="Release the absolute values of the entries.",
              output=lambda p, rng, x: np.abs(p), caught_by=by_law("around it", "the rest", "entry (1, d)")),
    NegativeControl("subspace-accepts-all", "Accept every proposal.", "matrix-bingham", SHARE,
                    rejection(lambda g, x: np.zeros(len(x)))),
    NegativeControl("subspace-columns-alone", "Omit the factor for the interaction of the columns.",
                    "matrix-bingham", (), rejection(columns_alone)),
    from_function(one_by_one, name="subspace-one-by-one", mechanism="matrix-bingham"),
    from_function(one_step_of_a_chain, name="subspace-one-step", mechanism="matrix-bingham"),
    from_function(perturbed, name="subspace-perturbed", mechanism="matrix-bingham"),
    from_function(rows_of_any_length, name="subspace-rows-of-any-length", mechanism="matrix-bingham"),
    from_function(blurs_the_top, by_law("entry (2, 2)")[0], name="subspace-blurs-the-top", mechanism="matrix-bingham"),
    from_function(without_constant_columns, ("law", NAMES["data set"]), mechanism="matrix-bingham"),
)  # fmt: skip
