"""The form of a mutant, and parts that several of them share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law


@dataclass(frozen=True)
class Mutant:
    """`caught_by` are (kind, name) of the checks that must fail; `seen_in` says where the mistake was met, if it was."""

    name: str
    mistake: str
    mechanism: str
    caught_by: tuple[tuple[str, str], ...]
    draw: Callable[..., object]
    options: tuple[tuple[str, str], ...] = ()
    diagnosis: str = ""
    seen_in: str = ""


def noisy(
    x: Matrix,
    rng: np.random.Generator,
    epsilon: float,
    *,
    spectrum: Callable[[int, np.random.Generator], Vector] | None = None,
    left: Callable[[int, np.random.Generator], Matrix] = haar.sample,
    right: Callable[[int, np.random.Generator], Matrix] = haar.sample,
    factor: float = 1.0,
    clip: bool = True,
) -> Matrix:
    """Nuclear-Laplace perturbation taken apart, so that a mutant can replace one part."""
    rows = unit_rows(x) if clip else np.asarray(x, dtype=np.float64)
    n, d = rows.shape
    s = law.sample_spectrum(d, rng, 1)[0] if spectrum is None else spectrum(d, rng)
    z = (left(d, rng) * s) @ right(d, rng).T
    released: Matrix = second_moment(rows) + factor * 2 / (n * epsilon) * z
    return released
