"""This module declares experiments on theorems of DN25, which has no experiments of its own. They measure errors in
Schatten norms, the gain of the projection, and the constants of the theorems.
"""

import math
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import nuclear_laplace as law
from covassay.verification.experiments.data.samples import of_trace, zipf
from covassay.verification.experiments.experiment import Curve, Experiment, Measure, Method, Panel, Sample, Setting
from covassay.verification.experiments.findings import PaperClaim, at_most, beats, smallest
from covassay.verification.experiments.measures import FROBENIUS, ORDERS, SCHATTEN, schatten

FULL = Method("Algorithm 1", "nuclear-laplace")
SYMMETRIC = Method("Algorithm 1, symmetric", "nuclear-laplace-symmetric", ours=True)
N, EPSILON = 2000, 1.0
SMALL_DIMENSIONS, PAPER_DIMENSIONS = (5, 10, 20, 40, 80), (5, 10, 20, 40, 80, 160, 240)


SIZES = {"n": N, "d": 20, "epsilon": EPSILON, "buckets": 1}


def _sizes(varied: str, title: str, small: tuple[float, ...], paper: tuple[float, ...], axis: str = "") -> Panel:
    return Panel(
        varied, title, zipf, varied, {"small": small, "paper": paper}, {"small": SIZES, "paper": SIZES},
        (FULL, SYMMETRIC), SCHATTEN, axis=axis,
    )  # fmt: skip


def theorem_1(panel: str, measure: str, value: float) -> float:
    """Return the bound 3 d^(1 + 1/p)/(εn) of DN25 Theorem 1 on the error in the Schatten norm p that `measure` names.

    The argument `panel` is the name of one quantity, whose value is `value`. All other quantities have their values in
    `SIZES`.
    """
    setting = {**SIZES, panel: value}
    p = ORDERS[measure]
    return float(3 * setting["d"] ** (1 + 1 / p) / (setting["epsilon"] * setting["n"]))


def scaled(p: float, output: Matrix, sample: Sample) -> float:
    """Return the scaled error ‖output − Σ‖_{S_p} n/d^{1 + 1/p} at ε = 1, which is at most 3 by DN25 Theorem 1."""
    n, d = sample.rows.shape
    return float(schatten(p, output, sample) * n * EPSILON / d ** (1 + 1 / p))


def spectral(output: Matrix, sample: Sample) -> float:
    """Return the ratio ‖Z‖/d for noise at scale 1, which is at most 1.1 by DN25 Theorem 6."""
    n, d = sample.rows.shape
    return float(schatten(math.inf, output, sample) * n * EPSILON / (2 * d))


def _constant(p: float, label: str) -> Panel:
    measures: dict[str, Measure] = {"error · εn / d^(1 + 1/p)": partial(scaled, p)}
    limit = 2 * (float(law.schatten_limit(p)) if math.isfinite(p) else math.pi)
    curves = (
        Curve("3, as in Theorem 1", lambda setting: 3.0),
        Curve("the limit C_p", lambda setting: limit),
        Curve("C_p/2, of symmetric noise", lambda setting: limit / 2),
    )
    return _by_dimension(f"p{label}", f"Theorem 1, p = {label}", measures, curves)


def _by_dimension(name: str, title: str, measures: dict[str, Measure], curves: tuple[Curve, ...]) -> Panel:
    fixed = {"n": N, "epsilon": EPSILON, "buckets": 1}
    return Panel(
        name, title, zipf, "d", {"small": SMALL_DIMENSIONS, "paper": PAPER_DIMENSIONS},
        {"small": fixed, "paper": fixed}, (FULL, SYMMETRIC), measures, curves, log=(True, False),
    )  # fmt: skip


