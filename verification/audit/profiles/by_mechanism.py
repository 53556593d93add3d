"""Which profile belongs to which mechanism."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import default_claim, mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.kinds_of_data import Beside
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.profiles import (
    adaptive_cov,
    adassp,
    bingham,
    building_blocks,
    centred_covariance,
    coinpress,
    em_cov,
    entrywise_laplace,
    gaussian_covariance,
    iterative_eigenvectors,
    johnson_lindenstrauss,
    joint_moments,
    kapralov_talwar,
    kv_mean,
    lattice_noise,
    matrix_bingham,
    naive_pce,
    noise_entries,
    nuclear_ball_projection,
    nuclear_laplace,
    output_perturbation,
    ppc,
    ppde,
    recursive_moment,
    reference_draws,
    separate_cov_pure,
)
from covassay.verification.audit.profiles.data_paths import data_path
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile

# a mechanism without an entry is compared with draws of the reference
PROFILES: dict[str, Callable[[ClaimUnderAudit], Profile]] = {
    "nuclear-laplace": nuclear_laplace.profile,
    "nuclear-laplace-symmetric": nuclear_laplace.profile,
    "nuclear-ball-projection": nuclear_ball_projection.profile,
    "bingham": bingham.profile,
    "matrix-bingham": matrix_bingham.profile,
    "centred-covariance": centred_covariance.profile,
    "johnson-lindenstrauss": johnson_lindenstrauss.profile,
    "output-perturbation": output_perturbation.profile,
    "adassp": adassp.profile,
    "joint-moments": joint_moments.profile,
    "recursive-moment": recursive_moment.profile,
    "coinpress-mean": coinpress.profile,
    "coinpress-covariance": coinpress.profile,
    "iterative-eigenvectors": iterative_eigenvectors.profile,
    "entrywise-laplace": entrywise_laplace.profile,
    "lap-cov": entrywise_laplace.profile,
    "discrete-laplace-covariance": lattice_noise.laplace_profile,
    "discrete-gaussian-covariance": lattice_noise.gaussian_profile,
    "kapralov-talwar": kapralov_talwar.profile,
    "separate-cov-pure": separate_cov_pure.profile,
    "gauss-cov": gaussian_covariance.gauss_cov_profile,
    "gauss-cov-approximate": gaussian_covariance.gauss_cov_approximate_profile,
    "adaptive-cov": adaptive_cov.profile,
    "adaptive-cov-pure": adaptive_cov.pure_profile,
    "projection-mechanism": gaussian_covariance.projection_profile,
    "separate-cov": gaussian_covariance.separate_cov_profile,
    "clipped-cov": gaussian_covariance.clipped_cov_profile,
    "em-cov": em_cov.profile,
    "naive-pce": naive_pce.profile,
    "kv-mean": kv_mean.profile,
    "naive-pme": kv_mean.profile,
    "ppc": ppc.profile,
    "ppde": ppde.profile,
    "k-norm": building_blocks.k_norm_profile,
    "laplace": building_blocks.laplace_profile,
    "gaussian": building_blocks.gaussian_profile,
    "gaussian-approximate": building_blocks.gaussian_approximate_profile,
    "exponential": building_blocks.exponential_profile,
    "above-threshold": building_blocks.above_threshold_profile,
    "private-radius": building_blocks.private_radius_profile,
    "private-trace": building_blocks.private_trace_profile,
}


def profile(name: str, guarantee: Guarantee, options: dict[str, Any], samples: float, seed: int) -> Profile:
    """The profile of the mechanism of that name under this claim; `options` are complete (`Mechanism.resolve`)."""
    declared = mechanism(name)
    expected = default_claim(name)
    if type(guarantee) is not type(expected):
        asked, given = (" and ".join(f"--{key}" for key in g.keywords()) for g in (expected, guarantee))
        raise InvalidInput(f"{name} is {declared.notion.label}: give {asked} instead of {given}")
    claim = ClaimUnderAudit(declared, guarantee, options, samples, seed)
    known, path = PROFILES.get(name, reference_draws.profile)(claim), data_path(claim)
    scenarios = known.scenarios
    if path.query is not None:
        scenarios = noise_entries.add(scenarios, path.query, path.symmetric, name)
    form = replace(known.form, symmetric=reference_draws.promises_symmetry(claim))

    @cache
    def at_budget(other: Guarantee) -> tuple[DataPath, Beside]:
        same = replace(claim, guarantee=other)
        return data_path(same), reference_draws.beside(same)

    beside = reference_draws.beside(claim)
    return replace(
        known, form=form, scenarios=scenarios, data_path=path, domain=declared.domain, beside=beside,
        at_budget=at_budget,
    )  # fmt: skip
