"""Test the Bingham law: its envelope, its exact values against quadrature, and the second moments of draws.

The checks `claims.checks.own.samplers` test the law of the draws. The tests here have fixed seeds. With a random seed,
each would raise a false alarm with probability at most 1e-9 by Hoeffding's inequality.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.integrate import quad

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham as law
from covassay.reference.laws import haar
from covassay.verification.statistics.tests import binomial
from tests.conventions import FALSE_ALARM, Matrix, Vector

PROPERTY = settings(max_examples=80)
DRAWS = 20_000
# the mean of values in [0, 1] deviates by more than this with probability at most 1e-9
HOEFFDING = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * DRAWS))


ORACLE = np.diag([6.0, 3.0, 0.0, 0.0, 0.0])  # this matrix has expected values that were computed independently


def rotated(values: list[float], seed: int = 0) -> Matrix:
    """Return a symmetric matrix with these eigenvalues and random eigenvectors."""
    q = haar.sample(len(values), np.random.default_rng(seed))
    m = (q * np.array(values)) @ q.T
    return (m + m.T) / 2


# The envelope


def test_the_formulas_run_on_fractions_and_on_high_precision_numbers() -> None:
    assert law.envelope_equation(Fraction(1), [Fraction(0), Fraction(1)]) == Fraction(1, 3)
    b = sympy.Symbol("b")
    assert sympy.expand(law.envelope_equation(b, [0, 0]) * b) == 2 - b
    with mpmath.workdps(40):
        m = mpmath.mpf
        value = law.log_acceptance(m(1), m(1) / 2, m(3), log=mpmath.log)
        # By hand, the log acceptance probability is 1/4 + (3/2) ln(5/6).
        assert abs(value - (m(1) / 4 + m(3) / 2 * mpmath.log(m(5) / 6))) < m(10) ** -38


@PROPERTY
@given(arrays(np.float64, st.integers(2, 8), elements=st.floats(0, 1e3)))
def test_the_envelope_parameter_solves_its_equation(a: Vector) -> None:
    """Test that the parameter of the envelope solves its equation."""
    a[0] = 0.0
    assume(not a.any() or a.max() > 1e-6)  # another test covers nearly equal eigenvalues
    b = law.envelope_parameter(a)
    assert 1 - 1e-9 <= b <= len(a)
    assert sum(1 / (b + 2 * a_i) for a_i in a) == pytest.approx(1, abs=1e-12)


def test_the_oracle_values_are_those_of_an_independent_computation() -> None:
    # The expected values were computed independently for the matrix diag(6, 3, 0, 0, 0).
    a, _ = law.decompose(ORACLE)
    b = law.envelope_parameter(a)
    assert b == pytest.approx(1.547812, abs=5e-7)
    assert math.exp(law.log_envelope_bound(b, 5)) == pytest.approx(3.338077, abs=5e-7)
    assert law.acceptance_rate(ORACLE) == pytest.approx(0.68610, abs=5e-6)
    assert law.second_moments(ORACLE)[:2] == pytest.approx([0.54104, 0.18107], abs=5e-6)


# Exact values against quadrature


def circle(q: int) -> tuple[Matrix, Vector]:
    """Return the nodes and weights of a quadrature rule on the unit circle (q = 2) or the unit sphere (q = 3)."""
    angle = np.arange(400) * 2 * math.pi / 400
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if q == 2:
        return ring, np.full(400, 1 / 400)
    z, w = np.polynomial.legendre.leggauss(400)  # a coordinate of a uniform point of the sphere is uniform on [−1, 1]
    points = np.concatenate(
        [
            np.broadcast_to(ring * np.sqrt(1 - z**2)[:, None, None], (400, 400, 2)),
            np.broadcast_to(z[:, None, None], (400, 400, 1)),
        ],
        axis=2,
    )
    return points.reshape(-1, 3), np.repeat(w / 800, 400)


MATRICES = [
    pytest.param(np.diag([1.0, 0.0]), id="a circle"),
    pytest.param(rotated([30.0, -5.0]), id="a concentrated circle"),
    pytest.param(np.diag([3.0, 1.0, 0.0]), id="a sphere"),
    pytest.param(rotated([12.0, 11.5, -8.0]), id="a girdle"),
    pytest.param(rotated([40.0, 0.0, 0.0]), id="two poles, with a double eigenvalue"),
    pytest.param(np.zeros((3, 3)), id="the uniform law"),
]


@pytest.mark.parametrize("m", MATRICES)
def test_the_density_integrates_to_one_and_has_the_stated_moments(m: Matrix) -> None:
    u, w = circle(len(m))
    density = np.exp(law.log_density(u, m))
    assert w @ density == pytest.approx(1, abs=1e-10)
    values, vectors = np.linalg.eigh(m)
    moments = (w * density) @ (u @ vectors[:, ::-1]) ** 2
    np.testing.assert_allclose(law.second_moments(m), moments, atol=1e-10)
    a = values[-1] - values
    mean = float(w @ np.exp(-((u @ vectors) ** 2 @ a)))
    assert law.log_mean_exponential(a) == pytest.approx(math.log(mean), abs=1e-10)
    b = law.envelope_parameter(np.sort(a))
    y = (u @ vectors) ** 2 @ a
    proposal = (1 + 2 * y / b) ** (-len(m) / 2)
    accepted = np.exp(law.log_acceptance(y, b, len(m)))
    assert law.acceptance_rate(m) == pytest.approx(w @ (proposal * accepted) / (w @ proposal), abs=1e-10)


@pytest.mark.parametrize("q", [2, 5, 30])
def test_the_second_moments_descend_and_sum_to_one(q: int) -> None:
    moments = law.second_moments(rotated(list(np.linspace(-3, 40, q))))
    assert moments.sum() == pytest.approx(1, abs=1e-9)
    assert (np.diff(moments) < 0).all()


@pytest.mark.parametrize("q", [3, 5, 12, 18, pytest.param(80)])
@pytest.mark.parametrize("gap", [0.5, 3.0, 20.0])
def test_one_distinct_eigenvalue_gives_kummers_function(q: int, gap: float) -> None:
    # Since u_1² has the law Beta(1/2, (q − 1)/2), E exp(−a (1 − u_1²)) is e^{−a} ₁F₁(1/2; q/2; a).
    a = np.array([0.0] + [gap] * (q - 1))
    with mpmath.workdps(30):
        exact = float(mpmath.log(mpmath.hyp1f1(mpmath.mpf(1) / 2, mpmath.mpf(q) / 2, gap)) - gap)
    assert law.log_mean_exponential(a) == pytest.approx(exact, abs=2e-12)


@pytest.mark.parametrize("gap", [0.0, 1.0, 30.0])
def test_the_law_of_a_projection_agrees_with_quadrature_on_the_circle(gap: float) -> None:
    def angle_mass(low: float, high: float) -> float:
        return quad(lambda t: math.exp(-gap * math.cos(t) ** 2), low, high, epsabs=1e-15, epsrel=1e-13)[0]

    w = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    # For u_1 = sin t, the density of t is proportional to exp(gap u_1²). The ratio of the integrals is P(u_1² ≤ w).
    exact = [angle_mass(0, math.asin(math.sqrt(v))) / angle_mass(0, math.pi / 2) for v in w]
    np.testing.assert_allclose(law.projection_cdf(np.diag([gap, 0.0]), [0])(w), exact, atol=1e-11)


@pytest.mark.parametrize("q", [2, 3, 8])
@pytest.mark.parametrize("rank", [1, 2, 5])
def test_without_preference_a_projection_has_its_beta_law(q: int, rank: int) -> None:
    if rank >= q:
        with pytest.raises(InvalidInput, match="kept = "):
            law.projection_cdf(np.zeros((q, q)), range(q))
        return
    w = np.linspace(0, 1, 21)
    expected = stats.beta.cdf(w, rank / 2, (q - rank) / 2)
    np.testing.assert_allclose(law.projection_cdf(np.zeros((q, q)), range(rank))(w), expected, atol=1e-11)


@pytest.mark.parametrize("kept", [[], [0, 1, 2], [7]], ids=["nothing", "everything", "no such position"])
def test_a_projection_on_nothing_or_everything_is_refused(kept: list[int]) -> None:
    with pytest.raises(InvalidInput, match="kept = "):
        law.projection_cdf(np.eye(3), kept)


def concentrated_cdf(gap: float, v: float) -> float:
    """Return P(gap (1 − u_1²) ≤ v) for the Bingham law on the sphere in R³ with the eigenvalues `gap`, 0 and 0.

    The variable t = 1 − u_1² has a density proportional to e^{−gap t} (1 − t)^{−1/2}.
    """

    def mass(low: float, high: float) -> float:
        return quad(lambda t: math.exp(-t) / math.sqrt(1 - t / gap), low, high, epsabs=1e-14)[0]

    return mass(0, v) / mass(0, 60)


@pytest.mark.parametrize("gap", [1e3, 3e4, 1e6, 1e8], ids=lambda gap: f"{gap:.0e}")
def test_the_law_of_a_projection_is_exact_however_concentrated(gap: float) -> None:
    cdf = law.projection_cdf(np.diag([gap, 0.0, 0.0]), [0])
    v = np.array([0.1, 0.5, 1.0, 2.0, 5.0])
    expected = [1 - concentrated_cdf(gap, t) for t in v]
    np.testing.assert_allclose(cdf(1 - v / gap), expected, atol=1e-9)


# The sampler

SAMPLED = {
    "circle": np.diag([2.0, 0.0]),
    "sphere": rotated([6.0, 3.0, 0.0]),
    "specification": ORACLE,
    "pole": rotated([80.0, 0.0, 0.0, 0.0]),
    "girdle": rotated([50.0, 49.0, -30.0, -31.0]),
    "two clusters": rotated([9.0] * 4 + [0.0] * 4),
    "uniform": np.eye(6),
    "many dimensions": rotated(list(np.linspace(0, 25, 30))),
}


@lru_cache
def drawn(name: str) -> Matrix:
    return law.sample(SAMPLED[name], np.random.default_rng(31), DRAWS)


@pytest.mark.parametrize("name", SAMPLED)
def test_draws_have_the_exact_second_moments_and_no_preferred_sign(name: str) -> None:
    u, m = drawn(name), SAMPLED[name]
    _, vectors = law.decompose(m)
    squares = (u @ vectors) ** 2
    assert np.abs(squares.mean(axis=0) - law.second_moments(m)).max() <= HOEFFDING
    for column in (u @ vectors).T:
        assert binomial(int((column > 0).sum()), DRAWS, 0.5, "sign").p_value > FALSE_ALARM


def test_a_sampler_that_never_accepts_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the rejection sampler raises an error if it accepts no proposal."""
    monkeypatch.setattr(law, "MAX_PROPOSALS", 1000)
    monkeypatch.setattr(law, "log_acceptance", lambda y, b, q: np.full_like(y, -math.inf))
    with pytest.raises(ArithmeticError, match="proposals rejected in a row"):
        law.sample(ORACLE, np.random.default_rng(0))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_spectra_of_every_size_can_be_sampled(scale: float) -> None:
    """Test that draws for very large and very small matrices are unit vectors."""
    m = scale * rotated([1.0, 0.5, 0.0, -2.0])
    u = law.sample(m, np.random.default_rng(3), 100)
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1, atol=1e-13)


