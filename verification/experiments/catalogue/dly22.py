"""This module declares the experiments of DLY22 §7. They vary the dimension, the number of rows, the skew and the
budget, on synthetic and real data.

Our copy of DLY22 has no figures and has lost the numbers in its text. The settings of the experiments are those of the
authors' released code (github.com/hkustDB/PrivateCovariance, dafcdfe). EMCov is run in two ways: as Appendix A of DLY22
states it, and with the budgets of the released code, which are larger than ρ.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.laws import bingham
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.pure.iterative_eigenvectors import draw_directions
from covassay.verification.experiments.data import bundled, idx, news
from covassay.verification.experiments.data.files import SCIKIT_LEARN
from covassay.verification.experiments.data.samples import Draw, standing, subset, zipf
from covassay.verification.experiments.experiment import SCALES, Experiment, Files, Method, Panel, Setting
from covassay.verification.experiments.findings import (
    Check,
    Lines,
    Outcome,
    PaperClaim,
    Values,
    beats,
    largest,
    smallest,
)
from covassay.verification.experiments.measures import FROBENIUS

BETA = 0.1
DELTA = 1e-10  # only the mechanism EMCov of the released code uses this δ
DIMENSIONS = (10, 20, 30, 50, 70, 100, 200, 400, 800)
BUCKETS = (1, 2, 4, 8, 16, 32)
SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 400_000, 800_000)
RHOS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
# EMCov is not run in higher dimensions, because drawing d − 1 directions takes time in proportion to d⁴
LARGEST_FOR_EIGENVECTORS = 200


def zero(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Return the zero matrix as an estimate."""
    return np.zeros((rows.shape[1], rows.shape[1]))


def released_em_budgets(rho: float, d: int) -> tuple[float, float]:
    """Return the budgets that the released code uses for ρ and δ = 1e-10: ε₀ for the eigenvalues and ε_i for each
    direction.
    """
    log = math.log(1 / DELTA)
    whole = rho + 2 * math.sqrt(rho * log)
    half = whole / 2
    root = math.sqrt(2 * d * log)
    return half, (math.sqrt(root**2 + 4 * d * half) - root) / (2 * d)


