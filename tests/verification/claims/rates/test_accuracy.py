"""Test the stored rates of convergence: a part of them is measured again, and wrong slopes must be detected."""

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.laws.nuclear_laplace import spectral_norm_quantile
from covassay.verification.claims.rates.accuracy import Measurement, Point, at_the_noise_level, fit, measure
from covassay.verification.claims.rates.rates import RATES
from covassay.verification.cli.experiments import as_row
from covassay.verification.cli.main import run

KEPT = Path(__file__).with_name("accuracy.csv")
BY_NAME = {f"{rate.name} {rate.mechanism}": rate for rate in RATES}
FAST = ["DLY22 GaussCov, Frobenius error in n gauss-cov", "DN25 Theorem 1, nuclear error in budget nuclear-laplace"]


def kept() -> dict[str, dict[str, str]]:
    with KEPT.open(encoding="utf-8") as file:
        return {f"{row['rate']} {row['mechanism']}": row for row in csv.DictReader(file)}


def numbers(row: dict[str, object] | dict[str, str]) -> list[float]:
    return [float(value) for value in str(row["errors"]).split()]


def test_the_table_has_every_rate_and_every_slope_agrees() -> None:
    """The test fails if a rate has no measurement, or if its measured slope contradicts the theory."""
    rows = kept()
    assert set(rows) == set(BY_NAME)
    for name, row in rows.items():
        assert row["agrees"] == "yes", name
        assert float(row["theory"]) == BY_NAME[name].slope
        assert [float(v) for v in row["grid"].split()] == list(BY_NAME[name].grid)


def test_the_corrected_constants_of_theorem_1_are_met() -> None:
    """The test fails if a measured nuclear or Frobenius error differs by more than 3 % from the corrected constant of
    Theorem 1. In the operator norm, the median of the error at d = 122 is 3 % below its limit.
    """
    rows = {name: row for name, row in kept().items() if name.startswith("DN25 Theorem 1") and row["varied"] == "d"}
    measured = {row["rate"].split(", ")[1].split()[0]: float(row["over_theory"]) for row in rows.values()}
    assert measured["nuclear"] == pytest.approx(1, abs=0.03)
    assert measured["Frobenius"] == pytest.approx(1, abs=0.03)
    assert measured["operator"] == pytest.approx(spectral_norm_quantile(122, 0.5) / (np.pi * 122), abs=0.02)


@cache
def measured_again(name: str) -> Measurement:
    return measure(BY_NAME[name])


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAST)
def test_a_share_of_the_table_is_measured_again(name: str) -> None:
    """The test fails if a repeated measurement differs from the stored table."""
    assert numbers(as_row(measured_again(name))) == pytest.approx(numbers(kept()[name]), rel=1e-4)


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(set(BY_NAME) - set(FAST)))
def test_the_table_is_measured_again(name: str) -> None:
    """The test fails if a repeated measurement differs from the stored table."""
    assert numbers(as_row(measured_again(name))) == pytest.approx(numbers(kept()[name]), rel=1e-3)


def test_a_wrong_slope_is_seen() -> None:
    """The test fails if a wrong rate of convergence is said to agree with the measured errors."""
    rate = BY_NAME[FAST[0]]
    measured = measured_again(FAST[0])  # the theoretical slope is −1
    assert measured.agrees
    assert not replace(measured, rate=replace(rate, slope=-0.5)).agrees
    assert not replace(measured, rate=replace(rate, slope=-1.2, at_most=True)).agrees
    assert replace(measured, rate=replace(rate, slope=0.0, at_most=True)).agrees


def test_a_wrong_mechanism_is_seen() -> None:
    """The test fails if the errors on easy data are said to agree with the worst-case rate of separate-cov."""
    rate = next(r for r in RATES if r.mechanism == "separate-cov" and r.varied == "n")
    easy = at_the_noise_level(lambda point: 1.0)
    assert not measure(replace(rate, data=easy, repeats=2)).agrees


def test_the_fit_is_exact_on_a_power() -> None:
    """The test fails if the fitted slope is wrong for data without noise."""
    grid = np.array([1.0, 2.0, 8.0])
    slope, error = fit(grid, 5 * grid**-0.75, np.zeros(3))
    assert slope == pytest.approx(-0.75)
    assert error == 0.0


def test_data_at_the_noise_level_have_trace_one_and_as_many_eigenvalues_as_fit() -> None:
    """The test fails if the constructed data do not have the eigenvalues that show the rate."""
    x = at_the_noise_level(lambda point: 0.26)(Point(n=1000, d=10, budget=1.0))
    assert np.diag(x.T @ x / 1000)[:5] == pytest.approx([0.25, 0.25, 0.25, 0.25, 0.0])


def test_an_unknown_rate_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if a misspelt name of a rate leads to a traceback."""
    assert run(["experiments", "accuracy", "--only", "perpetual motion"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
