"""Test that repeated draws from a normal law equal those of numpy's RandomState."""

import numpy as np
import pytest

from covassay.verification.audit.adapters.diffprivlib_package import keeps_factor, legacy


def test_draws_are_those_of_numpy_and_a_covariance_is_decomposed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a draw differs from numpy's, or if the same covariance matrix is decomposed more than once. For
    every proposal of its rejection sampler, diffprivlib passes a new array with the same numbers.
    """
    covariance = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
    ours, theirs = keeps_factor(np.random.default_rng(4)), legacy(np.random.default_rng(4))
    expected = [theirs.multivariate_normal(np.zeros(3), covariance * s / 4, size=4) for s in (1, 1, 1, 3, 1)]
    decomposed, svd = [], np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda m: decomposed.append(m) or svd(m))  # type: ignore[func-returns-value]
    found = [ours.multivariate_normal(np.zeros(3), covariance * s / 4, size=4) for s in (1, 1, 1, 3, 1)]
    np.testing.assert_array_equal(found, expected)
    assert len(decomposed) == 3
