"""Test what the audit expects of discrete noise on a grid. The reference must pass on fine grids, and on coarse grids,
where outputs can repeat. The seeds are fixed, and the reference fails a check with probability at most 1e-9.
"""

from functools import partial

import numpy as np
import pytest
from scipy.special import ndtri

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.coincidences import as_draws, found_in
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.knowledge import discrete_gaussian_covariance, discrete_laplace_covariance
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.shared.lattice_noise import Lattice, Tail
from covassay.verification.audit.targets.target import Target
from covassay.verification.statistics.laws import LAPLACE, NORMAL
from covassay.verification.statistics.tests import TestResult, gamma_total, kolmogorov_smirnov
from tests.negative_controls.of_lattice import NEGATIVE_CONTROLS
from tests.negative_controls.trial import caught

ALPHA = 1e-9
LAPLACE_NAME, GAUSSIAN_NAME = "discrete-laplace-covariance", "discrete-gaussian-covariance"
CLAIMS: list[tuple[str, Guarantee, int]] = [
    (LAPLACE_NAME, PureDP(1.0), 20),
    (LAPLACE_NAME, PureDP(1.0), 2),
    (LAPLACE_NAME, PureDP(200.0), 2),  # the noise is 0 with probability 0.999
    (GAUSSIAN_NAME, ZCDP(0.5), 20),
    (GAUSSIAN_NAME, ZCDP(8.0), 1),
    (GAUSSIAN_NAME, ZCDP(100.0), 1),
]


def draws_on(name: str, x: Matrix, guarantee: Guarantee, bits: int, count: int) -> Matrix:
    rng = np.random.default_rng(bits)
    return np.array([mechanism(name).sample(x, rng, input_bits=bits, **guarantee.keywords()) for _ in range(count)])


@pytest.mark.parametrize(("name", "guarantee", "bits"), CLAIMS)
def test_the_law_of_the_reference_is_the_one_of_the_profile(name: str, guarantee: Guarantee, bits: int) -> None:
    scenario = profile(name, guarantee, {"input_bits": bits}, 400, 0).scenarios[1]
    draws = draws_on(name, scenario.x, guarantee, bits, 300)
    assert {"zeros", "on the lattice"} <= set(scenario.tests)
    for label, test in scenario.tests.items():
        assert test(draws).p_value > ALPHA, label


@pytest.mark.parametrize(("name", "guarantee", "bits"), CLAIMS[1:3] + CLAIMS[4:])
def test_a_coarse_law_shows_no_coincidence_that_its_atoms_do_not_explain(
    name: str, guarantee: Guarantee, bits: int
) -> None:
    path = profile(name, guarantee, {"input_bits": bits}, 400, 0).data_path
    assert path is not None
    assert path.query is not None
    x = np.eye(3)
    seen = as_draws(x, draws_on(name, x, guarantee, bits, 48), path.query(x), path)
    assert found_in(seen, ALPHA) == []
    # if the law were declared to have a density, the check would report the repeated outputs as a defect
    if path.atom > 0.05:
        assert found_in(as_draws(x, draws_on(name, x, guarantee, bits, 48), path.query(x), DataPath("")), ALPHA)


def sizes_of(u: Matrix, tail: Tail, most: float) -> Matrix:
    """Return the largest integers k with P(|Z| ≥ k) > u. If u is uniform, k has the law of |Z|."""
    low, high = np.zeros_like(u), np.full_like(u, most)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        above = tail(middle) > u
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low


@pytest.mark.parametrize("spread", [0.5, 3.0, 1e12])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_spread_numbers_have_the_continuous_law(law: str, spread: float) -> None:
    """The test fails if random numbers that replace discrete noise do not have the Laplace or normal law."""
    rng, count = np.random.default_rng(4), 20_000
    if law == "laplace":
        tail, quantile, wanted, power = discrete_laplace_covariance.tail_of(spread), lambda p: -np.log(p), LAPLACE, 1
    else:
        tail, quantile, wanted, power = discrete_gaussian_covariance.tail_of(spread), lambda p: -ndtri(p / 2), NORMAL, 2
    size = sizes_of(rng.random(count), tail, 64 * max(spread, 1.0))
    z = np.where(rng.random(count) < 0.5, -size, size).reshape(-1, 1, 1)
    lattice = Lattice(np.zeros((1, 1)), 1, tail, quantile)
    values = lattice.spread(z * lattice.unit)[:, 0, 0]
    assert kolmogorov_smirnov(values, wanted, "").p_value > ALPHA

    def total(x: Matrix) -> TestResult:
        return gamma_total(np.abs(x) ** power / power, 1 / power, "", power)

    assert total(values).p_value > ALPHA
    # an error of the scale by 7 % is detected with probability 99 %
    assert total(values).detectable(ALPHA) < 0.07
    assert total(1.07 * values).p_value < ALPHA


QUICK = [c for c in NEGATIVE_CONTROLS if c.name in ("discrete-laplace-rounded", "discrete-gaussian-zero-twice")]


@pytest.mark.thorough
@pytest.mark.parametrize("control", QUICK, ids=lambda control: control.name)
def test_what_is_wrong_with_single_integers_is_seen_on_a_coarse_lattice(control) -> None:  # type: ignore[no-untyped-def]
    kind, name = control.caught_by[0]
    assert caught(control, kind, name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "guarantee", "bits"), CLAIMS)
def test_the_reference_is_not_refuted(name: str, guarantee: Guarantee, bits: int) -> None:
    """The test fails if an audit refutes a correct mechanism."""
    sample = partial(mechanism(name).sample, input_bits=bits)
    target = Target("lattice", sample, mechanism=name, options=(("input_bits", str(bits)),))
    for seed in range(3):
        report = audit(target, **guarantee.keywords(), options={"input_bits": bits}, samples=300, seed=seed)
        assert report.verdict is not Verdict.REFUTED, [(c.label, c.p_value) for c in report.refuted]
