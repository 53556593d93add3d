"""Test rounded releases against floating-point releases: the output with little noise, and the cost."""

from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Chunks
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.rounded.releasing import RoundedRelease, release
from tests.reference.rounded.variants import NAMES, VARIANTS, budget, draw, rows

LITTLE_NOISE = "1e12"
SPENT = {"entries", "calibration", "ensemble", "body", "budget", "rank", "adjacency"}


def up_to_sign(values: Any) -> Any:
    return values * np.sign(values[np.argmax(np.abs(values))])


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=NAMES)
def test_with_little_noise_it_is_the_float_release(name: str, options: dict[str, str], d: int) -> None:
    x = rows(50, d)
    keywords = dict.fromkeys(budget(name), LITTLE_NOISE)
    in_box = mechanism(name).domain == "box"
    frame: dict[str, Any] = {"bounds": [(-2.0, 2.0)] * d} if in_box else {"row_bound": 2.0}
    found = draw(name, options, 2 * x, 1, grid="2^-40", **frame, **keywords).values
    numbers: dict[str, Any] = {key: int(v) if key == "rank" else v for key, v in options.items() if key != "share"}
    numbers |= {"share": float(options["share"])} if "share" in options else {}
    wanted = mechanism(name).sample(
        2 * x, np.random.default_rng(1), **frame, **{key: float(v) for key, v in keywords.items()}, **numbers
    )
    assert found.shape == np.shape(wanted) == mechanism(name).output_of(options).shape(d)
    if mechanism(name).output.kind == "direction":
        found, wanted = up_to_sign(found), up_to_sign(wanted)
    # The tolerance is for two differences: one version rounds rows to multiples of 2^-20, and the random directions of
    # the two versions differ.
    assert np.allclose(found, wanted, atol=4 * 3e-5)


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=NAMES)
def test_the_budget_is_that_of_the_mechanism(name: str, options: dict[str, str]) -> None:
    found = draw(name, options, rows(5, 3), 1, **dict.fromkeys(budget(name), "0.1")).spend
    choices: dict[str, Any] = {key: int(v) if key == "rank" else v for key, v in options.items() if key in SPENT}
    assert found == mechanism(name).spend(dimension=3, **dict.fromkeys(budget(name), 0.1), **choices)


def test_chunks_and_arrays_give_the_same_release() -> None:
    """Test that data in chunks give the same release as the whole array."""
    x = rows(100, 3)
    chunks = Chunks(x.shape, lambda: iter([x[:33], x[33:]]))
    assert draw("nuclear-laplace", {}, x, 1).integers == draw("nuclear-laplace", {}, chunks, 1).integers  # type: ignore[arg-type]


def test_the_operating_system_gives_other_bits_every_time() -> None:
    first, second = (release("laplace", rows(10, 2), epsilon=1) for _ in range(2))
    assert first.integers != second.integers
    assert not first.seeded
    assert first.provenance()["assumptions"] == list(RoundedRelease.assumptions)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("no-such", {"epsilon": 1}, "mechanism = 'no-such'"),
        ("ppde", {"rho": 1}, "no rounded form"),
        ("laplace", {}, "epsilon is missing"),
        ("laplace", {"rho": 1}, "epsilon is missing"),
        ("laplace", {"epsilon": 0}, "epsilon = 0"),
        ("laplace", {"epsilon": "-1"}, "epsilon = -1"),
        ("laplace", {"epsilon": "one"}, "epsilon"),
        ("laplace", {"epsilon": 1, "body": "l1"}, "no such option"),
        ("k-norm", {"epsilon": 1, "body": "l3"}, "body = 'l3'"),
        ("iterative-eigenvectors", {"epsilon": 1, "rank": "1.5"}, "rank"),
        ("above-threshold", {"epsilon": 1, "share": 0}, "share = 0"),
        ("laplace", {"epsilon": "1e-300"}, "epsilon = 1e-300: must be between 1e-30 and 1e30"),
        ("laplace", {"epsilon": 1, "row_bound": 1e-120}, "row_bound = 1e-120: must be between 1e-100 and 1e100"),
    ],
)
def test_bad_arguments_are_refused(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(name, rows(5, 2), **arguments)
