"""The table of contents: every mechanism of the reference, by name."""

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import (
    above_threshold,
    adaptive_cov,
    adaptive_cov_pure,
    bingham,
    centred_covariance,
    clipped_cov,
    coinpress_covariance,
    coinpress_mean,
    em_cov,
    entrywise_laplace,
    exponential,
    gauss_cov,
    gauss_cov_approximate,
    gaussian,
    gaussian_approximate,
    gaussian_learner,
    iterative_eigenvectors,
    johnson_lindenstrauss,
    johnson_lindenstrauss_image,
    k_norm,
    kapralov_talwar,
    kv_mean,
    lap_cov,
    laplace,
    naive_pce,
    naive_pme,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
    pgce,
    pme,
    ppc,
    ppde,
    private_radius,
    private_trace,
    projection_mechanism,
    separate_cov,
    separate_cov_pure,
    weak_ppc,
)
from covassay.reference.mechanisms.about import About

MECHANISMS: dict[str, About] = {
    about.name: about
    for about in (
        entrywise_laplace.ABOUT,
        lap_cov.ABOUT,
        nuclear_laplace.ABOUT,
        nuclear_laplace_symmetric.ABOUT,
        centred_covariance.ABOUT,
        nuclear_ball_projection.ABOUT,
        bingham.ABOUT,
        iterative_eigenvectors.ABOUT,
        kapralov_talwar.ABOUT,
        separate_cov_pure.ABOUT,
        adaptive_cov_pure.ABOUT,
        k_norm.ABOUT,
        # zCDP
        gauss_cov.ABOUT,
        separate_cov.ABOUT,
        em_cov.ABOUT,
        clipped_cov.ABOUT,
        adaptive_cov.ABOUT,
        projection_mechanism.ABOUT,
        # (ε, δ)
        gauss_cov_approximate.ABOUT,
        # building blocks
        laplace.ABOUT,
        gaussian.ABOUT,
        gaussian_approximate.ABOUT,
        exponential.ABOUT,
        above_threshold.ABOUT,
        private_radius.ABOUT,
        private_trace.ABOUT,
        johnson_lindenstrauss.ABOUT,
        johnson_lindenstrauss_image.ABOUT,
        output_perturbation.ABOUT,
        coinpress_mean.ABOUT,
        coinpress_covariance.ABOUT,
        naive_pce.ABOUT,
        weak_ppc.ABOUT,
        ppc.ABOUT,
        pgce.ABOUT,
        kv_mean.ABOUT,
        naive_pme.ABOUT,
        pme.ABOUT,
        gaussian_learner.ABOUT,
        ppde.ABOUT,
    )
}


def mechanism(name: str) -> About:
    """The entry of that name."""
    if name not in MECHANISMS:
        raise InvalidInput(f"mechanism = {name!r}: must be one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]
