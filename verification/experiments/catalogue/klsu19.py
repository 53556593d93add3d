"""This module declares experiments on theorems of KLSU19, which has no experiments of its own. They measure the gain of
preconditioning.
"""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.experiments.data.samples import normal
from covassay.verification.experiments.experiment import Experiment, Method, Panel, Scale, Setting
from covassay.verification.experiments.findings import PaperClaim, beats, largest
from covassay.verification.experiments.measures import MAHALANOBIS

SCALES: tuple[Scale, Scale] = ("small", "paper")
KAPPAS = (1e1, 1e2, 1e3, 1e4, 1e5, 1e6)
SIZES = (10_000.0, 30_000.0, 100_000.0, 300_000.0)


def coinpress(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Run CoinPress in five steps with the bound u = κ."""
    return COINPRESS.estimate(rows, {**setting, "u": setting["kappa"]}, rng)


COINPRESS = Method("CoinPress, t = 5", "coinpress-covariance", {"steps": 5, "constants": "code"})
METHODS = (
    Method("NaivePCE", "naive-pce"),
    Method("PGCE", "pgce"),
    Method("NaivePCE, tight", "naive-pce", {"calibration": "tight"}, ours=True),
    Method("PGCE, tight", "pgce", {"calibration": "tight"}, ours=True),
    Method("CoinPress, t = 5, u = κ", function=coinpress),
)
_FIXED = {"n": 100_000, "d": 4, "rho": 1.0, "beta": 0.1, "kappa": 1e4}
CONDITIONING = Experiment(
    "klsu19-conditioning",
    "Relative error of Gaussian covariance estimation against κ and n",
    "KLSU19 Theorems 3.7 and 3.12",
    (
        Panel(
            "kappa", "n = 100000, d = 4, ρ = 1", normal, "kappa", dict.fromkeys(SCALES, KAPPAS),
            dict.fromkeys(SCALES, _FIXED), METHODS, MAHALANOBIS, axis="κ",
        ),
        Panel(
            "n", "κ = 10⁴, d = 4, ρ = 1", normal, "n", {"small": SIZES[:3], "paper": SIZES},
            dict.fromkeys(SCALES, _FIXED), METHODS, MAHALANOBIS,
        ),
    ),
    (
        PaperClaim(
            "for the largest κ preconditioning is at least as accurate as the naive estimator",
            "KLSU19.Thm3.12",
            beats(["PGCE"], ["NaivePCE"], ["kappa"], at=largest),
        ),
    ),
    ("NaivePCE and PGCE are reconstructions: our copy of the paper has lost their formulas.",
     "PGCE preconditions only if κ > 1000. Otherwise it is the naive estimator at κ = 1000 with half of the budget."),
)  # fmt: skip
EXPERIMENTS = (CONDITIONING,)
