"""NaivePME runs KVMean with the column deviation σ = √κ.

The output of NaivePME is Gaussian around the mean of clipped values if each column is constant except for outliers.
"""

import math

from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import constant_columns
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive

KNOWN = Known(
    lambda claim: constant_columns.law(claim, math.sqrt(claim.parameter("kappa"))),
    NotAdditive("the values are clipped around a bin that is itself drawn", continuous=True),
    choices=lambda claim: constant_columns.near_choices(claim, math.sqrt(claim.parameter("kappa"))),
)
