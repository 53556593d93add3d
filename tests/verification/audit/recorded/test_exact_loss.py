"""Test the computation of exact privacy losses. Broken functions must be refuted with their exact loss, and no correct
function may be refuted.
"""

import json
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.reference.privacy import ZCDP, ApproximateDP, PureDP
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.adapters.diffprivlib_package import PRIMITIVES
from covassay.verification.audit.engine.facts import as_data
from covassay.verification.audit.recorded.exact_loss import exact_loss
from covassay.verification.audit.recorded.facts import reported
from covassay.verification.audit.recorded.losses import event_loss, gaussian_delta, laplace_rho
from covassay.verification.audit.recorded.recorder import record
from covassay.verification.audit.targets.calling import wrap
from tests.verification.audit.recorded.broken_targets import BROKEN
from tests.verification.audit.recorded.correct_targets import CORRECT, PAIR

DECIDED = {  # correct functions whose loss is known to equal the claim of 1
    "basis_of_the_data", "order_of_the_data", "in_a_thread", "two_exponentials", "quantile_function", "geometric",
    "tiny_unit", "own_generator", "library_of_laws", "told_twice", "entropy_of_the_system", "spawned",
    "other_bit_generator", "generators_of_one_source", "rewound", "copied_generator", "opposite_draws_averaged",
    "one_draw_beside_unused_ones", "radius_times_direction", "radius_times_sign", "direction_of_the_data", "ellipsoid",
    "one_coordinate_of_three", "gamma_unused", "more_noise_for_full_blocks",
}  # fmt: skip
# Whether these cases are decided depends on rounding.
ROUNDED = ("single_precision", "beside_a_large_number", "rounded_constant", "read_from_text")
ADDITIVE = (
    "entrywise-laplace", "lap-cov", "k-norm-l1", "gauss-cov", "clipped-cov-gauss", "gauss-cov-approximate", "laplace",
    "gaussian", "gaussian-approximate", "private-trace", "joint-moments", "gauss-cov-add-remove", "laplace-add-remove",
    "gaussian-add-remove", "k-norm-l2", "l2-approximate",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _global_generators_are_left_alone() -> Iterator[None]:
    before = np.random.normal, np.random.default_rng, np.random.RandomState, np.random.mtrand._rand
    yield
    assert before == (np.random.normal, np.random.default_rng, np.random.RandomState, np.random.mtrand._rand)


# BROKEN FUNCTIONS


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_function_is_refuted_with_its_loss(name: str) -> None:
    case = BROKEN[name]
    found = exact_loss(case.draw, *case.pair, case.claim)
    assert found.refuted, found
    assert found.seeds == (0, 1)  # the computation was repeated with a second seed
    assert found.loss is not None
    if case.loss is None:
        assert found.loss > 2 * found.claimed
    else:
        assert found.loss == pytest.approx(case.loss, rel=1e-9)
        assert found.rounding <= 1e-6 * found.claimed
        assert not found.lower_bound


# CORRECT FUNCTIONS


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_function_is_not_refuted(name: str, seed: int) -> None:
    """The test fails if a correct function is refuted, or if a loss that can be computed is left undecided."""
    for pair in (PAIR, PAIR[::-1]):
        found = exact_loss(CORRECT[name], *pair, PureDP(1.0), seed=seed)
        assert not found.refuted, found
        if name in DECIDED:
            assert found.decided, found
            assert found.loss == pytest.approx(1.0, rel=1e-9)
        elif name == "median_by_intervals":
            # on both data sets, one gap between the sorted values is the interval [0, 1], so both laws are uniform
            assert found.decided, found
            assert found.loss == 0
        elif name not in ROUNDED:
            assert not found.decided, found
            assert found.reason


def test_clipping_late_would_be_refuted_if_the_tails_were_not_visited() -> None:
    """The function clips its output. The test fails if this correct function is refuted because the audit examines only
    moderate noise values and overlooks the clipping. Without clipping the loss would be 1/0.9185, which exceeds the
    claim ε = 1.
    """
    found = exact_loss(CORRECT["clipped_late_and_too_little"], *PAIR, PureDP(1.0))
    assert not found.decided
    assert found.loss is not None
    assert 0.8 < found.loss < 1.0


@pytest.mark.thorough
@pytest.mark.parametrize("name", TARGETS)
def test_no_mechanism_of_the_reference_is_refuted(name: str) -> None:
    """The test fails if a mechanism of the reference is refuted."""
    target = TARGETS[name]()
    assert target.mechanism is not None
    declared = MECHANISMS[target.mechanism]
    neighbours = declared.adjacency_of(dict(target.options))
    axes, dense = np.eye(3), np.full(3, 3**-0.5)
    for u, v in ((axes[0], axes[2]), (dense, dense * [1, -1, 1])):
        rest = np.array([[0.3, 0.2, 0.1], [0.0, -0.5, 0.2], [0.0, 0.0, 0.0]])
        first = np.vstack([rest, u])
        second = np.vstack([rest, v]) if neighbours == "replace-one" else rest
        found = exact_loss(target, first, second, declared.notion.default)
        assert found.adjacency == neighbours
        assert not found.refuted, found
        if name in ADDITIVE:
            assert found.decided, found


# MESSAGES


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cached_output", "kept between calls"),
        ("fixed_seed", "the same seed in several runs"),
        ("seed_of_the_data", "gets its seed from the data"),
        ("subsampled", "it is unknown how the output depends on this number"),
        ("one_row_chosen", "may decide"),
        ("shuffled", "may decide"),
        ("random_sign", "no affine function"),
        ("mixture", "may decide"),
        ("rounded_late", "no affine function"),
        ("early_and_late", "not recorded"),
        ("early_import", "no draw was recorded"),
        ("redrawn", "different draws if the drawn values change"),
        ("mean_of_two", "more Laplace draws than outputs"),
        ("counts_its_calls", "not recorded"),
    ],
)
def test_the_reason_is_said(name: str, reason: str) -> None:
    """The test fails if the audit gives a wrong reason why it could not compute the exact loss."""
    draw = CORRECT[name]
    data = (PAIR[0] * 0.998, PAIR[0] * 0.997) if name == "cached_output" else PAIR
    assert reason in exact_loss(draw, *data, PureDP(1.0)).reason


