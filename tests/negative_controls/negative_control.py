"""Define the class NegativeControl, and functions that several negative controls use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.privacy import Guarantee


@dataclass(frozen=True)
class NegativeControl:
    """An implementation with one named mistake, and the checks of the audit that must reject it.

    caught_by : the kind and the name of each check that must fail. If `caught_by` is empty, only the file
        proofs/controls.jsonl names a check that failed.
    draw : the function that is audited.
    draw_many : if given, a function that returns many outputs at once, with the same law as `draw`.
    options : the choices (such as the calibration) of the mechanism that the negative control imitates.
    diagnosis : words that the audit's diagnosis must contain. If the field is empty, the diagnosis may have any text.
    seen_in : the software or paper in which the mistake was found. The field is empty if the mistake was invented.
    claim : the privacy guarantee that is audited, if it is not the mechanism's default.
    """

    name: str
    mistake: str
    mechanism: str
    caught_by: tuple[tuple[str, str], ...]
    draw: Callable[..., object]
    options: tuple[tuple[str, str], ...] = ()
    diagnosis: str = ""
    seen_in: str = ""
    claim: Guarantee | None = None
    draw_many: Callable[..., Matrix] | None = None

    def __post_init__(self) -> None:
        """Put the text of the mistake on one line, because it may be a docstring of several lines."""
        object.__setattr__(self, "mistake", " ".join(self.mistake.split()))


def by_law(*names: str) -> tuple[tuple[str, str], ...]:
    """Return a value for `caught_by`: the tests of the output's law that have the given names."""
    return tuple(("law", name) for name in names)


def by_privacy(name: str) -> tuple[tuple[str, str], ...]:
    """Return a value for `caught_by`: the bound on the privacy loss that has the given name, such as "event"."""
    return (("privacy", name),)


def from_function(
    draw: Callable[..., object], *caught_by: tuple[str, str], name: str = "", **more: Any
) -> NegativeControl:
    """Return the negative control for a function whose docstring states the mistake. The default name is that of the
    function."""
    return NegativeControl(
        name or draw.__name__.replace("_", "-"), draw.__doc__ or "", caught_by=caught_by, draw=draw, **more
    )


# a function that maps (d, rng, size) to an array of shape (size, d)
Spectrum = Callable[[int, np.random.Generator, int], Matrix]
# a function that maps (d, rng, size) to an array of shape (size, d, d)
Rotation = Callable[[int, np.random.Generator, int], Matrix]


def exact_spectrum(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw singular values from the correct law."""
    return law.sample_spectrum(d, rng, size)


def perturbation(
    *,
    spectrum: Spectrum = exact_spectrum,
    left: Rotation = haar.sample,
    right: Rotation | None = haar.sample,
    factor: float = 1.0,
    clip: bool = True,
) -> Callable[..., Matrix]:
    """Return the nuclear-Laplace mechanism, built of parts that a negative control can replace.

    The function that is returned takes (x, size, rng=, epsilon=). Its noise is `factor` times the calibrated scale
    times U diag(s) Vᵀ, with s from `spectrum`, U from `left` and V from `right`. If `right` is None, V is U.
    """

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        rows = unit_rows(x) if clip else np.asarray(x, dtype=np.float64)
        n, d = rows.shape
        s, u = spectrum(d, rng, size), left(d, rng, size)
        v = u if right is None else right(d, rng, size)
        z = (u * s[:, None, :]) @ np.swapaxes(v, 1, 2)
        return second_moment(rows) + factor * 2 / (n * epsilon) * z

    return draw_many


def one(draw_many: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Return a function that calls `draw_many` for one output at a time."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Matrix:
        return draw_many(x, 1, rng=rng, **budget)[0]

    return draw


def vectorised(
    name: str, mistake: str, caught_by: tuple[tuple[str, str], ...], draw_many: Callable[..., Matrix], **more: Any
) -> NegativeControl:
    """Return a negative control that draws many outputs at a time. The mechanism and other fields of the negative
    control are given by keyword.
    """
    return NegativeControl(name, mistake, caught_by=caught_by, draw=one(draw_many), draw_many=draw_many, **more)
