"""What an audit may assume of the path from the data to the output, mechanism by mechanism.

If the output is query(x) + noise, where the law of the noise depends on n and d alone, then the residual output −
query(x) under one seed is the same for all data sets of one shape. The query is the reference's own `release` with zero
noise.
"""

import inspect
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.engine.symmetry import square_part
from covassay.verification.audit.profiles.lattice_noise import atom
from covassay.verification.audit.profiles.profile import ClaimUnderAudit
from covassay.verification.statistics.streams import stream

ADDITIVE = frozenset({
    "nuclear-laplace", "nuclear-laplace-symmetric", "centred-covariance", "entrywise-laplace", "lap-cov", "k-norm",
    "gauss-cov", "gauss-cov-approximate", "laplace", "gaussian", "gaussian-approximate", "private-trace",
    "output-perturbation", "discrete-laplace-covariance", "discrete-gaussian-covariance", "joint-moments",
})  # fmt: skip
# laws without atoms that are no query plus noise; elsewhere values are clipped, and all of them at once in some draws
CONTINUOUS = frozenset({
    "bingham", "matrix-bingham", "iterative-eigenvectors", "separate-cov", "em-cov", "kv-mean", "naive-pme",
    "coinpress-mean", "adassp", "recursive-moment",
})  # fmt: skip
CLIPPED_GAUSS = {"base": "gauss", "threshold": "public"}  # with these choices, clipped-cov is additive too
COVERED = (
    "The output is query(x) + noise whose law depends on n and d alone: with one seed, the residual is compared over "
    "data sets of every category and shape."
)
NOT_COVERED = "Not covered: noise that changes on data outside the zoo, and what happens in rare draws."
POSSIBLE = (
    "Compared instead are data that must give one law, namely rows {}, and draws of the reference on data of many "
    "kinds and shapes. Not covered: data beyond these."
)
MOMENT = "moved by 1e-12", "clipped", "with other signs", "mixed"
SIGNS = "moved by 1e-12", "clipped", "with other signs"
# The law depends on n and on the second moment of the clipped rows alone. Each of these releases asks the data for
# nothing else: the query is `second_moment`, its trace, its diagonal or its eigenvalues.
THROUGH_THE_MOMENT = frozenset({
    "nuclear-ball-projection", "bingham", "iterative-eigenvectors", "kapralov-talwar", "separate-cov-pure",
    "separate-cov", "em-cov", "projection-mechanism", "exponential", "above-threshold", "adassp", "matrix-bingham",
})  # fmt: skip
# The law depends on the clipped rows through x xᵀ, one by one: norms of rows, or clipping by them, come in too.
THROUGH_SQUARES = frozenset({
    "adaptive-cov-pure", "clipped-cov", "adaptive-cov", "private-radius", "johnson-lindenstrauss",
    "johnson-lindenstrauss-image", "recursive-moment",
})  # fmt: skip
# The same, for rows that are dropped or shortened only after a public or private map, so that long rows are data too.
THROUGH_SQUARES_OF_ANY_ROWS = frozenset({"coinpress-covariance", "naive-pce", "weak-ppc", "ppc", "pgce"})
# why one seed does not give one residual, for the mechanisms whose noise is not added to a query
REASONS = {
    "nuclear-ball-projection": "the noisy matrix is projected onto a ball whose radius is itself drawn",
    "bingham": "the direction is drawn from a law whose parameter is the second moment",
    "matrix-bingham": "the projection is drawn from a law whose parameter is the second moment",
    "iterative-eigenvectors": "every eigenvector is drawn from a law that depends on the data and on those before it",
    "kapralov-talwar": "every eigenvector is drawn from a law that depends on the data and on those before it",
    "separate-cov-pure": "eigenvalues and eigenvectors get noise of their own and are then put together",
    "adaptive-cov-pure": "the data decide, through noise, which of several mechanisms answers",
    "separate-cov": "eigenvalues and eigenvectors get noise of their own and are then put together",
    "em-cov": "every eigenvector is drawn from a law that depends on the data and on those before it",
    "clipped-cov": "the threshold is drawn, or eigenvalues and eigenvectors get noise of their own",
    "adaptive-cov": "the data decide, through noise, which of several mechanisms answers",
    "projection-mechanism": "the noisy matrix is projected onto the matrices that a second moment can be",
    "exponential": "the answer is one of a finite set, with probabilities that depend on the data",
    "above-threshold": "the answer is one of a finite set, with probabilities that depend on the data",
    "private-radius": "the answer is one of a finite set, with probabilities that depend on the data",
    "johnson-lindenstrauss": "noise is added to an image of the second moment, and a nearest matrix is fitted to it",
    "johnson-lindenstrauss-image": "noise is added to an image of the second moment, and a matrix is fitted to it",
    "adassp": "the coefficients solve equations with a noisy matrix and a penalty that is itself drawn",
    "coinpress-mean": "every round clips the rows to a ball that the round before has drawn",
    "coinpress-covariance": "every round rescales and clips the rows by a matrix that the round before has drawn",
    "recursive-moment": "every round rescales and clips the rows by a matrix that the round before has drawn",
    "naive-pce": "the noisy matrix is projected onto the positive semidefinite matrices",
    "weak-ppc": "the output is a preconditioner made from the eigenvectors of a noisy matrix",
    "ppc": "every round transforms the rows by the preconditioner that the rounds before have drawn",
    "pgce": "the rows are preconditioned by a matrix that is itself drawn",
    "kv-mean": "the values are clipped around a bin that is itself drawn",
    "naive-pme": "the values are clipped around a bin that is itself drawn",
    "pme": "the rows are preconditioned by a matrix that is itself drawn",
    "gaussian-learner": "the rows are preconditioned by a matrix that is itself drawn",
    "ppde": "noisy answers of one round decide which coordinates are estimated in the next",
}


