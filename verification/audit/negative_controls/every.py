"""All negative controls by name."""

from covassay.verification.audit.negative_controls import (
    of_branches,
    of_building_blocks,
    of_coinpress,
    of_contract,
    of_data_path,
    of_dependence,
    of_eigenvectors,
    of_entrywise_laplace,
    of_families,
    of_gaussian_covariance,
    of_gaussian_learning,
    of_joint_laws,
    of_location,
    of_nuclear_laplace,
    of_pairs,
    of_projection,
    of_pure_covariance,
    of_repeats,
    of_rows,
    of_scales,
    of_shapes,
    of_steps,
    of_tails,
    of_the_list,
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
        of_rows,
        of_branches,
        of_repeats,
        of_families,
        of_scales,
        of_joint_laws,
        of_steps,
        of_the_list,
    )
    for control in group.NEGATIVE_CONTROLS
}