def test_the_reason_tells_draws_apart_and_counts_their_numbers() -> None:
    """The test fails if the reason for a missing exact loss does not say that a draw has different parameters on the
    two data sets. The test also fails if the reason does not state how many numbers one draw returns, such as 3 for a
    draw from a Dirichlet law on 3 categories.
    """

    def weighted(x: Any, *, epsilon: float, rng: np.random.Generator) -> float:
        return float(rng.choice(2, p=[0.5 + x.mean() / 4, 0.5 - x.mean() / 4]))

    def several(x: Any, *, epsilon: float, rng: np.random.Generator) -> float:
        return float(x.mean() + rng.dirichlet(np.ones(3))[0])

    assert "with other parameters in the other" in exact_loss(weighted, *PAIR, PureDP(1.0)).reason
    assert "dirichlet (3)" in exact_loss(several, *PAIR, PureDP(1.0)).reason


def test_the_facts_are_json_and_count_the_draws() -> None:
    x, other = np.vstack([np.zeros((2, 2)), [1, 0]]), np.vstack([np.zeros((2, 2)), [0, 1]])

    def padded(x: Any, *, rho: float, rng: Any) -> Any:
        return x.T @ x / len(x) + np.sqrt(2 / (2 * rho)) / len(x) * np.triu(w := rng.standard_normal((2, 2))) + np.triu(w, 1).T  # fmt: skip  # noqa: E501

    found = exact_loss(padded, x, other, ZCDP(0.5))
    facts = json.loads(json.dumps(as_data(reported("a pair", found)), allow_nan=False))
    assert facts["draws"] == {"recorded": 4, "used": 3, "unused": 1}
    assert facts["adjacency"] == "replace-one"
    assert facts["letter"] == "rho"
    assert facts["claimed"] == 0.5
    assert facts["decided"] is True
    assert facts["path"][0].startswith("normal (2 × 2) in padded")
    broken = BROKEN["one_entry_bare"]
    lost = as_data(reported("a pair", exact_loss(broken.draw, *broken.pair, broken.claim)))
    assert lost["loss"] == "inf"
    assert lost["pair"][0][-1] == [1.0, 0.0, 0.0, 0.0]


def test_neighbours_by_a_row_more_are_told_as_such() -> None:
    def total(x: Any, *, epsilon: float, rng: Any) -> Any:
        return np.clip(x, 0, 1).sum() + rng.laplace(scale=0.5 / epsilon)

    found = exact_loss(total, np.ones((3, 1)), np.ones((2, 1)), PureDP(1.0))
    assert found.adjacency == "add-remove"
    assert found.refuted
    assert found.loss == pytest.approx(2.0)


def test_an_unknown_target_is_no_verdict() -> None:
    with pytest.raises(InvalidInput):
        exact_loss("covassay:gauss-cof", *PAIR, ZCDP(0.5))


def test_a_target_that_fails_is_not_decided() -> None:
    def fails(x: Any, *, epsilon: float, rng: Any) -> Any:
        raise ValueError("no")

    assert "fails" in exact_loss(fails, *PAIR, PureDP(1.0)).reason


def test_a_slow_target_is_not_decided() -> None:
    def slow(x: Any, *, epsilon: float, rng: Any) -> Any:
        time.sleep(0.02)
        return x.sum() + rng.laplace(size=20)

    # The first call may take part of the time limit.
    assert exact_loss(slow, *PAIR, PureDP(1.0), seconds=0.1).reason.startswith("no answer after 0.")


