"""The reference says, in code, what a differentially private covariance mechanism should do.

The formulas in the code are statements about real numbers, evaluated in float64. The reference needs only numpy and
scipy, with three exceptions: `covassay.reference.release` needs filelock for the account of a budget and pyarrow for
.parquet files, and `covassay.reference.rounded` needs python-flint. The reference never imports
`covassay.verification`.

- `covassay.reference.domain`, `.privacy`, `.sensitivity`, `.projections`, `.tails`: what all mechanisms use;
- `covassay.reference.laws`: probability laws, with densities, samplers and exact distribution functions;
- `covassay.reference.mechanisms`: one file per mechanism;
- `covassay.reference.accounting`: the budget of one data set over several releases;
- `covassay.reference.downstream`: what can be computed from a release without spending more of the privacy budget;
- `covassay.reference.recommendation`: which mechanism to use, from public facts alone;
- `covassay.reference.estimators`: `PrivateCovariance`, `PrivateMean`, `PrivatePCA` and `PrivateRidge`, in the manner of
  scikit-learn; they can be imported from `covassay.reference`.

Do not use this code in production. The noise of this code is float64, so the guarantees, which are theorems about real
numbers, do not cover the low-order bits of the output (Mironov 2012).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covassay.reference.estimators import PrivacyWarning, PrivateCovariance, PrivateMean, PrivatePCA, PrivateRidge

__all__ = ["PrivacyWarning", "PrivateCovariance", "PrivateMean", "PrivatePCA", "PrivateRidge"]


def __getattr__(name: str) -> Any:
    """Return an estimator, and import it only now, because most programs use no estimator."""
    if name in __all__:
        return getattr(importlib.import_module("covassay.reference.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
