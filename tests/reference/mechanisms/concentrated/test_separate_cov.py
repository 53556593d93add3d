"""Test the eigenvectors of SeparateCov."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated.separate_cov import descending_eigenvectors
from tests.conventions import SEEDS

PROPERTY = settings(max_examples=80)


# The law


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6))
def test_eigenvectors_are_orthonormal_and_descending(seed: int, d: int) -> None:
    """Test that the eigenvectors are orthonormal, in descending order of their eigenvalues."""
    m = wigner.sample_goe(d, np.random.default_rng(seed))
    v = descending_eigenvectors(m)
    np.testing.assert_allclose(v.T @ v, np.eye(d), atol=1e-12)
    assert (np.diff(np.diag(v.T @ m @ v)) <= 1e-12).all()
