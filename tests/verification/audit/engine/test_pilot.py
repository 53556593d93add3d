"""Test the search for a combination of output entries that has no noise."""

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.pilot import combination, without_noise

SIZE, D = 200, 3
MEAN, CHANGE = np.linspace(0.1, 0.9, D), np.array([0.3, -0.2, 0.01])


def symmetric(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    noise = rng.normal(size=(SIZE, D, D))
    return np.outer(mean, mean) + noise + noise.transpose(0, 2, 1)


def with_one_noise(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    """Draw pairs of vectors with the same noise, of which only the first depends on the data."""
    noise = rng.normal(size=(SIZE, D))
    return np.stack([mean + noise, 2 * noise], axis=1)


def repeated(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    values = mean + rng.normal(size=(SIZE, D))
    return np.stack([values, values / 3], axis=1)


def constant_entry(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    return np.hstack([np.full((SIZE, 1), 7.1), mean + rng.normal(size=(SIZE, D))])


def unit_vectors(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    values = mean + rng.normal(size=(SIZE, D))
    return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True))


def of_rank_one(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    _, vectors = np.linalg.eigh(symmetric(rng, mean))
    return np.asarray(vectors[:, :, -1:] * vectors[:, None, :, -1])


def of_trace_one(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    values = np.exp(mean + rng.normal(size=(SIZE, D)))
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def with_little_noise(rng: np.random.Generator, mean: np.ndarray) -> Matrix:
    """Draw pairs of vectors whose difference has little noise, 1e-4 times the noise of each vector."""
    values = with_one_noise(rng, mean)
    values[:, 1] += 1e-4 * rng.normal(size=(SIZE, D))
    return values


def test_noise_that_is_used_twice_leaves_a_combination_that_tells_the_data_sets_apart() -> None:
    rng = np.random.default_rng(0)
    direction = without_noise(with_one_noise(rng, MEAN), with_one_noise(rng, MEAN + CHANGE))
    assert direction is not None
    one, two = (combination(direction)(with_one_noise(rng, mean)) for mean in (MEAN, MEAN + CHANGE))
    assert min(one) > max(two)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    "outputs", [symmetric, repeated, constant_entry, unit_vectors, of_rank_one, of_trace_one, with_little_noise]
)
def test_a_relation_that_holds_in_every_output_gives_no_statistic(outputs, scale: float) -> None:  # type: ignore[no-untyped-def]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert without_noise(scale * outputs(rng, MEAN), scale * outputs(rng, MEAN + CHANGE)) is None
