"""The output of KVMean is Gaussian around the mean of clipped values if each column is constant except for outliers."""

from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import constant_columns
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive

KNOWN = Known(
    lambda claim: constant_columns.law(claim, claim.parameter("sigma")),
    NotAdditive("the values are clipped around a bin that is itself drawn", continuous=True),
    choices=lambda claim: constant_columns.near_choices(claim, claim.parameter("sigma")),
)
