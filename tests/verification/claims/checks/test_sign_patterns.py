"""The enumeration of sign patterns, by hand for one and two features."""

import math

import numpy as np
import pytest

from covassay.verification.claims.checks.sign_patterns import enumerated_l1, sign_matrices


def test_sign_matrices_are_symmetric_signs() -> None:
    # the free entries for d = 3 are (1, 1), (2, 2), (2, 3) and (3, 3)
    found = sign_matrices(3)
    assert found.shape == (16, 3, 3)
    assert (np.abs(found) == 1).all()
    assert (found == found.swapaxes(1, 2)).all()
    assert (found[:, 0, 1:] == 1).all()


@pytest.mark.parametrize(
    ("d", "triangle", "expected"),
    [(1, False, 1.0), (1, True, 1.0), (2, False, 2 * math.sqrt(2)), (2, True, math.sqrt(5))],
)
def test_suprema_by_hand(d: int, triangle: bool, expected: float) -> None:
    # d = 2: W = [[1, 1], [1, −1]] has the eigenvalues ±√2, and [[1, ½], [½, −1]] has ±√5/2
    assert enumerated_l1(d, triangle) == pytest.approx(expected, rel=1e-14)
