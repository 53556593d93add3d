"""Test that the Python mechanisms release the numbers that Rocq computed from the definitions of whole mechanisms."""

import importlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from covassay.reference.mechanisms.building_blocks import above_threshold, exponential, private_radius
from covassay.reference.mechanisms.building_blocks.above_threshold import AboveThresholdNoise
from covassay.reference.mechanisms.concentrated.separate_cov import SeparateCovNoise
from covassay.reference.mechanisms.gaussian_estimation import weak_ppc
from covassay.reference.mechanisms.gaussian_estimation.kv_mean import KVMeanNoise
from covassay.reference.mechanisms.pure.nuclear_ball_projection import NuclearBallProjectionNoise
from covassay.reference.mechanisms.pure.separate_cov_pure import SeparateCovPureNoise
from covassay.reference.mechanisms.registry import MECHANISMS

PROOFS = Path(__file__).resolve().parents[4] / "proofs"
VECTORS = json.loads((PROOFS / "vectors.json").read_text(encoding="utf-8"))["vectors"]
ROUNDING = 1e-13  # a release of numbers below 10 takes about ten operations, each with a relative error of 2^-53
Row = dict[str, Fraction]
Options = dict[str, Any]
Replay = Callable[[Row], None]


def rows_of(name: str) -> list[Row]:
    vector = VECTORS[name]
    return [dict(zip(vector["columns"], map(Fraction, row), strict=True)) for row in vector["rows"]]


def module_of(name: str) -> ModuleType:
    return importlib.import_module(MECHANISMS[name].release.__module__)


def block(row: Row, letter: str, height: int, width: int) -> np.ndarray:
    """Return the columns x11, x12, … of a row as a matrix."""
    return np.array([[float(row[f"{letter}{i + 1}{j + 1}"]) for j in range(width)] for i in range(height)])


def size(row: Row) -> tuple[int, int]:
    return int(row["n"]), int(row["d"])


def data(row: Row) -> np.ndarray:
    return block(row, "x", *size(row))


def scaled(row: Row, height: int, width: int) -> np.ndarray:
    """Return the stored noise times the square root of the stored squared scale."""
    return math.sqrt(row["scale_squared"]) * block(row, "z", height, width)


