"""Test exact releases with integer noise: their integers, and their random bits."""

import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Chunks
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.exact_draws import Coins, generator_bits
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.rounded import ON_A_LATTICE, WITH_ROUNDED_FORM, exact_release
from covassay.reference.rounded.lattice import LATTICE, LatticeRelease, release
from tests.conventions import Matrix

BUDGETS = {"discrete-laplace-covariance": {"epsilon": "0.1"}, "discrete-gaussian-covariance": {"rho": "0.1"}}
EVERY = pytest.mark.parametrize("name", LATTICE)


def rows(n: int = 50, d: int = 3) -> Matrix:
    return np.random.default_rng(3).normal(size=(n, d))


def test_every_mechanism_on_a_lattice_has_this_form_and_no_other() -> None:
    on_a_lattice = [name for name, declared in MECHANISMS.items() if declared.lattice]
    assert set(on_a_lattice) == set(ON_A_LATTICE) == set(LATTICE)
    assert not set(ON_A_LATTICE) & set(WITH_ROUNDED_FORM)


@EVERY
def test_without_noise_it_is_the_sum_of_the_integer_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = replace(LATTICE[name], law=lambda d, p, coins: np.zeros((d, d), dtype=object) + 0)
    monkeypatch.setitem(LATTICE, name, quiet)
    x = np.array([[0.6, -0.3], [0.0, 9.0], [0.99, 0.01]])
    found = release(name, x, input_bits=2, **BUDGETS[name])  # the rows are (2, −1), (0, 4) and (3, 0), divided by 4
    assert found.integers == {"matrix": [13, -2, 17]}
    assert found.grid == Fraction(1, 3 * 16)
    np.testing.assert_array_equal(found.values, np.array([[13, -2], [-2, 17]]) / 48)


@EVERY
def test_the_file_says_exactly_what_was_released(name: str) -> None:
    found = release(name, 4 * rows(), row_bound=4.0, **BUDGETS[name])
    said = found.provenance()
    assert Fraction(said["grid"]) == Fraction(1, 50 * 4**20)
    assert said["bits"] == "of the operating system"
    triangle = found.values[np.triu_indices(3)]
    assert [float(k * Fraction(said["grid"])) * said["unit"] for k in said["integers"]["matrix"]] == triangle.tolist()
    assert found.spend == mechanism(name).spend(dimension=3, **{k: float(v) for k, v in BUDGETS[name].items()})
    assert len({tuple(release(name, rows(), **BUDGETS[name]).integers["matrix"]) for _ in range(3)}) == 3


@EVERY
def test_a_seed_fixes_it_and_chunks_are_the_same_data(name: str) -> None:
    x = rows()
    chunks = Chunks(x.shape, lambda: iter([x[:33], x[33:]]))
    one, other = (release(name, data, seed=5, **BUDGETS[name]) for data in (x, chunks))
    assert one.integers == other.integers
    assert one.provenance()["bits"] == "from a seed: not private, for tests only"


def fair_low_bits(name: str, on: int, count: int = 200) -> None:
    """Check that the lowest bit of a released integer is 1 with probability 1/2. A false alarm has probability 1e-9."""
    x = np.zeros((1, 2))
    x[:, 0] = on
    bits = generator_bits(np.random.default_rng(7))
    odd = sum(release(name, x, bits=bits, **BUDGETS[name]).integers["matrix"][0] % 2 for _ in range(count))
    assert abs(odd - count / 2) < 6.2 * (count / 4) ** 0.5


@EVERY
@pytest.mark.parametrize("on", [0, 1], ids=["query 0", "query 1"])
def test_low_order_bits_are_fair(name: str, on: int) -> None:
    """Test that the lowest bit of a released integer does not depend on the data, as it would with floating-point
    noise."""
    fair_low_bits(name, on)


def test_the_mutant_whose_noise_was_float64_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    def float_noise(d: int, scale: Fraction, coins: Coins) -> Any:
        z = np.random.default_rng(coins.bits(64)).laplace(scale=float(scale)) * 2.0**30
        return np.full((d, d), int(z), dtype=object)

    name = "discrete-laplace-covariance"
    monkeypatch.setitem(LATTICE, name, replace(LATTICE[name], law=float_noise))
    with pytest.raises(AssertionError):
        fair_low_bits(name, 0)


@EVERY
def test_it_needs_no_python_flint(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the release does not need the optional package python-flint."""
    monkeypatch.setitem(sys.modules, "flint", None)
    assert isinstance(exact_release(name, rows(), seed=1, **BUDGETS[name]), LatticeRelease)


@EVERY
def test_what_does_not_fit_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="takes no grid"):
        exact_release(name, rows(), grid="2^-30", **BUDGETS[name])
    with pytest.raises(InvalidInput, match="input_bits = 25"):
        exact_release(name, rows(), input_bits=25, **BUDGETS[name])
    for wrong in ({}, {"epsilon": "0", "rho": "0"}):
        with pytest.raises(InvalidInput):
            exact_release(name, rows(), **wrong)
