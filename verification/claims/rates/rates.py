"""Declare the rates of the papers' theorems, with the grids on which they are measured."""

import math

from covassay.reference.laws.nuclear_laplace import schatten_limit
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.pure import nuclear_ball_projection, nuclear_laplace
from covassay.verification.claims.rates.accuracy import (
    Point,
    Rate,
    at_the_noise_level,
    no_signal,
    normal_parameters,
    normal_rows,
    relative_to_covariance,
)

SIZES = (1000.0, 2000.0, 4000.0, 8000.0)
BUDGETS = (0.1, 0.2, 0.4, 0.8)
# the smallest d is 36, because ‖Z‖/(ρd) is 10 % below its limit at d = 16
DIMENSIONS = (36.0, 54.0, 81.0, 122.0)


def _theorem_1(norm: str, p: float) -> list[Rate]:
    """Return the rate C_p d^{1+1/p}/(εn) of DN25 Theorem 1, with the true constant C_p in place of the printed 3."""
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
    """Return the rates of DN25 Theorem 2: d^{3/2}/(εn) for large n, and √(d tr Σ/(εn)) on the hardest data for
    small n.
    """

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


def _dly22() -> list[Rate]:
    """Return the rates of GaussCov, d/(n√ρ), and of SeparateCov and the projection mechanism, d^{1/4}/(√n ρ^{1/4}).

    The rates of SeparateCov and the projection mechanism are for the hardest data of trace 1.

    The grids satisfy d^{3/2} ≫ n√ρ ≫ √d. The hardest data then have far fewer nonzero eigenvalues than dimensions, so
    that a mechanism can miss directions in which the data vary.
    """

    def gaussian(point: Point) -> float:
        return float(gauss_cov.noise_scale(point.n, point.budget) * point.d)  # E‖N‖_F² = d²σ² exactly

    def level(point: Point) -> float:
        return float(2 * math.sqrt(point.d) * gauss_cov.noise_scale(point.n, point.budget))  # ‖N‖

    hard, middle = at_the_noise_level(level), Point(n=800, d=256, budget=0.5)
    sizes, budgets, dimensions = (200, 400, 800, 1600), (0.125, 0.25, 0.5, 1.0, 2.0), (256, 400, 576, 784)
    found = [
        Rate("DLY22 GaussCov", "gauss-cov", varied, grid, middle, no_signal, slope, constant=gaussian)
        for varied, grid, slope in (("n", sizes, -1.0), ("budget", budgets, -0.5), ("d", dimensions, 1.0))
    ]
    for claim, name in (("DLY22 Theorem 2", "separate-cov"), ("DLY22 Appendix C", "projection-mechanism")):
        found += [
            Rate(claim, name, varied, grid, middle, hard, slope, repeats=5)
            for varied, grid, slope in (("n", sizes, -0.5), ("budget", budgets, -0.25), ("d", dimensions, 0.25))
        ]
    return found


def _klsu19() -> list[Rate]:
    """Return rates of KLSU19: preconditioned estimates have errors that do not grow with κ or R; the naive error is
    linear in κ.
    """
    point = Point(n=60_000, d=4, budget=1.0)
    kappas, radii = (1e3, 1e4, 1e5, 1e6), (1e1, 1e2, 1e3, 1e4)

    def covariance(claim: str, name: str, slope: float, at_most: bool) -> Rate:
        return Rate(
            claim, name, "kappa", kappas, point, lambda p: normal_rows(p, p.parameter, 0.0), slope, "relative",
            5, {"calibration": "tight"}, truth=lambda p, x: normal_parameters(p, p.parameter, 0.0),
            error=relative_to_covariance, at_most=at_most,
        )  # fmt: skip

    def mean(claim: str, varied: str, grid: tuple[float, ...]) -> Rate:
        def kappa_and_mean(p: Point) -> tuple[float, float]:
            return (p.parameter, 10.0) if varied == "kappa" else (1e4, p.parameter)

        return Rate(
            claim, "pme", varied, grid, point, lambda p: normal_rows(p, *kappa_and_mean(p)), 0.0, "relative",
            5, {"calibration": "tight"}, truth=lambda p, x: normal_parameters(p, *kappa_and_mean(p)),
            error=relative_to_covariance, at_most=True,
        )  # fmt: skip

    return [
        covariance("KLSU19 Theorem 3.7", "naive-pce", 1.0, at_most=True),
        covariance("KLSU19 Theorem 3.12", "pgce", 0.0, at_most=True),
        mean("KLSU19 Theorem 4.3", "kappa", kappas),
        mean("KLSU19 Theorem 4.3", "mean_bound", radii),
    ]


RATES: tuple[Rate, ...] = (
    *_theorem_1("nuclear", 1.0),
    *_theorem_1("Frobenius", 2.0),
    *_theorem_1("operator", math.inf),
    *_theorem_2(),
    *_dly22(),
    *_klsu19(),
)
