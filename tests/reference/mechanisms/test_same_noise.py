"""Test that a release is a function of the data and the noise: equal data and noise always give the same output."""

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from covassay.reference.laws import bingham
from covassay.reference.laws.draws_again import DrawsAgain, draws_again
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import kapralov_talwar
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.statistics.tests import kolmogorov_smirnov
from covassay.verification.vectors.answer import noise_of
from tests.conventions import FALSE_ALARM, Matrix, Vector

AnyMechanism = Mechanism[Any, ..., Any]
N, D = 20, 3
X, OTHER = np.random.default_rng(0).uniform(-1, 1, size=(2, N, D)) / math.sqrt(D)

Release = Callable[[Matrix, Any], Any]


def differences(release: Release, noise: Any) -> list[str]:
    """Return the cases in which `release` does not repeat its output on `X`."""
    first = release(X, noise)
    again = {"at once": release(X, noise)}
    release(OTHER, noise)
    again["after other data"] = release(X, noise)
    again["copy"] = release(X, copy.copy(noise))
    again["deep copy"] = release(X, copy.deepcopy(noise))
    again["pickle"] = release(X, pickle.loads(pickle.dumps(noise)))
    return [name for name, output in again.items() if not np.array_equal(output, first)]


@pytest.mark.parametrize("about", MECHANISMS.values(), ids=list(MECHANISMS))
def test_the_same_data_and_the_same_noise_give_the_same_output(about: AnyMechanism) -> None:
    budget = about.notion.default.keywords()
    for values in product(*about.choices.values()):
        options = dict(zip(about.choices, values, strict=True))
        noise = noise_of(about, options, D, np.random.default_rng(1), N)
        assert not differences(lambda x, z, o=options: about.release(x, z, **budget, **o), noise)  # type: ignore[misc]


class KeepsAGenerator:
    """This wrong noise object draws from its own generator, so that every use gives new numbers."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, m: Matrix, step: int = 0) -> Vector:
        return bingham.sample(m, self.rng)


def worn(x: Matrix, noise: Matrix) -> Matrix:
    """Release as a wrong mechanism does, which overwrites its noise."""
    noise *= 0.97
    return x[:D].T @ x[:D] + noise


EVERYWHERE = ["at once", "after other data", "copy", "deep copy", "pickle"]


def test_noise_that_keeps_a_generator_is_seen() -> None:
    about = MECHANISMS["bingham"]
    assert differences(lambda x, z: about.release(x, z, epsilon=1.0), KeepsAGenerator()) == EVERYWHERE


def test_noise_that_is_written_to_is_seen() -> None:
    assert differences(worn, np.ones((D, D))) == EVERYWHERE


def test_another_key_gives_another_draw() -> None:
    """This test catches a cache of draws that returns one draw for every key."""
    rng = np.random.default_rng(0)
    one, two = draws_again(bingham.sample, rng), draws_again(bingham.sample, rng)
    assert one.key != two.key
    assert not np.array_equal(one(np.eye(D)), two(np.eye(D)))


def difference_of_angles(first: Vector, second: Vector) -> float:
    """Return the angle from one direction in the plane to another, in turns; the angle is uniform if the directions are
    independent and uniform.
    """
    return float((np.arctan2(*first) - np.arctan2(*second)) / (2 * math.pi) % 1)


@pytest.mark.parametrize(("steps", "independent"), [((0, 1), True), ((0, 0), False)])
def test_the_steps_of_one_noise_are_independent(steps: tuple[int, int], independent: bool) -> None:
    """This test catches noise that is reused from one step in the next."""
    rng = np.random.default_rng(0)
    angles = []
    for _ in range(1000):
        noise = draws_again(bingham.sample, rng)
        angles.append(difference_of_angles(*(noise(np.zeros((2, 2)), step=i) for i in steps)))
    p_value = kolmogorov_smirnov(np.array(angles), lambda t: t, "uniform").p_value
    assert p_value > FALSE_ALARM if independent else p_value < FALSE_ALARM


def test_the_rounds_of_one_release_have_independent_directions() -> None:
    """This test catches one direction that is used in both rounds. The data are rows of zeros, so that the directions
    of both rounds are uniform, whatever the values are.
    """
    rng = np.random.default_rng(0)
    angles = []
    for _ in range(1000):
        seen: list[Vector] = []
        noise = kapralov_talwar.draw_noise(2, rng)

        def keep(m: Matrix, *, step: int, noise: Any = noise, seen: list[Vector] = seen) -> Vector:
            seen.append(noise.direction(0 * m, step=step))
            return seen[-1]

        kapralov_talwar.release(np.zeros((3, 2)), replace(noise, direction=keep), epsilon=1.0)
        angles.append(difference_of_angles(*seen))
    assert kolmogorov_smirnov(np.array(angles), lambda t: t, "uniform").p_value > FALSE_ALARM


def test_the_same_noise_may_be_shared_by_two_data_sets() -> None:
    """This test catches a noise object that draws new bits for a second data set. Each of the two draws follows the law
    for its data set, but the draws need not be independent.
    """
    noise: DrawsAgain[Vector] = draws_again(bingham.sample, np.random.default_rng(0))
    np.testing.assert_array_equal(noise(np.eye(D)), noise(2 * np.eye(D)))  # both are uniform
