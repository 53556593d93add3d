"""The table of contents: every mechanism of the reference, by name."""

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import (
    bingham,
    centred_covariance,
    coinpress_covariance,
    coinpress_mean,
    iterative_eigenvectors,
    johnson_lindenstrauss,
    johnson_lindenstrauss_image,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
)
from covassay.reference.mechanisms.about import About

MECHANISMS: dict[str, About] = {
    about.name: about
    for about in (
        nuclear_laplace.ABOUT,
        nuclear_laplace_symmetric.ABOUT,
        centred_covariance.ABOUT,
        nuclear_ball_projection.ABOUT,
        bingham.ABOUT,
        iterative_eigenvectors.ABOUT,
        johnson_lindenstrauss.ABOUT,
        johnson_lindenstrauss_image.ABOUT,
        output_perturbation.ABOUT,
        coinpress_mean.ABOUT,
        coinpress_covariance.ABOUT,
    )
}


def mechanism(name: str) -> About:
    """The entry of that name."""
    if name not in MECHANISMS:
        raise InvalidInput(f"mechanism = {name!r}: must be one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]
