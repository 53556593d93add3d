"""All mutants by name."""

from covassay.verification.audit.mutants import (
    of_coinpress,
    of_contract,
    of_eigenvectors,
    of_nuclear_laplace,
    of_projection,
    of_vector_noise,
    of_wishart,
)
from covassay.verification.audit.mutants.mutant import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant
    for group in (
        of_contract,
        of_nuclear_laplace,
        of_projection,
        of_eigenvectors,
        of_coinpress,
        of_vector_noise,
        of_wishart,
    )
    for mutant in group.MUTANTS
}
