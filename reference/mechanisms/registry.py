"""The table of contents: every mechanism of the reference, by name."""

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import (
    above_threshold,
    adaptive_cov_pure,
    bingham,
    entrywise_laplace,
    iterative_eigenvectors,
    kapralov_talwar,
    lap_cov,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    private_radius,
    private_trace,
    separate_cov_pure,
)
from covassay.reference.mechanisms.about import About

MECHANISMS: dict[str, About] = {
    about.name: about
    for about in (
        entrywise_laplace.ABOUT,
        lap_cov.ABOUT,
        nuclear_laplace.ABOUT,
        nuclear_laplace_symmetric.ABOUT,
        nuclear_ball_projection.ABOUT,
        bingham.ABOUT,
        iterative_eigenvectors.ABOUT,
        kapralov_talwar.ABOUT,
        separate_cov_pure.ABOUT,
        adaptive_cov_pure.ABOUT,
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
