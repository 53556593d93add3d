"""This module declares the experiments of CoinPress (BDKU20) on Gaussian data, with the settings of its published code.

We did not have the text of the paper on CoinPress (BDKU20). The settings of the experiments are those of the published
code (github.com/twistedcubic/coin-press, 9c74725). The authors' code reports means without the most extreme tenth of
100 runs; our means are over all runs.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.experiments.data.samples import normal, normal_mean
from covassay.verification.experiments.experiment import Curve, Experiment, Method, Panel, Scale, Setting
from covassay.verification.experiments.findings import PaperClaim, beats, largest
from covassay.verification.experiments.measures import EUCLIDEAN, MAHALANOBIS

STEPS = (1, 2, 3, 4, 5)
D_COVARIANCE, D_MEAN = 10, 50
SIZES_COVARIANCE = tuple(int(n) for n in np.linspace(3000, 8000, 12))
SIZES_MEAN = tuple(int(n) for n in np.linspace(1000, 10_000, 12))
U = 10 * math.sqrt(D_COVARIANCE)
US = tuple(float(u) for u in np.geomspace(math.sqrt(D_COVARIANCE), 1e4 * math.sqrt(D_COVARIANCE), 10))
SCALES: tuple[Scale, Scale] = ("small", "paper")


def not_private(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Return the second moment of the rows without noise."""
    second: Matrix = rows.T @ rows / len(rows)
    return second


def not_private_mean(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Return the mean of the rows without noise."""
    mean: Matrix = rows.mean(axis=0)
    return mean


COVARIANCE = (
    *(Method(f"CoinPress, t = {t}", "coinpress-covariance", {"steps": t, "constants": "code"}) for t in STEPS),
    Method("not private", function=not_private),
    Method("CoinPress, t = 3, paper", "coinpress-covariance", {"steps": 3, "constants": "paper"}),
)
MEAN = (
    *(Method(f"CoinPress, t = {t}", "coinpress-mean", {"steps": t, "constants": "code"}) for t in STEPS),
    Method("not private", function=not_private_mean),
    Method("CoinPress, t = 3, paper", "coinpress-mean", {"steps": 3, "constants": "paper"}),
)


def _grids(grid: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """Return the grids: every third value at the scale "small", and all values at the scale "paper"."""
    return {"small": grid[::3], "paper": grid}


def _covariance(name: str, title: str, varied: str, grid: tuple[float, ...], axis: str = "") -> Panel:
    fixed = {"n": 7000, "d": D_COVARIANCE, "rho": 0.5, "u": U, "beta": 0.1}
    return Panel(
        name, title, normal, varied, _grids(grid), dict.fromkeys(SCALES, fixed), COVARIANCE, MAHALANOBIS, axis=axis,
        log=(varied == "u", True),
    )  # fmt: skip


COVARIANCE_FIGURES = Experiment(
    "bdku20-covariance",
    "Mahalanobis error of CoinPress's covariance, by steps t",
    "BDKU20, figures on covariance",
    (
        _covariance("n", "Σ = I, d = 10, u = 10√d, ρ = 0.5", "n", SIZES_COVARIANCE),
        _covariance("u", "Σ = I, d = 10, n = 7000, ρ = 0.5", "u", US, "u, the bound on Σ"),
    ),
    (
        PaperClaim(
            "with the loosest bound u, several steps are at least as accurate as one step",
            "",
            beats([f"CoinPress, t = {t}" for t in STEPS[1:]], ["CoinPress, t = 1"], ["u"], at=largest),
        ),
    ),
    ("We multiply the matrices in another order than the published code, whose order is inaccurate for t ≥ 3.",),
)


def _mean(name: str, title: str, varied: str, grid: tuple[float, ...], axis: str = "") -> Panel:
    fixed = {"n": 5000, "d": D_MEAN, "rho": 0.5, "radius": 10 * math.sqrt(D_MEAN), "beta": 0.1}
    curve = Curve("√(d/n), the sampling error", lambda setting: math.sqrt(setting["d"] / setting["n"]))
    return Panel(
        name, title, normal_mean, varied, _grids(grid), dict.fromkeys(SCALES, fixed), MEAN, EUCLIDEAN, (curve,),
        axis=axis, log=(varied == "radius", True),
    )  # fmt: skip


MEAN_FIGURES = Experiment(
    "bdku20-mean",
    "Error of CoinPress's mean, by steps t",
    "BDKU20, figures on the mean",
    (
        _mean("n", "N(μ, I), d = 50, radius 10√d, ρ = 0.5", "n", SIZES_MEAN),
        _mean("radius", "N(μ, I), d = 50, n = 5000, ρ = 0.5", "radius",
              tuple(float(r) for r in np.geomspace(10, 1e5, 10)), "radius, the bound on ‖μ‖"),
    ),
    (
        PaperClaim(
            "with the loosest bound on the mean, several steps are at least as accurate as one step",
            "",
            beats([f"CoinPress, t = {t}" for t in STEPS[1:]], ["CoinPress, t = 1"], ["radius"], at=largest),
        ),
    ),
)  # fmt: skip
EXPERIMENTS = (COVARIANCE_FIGURES, MEAN_FIGURES)
