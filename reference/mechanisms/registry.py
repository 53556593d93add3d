"""The table of contents: every mechanism of the reference, by name."""

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import (
    bingham,
    gaussian_learner,
    iterative_eigenvectors,
    kv_mean,
    naive_pce,
    naive_pme,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    pgce,
    pme,
    ppc,
    ppde,
    weak_ppc,
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