# THE SOURCES OF DRAWS


def test_draws_of_every_generator_are_recorded() -> None:
    """The test fails if the draws of some random number generator are not recorded."""

    def everywhere(x: Any, *, epsilon: float, rng: Any) -> Any:
        import random
        import secrets

        np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002
        parts = (
            np.random.laplace(), np.random.RandomState(3).randn(), np.random.default_rng().normal(),  # noqa: NPY002
            random.gauss(0, 1), random.SystemRandom().random(), random.Random(5).expovariate(1.0),
            rng.multivariate_normal([0, 0], np.eye(2))[0], secrets.randbits(8), rng.standard_cauchy(),
        )  # fmt: skip
        return sum(map(float, parts))

    families = [draw.family for draw in record(everywhere, PAIR[0], {"epsilon": 1.0}).tape.draws]
    assert families == [
        "integers", "laplace", "normal", "normal", "normal", "uniform", "exponential", "normal", "bytes",
        "standard_cauchy",
    ]  # fmt: skip


def test_one_tape_gives_one_output_and_another_tape_another() -> None:
    one, two, three = (record(CORRECT["own_generator"], PAIR[0], {"epsilon": 1.0}, seed=s).output for s in (1, 1, 2))
    assert one == two
    assert one != three


def test_generators_with_one_seed_draw_alike_in_a_recorded_run() -> None:
    def difference(x: Any, *, epsilon: float, rng: Any) -> Any:
        seed = int(rng.integers(2**62))
        return np.random.default_rng(seed).normal() - np.random.default_rng(seed).normal()

    assert record(difference, PAIR[0], {"epsilon": 1.0}).output == 0.0


def test_a_wrapped_function_is_recorded() -> None:
    """The test fails if noise that is drawn inside a wrapped function is not recorded."""

    def noisy(data: Any, eps: float, random_state: Any = None) -> Any:
        noise = np.random.RandomState(random_state).laplace(size=data.shape[1])
        return {"mean": np.clip(data, 0, 1).mean(axis=0) + 0.5 * noise / (len(data) * eps)}

    found = exact_loss(wrap(noisy, "f(x, epsilon, random_state=seed)['mean']"), *PAIR, PureDP(1.0))
    assert found.refuted
    assert found.loss == pytest.approx(2.0)


# CLOSED FORMS


def test_delta_of_normal_laws_is_that_of_its_definition() -> None:
    mu, epsilon = 1.3, 0.7
    y = np.linspace(-12, 14, 400_001)
    density = np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi), np.exp(-((y - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    integral = np.maximum(density[1] - math.exp(epsilon) * density[0], 0).sum() * (y[1] - y[0])
    assert gaussian_delta(mu, epsilon) == pytest.approx(integral, rel=1e-4)


def test_rho_of_laplace_laws_is_that_of_its_definition() -> None:
    t, y = 1.7, np.linspace(-60, 60, 1_200_001)
    p, q = -np.abs(y) - math.log(2), -np.abs(y - t) - math.log(2)
    orders = (1.001, 1.1, 1.5, 2.0, 5.0, 20.0)
    divergences = [math.log(np.exp(a * p + (1 - a) * q).sum() * (y[1] - y[0])) / (a - 1) / a for a in orders]
    assert laplace_rho((t,)) == pytest.approx(max(divergences), rel=1e-2)
    assert laplace_rho((t,)) >= max(divergences) * (1 - 1e-6)


def test_an_event_proves_what_it_proves() -> None:
    """The test fails if the lower bound on the loss exceeds what the probabilities of the event imply."""
    assert event_loss(PureDP(1.0), 0.3, 0.1) == pytest.approx(math.log(3))
    assert event_loss(ApproximateDP(1.0, 0.1), 0.5, 0.1) == pytest.approx(0.5 - math.e * 0.1)
    assert event_loss(ZCDP(1.0), 0.1, 0.3) == 0.0
    # Two normal laws of variance 1 whose means differ by 1 satisfy zCDP with ρ = 1/2. The lower bound on ρ that the
    # event {N > z} proves is positive, but smaller than 1/2.
    for z in (0.0, 1.0, 2.0):
        from scipy.special import ndtr

        assert 0 < event_loss(ZCDP(0.5), float(ndtr(1 - z)), float(ndtr(-z))) < 0.5


# PACKAGES


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_a_primitive_of_a_package_decides_where_its_uniform_draws_do_not() -> None:
    x, other = np.vstack([np.zeros((3, 2)), [1, 0]]), np.zeros((4, 2))
    name = "diffprivlib:laplace"
    assert not exact_loss(name, x, other, PureDP(1.0)).decided
    found = exact_loss(name, x, other, PureDP(1.0), primitives=PRIMITIVES)
    assert found.decided
    assert not found.refuted
    assert found.loss == pytest.approx(1.0)
    assert found.reason.endswith("its primitives (laplace.Laplace.randomise)")
