"""Test LapCov: the error bound of the paper DLY22, and clipped eigenvalues."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.mechanisms.pure.lap_cov import draw_noise, error_bound, sample
from covassay.reference.projections import spectral_interval
from tests.conventions import SEEDS

PROPERTY = settings(max_examples=60)


def test_the_error_bound_holds_on_draws() -> None:
    # The bound is far from tight. Its first term 1.5 d is not a valid bound by itself, because more than a tenth of the
    # errors exceed 1.5 d.
    rng = np.random.default_rng(3)
    for d in (2, 5):
        errors = np.linalg.norm(draw_noise(d, rng, 2000), axis=(1, 2))
        assert (errors <= error_bound(d, 1.0, 0.1)).mean() >= 0.9
        assert (errors <= 1.5 * d).mean() < 0.9


# The law


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5))
def test_clipping_the_eigenvalues_never_hurts(seed: int, d: int) -> None:
    """Test that clipping the eigenvalues to [0, 1] does not increase the error."""
    # All eigenvalues of Σ are in [0, 1], and the clip is the projection on the convex set of such matrices.
    x = unit_rows(np.random.default_rng(seed).standard_normal((4, d)))
    noisy = sample(x, np.random.default_rng(seed), epsilon=3)
    sigma = second_moment(x)
    assert np.linalg.norm(spectral_interval(noisy, 0, 1) - sigma) <= np.linalg.norm(noisy - sigma) + 1e-12
