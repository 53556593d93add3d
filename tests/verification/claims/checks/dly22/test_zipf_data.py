"""Test the synthetic data of the paper DLY22: bucket sizes, row norms and trace must agree with hand calculations."""

from fractions import Fraction

import numpy as np
import pytest

from covassay.reference.domain import second_moment
from covassay.reference.errors import InvalidInput
from covassay.verification.claims.checks.dly22.zipf_data import bucket_sizes, shares, zipf_norms, zipf_rows


def test_shares_by_hand() -> None:
    # the shares are proportional to 1, 1/8 and 1/27, whose sum is 251/216
    """The test fails if the number of rows in the bucket k of the synthetic data is not proportional to k^{−s}."""
    assert shares(3, 1) == [1]
    np.testing.assert_allclose(shares(3, 3), [216 / 251, 27 / 251, 8 / 251], rtol=1e-15)
    assert sum(bucket_sizes(1000, 3, 3)) == 1000
    assert bucket_sizes(251, 3.0, 3)[:1] in ([215], [216])  # ⌊251 · 216/251⌋ is 216; a rounding error may give 215
    assert bucket_sizes(3, 3.0, 4) == [2, 0, 0, 1]  # ⌊2.55⌋, ⌊2.87⌋, ⌊2.96⌋


def test_norms_by_hand() -> None:
    """The test fails if the row norms of the synthetic data are wrong or in the wrong order."""
    np.testing.assert_array_equal(zipf_norms(5, buckets=1), np.ones(5))
    np.testing.assert_array_equal(zipf_norms(3, buckets=4), [0.125, 0.125, 1.0])


def test_the_trace_at_the_defaults_of_the_paper() -> None:
    # By hand, the trace is (1/64 + 1/128 + 1/108 + 1/64)/(1 + 1/8 + 1/27 + 1/64) = .0410.
    """The test fails if the trace of the second moment is not the one in the paper's figures."""
    weights = [Fraction(1, k**3) for k in range(1, 5)]
    exact = sum(w * Fraction(4) ** (k - 4) for k, w in enumerate(weights, 1)) / sum(weights)
    assert float(exact) == pytest.approx(0.0410, abs=5e-5)
    assert (zipf_norms(50_000) ** 2).mean() == pytest.approx(float(exact), abs=1e-5)


@pytest.mark.parametrize(("buckets", "trace"), [(1, 1.0), (4, 0.0410)])
def test_rows_have_their_norms(buckets: int, trace: float) -> None:
    """The test fails if the rows do not have the prescribed norms, or if no direction carries most of the second
    moment.
    """
    x = zipf_rows(4000, 6, np.random.default_rng(0), buckets=buckets)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), zipf_norms(4000, buckets=buckets), rtol=1e-13)
    assert np.trace(second_moment(x)) == pytest.approx(trace, abs=3e-4)
    # the uniform entries have mean 1/2, so one direction carries most of the second moment
    values = np.linalg.eigvalsh(second_moment(x))
    assert values[-1] > 0.5 * values.sum()


@pytest.mark.parametrize(("n", "buckets"), [(0, 1), (5, 0), (5, 2.5)])
def test_bad_sizes_are_refused(n: int, buckets: int) -> None:
    """The test fails if an empty data set or a fractional number of buckets is accepted."""
    with pytest.raises(InvalidInput):
        zipf_norms(n, buckets=buckets)
