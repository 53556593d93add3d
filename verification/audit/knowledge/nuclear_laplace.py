"""Nuclear-Laplace perturbation: the noise is seen, its nuclear norm is Gamma(d²), its singular vectors are Haar.

The spectral norm has an exact Pfaffian law. All of this holds on data of every shape.
"""

from covassay.reference.mechanisms.pure import nuclear_laplace
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.nuclear_noise import law_of_perturbation
from covassay.verification.audit.knowledge.shared.reference_draws import InOneBatch

KNOWN = Known(
    law_of_perturbation,
    QueryPlusNoise(),
    many=InOneBatch(nuclear_laplace.draw_noise, nuclear_laplace.release),
    add_remove=0.5,  # x xᵀ/n has nuclear norm 1/n, in place of 2/n
    nuclear=True,
)