def _is_additive(claim: ClaimUnderAudit) -> bool:
    name = claim.mechanism.name
    chosen = name == "clipped-cov" and all(claim.options[key] == word for key, word in CLIPPED_GAUSS.items())
    return name in ADDITIVE or chosen


def equivalent(name: str) -> tuple[str, ...]:
    """The changes of rows that leave the law of this mechanism as it is. No mechanism's law jumps with a row."""
    if name in THROUGH_THE_MOMENT:
        return MOMENT
    if name in THROUGH_SQUARES:
        return SIGNS
    if name in THROUGH_SQUARES_OF_ANY_ROWS:
        return "moved by 1e-12", "with other signs"
    return ("moved by 1e-12", "clipped to the cube") if name == "ppde" else ("moved by 1e-12",)


def _zero(noise: Any) -> Any:
    """The same noise with every number replaced by 0."""
    if is_dataclass(noise) and not isinstance(noise, type):
        return type(noise)(**{part.name: _zero(getattr(noise, part.name)) for part in fields(noise)})
    if callable(noise):
        return lambda *given: _zero(noise(*given))
    return np.zeros_like(noise) if isinstance(noise, np.ndarray) else noise if noise is None else type(noise)(0)


def released(claim: ClaimUnderAudit, x: Matrix, noise: Any) -> Matrix:
    """What the reference releases of x with this noise."""
    m = claim.mechanism
    options = {key: value for key, value in claim.options.items() if key not in m.of_the_draw}
    return np.asarray(m.release(x, noise, **claim.budget, **options), dtype=np.float64)


def noise_of(claim: ClaimUnderAudit, d: int) -> Any:
    """A draw of the reference's noise in dimension d; it may not depend on the number of rows."""
    m = claim.mechanism
    known = {**{name: p.default for name, p in m.declared.items()}, **claim.budget, **claim.options, "rows": 1}
    taken = [name for name in inspect.signature(m.draw_noise).parameters if name in known]
    rng = np.random.default_rng(stream(claim.seed, "data path", d))
    return m.draw_noise(d, rng, **{name: known[name] for name in taken})


def zero_noise(claim: ClaimUnderAudit, d: int) -> Any:
    """The reference's noise in dimension d, with 0 in place of every number."""
    return _zero(noise_of(claim, d))


def data_path(claim: ClaimUnderAudit) -> DataPath:
    """What may be assumed of this mechanism, and a sentence on what that covers."""
    m = claim.mechanism
    if not _is_additive(claim):
        reason = REASONS.get(m.name, "no derivation of a form without sampling error is known")
        changes = equivalent(m.name)
        stated = f"The data path is not compared draw for draw, because {reason}. {POSSIBLE.format(', '.join(changes))}"
        return DataPath(
            stated,
            smallest_dimension=m.smallest_dimension,
            continuous=m.name in CONTINUOUS,
            equivalent=changes,
            atoms=m.repeats,
        )
    noise = lru_cache(maxsize=None)(lambda d: noise_of(claim, d))
    zero = lru_cache(maxsize=None)(lambda d: _zero(noise(d)))

    def query(x: Matrix) -> Matrix:
        return released(claim, x, zero(x.shape[1]))

    def scale(n: int, d: int) -> float:
        x = np.zeros((n, d))
        return float(np.linalg.norm(released(claim, x, noise(d)) - released(claim, x, zero(d))))

    def symmetric() -> bool:
        part = square_part(m.output, released(claim, np.zeros((2, 3)), noise(3)))
        return part is not None and bool(np.array_equal(part, part.T))

    return DataPath(f"{COVERED} {NOT_COVERED}", query, scale, symmetric(), m.smallest_dimension, atom=atom(claim))