@pytest.mark.parametrize("q", [8, 10, *(pytest.param(q) for q in (9, 11, 18, 20, 50))])
def test_the_envelope_parameter_of_a_nearly_isotropic_matrix_is_its_dimension(q: int) -> None:
    assert law.envelope_parameter(np.array([0.0] * (q - 1) + [1e-16])) == pytest.approx(q, rel=1e-14)


@pytest.mark.parametrize("q", [10, pytest.param(50)])
def test_rows_that_are_an_orthonormal_basis_can_be_sampled_from(q: int) -> None:
    x = haar.sample(q, np.random.default_rng(0))  # XᵀX is the identity up to rounding errors
    assert law.sample(x.T @ x, np.random.default_rng(0)).shape == (q,)


@pytest.mark.parametrize("call", [lambda m: law.sample(m, np.random.default_rng(0)), law.acceptance_rate])
@pytest.mark.parametrize(
    ("m", "message"),
    [
        pytest.param(np.array([[0.0, 1.0], [0.0, 0.0]]), "m is not symmetric", id="not symmetric"),
        pytest.param(np.zeros((2, 3)), r"m of shape \(2, 3\)", id="not square"),
        pytest.param(np.array([[math.nan]]), "m contains a value that is not finite", id="NaN"),
    ],
)
def test_a_bad_matrix_is_refused(call: Callable[[Matrix], Any], m: Matrix, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call(m)


@pytest.mark.parametrize("q", [1, 2, 3, 7])
# If FEWEST_PROPOSALS is −1, the sampler makes one proposal at a time for a single draw.
@pytest.mark.parametrize("fewest", [law.FEWEST_PROPOSALS, -1])
def test_draws_of_several_laws_are_those_of_each_law(q: int, fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The test catches a sampler that returns a rejected proposal. Every law has its own random number generator. If all
    # first proposals for a law are rejected, the further proposals must also come from the generator of this law.
    monkeypatch.setattr(law, "FEWEST_PROPOSALS", fewest)
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((50, q, q))
    matrices = np.concatenate([roots + np.swapaxes(roots, 1, 2), 100 * (roots @ np.swapaxes(roots, 1, 2))])
    each = law.sample(matrices, [np.random.default_rng(i) for i in range(100)])
    alone = np.array([law.sample(m, np.random.default_rng(i)) for i, m in enumerate(matrices)])
    np.testing.assert_array_equal(each, alone, strict=True)
