"""State how the output of a mechanism depends on the data, as far as an audit can test it.

Suppose that the output is query(x) + noise, where the law of the noise depends on n and d alone. Then the noise,
output − query(x), is the same under one seed for all data sets of one shape. The query is computed by the reference's
`release` with zero noise.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.noise_parts import mapped
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.engine.symmetry import square_part
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit
from covassay.verification.statistics.streams import stream

COVERED = (
    "The output is query(x) + noise, and the law of the noise depends on n and d alone. The audit compares the noise "
    "of draws with one seed on data sets of every category and shape."
)
NOT_COVERED = (
    "Not covered: noise that changes only on other data sets than those of the audit, and what happens in rare draws."
)
POSSIBLE = (
    "Instead, the audit changes rows of a data set in ways that must not change the law of the output, and compares "
    "the draws. The changed rows are: {}. The audit also compares draws with those of the reference on data of many "
    "kinds and shapes. Not covered: other data sets."
)

ALMOST = 1 - 1e-9

# LISTS OF CHANGES OF THE ROWS
NEARBY = ("moved by 1e-12",)
# these changes of the rows do not change a law that depends only on n and on the second moment of the clipped rows
SAME_MOMENT = (*NEARBY, "clipped", "with other signs", "mixed")
# these changes of the rows do not change a law that depends on the matrices xxᵀ of single clipped rows, for instance
# through norms
SAME_SQUARES = (*NEARBY, "clipped", "with other signs")
# these changes are for mechanisms that accept rows outside of the ball and clip them only after a linear map
SAME_SQUARES_OF_ANY_ROWS = (*NEARBY, "with other signs")
SAME_IN_THE_CUBE = (*NEARBY, "clipped to the cube")


def _zero(noise: Any) -> Any:
    """Return a copy of the noise object in which every number is 0."""

    def zero(z: Any) -> Any:
        return np.zeros_like(z) if isinstance(z, np.ndarray) else type(z)(0)

    return mapped(noise, zero, lambda draws: lambda *given, **step: _zero(draws(*given, **step)))


def released(claim: ClaimUnderAudit, x: Matrix, noise: Any) -> Matrix:
    """Return the output of the reference's `release` on the rows x with this noise object."""
    m = claim.mechanism
    options = {key: value for key, value in claim.options.items() if key not in m.of_the_draw}
    return claim.seen(m.release(x, noise, **claim.budget, **options), x)


def noise_of(claim: ClaimUnderAudit, d: int) -> Any:
    """Return a draw of the noise of the reference in dimension d. The law of the noise must not depend on the number of
    rows.
    """
    m = claim.mechanism
    known = {**{name: p.default for name, p in m.declared.items()}, **claim.budget, **claim.options, "rows": 1}
    taken = [name for name in inspect.signature(m.draw_noise).parameters if name in known]
    rng = np.random.default_rng(stream(claim.seed, "data path", d))
    return m.draw_noise(d, rng, **{name: known[name] for name in taken})


def zero_noise(claim: ClaimUnderAudit, d: int) -> Any:
    """Return the reference's noise in dimension d with every number replaced by 0."""
    return _zero(noise_of(claim, d))


def _no_atoms(claim: ClaimUnderAudit) -> float:
    return 0.0


@dataclass(frozen=True)
class QueryPlusNoise:
    """The declaration that an output is query(x) + noise, where the law of the noise depends on n and d alone.

    `independent` says whether the noise entries are independent, apart from entries that are equal by symmetry. `atom`
    takes a claim and returns the largest probability of a single value of a noise entry. This probability is 0 if the
    noise has a density.
    """

    independent: bool = False
    atom: Callable[[ClaimUnderAudit], float] = _no_atoms

    def data_path(self, claim: ClaimUnderAudit) -> DataPath:
        """Return the query and the noise scale of the reference, and a sentence about what a comparison of the noise
        covers.
        """
        m = claim.mechanism
        noise = lru_cache(maxsize=None)(lambda d: noise_of(claim, d))
        zero = lru_cache(maxsize=None)(lambda d: _zero(noise(d)))

        def query(x: Matrix) -> Matrix:
            return released(claim, x, zero(x.shape[1]))

        def scale(n: int, d: int) -> float:
            x = np.zeros((n, d))
            return float(np.linalg.norm(released(claim, x, noise(d)) - released(claim, x, zero(d))))

        def symmetric() -> bool:
            shown = released(claim, np.zeros((2, 3)), noise(3))
            part = square_part(claim.output, shown) if shown.ndim == 2 else None
            return part is not None and bool(np.array_equal(part, part.T))

        def unsure(x: Matrix) -> float:
            return float(np.abs(query(x) - query(_just_inside(x))).max(initial=0.0))

        stated = f"{COVERED} {NOT_COVERED}"
        rounded = unsure if m.lattice else None
        return DataPath(stated, query, scale, symmetric(), m.smallest_dimension, atom=self.atom(claim), unsure=rounded)


def _just_inside(x: Matrix) -> Matrix:
    """Return the rows clipped to the unit ball, where each clipped row gets a norm just below 1. Rounding in a target
    may also make the norm of a clipped row smaller than 1.

    A row that is clipped to just below norm 1 may be rounded to another grid point than the exactly clipped row.
    """
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return np.where(norms > 1, x / np.maximum(norms, 1.0) * ALMOST, x)


@dataclass(frozen=True)
class NotAdditive:
    """The declaration that an output is not known to be a query plus noise.

    `because` is the reason why a seed does not determine the noise of the output. `unchanged_by` names the changes of
    the rows that do not change the law of the output. The names are keys of `CHANGES` in the question “one law on
    equivalent data”. `continuous` says that no single output has positive probability, unless all values of the data
    are clipped.
    """

    because: str
    unchanged_by: tuple[str, ...] = NEARBY
    continuous: bool = False

    def data_path(self, claim: ClaimUnderAudit) -> DataPath:
        """Return the changes of the data that must not change the law of the output, and a sentence about what is
        compared.
        """
        m = claim.mechanism
        possible = POSSIBLE.format(", ".join(self.unchanged_by))
        return DataPath(
            f"The noise is not compared draw for draw, because {self.because}. {possible}",
            smallest_dimension=m.smallest_dimension,
            continuous=self.continuous,
            equivalent=self.unchanged_by,
            atoms=m.repeats,
        )
