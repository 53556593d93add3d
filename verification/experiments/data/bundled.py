"""Load the data sets wine, breast cancer and digits from scikit-learn.

The bounds of the columns are round numbers above the values that such measurements are expected to have. We chose the
bounds of the columns, because the sources state none.
"""

from functools import cache

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.experiments.data.files import SCIKIT_LEARN, missing
from covassay.verification.experiments.data.scaling import by_largest_norm, to_unit_ball

WINE = (
    (0, 20),  # alcohol, % by volume
    (0, 10),  # malic acid, g/l
    (0, 5),  # ash
    (0, 40),  # alcalinity of ash
    (0, 200),  # magnesium, mg/l
    (0, 5),  # total phenols
    (0, 8),  # flavanoids
    (0, 1),  # nonflavanoid phenols
    (0, 5),  # proanthocyanins
    (0, 20),  # colour intensity
    (0, 2),  # hue
    (0, 5),  # OD280/OD315 of diluted wines
    (0, 2000),  # proline, mg/l
)
CELL_MEANS = ((0, 50), (0, 60), (0, 300), (0, 5000), (0, 0.3), (0, 2), (0, 2), (0, 0.5), (0, 1), (0, 0.3))
CELL_ERRORS = ((0, 5), (0, 10), (0, 30), (0, 1000), (0, 0.1), (0, 0.3), (0, 0.5), (0, 0.1), (0, 0.2), (0, 0.1))
# for ten measurements of cell nuclei, the data have the mean, the standard error and the worst value
BREAST_CANCER = (*CELL_MEANS, *CELL_ERRORS, *CELL_MEANS)
BRIGHTEST_DIGIT = 16  # a pixel of the digits is a count from 0 to 16
DIGITS_SIDE = 8


@cache
def raw(name: str) -> Matrix:
    """Return the measurements of the data set "wine", "breast_cancer" or "digits", with one record in each row."""
    reason = missing(SCIKIT_LEARN, {})
    if reason:
        raise InvalidInput(f"data = {name!r}: {reason}")
    from sklearn import datasets

    return np.asarray(getattr(datasets, f"load_{name}")().data, dtype=np.float64)


def wine() -> Matrix:
    """Load UCI Wine, 178 × 13, scaled by public bounds."""
    return to_unit_ball(raw("wine"), WINE)


def wine_by_largest_norm() -> Matrix:
    """Load UCI Wine, 178 × 13, divided by the largest norm of a row. This norm is read from the data, so no privacy
    guarantee covers the scaling.
    """
    return by_largest_norm(raw("wine"))


def breast_cancer() -> Matrix:
    """Load UCI Breast Cancer Wisconsin (Diagnostic), 569 × 30, scaled by public bounds."""
    return to_unit_ball(raw("breast_cancer"), BREAST_CANCER)


def digits() -> Matrix:
    """Load UCI Optical Recognition of Handwritten Digits, 1797 × 64. The pixels are divided by 16 · 8, the largest
    possible norm of a row. DLY22 scales MNIST in the same way.
    """
    return raw("digits") / (BRIGHTEST_DIGIT * DIGITS_SIDE)
