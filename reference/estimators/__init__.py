"""This package has estimators in the manner of scikit-learn, such as `PrivateCovariance(…).fit(X)`; they need neither
scikit-learn nor pandas.

    >>> import numpy as np
    >>> from covassay.reference import PrivateCovariance
    >>> x = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    >>> estimate = PrivateCovariance(epsilon=1.0, bounds=(-1, 1)).fit(x)
    >>> estimate.covariance_.shape, estimate.location_.shape
    ((3, 3), (3,))
    >>> print(estimate.spend_.proven)
    ε = 1 (pure DP)

An estimator makes one private release and computes everything else from it, at no further cost. Neighbours are data
sets that differ in one row, and the number of rows is public.

**Bounds are needed, and must be public.** Bounds that are read from the data would not be private. An estimator
therefore fits nothing without `bounds` for every column, or one `row_bound` on the norm of a row. Entries that are not
finite numbers are refused. The check of the entries reads the data; it is a precondition and not part of the mechanism.

**Floating point.** The noise is drawn in float64, so the guarantee, a theorem about real numbers, does not cover the
low-order bits of what is fitted (Mironov 2012). With `rounded=True` the release goes through `reference.rounded`, whose
guarantee covers every bit of the released moments.

    base.py         parameters, data in, names, and the tags that scikit-learn asks for
    moments.py      one release of the first and the second moment
    bounded_columns.py
                    one release of both moments by a mechanism for bounded columns
    covariance.py, mean.py, pca.py, ridge.py
"""

from covassay.reference.estimators.base import PrivacyWarning
from covassay.reference.estimators.covariance import PrivateCovariance
from covassay.reference.estimators.mean import PrivateMean
from covassay.reference.estimators.pca import PrivatePCA
from covassay.reference.estimators.ridge import PrivateRidge

__all__ = ["PrivacyWarning", "PrivateCovariance", "PrivateMean", "PrivatePCA", "PrivateRidge"]
