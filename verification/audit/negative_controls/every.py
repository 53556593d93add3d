"""All negative controls by name."""

from covassay.verification.audit.negative_controls import (
    of_building_blocks,
    of_coinpress,
    of_contract,
    of_data_path,
    of_dependence,
    of_eigenvectors,
    of_entrywise_laplace,
    of_gaussian_covariance,
    of_gaussian_learning,
    of_location,
    of_nuclear_laplace,
    of_pairs,
    of_projection,
    of_pure_covariance,
    of_shapes,
    of_tails,
    of_vector_noise,
    of_wishart,
)
from covassay.verification.audit.negative_controls.negative_control import NegativeControl

NEGATIVE_CONTROLS: dict[str, NegativeControl] = {
    control.name: control
    for group in (
        of_contract,
        of_data_path,
        of_dependence,
        of_building_blocks,
        of_nuclear_laplace,
        of_projection,
        of_vector_noise,
        of_eigenvectors,
        of_entrywise_laplace,
        of_pure_covariance,
        of_gaussian_covariance,
        of_gaussian_learning,
        of_coinpress,
        of_wishart,
        of_tails,
        of_shapes,
        of_location,
        of_pairs,
    )
    for control in group.NEGATIVE_CONTROLS
}
