"""The table of contents: every mechanism of the reference, by name."""

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.approximate import gauss_cov_approximate
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
    clipped_cov,
    em_cov,
    gauss_cov,
    projection_mechanism,
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
from covassay.reference.mechanisms.mechanism import About
from covassay.reference.mechanisms.pure import (
    adaptive_cov_pure,
    bingham,
    centred_covariance,
    entrywise_laplace,
    iterative_eigenvectors,
    johnson_lindenstrauss,
    johnson_lindenstrauss_image,
    k_norm,
    kapralov_talwar,
    lap_cov,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
    separate_cov_pure,
)
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP

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


DEFAULT_CLAIMS: dict[str, Guarantee] = {"pure": PureDP(1.0), "zcdp": ZCDP(0.5), "approximate": ApproximateDP(1.0, 1e-6)}


def default_claim(name: str | None) -> Guarantee:
    """The budget that is assumed when none is given."""
    return DEFAULT_CLAIMS[mechanism(name).notion if name else "pure"]
