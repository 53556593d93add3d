"""Negative controls with small errors, or with errors in rare branches. The audit detects them by recording the random
numbers that a release draws, or by replacing these numbers."""

import math

import numpy as np
from scipy import special

from covassay.reference.domain import Matrix, Vector, unit_rows
from covassay.reference.mechanisms.concentrated import gauss_cov
from tests.negative_controls.broken import other_noise
from tests.negative_controls.negative_control import NegativeControl

EXACT = ("privacy", "exact loss")
GAINS = ("law", "gains beside the reference")
FORCED = ("contract", "forced draws")


def a_little_less(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Multiply the noise by 0.995."""
    return 0.995 * z


def cut_far_out(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Clip the noise at 12 scales, which happens once in 160 000 draws."""
    return np.clip(z, -12.0, 12.0)


def overflows(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Raise an exception if the noise is beyond 6.5 standard deviations, which happens once in 10¹⁰ draws."""
    if np.abs(z).max() > 6.5:
        raise OverflowError("noise too large")
    return z


def moved(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Add a hundredth of its standard deviation to the noise."""
    return z + 0.01


def thin_far_out(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Divide the part of the noise beyond 10 scales by 9; one draw in 22 000 is beyond 10 scales."""
    return np.sign(z) * np.minimum(np.abs(z), 10.0 + (np.abs(z) - 10.0) / 9)


def from_an_interval(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Draw uniform noise of the right variance."""
    return math.sqrt(3) * rng.uniform(-1, 1, size=z.shape)


def one_sided(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Draw an exponential variable minus its mean as noise."""
    return rng.exponential(size=z.shape) - 1


def last_entry_follows(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Add a tenth of the noise of the first entry to the noise of the last entry."""
    z = np.array(z)
    z[-1, -1] += 0.1 * z[0, 0] * (len(z) > 1)
    return z


def from_one_state(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Restore the state of the generator before every row of the upper triangle of the noise."""
    state, upper = rng.bit_generator.state, np.zeros_like(z)
    for i in range(len(z)):
        rng.bit_generator.state = state
        upper[i, i:] = rng.standard_normal(len(z))[i:]
    return upper + np.triu(upper, 1).T


def half_of_a_square(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw a square matrix of uniform numbers, compute the noise from one of its triangles, and multiply the noise by
    0.97."""
    w = 0.97 * special.ndtri(rng.random(z.shape))
    return np.asarray(np.triu(w) + np.triu(w, 1).T)


def clipped_up_to_4096(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Clip only the first 4096 rows."""
    rows = np.vstack([unit_rows(x[:4096]), x[4096:]])
    noise = gauss_cov.noise_scale(len(x), rho) * gauss_cov.draw_noise(x.shape[1], rng)
    return np.asarray(rows.T @ rows / len(x) + noise)


def less_for_full_blocks(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Multiply the noise by 0.97 if the number of rows is a multiple of 8."""
    return z if len(x) % 8 else 0.97 * z


def half_at_a_larger_budget(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Release a random half of the rows with 1.06 times the budget, as if sampling the rows saved budget."""
    rows = x[rng.choice(len(x), max(1, len(x) // 2), replace=False)]
    return gauss_cov.sample(rows, rng, rho=1.06 * rho)


NEGATIVE_CONTROLS: tuple[NegativeControl, ...] = (
    NegativeControl("clipped-up-to-4096", "Clip only the first 4096 rows.", "gauss-cov", (GAINS,), clipped_up_to_4096),
    NegativeControl("half-at-a-larger-budget", "Release a random half of the rows with 1.06 times the budget.",
                    "gauss-cov", (EXACT,), half_at_a_larger_budget),
    other_noise("less-for-full-blocks", "gauss-cov", "Multiply the noise by 0.97 if n is a multiple of 8.",
                less_for_full_blocks, caught_by=(EXACT,)),
    other_noise("noise-995", "gauss-cov", "Multiply the noise by 0.995.", a_little_less, caught_by=(EXACT, GAINS)),
    other_noise("cut-at-12-scales", "laplace", "Clip the noise at 12 scales.", cut_far_out,
                caught_by=(EXACT, FORCED)),
    other_noise("overflows-at-six", "gaussian", "Raise an exception if a draw is beyond 6.5 standard deviations.",
                overflows, caught_by=(FORCED,)),
    other_noise("mean-of-a-hundredth", "gaussian", "Add a hundredth of its standard deviation to the noise.", moved,
                caught_by=(GAINS,)),
    other_noise("thin-beyond-ten", "laplace", "Divide the part of the noise beyond 10 scales by 9.", thin_far_out,
                caught_by=(EXACT,)),
    other_noise("noise-of-an-interval", "gaussian", "Draw uniform noise of the right variance.", from_an_interval,
                caught_by=(EXACT, GAINS)),
    other_noise("one-sided-noise", "laplace", "Draw an exponential variable minus its mean as noise.", one_sided,
                caught_by=(EXACT, GAINS)),
    other_noise("last-entry-follows-the-first", "nuclear-laplace",
                "Add a tenth of the noise of the first entry to the noise of the last entry.", last_entry_follows,
                caught_by=(GAINS,)),
    other_noise("rows-from-one-state", "gauss-cov", "Restore the state of the generator before every row of the noise.",
                from_one_state, caught_by=(EXACT, GAINS)),
    other_noise("half-of-a-square-97", "gauss-cov",
                "Draw a square matrix, compute the noise from one of its triangles, and multiply the noise by 0.97.",
                half_of_a_square, caught_by=(EXACT, GAINS)),
)  # fmt: skip
