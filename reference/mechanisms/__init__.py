"""This package has the mechanisms, one file each; import one by `from covassay.reference.mechanisms import
nuclear_laplace`.

Every module has `release`, `sample`, `spend` and its declaration `MECHANISM`; `registry` finds a mechanism by its name.

    >>> import numpy as np
    >>> from covassay.reference.mechanisms import nuclear_laplace
    >>> nuclear_laplace.sample(np.eye(3), np.random.default_rng(), epsilon=1.0).shape
    (3, 3)
"""

from covassay.reference.mechanisms.approximate import box_gauss_approximate, gauss_cov_approximate, l2_approximate
from covassay.reference.mechanisms.building_blocks import (
    above_threshold,
    exponential,
    gaussian,
    gaussian_approximate,
    laplace,
    private_radius,
    private_trace,
)
from covassay.reference.mechanisms.concentrated import (
    adaptive_cov,
    adassp,
    block_tridiagonal,
    box_gauss,
    clipped_cov,
    discrete_gaussian_covariance,
    em_cov,
    gauss_cov,
    joint_moments,
    projection_mechanism,
    recursive_moment,
    separate_cov,
)
from covassay.reference.mechanisms.gaussian_estimation import (
    coinpress_covariance,
    coinpress_mean,
    gaussian_learner,
    kv_mean,
    naive_pce,
    naive_pme,
    pgce,
    pme,
    ppc,
    ppde,
    weak_ppc,
)
from covassay.reference.mechanisms.pure import (
    adaptive_cov_pure,
    bingham,
    box_laplace,
    centred_covariance,
    discrete_laplace_covariance,
    entrywise_laplace,
    iterative_eigenvectors,
    johnson_lindenstrauss,
    johnson_lindenstrauss_image,
    k_norm,
    kapralov_talwar,
    lap_cov,
    matrix_bingham,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
    separate_cov_pure,
)

# the order of the tables: covariances under pure DP, zCDP and (ε, δ)-DP come first
__all__ = [  # noqa: RUF022
    "entrywise_laplace",
    "lap_cov",
    "discrete_laplace_covariance",
    "nuclear_laplace",
    "nuclear_laplace_symmetric",
    "centred_covariance",
    "nuclear_ball_projection",
    "bingham",
    "matrix_bingham",
    "iterative_eigenvectors",
    "kapralov_talwar",
    "separate_cov_pure",
    "adaptive_cov_pure",
    "k_norm",
    "gauss_cov",
    "discrete_gaussian_covariance",
    "separate_cov",
    "em_cov",
    "clipped_cov",
    "adaptive_cov",
    "projection_mechanism",
    "gauss_cov_approximate",
    "l2_approximate",
    "block_tridiagonal",
    "box_laplace",
    "box_gauss",
    "box_gauss_approximate",
    "laplace",
    "gaussian",
    "gaussian_approximate",
    "exponential",
    "above_threshold",
    "private_radius",
    "private_trace",
    "johnson_lindenstrauss",
    "johnson_lindenstrauss_image",
    "output_perturbation",
    "adassp",
    "joint_moments",
    "recursive_moment",
    "coinpress_mean",
    "coinpress_covariance",
    "naive_pce",
    "weak_ppc",
    "ppc",
    "pgce",
    "kv_mean",
    "naive_pme",
    "pme",
    "gaussian_learner",
    "ppde",
]