def close(released: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(released, expected, rtol=0, atol=ROUNDING)


# COMPARISONS BY FORM OF NOISE


def square(name: str, budget: str, options: Callable[[int], Options]) -> Callable[[Row], None]:
    def replay(row: Row) -> None:
        d = size(row)[1]
        settings = {budget: float(row["budget"])} | options(int(row["option"]))
        close(module_of(name).release(data(row), scaled(row, d, d), **settings), block(row, "y", d, d))

    return replay


def vector(name: str, budget: str) -> Callable[[Row], None]:
    def replay(row: Row) -> None:
        d = size(row)[1]
        released = module_of(name).release(data(row), scaled(row, 1, d)[0], **{budget: float(row["budget"])})
        close(released, block(row, "y", 1, d)[0])

    return replay


def approximate_budget(row: Row) -> Options:
    """Return the ε and δ for which √(2 ln(1.25/δ))/ε is the noise multiplier of the row."""
    epsilon = 0.9
    exponent = (2 * float(row["half_multiplier"]) * epsilon) ** 2 / 2
    return {"epsilon": epsilon, "delta": 1.25 * math.exp(-exponent), "calibration": "paper"}


def gaussian_approximate(row: Row) -> None:
    d = size(row)[1]
    released = module_of("gaussian-approximate").release(data(row), scaled(row, 1, d)[0], **approximate_budget(row))
    close(released, block(row, "y", 1, d)[0])


def gauss_cov_approximate(row: Row) -> None:
    d = size(row)[1]
    settings = approximate_budget(row) | ensemble(int(row["option"]))
    released = module_of("gauss-cov-approximate").release(data(row), scaled(row, d, d), **settings)
    close(released, block(row, "y", d, d))


def private_trace(row: Row) -> None:
    released = module_of("private-trace").release(data(row), scaled(row, 1, 1)[0, 0], epsilon=float(row["budget"]))
    close(released, block(row, "y", 1, 1)[0, 0])


def nuclear_ball_projection(row: Row) -> None:
    noise = NuclearBallProjectionNoise(block(row, "z", 2, 2), float(row["trace_noise"]))
    settings = {"epsilon": float(row["budget"])} | calibration(int(row["option"]))
    close(module_of("nuclear-ball-projection").release(data(row), noise, **settings), block(row, "y", 2, 2))


def short_rows(row: Row) -> Options:
    """Return the options for a row. The row stores ln(n/β), which makes the squared radius rational."""
    beta = float(row["n"]) * math.exp(-row["log"])
    settings: Options = {"calibration": "tight" if row["option"] else "reconstructed", "kappa": float(row["kappa"])}
    return settings | {"rho": float(row["budget"]), "beta": beta}


def naive_pce(row: Row) -> None:
    released = module_of("naive-pce").release(data(row), scaled(row, 2, 2), **short_rows(row))
    close(released, block(row, "y", 2, 2))


def coinpress_mean(row: Row) -> None:
    """Compare the released mean with a stored row. The value of β = n e^(−L) follows from the stored γ₁ by γ₁² = d +
    2√(dL) + 2L.
    """
    d, gamma = float(row["d"]), float(row["gamma1"])
    log = (math.sqrt(gamma**2 - d / 2) - math.sqrt(d / 2)) ** 2 / 2
    settings = {"rho": float(row["budget"]), "radius": float(row["radius"]), "beta": float(row["n"]) * math.exp(-log)}
    released = module_of("coinpress-mean").release(data(row), scaled(row, 2, 1).T, steps=1, **settings)
    close(released, block(row, "y", 2, 1)[:, 0])


def numbers(row: Row, letter: str, count: int) -> np.ndarray:
    """Return the columns l1, l2, … of a row as a vector."""
    return np.array([float(row[f"{letter}{i + 1}"]) for i in range(count)])


def separate(name: str, noise_class: Callable[..., Any], budget: str, options: Callable[[int], Options]) -> Replay:
    def replay(row: Row) -> None:
        eigenvalues = math.sqrt(row["eigenvalue_scale_squared"]) * numbers(row, "l", 2)
        settings = {budget: float(row["budget"])} | options(int(row["option"]))
        released = module_of(name).release(data(row), noise_class(scaled(row, 2, 2), eigenvalues), **settings)
        close(released, block(row, "y", 2, 2))

    return replay


def histogram(name: str, given: str) -> Replay:
    """Return a function that compares a release with a stored row. The value of β follows from the stored r by r² = 2
    ln(8nd/β).
    """

    def replay(row: Row) -> None:
        n, d = size(row)
        counts = math.sqrt(row["count_scale_squared"]) * block(row, "c", d, 5)
        noise = KVMeanNoise(counts, math.sqrt(row["mean_scale_squared"]) * numbers(row, "z", d))
        settings = {given: float(row[given]), "mean_bound": float(row["mean_bound"]), "rho": float(row["budget"])}
        settings |= {"beta": 8 * n * d * math.exp(-(row["r"] ** 2) / 2)}
        close(module_of(name).release(data(row), noise, **settings), numbers(row, "y", d))

    return replay


def preconditioner(row: Row) -> None:
    """Compare the release without its factor 1/√0.84 with a stored row."""
    released = weak_ppc.release(data(row), scaled(row, 2, 2), **short_rows(row))
    close(math.sqrt(0.84) * released, block(row, "y", 2, 2))


def coinpress_covariance(row: Row) -> None:
    """Compare the release of a single step with the numbers that Rocq computed. The value of β = n e^(−L) makes γ²
    rational.
    """
    settings = {"rho": float(row["budget"]), "u": float(row["u"]), "beta": float(row["n"]) * math.exp(-row["log"])}
    released = module_of("coinpress-covariance").release(data(row), scaled(row, 2, 2)[None], steps=1, **settings)
    close(released, block(row, "y", 2, 2))


def output_perturbation(row: Row) -> None:
    settings = {"epsilon": float(row["budget"]), "alpha": float(row["alpha"])} | calibration(int(row["option"]))
    released = module_of("output-perturbation").release(data(row), numbers(row, "v", 1), **settings)
    close(released, numbers(row, "y", 1))


def discrete_laplace(row: Row) -> None:
    """Compare the release with the numbers that Rocq computed. The mechanism must ask its sampler for noise of exactly
    the scale that Rocq computed. It must release the floats that are nearest to the exact numbers from Rocq.
    """
    d = size(row)[1]
    entries = [[int(row[f"z{i + 1}{j + 1}"]) for j in range(d)] for i in range(d)]
    scales: list[Fraction] = []

    def noise(scale: Fraction) -> np.ndarray:
        scales.append(scale)
        return np.array(entries, dtype=object)

    settings = {"epsilon": float(row["budget"]), "input_bits": int(row["option"])}
    released = module_of("discrete-laplace-covariance").release(data(row), noise, **settings)
    assert scales == [row["scale"]]
    assert (released == block(row, "y", d, d)).all()


def svt_noise(row: Row) -> AboveThresholdNoise:
    return AboveThresholdNoise(float(row["z0"]), np.array([float(row["z1"]), float(row["z2"])]))


def above(row: Row) -> None:
    settings = {"epsilon": float(row["budget"]), "share": float(row["share"])} | calibration(int(row["option"]))
    assert above_threshold.release(data(row), svt_noise(row), **settings) == row["answer"] + 1


def radius(row: Row) -> None:
    """Compare the released radius with a stored row. The value of β follows from the stored slack."""
    epsilon, slack, precision = (float(row[column]) for column in ("budget", "slack", "precision"))
    paper = 4 * math.exp(-slack * epsilon / 8)  # because slack = (8/ε) ln (4/β)
    tight = math.sqrt(8) * math.exp(-slack * epsilon / 4)  # because slack = (2/ε) ln (2/β) + (2/ε) ln (4/β)
    beta = tight if row["option"] else paper
    settings = {"epsilon": epsilon, "precision": precision, "beta": beta} | calibration(int(row["option"]))
    expected = min(1, precision * 2 ** int(row["answer"]))
    assert private_radius.release(data(row), svt_noise(row), **settings) == expected


def odds(row: Row) -> None:
    """Compare the choice between two options with the threshold that Rocq computed, which is the logarithm of the odds
    of the choice. The mechanism must choose differently for noise just below and noise just above the threshold.
    """
    for beyond, winner in ((0.99, 2), (1.01, 1)):
        noise = np.array([beyond * float(row["log_odds"]), 0.0])
        assert exponential.release(data(row), noise, epsilon=float(row["budget"])) == winner


def bingham(row: Row) -> None:
    """Compare the matrix that `release` passes to the sampler with the stored matrix."""
    seen: list[np.ndarray] = []

    def sampler(matrix: np.ndarray) -> np.ndarray:
        seen.append(matrix)
        return np.array([1.0, 0.0])

    settings = {"epsilon": float(row["budget"])} | calibration(int(row["option"]))
    module_of("bingham").release(data(row), sampler, **settings)
    close(seen[0], block(row, "m", 2, 2))


# THE OPTIONS


def calibration(option: int) -> Options:
    return {"calibration": ("paper", "tight")[option]}


def entrywise(option: int) -> Options:
    return calibration(option % 2) | {"entries": ("full", "triangle")[option // 2]}


def body(option: int) -> Options:
    return {"body": ("schatten1", "covariance", "l1", "l2", "linf")[option]}


def ensemble(option: int) -> Options:
    return {"ensemble": ("wigner", "goe")[option]}


def plain(_: int) -> Options:
    return {}


@dataclass(frozen=True)
class Release:
    """A function that compares releases of one mechanism with stored rows, and the names of the formulas that it uses.
    A test multiplies each formula by 0.97 and 1.03. The name "naive-pce:noise_variance" stands for a formula in the
    module of another mechanism.
    """

    replay: Callable[[Row], None]
    mutants: tuple[str, ...] = field(default=("noise_scale", "second_moment"))


MOMENTS = ("noise_scale", "second_moments_sensitivity", "column_squares")
SVT = ("threshold_scale", "query_scale")
RELEASES = {
    "entrywise-laplace": Release(square("entrywise-laplace", "epsilon", entrywise)),
    "lap-cov": Release(square("lap-cov", "epsilon", calibration)),
    "nuclear-laplace": Release(square("nuclear-laplace", "epsilon", plain)),
    "nuclear-laplace-symmetric": Release(square("nuclear-laplace-symmetric", "epsilon", plain)),
    "k-norm": Release(square("k-norm", "epsilon", body), ("noise_scale", "second_moment", "sensitivity")),
    "centred-covariance": Release(square("centred-covariance", "epsilon", plain)),
    "gauss-cov": Release(square("gauss-cov", "rho", ensemble)),
    "projection-mechanism": Release(square("projection-mechanism", "rho", ensemble), ("psd_trace_ball",)),
    "laplace": Release(vector("laplace", "epsilon"), MOMENTS),
    "gaussian": Release(vector("gaussian", "rho"), MOMENTS),
    "gaussian-approximate": Release(
        gaussian_approximate, ("classical_multiplier", "second_moments_sensitivity", "column_squares")
    ),
    "gauss-cov-approximate": Release(
        gauss_cov_approximate, ("gaussian-approximate:classical_multiplier", "sensitivity", "second_moment")
    ),
    "private-trace": Release(private_trace, ("laplace_scale", "total_square")),
    "nuclear-ball-projection": Release(
        nuclear_ball_projection, ("matrix_scale", "trace_scale", "second_moment", "nuclear_ball")
    ),
    "naive-pce": Release(naive_pce, ("noise_variance", "radius_squared", "second_moment", "psd_cone")),
    "separate-cov": Release(separate("separate-cov", SeparateCovNoise, "rho", ensemble)),
    "separate-cov-pure": Release(
        separate("separate-cov-pure", SeparateCovPureNoise, "epsilon", calibration),
        ("matrix_scale", "eigenvalue_scale", "second_moment"),
    ),
    "kv-mean": Release(
        histogram("kv-mean", "sigma"), ("count_variance", "half_width", "mean_variance", "histogram", "sum_rows")
    ),
    "naive-pme": Release(
        histogram("naive-pme", "kappa"), ("deviation_bound", "kv-mean:count_variance", "kv-mean:mean_variance")
    ),
    "weak-ppc": Release(
        preconditioner, ("naive-pce:noise_variance", "naive-pce:radius_squared", "naive-pce:second_moment")
    ),
    "coinpress-covariance": Release(
        coinpress_covariance, ("noise_scale", "squared_radius", "second_moment", "pressed")
    ),
    "output-perturbation": Release(
        output_perturbation, ("largest_norm", "gradient_change", "sensitivity", "noise_scale", "coefficients")
    ),
    "discrete-laplace-covariance": Release(discrete_laplace, ("sensitivity", "noise_scale", "in_units")),
    "coinpress-mean": Release(coinpress_mean, ("noise_scale", "clip_radius", "row_bound")),
    "above-threshold": Release(above, (*SVT, "column_squares")),
    "private-radius": Release(radius, ("search_threshold", "public_radii")),
    "exponential": Release(odds, ("exponent", "column_squares")),
    "bingham": Release(bingham, ("exponent", "second_moment")),
}


def replay_all(name: str) -> None:
    for row in rows_of(f"release-{name}"):
        RELEASES[name].replay(row)


@pytest.mark.parametrize("name", RELEASES)
def test_the_reference_releases_what_the_kernel_computed(name: str) -> None:
    """The test fails if a release in Python differs from the release that Rocq computed."""
    replay_all(name)


@pytest.mark.parametrize(("name", "formula"), [(name, f) for name, r in RELEASES.items() for f in r.mutants])
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_formula_that_is_three_per_cent_wrong_is_seen(
    name: str, formula: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if the comparison accepts a formula that is wrong by 3 %."""
    owner, _, function = formula.rpartition(":")
    module = module_of(owner or name)
    original = getattr(module, function)
    monkeypatch.setattr(module, function, lambda *given, **named: factor * original(*given, **named))
    with pytest.raises(AssertionError):
        replay_all(name)


@pytest.mark.parametrize("formula", [*SVT, "accuracy"])
def test_a_wrong_scale_of_the_sparse_vector_is_seen_in_private_radius(
    formula: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if the comparison of private-radius accepts a formula of the sparse vector technique that is
    wrong by 3 %.
    """
    original = getattr(above_threshold, formula)
    monkeypatch.setattr(above_threshold, formula, lambda *given, **named: 1.03 * original(*given, **named))
    with pytest.raises(AssertionError):
        replay_all("private-radius")


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_wrong_constant_of_the_preconditioner_is_seen(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the comparison accepts a constant of weak-ppc that is wrong by 3 %."""
    monkeypatch.setattr(weak_ppc, "FLOOR", factor * weak_ppc.FLOOR)
    with pytest.raises(AssertionError):
        replay_all("weak-ppc")


def test_every_whole_mechanism_with_a_vector_has_a_replay() -> None:
    """Rocq computed releases of some mechanisms. The test fails if, for one of these mechanisms, no test compares the
    releases with those of the Python code.
    """
    assert {name for name in VECTORS if name.startswith("release-")} == {f"release-{name}" for name in RELEASES}
