"""Negative controls that recorded draws detect: small factors, and branches that random draws hardly ever reach."""

import numpy as np

from covassay.reference.domain import Matrix, Vector
from tests.negative_controls.broken import other_noise
from tests.negative_controls.negative_control import NegativeControl

EXACT = ("privacy", "exact loss")
GAINS = ("law", "gains beside the reference")
FORCED = ("contract", "forced draws")


def a_little_less(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Half a percent less noise."""
    return 0.995 * z


def cut_far_out(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Noise beyond 12 scales is truncated, which happens once in 160 000 draws."""
    return np.clip(z, -12.0, 12.0)


def overflows(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Noise beyond 6.5 deviations raises, which happens once in 10¹⁰ draws."""
    if np.abs(z).max() > 6.5:
        raise OverflowError("noise too large")
    return z


def moved(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Noise with a mean of a hundredth of its deviation."""
    return z + 0.01


def thin_far_out(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Noise beyond 10 scales is compressed, which happens once in 22 000 draws."""
    return np.sign(z) * np.minimum(np.abs(z), 10.0 + (np.abs(z) - 10.0) / 9)


NEGATIVE_CONTROLS: tuple[NegativeControl, ...] = (
    other_noise("noise-995", "gauss-cov", "Has 0.995 times the noise.", a_little_less, caught_by=(EXACT, GAINS)),
    other_noise("cut-at-12-scales", "laplace", "Cuts noise off beyond 12 scales.", cut_far_out,
                caught_by=(EXACT, FORCED)),
    other_noise("overflows-at-six", "gaussian", "Raises if a draw is beyond 6.5 deviations.", overflows,
                caught_by=(FORCED,)),
    other_noise("mean-of-a-hundredth", "gaussian", "Adds a hundredth of a deviation to the noise.", moved,
                caught_by=(GAINS,)),
    other_noise("thin-beyond-ten", "laplace", "Has a ninth of the noise scale beyond ten scales.", thin_far_out,
                caught_by=(EXACT,)),
)  # fmt: skip