def released_em(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Run EMCov with the budgets of the released code, which are not ρ-zCDP."""
    n, d = rows.shape
    c = n * second_moment(rows)
    eigenvalue_budget, budget = released_em_budgets(setting["rho"], d)
    values = np.linalg.eigvalsh(c)[::-1] + 2 / eigenvalue_budget * rng.laplace(size=d)
    directions = draw_directions(c, [budget / 4] * (d - 1), lambda m, step: bingham.sample(m, rng))
    released: Matrix = (directions.T * np.clip(values, 0, n)) @ directions / n
    return released


def released_separate(rows: Matrix, setting: Setting, rng: np.random.Generator) -> Matrix:
    """Run SeparateCov as in the released code, which takes singular vectors of an indefinite matrix."""
    n, d = rows.shape
    moment, scale = second_moment(rows), math.sqrt(2 / setting["rho"]) / n
    u, _, vt = np.linalg.svd(moment + scale * gauss_cov.draw_noise(d, rng, ensemble="wigner"))
    values = np.linalg.eigvalsh(moment)[::-1] + scale * rng.standard_normal(d)
    released: Matrix = (u * np.clip(values, 0.0, 1.0)) @ vt
    return released


ZERO = Method("zero matrix", function=zero)
CONCENTRATED = (
    Method("GaussCov", "gauss-cov", rounded=True),
    Method("EMCov", "em-cov", rounded=True, largest_dimension=LARGEST_FOR_EIGENVECTORS),
    Method("EMCov, released code", function=released_em, largest_dimension=LARGEST_FOR_EIGENVECTORS),
    Method("SeparateCov", "separate-cov"),
    Method("SeparateCov, released code", function=released_separate),
    Method("AdaptiveCov", "adaptive-cov", {"bounds": "code"}),
    ZERO,
    Method("GaussCov, GOE", "gauss-cov", {"ensemble": "goe"}, rounded=True, ours=True),
    Method("SeparateCov, GOE", "separate-cov", {"ensemble": "goe"}, ours=True),
    Method("AdaptiveCov, tight GOE", "adaptive-cov",
           {"bounds": "theorem", "ensemble": "goe", "calibration": "tight"}, ours=True),
    Method("projection, GOE", "projection-mechanism", {"ensemble": "goe"}, ours=True),
)  # fmt: skip
_EIGENVECTORS = {"budget": "adaptive"}
PURE = (
    Method("LapCov", "lap-cov", rounded=True),
    Method("EMCov", "iterative-eigenvectors", _EIGENVECTORS, rounded=True, largest_dimension=LARGEST_FOR_EIGENVECTORS),
    Method("SeparateCov", "separate-cov-pure"),
    Method("AdaptiveCov", "adaptive-cov-pure"),
    ZERO,
    Method("LapCov, tight", "lap-cov", {"calibration": "tight"}, rounded=True, ours=True),
    Method("SeparateCov, tight", "separate-cov-pure", {"calibration": "tight"}, ours=True),
    Method("AdaptiveCov, tight", "adaptive-cov-pure", {"calibration": "tight"}, ours=True),
    Method("nuclear-Laplace, symmetric", "nuclear-laplace-symmetric", rounded=True, ours=True,
           largest_dimension=LARGEST_FOR_EIGENVECTORS),
)  # fmt: skip
SMALL = {"n": 4000.0, "d": 50.0}
PAPER = {"n": 50_000.0, "d": 200.0}


def _sweep(
    name: str,
    title: str,
    varied: str,
    small: Sequence[float],
    paper: Sequence[float],
    budget: tuple[str, float],
    buckets: int,
    sizes: Mapping[str, Mapping[str, float]],
    axis: str = "",
) -> Panel:
    """Make a panel on the synthetic data of the paper."""
    common = {"beta": BETA, "buckets": buckets, budget[0]: budget[1]}
    fixed: dict[str, Setting] = {scale: {**sizes[scale], **common} for scale in SCALES}
    methods = CONCENTRATED if budget[0] == "rho" else PURE
    return Panel(name, title, zipf, varied, {"small": small, "paper": paper}, fixed, methods, FROBENIUS, axis=axis)


_SIZES = {"small": SMALL, "paper": PAPER}


def _beats_by(winner: str, loser: str, dimensions: Values, sizes: Values) -> Check:
    """Make a check of the claims of Figure 3 that `winner` has a smaller error than `loser` at given dimensions,
    numbers of rows and budgets.
    """

    def check(lines: Lines) -> Outcome:
        by_dimension = beats([winner], [loser], ["b"], at=dimensions)
        return by_dimension(lines) + beats([winner], [loser], ["c", "d"], at=sizes)(lines)

    return check


def _unit_norm(name: str, n: int, smaller: int, budget: tuple[str, float]) -> Panel:
    return _sweep(
        name, "tr Σ = 1", "d", (10, 20, 50, 100, 200), DIMENSIONS, budget, 1,
        {"small": {"n": smaller}, "paper": {"n": n}},
    )  # fmt: skip


ORIGINAL = ["SeparateCov", "GaussCov"]
FIGURE_2 = Experiment(
    "dly22-figure-2",
    "Error against d on rows of norm 1, under zCDP",
    "DLY22 Figure 2 (test_d_N1.py)",
    tuple(_unit_norm(f"n{n}", n, n, ("rho", 0.1)) for n in (1000, 4000, 16_000)),
    (
        PaperClaim(
            "for the lowest dimension GaussCov is at least as accurate as SeparateCov, for the largest n",
            "DLY22.Thm1-Remark",
            beats(["GaussCov"], ["SeparateCov"], ["n16000"], at=smallest),
        ),
        PaperClaim(
            "for the highest dimension SeparateCov is at least as accurate as GaussCov",
            "DLY22.Thm1-Remark",
            beats(["SeparateCov"], ["GaussCov"], ["n1000", "n4000", "n16000"], at=largest),
        ),
        PaperClaim(
            "AdaptiveCov is close to the better of the two (our reading: within a factor 1.5)",
            "DLY22.Experiments",
            beats(["AdaptiveCov"], ORIGINAL, ["n1000", "n4000", "n16000"], factor=1.5),
        ),
        PaperClaim(
            "EMCov is never better than the best of the other methods",
            "DLY22.Experiments",
            beats(["SeparateCov", "GaussCov", "AdaptiveCov"], ["EMCov"], ["n1000", "n4000", "n16000"]),
        ),
    ),
    (f"EMCov is run up to d = {LARGEST_FOR_EIGENVECTORS}: its time grows as d⁴.",
     "AdaptiveCov is steered by the error bounds of the authors' code, and ours by those of the theorems.",
     "In the authors' code, EMCov spends at least 4.8 times ρ on the eigenvalues alone, at ρ = 0.1.",
     "The released code takes singular vectors of an indefinite matrix in SeparateCov (DLY22.Eq5)."),
)  # fmt: skip

_ALL = ["a", "b", "c", "d"]
FIGURE_3 = Experiment(
    "dly22-figure-3",
    "Error against skew, d, n and ρ on synthetic data, under zCDP",
    "DLY22 Figure 3 (test_Ns.py, test_d.py, test_n.py, test_rho.py)",
    (
        _sweep(
            "a",
            "number of norm buckets N; tr Σ falls with N",
            "buckets",
            BUCKETS,
            BUCKETS,
            ("rho", 0.1),
            4,
            _SIZES,
            "N",
        ),
        _sweep("b", "dimension", "d", (10, 20, 50, 100, 200), DIMENSIONS, ("rho", 0.1), 4, _SIZES),
        _sweep("c", "size", "n", (1000, 3000, 10_000, 30_000, 100_000), SIZES, ("rho", 0.1), 4, _SIZES),
        _sweep("d", "budget", "rho", RHOS, RHOS, ("rho", 0.1), 4, _SIZES, "ρ"),
    ),
    (
        PaperClaim(
            "at the largest N, where tr Σ is smallest, the zero matrix has the smallest error",
            "DLY22.Experiments",
            beats(["zero matrix"], ["GaussCov", "EMCov", "SeparateCov", "AdaptiveCov"], ["a"], at=largest),
        ),
        PaperClaim(
            "AdaptiveCov is close to the better of SeparateCov and GaussCov (our reading: within a factor 1.5)",
            "DLY22.Experiments",
            beats(["AdaptiveCov"], ORIGINAL, _ALL, factor=1.5),
        ),
        PaperClaim(
            "SeparateCov is better than GaussCov for high d, small n and small ρ",
            "DLY22.Thm1-Remark",
            _beats_by("SeparateCov", "GaussCov", largest, smallest),
        ),
        PaperClaim(
            "GaussCov is better than SeparateCov for low d, large n and large ρ",
            "DLY22.Thm1-Remark",
            _beats_by("GaussCov", "SeparateCov", smallest, largest),
        ),
    ),
    FIGURE_2.notes,
)


def _budgets(name: str, title: str, data: Draw, fixed: Setting, needs: str) -> Panel:
    """Make a panel on real data that varies ρ."""
    setting = {**fixed, "beta": BETA}
    return Panel(
        name, title, data, "rho", {"small": RHOS, "paper": RHOS}, {"small": setting, "paper": setting},
        CONCENTRATED, FROBENIUS, needs=needs, axis="ρ",
    )  # fmt: skip


def _mnist(files: Files) -> Matrix:
    return idx.images(files["mnist"])


def _digit(digit: int) -> Callable[[Files], Matrix]:
    return lambda files: idx.images_of(files["mnist"], digit)


def _news(d: int, unit: bool) -> Callable[[Files], Matrix]:
    return lambda files: news.counts(files["news"], d, unit)


_REAL_CLAIM = "EMCov is never better than the best of the other methods, the zero matrix included"
_COMPETITORS = ["GaussCov", "SeparateCov", "AdaptiveCov", "zero matrix"]
_FIGURE_4 = (
    _budgets("digits", "Digits, 1797 × 64 (ours)", standing(lambda files: bundled.digits()), {}, SCIKIT_LEARN),
    *(_budgets(f"mnist-{n}", f"MNIST, {n} × 784", subset(_mnist), {"n": n}, "mnist") for n in (6000, 20_000, 60_000)),
    *(_budgets(f"mnist-digit-{k}", f"MNIST, digit {k}", standing(_digit(k)), {}, "mnist") for k in (0, 1, 2)),
)
FIGURE_4 = Experiment(
    "dly22-figure-4",
    "Error against ρ on images of digits, under zCDP",
    "DLY22 Figure 4 (test_mnist_fix_n.py, test_mnist_digit.py)",
    _FIGURE_4,
    (
        PaperClaim(
            _REAL_CLAIM, "DLY22.Experiments", beats(_COMPETITORS, ["EMCov"], [panel.name for panel in _FIGURE_4])
        ),
    ),
    ("Images are divided by their largest possible norm. The paper does not use the digits of scikit-learn.",),
)
_FIGURE_5 = tuple(
    _budgets(
        f"{'unit' if unit else 'largest'}-{d}", f"News, {d} columns, {'every norm 1' if unit else 'largest norm 1'}",
        standing(_news(d, unit)), {}, "news",
    )
    for unit in (True, False)
    for d in (32, 128, 512)
)  # fmt: skip
FIGURE_5 = Experiment(
    "dly22-figure-5",
    "Error against ρ on news commentary, under zCDP",
    "DLY22 Figure 5 (test_news_rho_l2.py, test_news_rho_maxl2.py)",
    _FIGURE_5,
    (
        PaperClaim(
            _REAL_CLAIM, "DLY22.Experiments", beats(_COMPETITORS, ["EMCov"], [panel.name for panel in _FIGURE_5])
        ),
    ),
    ("The largest norm is read from the data, so no privacy guarantee covers the division by it.",),
)

_PURE_SIZES = {
    "a": (1000, 1000), "b": (4000, 4000), "c": (10_000, 10_000), "d": (16_000, 16_000), "e": (40_000, 20_000),
    "f": (160_000, 40_000),
}  # fmt: skip
PURE_UNIT_NORM = Experiment(
    "dly22-pure-unit-norm",
    "Error against d on rows of norm 1, under pure DP",
    "DLY22 §7.3 (test_d_N1_pure.py)",
    tuple(_unit_norm(name, n, smaller, ("epsilon", 0.8)) for name, (n, smaller) in _PURE_SIZES.items()),
    (
        PaperClaim(
            "SeparateCov is at least as accurate as EMCov",
            "DLY22.Pure-Rates",
            beats(["SeparateCov"], ["EMCov"], list(_PURE_SIZES)),
        ),
        PaperClaim(
            "for the highest dimension SeparateCov is at least as accurate as LapCov",
            "DLY22.Pure-Rates",
            beats(["SeparateCov"], ["LapCov"], list(_PURE_SIZES), at=largest),
        ),
    ),
    (f"EMCov and nuclear-Laplace are run up to d = {LARGEST_FOR_EIGENVECTORS}.",),
)
_LARGE = {"small": {"n": 40_000.0, "d": 50.0}, "paper": {"n": 500_000.0, "d": 200.0}}


def _pure_sweeps(sizes: Mapping[str, Mapping[str, float]], label: str) -> tuple[Panel, ...]:
    budget = ("epsilon", 0.8)
    few = (10, 20, 50) if label else (10, 20, 50, 100, 200)
    return (
        _sweep(f"N{label}", "number of norm buckets N", "buckets", BUCKETS, BUCKETS, budget, 4, sizes, "N"),
        _sweep(f"d{label}", "dimension", "d", few, DIMENSIONS, budget, 4, sizes),
        _sweep(f"epsilon{label}", "budget", "epsilon", EPSILONS[1::2], EPSILONS, budget, 4, sizes, "ε"),
    )


PURE_SWEEPS = Experiment(
    "dly22-pure-sweeps",
    "Error against skew, d and ε on synthetic data, under pure DP, for two sizes",
    "DLY22 §7.3 (test_Ns_pure.py, test_d_pure.py, test_eps_pure.py)",
    (*_pure_sweeps(_SIZES, ""), *_pure_sweeps(_LARGE, "-large")),
    (
        PaperClaim(
            "SeparateCov is at least as accurate as EMCov",
            "DLY22.Pure-Rates",
            beats(["SeparateCov"], ["EMCov"], ["N", "d", "epsilon", "N-large", "d-large", "epsilon-large"]),
        ),
    ),
    (f"EMCov and nuclear-Laplace are run up to d = {LARGEST_FOR_EIGENVECTORS}.",),
)
EXPERIMENTS = (FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, PURE_UNIT_NORM, PURE_SWEEPS)
