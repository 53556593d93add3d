"""GaussCov is the second moment plus Gaussian noise, whose entries on and above the diagonal are seen one by one.

They are independent, with the variances of the ensemble, on data of every shape.
"""

import math

from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise

KNOWN = Known(
    gaussian_noise.law(lambda claim, n: float(noise_scale(n, claim.budget["rho"]))),
    QueryPlusNoise(independent=True),
    add_remove=math.sqrt(0.5),  # x xᵀ/n has Frobenius norm 1/n, in place of √2/n
)
