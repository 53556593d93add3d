"""All mutants by name."""

from covassay.verification.audit.mutants import (
    of_contract,
    of_eigenvectors,
    of_entrywise_laplace,
    of_gaussian_covariance,
    of_nuclear_laplace,
    of_projection,
    of_pure_covariance,
)
from covassay.verification.audit.mutants.mutant import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant
    for group in (
        of_contract,
        of_nuclear_laplace,
        of_projection,
        of_eigenvectors,
        of_entrywise_laplace,
        of_pure_covariance,
        of_gaussian_covariance,
    )
    for mutant in group.MUTANTS
}
