"""Negative controls of the mechanism recursive-moment, with wrong noise in a round or a wrong map between rounds."""

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
KAPPA, SUBSAMPLE = 1e4, 10  # the default values of kappa and subsample
CALIBRATION: Literal["reconstructed"] = "reconstructed"
SIZE, TOTAL = "size", "total scale"


def in_round(i: int, factor: float) -> Noise:
    """Return a function that multiplies the noise of round i by a factor."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[i] *= factor
        return z

    return noise


def one_noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Use the noise of the first round in all rounds."""
    return np.repeat(z[:1], len(z), axis=0)


def goe(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw noise of variance 1/2 in place of 1 above the diagonal."""
    return wigner.sample_goe(x.shape[1], rng, len(z))


@dataclass(frozen=True)
class Rounds:
    """A version of the mechanism in which parts of the rounds are replaced.

    Between two rounds, the part of a row along eigenvectors of large eigenvalues is multiplied by `halving`. If
    `rising` is true, the part along eigenvectors of small eigenvalues is multiplied by `halving` instead. All rows are
    multiplied by `kept`. Rows longer than `longest` are shortened to the length `longest`. The threshold for large
    eigenvalues is multiplied by `raised`. If `undone` is false, the maps are not inverted at the end. If `reversed` is
    true, the inverses of the maps are multiplied in the wrong order.
    """

    halving: float = 0.5
    kept: float = 1.0
    longest: float = 1.0
    raised: float = 1.0
    rising: bool = False
    undone: bool = True
    reversed: bool = False

    def __call__(self, x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        """Return one output, with the default options of the mechanism."""
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
        ("recursive-first-bare", "Add no noise in the first round.", round_bare(0)),
        ("recursive-second-bare", "Add no noise in the second round.", round_bare(1)),
        ("recursive-last-bare", "Add no noise in the last round.", round_bare(-1)),
        ("recursive-first-97", "Multiply the noise in the first round by 0.97.", in_round(0, 0.97)),
        ("recursive-first-103", "Multiply the noise in the first round by 1.03.", in_round(0, 1.03)),
        ("recursive-second-97", "Multiply the noise in the second round by 0.97.", in_round(1, 0.97)),
        ("recursive-early-97", "Multiply the noise in all rounds but the last by 0.97.", only_last_round(0.97)),
        ("recursive-last-97", "Multiply the noise in the last round by 0.97.", in_round(-1, 0.97)),
        ("recursive-97", "Multiply the noise in all rounds by 0.97.", times(0.97)),
        (
            "recursive-steps-for-rounds",
            "Divide the budget by T, but add noise in T + 1 rounds.",
            times(math.sqrt(2 / 3)),
        ),
        ("recursive-one-noise", "Use the noise of the first round in all rounds.", one_noise),
        ("recursive-goe", "Draw noise of variance 1/2 in place of 1 above the diagonal.", goe),
    ),
    _of("not-shortened", "Do not shorten the rows after the first round.", Rounds(longest=math.inf), SIZE),
    _of(
        "shortened-before",
        "Shorten rows to the length √(8/7) in place of 1.",
        Rounds(longest=math.sqrt(8 / 7)),
        "entry (1, 1)",
    ),
    _of("threshold-97", "Multiply the threshold by 0.97.", Rounds(raised=0.97), SIZE),
    _of(
        "small-for-large",
        "Halve the part of a row along eigenvectors of small eigenvalues, in place of large eigenvalues.",
        Rounds(rising=True),
        TOTAL,
        "largest eigenvalue",
    ),
    _of(
        "halving-97",
        "Multiply the part of a row along eigenvectors of large eigenvalues by 0.485 in place of 0.5.",
        Rounds(halving=0.485),
        TOTAL,
    ),
    _of("rows-97", "Multiply the rows by 0.97 in every round after the first.", Rounds(kept=0.97), "entry (1, 1)"),
    _of(
        "not-undone",
        "Release the moment of the rows of the last round, without inverting the maps.",
        Rounds(undone=False),
        TOTAL,
    ),
    _of("wrong-order", "Multiply the inverse maps of the rounds in the wrong order.", Rounds(reversed=True)),
)
