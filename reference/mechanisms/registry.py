"""The table of contents: every mechanism of the reference, by name."""

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import (
    above_threshold,
    adaptive_cov,
    bingham,
    clipped_cov,
    em_cov,
    gauss_cov,
    iterative_eigenvectors,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    private_radius,
    private_trace,
    projection_mechanism,
    separate_cov,
)
from covassay.reference.mechanisms.about import About

MECHANISMS: dict[str, About] = {
    about.name: about
    for about in (
        nuclear_laplace.ABOUT,
        nuclear_laplace_symmetric.ABOUT,
        nuclear_ball_projection.ABOUT,
        bingham.ABOUT,
        iterative_eigenvectors.ABOUT,
        # zCDP
        gauss_cov.ABOUT,
        separate_cov.ABOUT,
        em_cov.ABOUT,
        clipped_cov.ABOUT,
        adaptive_cov.ABOUT,
        projection_mechanism.ABOUT,
        # building blocks
        above_threshold.ABOUT,
        private_radius.ABOUT,
        private_trace.ABOUT,
    )
}


def mechanism(name: str) -> About:
    """The entry of that name."""
    if name not in MECHANISMS:
        raise InvalidInput(f"mechanism = {name!r}: must be one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]
