"""All negative controls by name: the `NEGATIVE_CONTROLS` of every module of this package that has some."""

<<<<<<< HEAD
from importlib import import_module
from pkgutil import iter_modules

from covassay.verification.audit import negative_controls
=======
from covassay.verification.audit.negative_controls import (
    of_adassp,
    of_bounded_columns,
    of_branches,
    of_budgets,
    of_building_blocks,
    of_coinpress,
    of_contract,
    of_counted,
    of_data_path,
    of_dependence,
    of_eigenvectors,
    of_entrywise_laplace,
    of_families,
    of_gaussian_covariance,
    of_gaussian_learning,
    of_joint_laws,
    of_joint_moments,
    of_kinds,
    of_lattice,
    of_location,
    of_nuclear_laplace,
    of_pairs,
    of_projection,
    of_pure_covariance,
    of_recursive_moment,
    of_repeats,
    of_rows,
    of_scales,
    of_shapes,
    of_small_errors,
    of_steps,
    of_subspaces,
    of_tails,
    of_the_list,
    of_vector_noise,
    of_wishart,
)
>>>>>>> box
from covassay.verification.audit.negative_controls.negative_control import NegativeControl

NEGATIVE_CONTROLS: dict[str, NegativeControl] = {
    control.name: control
<<<<<<< HEAD
    for found in iter_modules(negative_controls.__path__)
    if found.name.startswith("of_")
    for control in getattr(import_module(f"{negative_controls.__name__}.{found.name}"), "NEGATIVE_CONTROLS", ())
=======
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
        of_lattice,
        of_pure_covariance,
        of_gaussian_covariance,
        of_gaussian_learning,
        of_coinpress,
        of_adassp,
        of_joint_moments,
        of_bounded_columns,
        of_counted,
        of_recursive_moment,
        of_wishart,
        of_subspaces,
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
        of_kinds,
        of_budgets,
        of_small_errors,
        of_the_list,
    )
    for control in group.NEGATIVE_CONTROLS
>>>>>>> box
}