THEOREM_1 = Experiment(
    "dn25-theorem-1",
    "Error of Algorithm 1 against n, d and ε, in Schatten norms",
    "DN25 Theorem 1",
    (
        _sizes("n", "against n", (500, 1000, 2000, 4000, 8000), (500, 1000, 2000, 4000, 8000, 16_000, 32_000)),
        _sizes("d", "against d", SMALL_DIMENSIONS, PAPER_DIMENSIONS),
        _sizes("epsilon", "against ε", (0.1, 0.3, 1.0, 3.0), (0.1, 0.2, 0.5, 1.0, 2.0, 5.0), "ε"),
    ),
    (
        PaperClaim(
            "the error in S_p is at most 3 d^(1 + 1/p)/(εn)",
            "DN25.Thm1",
            at_most(theorem_1, ["Algorithm 1"], ["n", "d", "epsilon"]),
        ),
    ),
    ("The error is the norm of the noise, which is of the order of d^(1 + 1/p)/(εn) in the Schatten norm p.",),
)
CONSTANTS = Experiment(
    "dn25-constants",
    "The constants 3, 1.1 and π of Algorithm 1 against d",
    "DN25 Theorems 1 and 6",
    (
        *(_constant(p, label) for p, label in ((1.0, "1"), (2.0, "2"), (4.0, "4"), (math.inf, "∞"))),
        _by_dimension(
            "spectral", "Theorem 6: ‖Z‖/(ρd)", {"‖Z‖/(ρd)": spectral},
            (Curve("1.1, as in Theorem 6", lambda setting: 1.1), Curve("π, limit for large d", lambda setting: math.pi),
             Curve("π/2, limit for symmetric noise", lambda setting: math.pi / 2)),
        ),
    ),
    (
        PaperClaim(
            "the error in S_p is at most 3 d^(1 + 1/p)/(εn)",
            "DN25.Thm1",
            at_most(3.0, ["Algorithm 1"], ["p1", "p2", "p4", "p∞"]),
        ),
        PaperClaim("‖Z‖ is at most 1.1 ρd", "DN25.Thm6", at_most(1.1, ["Algorithm 1"], ["spectral"])),
    ),
    ("Here n = 2000 and ε = 1, but the constants do not depend on n, on ε or on the data.",),
)  # fmt: skip


def theorem_2_large(setting: Setting) -> float:
    """Return the first term d^{3/2}/(εn) of the bound of DN25 Theorem 2."""
    return float(setting["d"] ** 1.5 / (setting["epsilon"] * setting["n"]))


def theorem_2_trace(setting: Setting) -> float:
    """Return the second term √(d tr Σ/(εn)) + √(d ln d)/(εn) of the bound of DN25 Theorem 2."""
    budget = setting["epsilon"] * setting["n"]
    return (
        math.sqrt(setting["d"] * setting["trace"] / budget) + math.sqrt(setting["d"] * math.log(setting["d"])) / budget
    )


def _zero(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    return np.zeros((rows.shape[1], rows.shape[1]))


def _gain(name: str, title: str, n: int, d: int, rank: int) -> Panel:
    traces = tuple(float(f"{t:.3g}") for t in np.geomspace(0.001, 1.0, 7))
    fixed = {"n": n, "d": d, "rank": rank, "epsilon": EPSILON}
    methods = (
        FULL,
        Method("Algorithm 2", "nuclear-ball-projection"),
        Method("zero matrix", function=_zero),
        SYMMETRIC,
        Method("Algorithm 2, tight", "nuclear-ball-projection", {"calibration": "tight"}, ours=True),
    )
    curves = (Curve("d^(3/2)/(εn)", theorem_2_large), Curve("√(d tr/(εn)) + √(d ln d)/(εn)", theorem_2_trace))
    return Panel(
        name, title, of_trace, "trace", {"small": traces, "paper": traces}, {"small": fixed, "paper": fixed},
        methods, FROBENIUS, curves, axis="tr Σ",
    )  # fmt: skip


THEOREM_2 = Experiment(
    "dn25-theorem-2",
    "The gain of the projection against tr Σ",
    "DN25 Theorem 2",
    (
        _gain("few", "few rows: n = 5000, d = 60", 5000, 60, 4),
        _gain("many", "many rows: n = 200000, d = 20", 200_000, 20, 4),
    ),
    (
        PaperClaim(
            "for a small trace the projection (Algorithm 2) is at least as accurate as Algorithm 1",
            "DN25.Thm2",
            beats(["Algorithm 2"], ["Algorithm 1"], ["few"], at=smallest),
        ),
    ),
    (
        "The bound of Theorem 2 is the smaller curve, up to a constant that the paper does not give.",
        "Algorithm 2 as printed spends at most ε/2. The tight variant spends ε, with half of the matrix noise.",
    ),
)
EXPERIMENTS = (THEOREM_1, CONSTANTS, THEOREM_2)
