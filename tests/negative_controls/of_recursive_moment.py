"""Negative controls of the recursive moment: a round with wrong noise, or a wrong map from round to round."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference.domain import Matrix, unit_rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import recursive_moment as mechanism
from tests.negative_controls.broken import Noise, times
from tests.negative_controls.negative_control import NegativeControl, by_law
from tests.negative_controls.of_steps import only_last_round, round_bare, steps_of

NAME = "recursive-moment"
KAPPA, SUBSAMPLE = 1e4, 10  # the defaults
CALIBRATION: Literal["reconstructed"] = "reconstructed"
SIZE, TOTAL = "size", "total scale"


def in_round(i: int, factor: float) -> Noise:
    """Changes the noise scale in round i."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[i] *= factor
        return z

    return noise


def one_noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Uses the noise of the first round in all rounds."""
    return np.repeat(z[:1], len(z), axis=0)


def goe(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draws noise of variance 1/2 above the diagonal."""
    return wigner.sample_goe(x.shape[1], rng, len(z))


@dataclass(frozen=True)
class Rounds:
    """The rounds of the mechanism, with any part replaced.

    halving : the factor of Π on large directions. kept : a factor on all directions. longest : the length to which rows
    are shortened. raised : a factor on the threshold. rising : whether Π acts on small directions. undone : whether the
    map A is inverted. reversed : whether the inverse of A is multiplied in the other order.
    """

    halving: float = 0.5
    kept: float = 1.0
    longest: float = 1.0
    raised: float = 1.0
    rising: bool = False
    undone: bool = True
    reversed: bool = False

    def __call__(self, x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        """Make a draw with the defaults of the mechanism."""
        rows = unit_rows(x)
        n, d = rows.shape
        noise = mechanism.draw_noise(d, rng, kappa=KAPPA, subsample=SUBSAMPLE, calibration=CALIBRATION)
        noise *= float(mechanism.noise_scale(n, rho, len(noise), CALIBRATION))
        inverse, z = np.eye(d), rows.T @ rows / n + noise[0]
        for more in noise[1:]:
            values, vectors = np.linalg.eigh(z)
            large = (values >= self.raised * mechanism.threshold(SUBSAMPLE)) != self.rising
            stretch = np.where(large, self.halving, 1.0) * math.sqrt(8 / 3)
            rows = rows @ (vectors * stretch * self.kept) @ vectors.T
            rows = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1) / self.longest)[:, None]
            back = (vectors / stretch) @ vectors.T if self.undone else np.eye(d)
            inverse = back @ inverse if self.reversed else inverse @ back
            z = rows.T @ rows / n + more
        released: Matrix = inverse @ (z + z.T) @ inverse.T / 2
        return (released + released.T) / 2


def _of(name: str, mistake: str, rounds: Callable[..., Matrix], *caught_by: str) -> NegativeControl:
    return NegativeControl(f"recursive-{name}", mistake, NAME, by_law(*caught_by), rounds)


NEGATIVE_CONTROLS = (
    *steps_of(
        NAME,
        ("recursive-first-bare", "Adds no noise in the first round.", round_bare(0)),
        ("recursive-second-bare", "Adds no noise in the second round.", round_bare(1)),
        ("recursive-last-bare", "Adds no noise in the last round.", round_bare(-1)),
        ("recursive-first-97", "Has 0.97 times the noise in the first round.", in_round(0, 0.97)),
        ("recursive-first-103", "Has 1.03 times the noise in the first round.", in_round(0, 1.03)),
        ("recursive-second-97", "Has 0.97 times the noise in the second round.", in_round(1, 0.97)),
        ("recursive-early-97", "Has 0.97 times the noise in all rounds but the last.", only_last_round(0.97)),
        ("recursive-last-97", "Has 0.97 times the noise in the last round.", in_round(-1, 0.97)),
        ("recursive-97", "Has 0.97 times the noise in all rounds.", times(0.97)),
        ("recursive-steps-for-rounds", "Has the noise for T rounds, and adds it T + 1 times.", times(math.sqrt(2 / 3))),
        ("recursive-one-noise", "Uses the same noise, that of the first round, in all rounds.", one_noise),
        ("recursive-goe", "Has variance 1/2 above the diagonal, with the scale for variance 1.", goe),
    ),
    _of("not-shortened", "Does not shorten the rows of the later rounds.", Rounds(longest=math.inf), SIZE),
    _of(
        "shortened-before", "Shortens rows before the factor √(8/7).", Rounds(longest=math.sqrt(8 / 7)), "entry (1, 1)"
    ),
    _of("threshold-97", "Has 0.97 times the threshold.", Rounds(raised=0.97), SIZE),
    _of("small-for-large", "Halves the small directions.", Rounds(rising=True), TOTAL, "largest eigenvalue"),
    _of("halving-97", "Multiplies large directions by 0.485 in place of 0.5.", Rounds(halving=0.485), TOTAL),
    _of("rows-97", "Has rows of 0.97 times their length in every later round.", Rounds(kept=0.97), "entry (1, 1)"),
    _of("not-undone", "Releases the moment of the last round's rows.", Rounds(undone=False), TOTAL),
    _of("wrong-order", "Multiplies the inverses of the maps in the wrong order.", Rounds(reversed=True)),
)
