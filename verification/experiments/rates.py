"""The rates of the papers' theorems, with the grids on which they are measured."""

import math

from covassay.reference.laws.nuclear_laplace import schatten_limit
from covassay.reference.mechanisms import nuclear_ball_projection, nuclear_laplace
from covassay.verification.experiments.accuracy import Point, Rate, at_the_noise_level, no_signal

SIZES = (1000.0, 2000.0, 4000.0, 8000.0)
BUDGETS = (0.1, 0.2, 0.4, 0.8)
DIMENSIONS = (36.0, 54.0, 81.0, 122.0)  # ‖Z‖/(ρd) is still 10 % below its limit at d = 16


def _theorem_1(norm: str, p: float) -> list[Rate]:
    """DN25 Theorem 1: C_p d^{1+1/p}/(εn), with the constant that is true in place of 3."""
    limit = float(schatten_limit(p)) if math.isfinite(p) else math.pi
    one_over_p = 0.0 if math.isinf(p) else 1 / p

    def constant(point: Point) -> float:
        return float(limit * nuclear_laplace.noise_scale(point.n, point.budget) * point.d ** (1 + one_over_p))

    fixed = Point(n=1000, d=24, budget=1.0)
    grids = (("n", SIZES, -1.0), ("budget", BUDGETS, -1.0), ("d", DIMENSIONS, 1 + one_over_p))
    return [
        Rate("DN25 Theorem 1", "nuclear-laplace", varied, grid, fixed, no_signal, slope, norm, 10, {}, constant)
        for varied, grid, slope in grids
    ]


def _theorem_2() -> list[Rate]:
    """DN25 Theorem 2: d^{3/2}/(εn) while the ball does not bind, √(d tr Σ/(εn)) on the hardest data when it does."""

    def level(point: Point) -> float:
        return float(math.pi * nuclear_ball_projection.matrix_scale(point.n, point.budget, "paper") * point.d)

    hard = at_the_noise_level(level)
    large = Point(n=200_000, d=8, budget=1.0)
    small = Point(n=4000, d=128, budget=1.0)
    name = "nuclear-ball-projection"
    return [
        Rate("DN25 Theorem 2, large n", name, "n", (5e4, 1e5, 2e5, 4e5), large, hard, -1.0),
        Rate("DN25 Theorem 2, large n", name, "budget", (0.5, 1.0, 2.0, 4.0), large, hard, -1.0),
        Rate("DN25 Theorem 2, small n", name, "n", (2000, 4000, 8000), small, hard, -0.5, repeats=5),
        Rate("DN25 Theorem 2, small n", name, "budget", (0.5, 1.0, 2.0), small, hard, -0.5, repeats=5),
        Rate("DN25 Theorem 2, small n", name, "d", (64, 96, 128), Point(2500, 128, 1.0), hard, 0.5, repeats=5),
    ]


RATES: tuple[Rate, ...] = (
    *_theorem_1("nuclear", 1.0),
    *_theorem_1("Frobenius", 2.0),
    *_theorem_1("operator", math.inf),
    *_theorem_2(),
)
