"""The table of contents: every mechanism of the reference, by name."""

from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.approximate import (
    gauss_cov_approximate,
)
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
from covassay.reference.mechanisms.mechanism import Mechanism
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
from covassay.reference.privacy import PURE, ZCDP, ApproximateDP, Guarantee, PureDP

MODULES: tuple[Any, ...] = (
    entrywise_laplace,
    lap_cov,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    centred_covariance,
    nuclear_ball_projection,
    bingham,
    iterative_eigenvectors,
    kapralov_talwar,
    separate_cov_pure,
    adaptive_cov_pure,
    k_norm,
    gauss_cov,
    separate_cov,
    em_cov,
    clipped_cov,
    adaptive_cov,
    projection_mechanism,
    gauss_cov_approximate,
    laplace,
    gaussian,
    gaussian_approximate,
    exponential,
    above_threshold,
    private_radius,
    private_trace,
    johnson_lindenstrauss,
    johnson_lindenstrauss_image,
    output_perturbation,
    coinpress_mean,
    coinpress_covariance,
    naive_pce,
    weak_ppc,
    ppc,
    pgce,
    kv_mean,
    naive_pme,
    pme,
    gaussian_learner,
    ppde,
)
MECHANISMS: dict[str, Mechanism[Any, ..., Any]] = {module.MECHANISM.name: module.MECHANISM for module in MODULES}


def mechanism(name: str) -> Mechanism[Any, ..., Any]:
    """The mechanism of that name."""
    if name not in MECHANISMS:
        raise InvalidInput(f"mechanism = {name!r}: must be one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def stated_claim(
    name: str | None, epsilon: float | None = None, delta: float | None = None, rho: float | None = None
) -> Guarantee:
    """The budget that was stated, or the default one of the mechanism of that name.

    Raises
    ------
    InvalidInput : `rho` is given together with `epsilon` or `delta`, or a number breaks its rule.
    """
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise InvalidInput("--rho excludes --epsilon and --delta: give one claim")
        return ZCDP(rho)
    if epsilon is None and delta is None:
        return default_claim(name)
    stated = 1.0 if epsilon is None else epsilon
    return PureDP(stated) if delta is None else ApproximateDP(stated, delta)


def default_claim(name: str | None) -> Guarantee:
    """The budget that is assumed when none is given."""
    return mechanism(name).notion.default if name else PURE.default
