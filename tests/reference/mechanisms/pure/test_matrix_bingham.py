"""Test the matrix Bingham mechanism: a single column, and its accuracy."""

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import matrix_bingham as law
from covassay.reference.mechanisms.pure.matrix_bingham import error_bound, sample


def test_one_column_has_no_subspace() -> None:
    with pytest.raises(InvalidInput, match="x has 1 column"):
        sample([[0.5]], np.random.default_rng(0), epsilon=1)


# The draws


@pytest.mark.parametrize(("d", "k"), [(5, 2), (6, 4)])
def test_what_is_missed_stays_within_the_bound(d: int, k: int) -> None:
    # For d = 5 and k = 2 or 3, the bound is (k (d − k) + min(k, d − k))/η = (6 + 2)/0.25 by hand.
    assert error_bound(0.25, 5, 2) == error_bound(0.25, 5, 3) == 32
    # Here the mean loss is less than half of the bound, and one loss has a standard deviation of about half its mean.
    values = np.linspace(0, 12, d)
    p = law.sample(np.diag(values), k, np.random.default_rng(3), 2000)
    missed = values[-k:].sum() - np.einsum("nii,i->n", p, values)
    assert missed.min() > -1e-9
    assert 0.1 * error_bound(1.0, d, k) < missed.mean() < error_bound(1.0, d, k)
