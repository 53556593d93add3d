"""Test the expected error that a release states, and its warnings, which depend on public numbers alone."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Box
from covassay.reference.laws import entry_variances
from covassay.reference.mechanisms.counted import RowsAndSumOutput
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.privacy import ZCDP, Guarantee, PureDP
from covassay.reference.release.accuracy import BOX, BOX_FAILURE, LAWS, SUMS, accuracy, accuracy_of_sum, box_bound
from covassay.reference.release.scaling import scaling
from covassay.verification.declared import default_claim
from covassay.verification.vectors.answer import noise_of

N, D = 50, 3
ONES = np.ones((D, D))
WORDS: list[tuple[str, dict[str, str]]] = [
    (name, choice)
    for name in LAWS
    for choice in (
        [{key: word} for key, words in MECHANISMS[name].choices.items() if key != "adjacency" for word in words] or [{}]
        if MECHANISMS[name].choices
        else [{}]
    )
]


def known(name: str, budget: Guarantee | None = None, n: int = N, d: int = D, **options: Any) -> Any:
    declared = mechanism(name)
    row_bound = options.pop("row_bound", 1.0)
    scaled = options.pop("scaled", None)
    arguments = declared.resolve(options)
    return accuracy(declared, budget or default_claim(name), arguments, n, d, row_bound, scaled)


def of_unit_noise(name: str, choice: dict[str, str]) -> float:
    """Return the root mean square norm of the noise at scale 1."""
    declared = mechanism(name)
    options = declared.resolve(choice)
    symmetric = ("nuclear-laplace-symmetric", "centred-covariance")
    gaussian = ("gauss-cov", "gauss-cov-approximate")
    laws: dict[str, Callable[[], Any]] = {
        "nuclear-laplace": lambda: entry_variances.of_nuclear_laplace(D),
        "k-norm": lambda: entry_variances.of_k_norm(options["body"], D),
        "l2-approximate": lambda: entry_variances.of_k_norm("l2", D),
        "laplace": lambda: np.full(D, 2.0),
        "private-trace": lambda: np.array(2.0),
        "gaussian": lambda: np.ones(D),
        "gaussian-approximate": lambda: np.ones(D),
        **{key: lambda: entry_variances.of_nuclear_laplace(D, symmetric=True) for key in symmetric},
        **{key: lambda: 2 * ONES for key in ("lap-cov", "entrywise-laplace")},
        **{key: lambda: entry_variances.of_gaussian(options["ensemble"], D) for key in gaussian},
    }
    variances = laws[name]()
    return float(np.sqrt(np.sum(variances)))


@pytest.mark.parametrize(
    ("name", "choice"),
    [(name, choice) for name, choice in WORDS if not MECHANISMS[name].lattice and choice != {"body": "covariance"}],
)
def test_the_expected_error_has_the_scale_that_release_gives_to_its_noise(name: str, choice: dict[str, str]) -> None:
    """Test that the expected error is proportional to the noise scale of `release`. On data of zeros the output is the
    scale times the noise, so that noise of ones shows the scale.
    """
    declared = mechanism(name)
    noise = {"matrix": ONES, "vector": np.ones(D), "number": 1.0}[declared.output.kind]
    output = declared.release(np.zeros((N, D)), noise, **default_claim(name).keywords(), **choice)
    scale = float(np.ravel(output)[0])
    found = known(name, **choice)
    assert found.in_the_ball == found.expected == pytest.approx(scale * of_unit_noise(name, choice), rel=1e-9)
    assert known(name, row_bound=3.0, **choice).expected == pytest.approx(9 * found.expected)


@pytest.mark.parametrize(
    ("name", "attribute"), [("discrete-laplace-covariance", 0), ("discrete-gaussian-covariance", 1)]
)
@pytest.mark.parametrize("bits", [1, 20])
def test_the_expected_error_on_a_lattice_has_the_parameter_of_its_law(name: str, attribute: int, bits: int) -> None:
    declared = mechanism(name)
    seen: list[float] = []

    def noise(parameter: Any) -> Any:
        seen.append(float(parameter))
        return np.zeros((D, D), dtype=int).astype(object)

    declared.release(np.zeros((N, D)), noise, **default_claim(name).keywords(), input_bits=bits)
    variance = (entry_variances.discrete_laplace_variance, entry_variances.discrete_gaussian_variance)[attribute](
        seen[0]
    )
    expected = D * variance**0.5 / (N * 4**bits)
    assert known(name, input_bits=bits).expected == pytest.approx(expected, rel=1e-9)


def test_the_mean_squared_error_of_many_releases_is_that_of_the_expected_error() -> None:
    """Test the expected error against the mean of 1000 squared errors. The tolerance is 6.5 standard errors, so that a
    false alarm has probability below 1e-10.
    """
    declared, rng = mechanism("nuclear-laplace-symmetric"), np.random.default_rng(3)
    scaled = scaling(np.array([0.0, -5.0, 1.0]), np.array([1.0, 5.0, 40.0]), "ball")
    expected = known("nuclear-laplace-symmetric", scaled=scaled).expected
    noise = declared.draw_noise(D, rng, 1000)
    zeros = np.zeros((N, D))
    released = [declared.release(zeros, z, epsilon=1.0) for z in noise]
    errors = np.linalg.norm([scaled.restore(values, declared.output) for values in released], axis=(1, 2))
    mean, error = (errors**2).mean(), (errors**2).std() / len(errors) ** 0.5
    assert abs(mean - expected**2) < 6.5 * error
    assert abs(mean - (1.5 * expected) ** 2) > 6.5 * error


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in LAWS])
def test_no_error_is_stated_where_no_law_is_known(name: str) -> None:
    found = known(name)
    assert found.expected is None
    assert found.provenance() == {}
    assert "no expected error is stated" in found.note()


# Warnings


def test_noise_that_is_larger_than_what_was_released_is_named() -> None:
    output = mechanism("gauss-cov").output
    found = known("gauss-cov", ZCDP(0.5), n=1000)
    assert found.warnings(output, 1.01 * found.expected * np.eye(D) / D**0.5) == []
    (warning,) = found.warnings(output, 0.99 * found.expected * np.eye(D) / D**0.5)
    assert "noise dominates" in warning


def test_a_matrix_that_is_not_positive_semidefinite_is_named() -> None:
    output = mechanism("gauss-cov").output
    found = known("gauss-cov", ZCDP(0.5), n=10**6)
    assert found.warnings(output, np.diag([1.0, 0.5, 0.0])) == []
    assert found.warnings(output, np.diag([1.0, 0.5, -1e-15])) == []  # a rounding error
    (warning,) = found.warnings(output, np.diag([1.0, 0.5, -0.001]))
    assert "least eigenvalue is -0.001: --project psd" in warning


def test_a_preconditioner_and_a_direction_need_not_be_positive() -> None:
    for name, values in (("weak-ppc", -np.eye(D)), ("bingham", -np.ones(D))):
        assert known(name, n=10**6).warnings(mechanism(name).output, values) == []


@pytest.mark.parametrize(
    ("name", "budget", "n", "named"),
    [
        ("gauss-cov", ZCDP(0.5), 4, "times the largest norm"),
        ("gauss-cov", ZCDP(0.5), 5, None),  # the expected error is 3/(n √ρ) = 0.85, below 1
        ("bingham", PureDP(0.01), 100, "nε = 1 is at most 1"),
        ("bingham", PureDP(0.01), 101, None),
        ("em-cov", ZCDP(1e-4), 100, "n²ρ = 1 is at most 1"),
        ("johnson-lindenstrauss", PureDP(1.0), 1000, "too few for johnson-lindenstrauss"),
    ],
)
def test_a_mechanism_out_of_its_range_is_named_by_public_numbers(
    name: str, budget: Guarantee, n: int, named: str | None
) -> None:
    found = known(name, budget, n=n).out_of_range
    assert named in found[0] if named else found == ()


def test_the_projection_of_johnson_lindenstrauss_gains_from_37_columns_on() -> None:
    assert known("johnson-lindenstrauss", d=36).out_of_range
    assert not known("johnson-lindenstrauss", d=37).out_of_range


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("name", ["box-gauss", "box-laplace", "box-gauss-approximate"])
def test_the_bound_for_bounded_columns_holds_while_no_noise_is_above_its_quantile(name: str, adjacency: Any) -> None:
    """Test that the error is within the bound if the absolute value of every noise variable equals its quantile and the
    signs are random. If the noise is eight times as large, the error must exceed the bound for one choice of the signs
    or more.

    The bound is meant to hold whenever no noise variable exceeds its quantile. The probability that it fails is then at
    most the sum of the probabilities with which the single noise variables exceed their quantiles.
    """
    rng, declared = np.random.default_rng(5), mechanism(name)
    box = Box.of([(0, 2), (-5, 5), (1, 1.5)])
    x = box.place(rng.uniform(0, 1, (4000, 3)))
    truth = np.cov(x.T, bias=True)
    arguments = {**declared.resolve({"adjacency": adjacency}), **declared.notion.default.keywords()}
    # the release has 3 means, 6 products and the number of rows
    quantile = BOX[name](3, arguments, adjacency).quantile(BOX_FAILURE / 10)
    within, beyond = [], []
    for signs in rng.choice([-1.0, 1.0], (24, 4, 4)):
        noise = quantile * (np.triu(signs) + np.triu(signs, 1).T)
        for factor, kept in ((1.0, within), (8.0, beyond)):
            released = declared.release(x, factor * noise, bounds=box.bounds, **arguments)
            bound = box_bound(name, arguments, adjacency, float(released[0, 0]), box)
            assert bound is not None
            kept.append((np.abs(released[1:, 1:] - truth) <= bound).all())
    assert all(within)
    assert not all(beyond)
    assert box_bound(name, arguments, adjacency, 3.0, box) is None or adjacency == "replace-one"


# A noisy sum and a noisy number of rows


@pytest.mark.parametrize("name", SUMS)
def test_the_expected_error_of_a_sum_is_that_of_its_noise(name: str) -> None:
    """Test the expected error of a sum against the mean square of 2000 releases of an empty data set, with a tolerance
    of 10 %.

    The relative standard deviation of one squared norm is at most √(5/3), as for three Laplace variables. So the
    relative standard deviation of the mean of 2000 is 0.029. A scale that is wrong by 6 % changes the mean square by
    more than 10 %.
    """
    declared = mechanism(name)
    arguments = declared.resolve({"adjacency": "add-remove"})
    budget = default_claim(name)
    output = declared.output_of(arguments)
    assert isinstance(output, RowsAndSumOutput)
    rng, none, given = np.random.default_rng(5), np.zeros((0, D)), {**budget.keywords(), **arguments}
    if "size" in inspect.signature(declared.draw_noise).parameters:
        noises = noise_of(declared, {**arguments, "size": 2000}, D, rng, 0)
        draws = np.array([declared.release(none, z, **given)[1:] for z in noises])
    else:
        draws = np.array([declared.sample(none, rng, **given)[1:] for _ in range(2000)])
    square = float((output.unpacked(draws) ** 2).sum(axis=tuple(range(1, output.unpacked(draws).ndim))).mean())
    found = accuracy_of_sum(declared, budget, arguments, np.array([100.0]), D, 1.0, None)
    assert found.expected is not None
    assert found.expected**2 == pytest.approx(square, rel=0.1)
    wide = accuracy_of_sum(declared, budget, arguments, np.array([100.0]), D, 3.0, None)
    assert wide.expected == pytest.approx(9 * found.expected)
    assert found.in_the_ball == wide.in_the_ball == pytest.approx(found.expected / 100)
    assert "of" in found.provenance()["expected_error"]


def test_every_mechanism_with_a_noisy_sum_says_its_error() -> None:
    assert set(SUMS) == {name for name, about in MECHANISMS.items() if about.counted is not None}
