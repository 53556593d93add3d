"""Test that a release is a function of the data and the noise: equal data and noise must give the same output."""

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
    """Return the names of the cases in which `release` gives another output on X than in its first call."""
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
    """A wrong noise object: it draws from its own generator, so that every call gives new numbers."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, m: Matrix, step: int = 0) -> Vector:
        return bingham.sample(m, self.rng)


def worn(x: Matrix, noise: Matrix) -> Matrix:
    """Return the release of a wrong mechanism, which overwrites its noise."""
    noise *= 0.97
    return x[:D].T @ x[:D] + noise


EVERYWHERE = ["at once", "after other data", "copy", "deep copy", "pickle"]


def test_noise_that_keeps_a_generator_is_seen() -> None:
    about = MECHANISMS["bingham"]
    assert differences(lambda x, z: about.release(x, z, epsilon=1.0), KeepsAGenerator()) == EVERYWHERE


def test_noise_that_is_written_to_is_seen() -> None:
    assert differences(worn, np.ones((D, D))) == EVERYWHERE


def test_another_key_gives_another_draw() -> None:
    """Test that noise objects with different keys give different draws."""
    rng = np.random.default_rng(0)
    one, two = draws_again(bingham.sample, rng), draws_again(bingham.sample, rng)
    assert one.key != two.key
    assert not np.array_equal(one(np.eye(D)), two(np.eye(D)))


def difference_of_angles(first: Vector, second: Vector) -> float:
    """Return the angle between two directions in the plane, in turns. It is uniform if the directions are independent
    and uniform.
    """
    return float((np.arctan2(*first) - np.arctan2(*second)) / (2 * math.pi) % 1)


@pytest.mark.parametrize(("steps", "independent"), [((0, 1), True), ((0, 0), False)])
def test_the_steps_of_one_noise_are_independent(steps: tuple[int, int], independent: bool) -> None:
    """Test that two draws are independent if they are for different steps, and equal if they are for the same step."""
    rng = np.random.default_rng(0)
    angles = []
    for _ in range(1000):
        noise = draws_again(bingham.sample, rng)
        angles.append(difference_of_angles(*(noise(np.zeros((2, 2)), step=i) for i in steps)))
    p_value = kolmogorov_smirnov(np.array(angles), lambda t: t, "uniform").p_value
    assert p_value > FALSE_ALARM if independent else p_value < FALSE_ALARM


def test_the_rounds_of_one_release_have_independent_directions() -> None:
    """Test that the directions of two rounds are independent. They are uniform, because the data are rows of zeros."""
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
    """Test that a noise object uses the same random bits for two data sets. Privacy does not require that the draws for
    two data sets are independent.
    """
    noise: DrawsAgain[Vector] = draws_again(bingham.sample, np.random.default_rng(0))
    np.testing.assert_array_equal(noise(np.eye(D)), noise(2 * np.eye(D)))  # both draws are uniform directions
