"""Compare the time of an exact draw of nuclear-Laplace noise with the time of hit-and-run and with a lower limit. Also
test that hit-and-run is right.

    OPENBLAS_NUM_THREADS=1 pytest tests/benchmarks -m slow -s

The command prints the comparison in a few minutes. Timings are noisy: the contenders take turns in one run, a time is
the median over the rounds, and the printed figure is a ratio. No test depends on time.

The baseline is given more favourable conditions than the exact sampler. The baseline starts in its stationary law and
pays for no burn-in. The effective samples of hit-and-run are counted for the mean of ‖Z‖/‖Z‖_*; an entry of Z mixes
more slowly. Effective samples are not independent; the exact draws are. A single chain needs its own NumPy calls for
every matrix, and a hundred chains share their calls.
"""

import time
from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import haar, nuclear_laplace
from covassay.verification.statistics.tests import kolmogorov_smirnov, two_sample
from tests.benchmarks.hit_and_run import Chains, autocorrelation_time, stationary_start
from tests.conventions import FALSE_ALARM

BATCHES = {2: 1024, 5: 1024, 10: 512, 20: 512, 50: 128, 100: 48, 200: 24, 300: 11}  # draws in a round, by dimension


def two_rotations_and_a_product(dimension: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw two orthogonal matrices and multiply them. An exact draw of nuclear-Laplace noise needs the same operations,
    and must also draw singular values. The time of this function is therefore a lower limit on the time of an exact
    draw.
    """
    return haar.sample(dimension, rng, size) @ haar.sample(dimension, rng, size)


def seconds_in_turns(rounds: int, *contenders: Callable[[], object]) -> Matrix:
    """Return the seconds on the clock of every contender in every round: (rounds, contenders)."""
    found = np.empty((rounds, len(contenders)))
    for taken in found:
        for k, contender in enumerate(contenders):
            start = time.perf_counter()
            contender()
            taken[k] = time.perf_counter() - start
    return found


def times_the_limit(dimension: int, *, rounds: int, batch: int, seed: int = 1) -> float:
    """Return the time of an exact draw divided by the lower limit, which is the time of `two_rotations_and_a_product`.
    The two are timed in turns, and the result is the median over the rounds.
    """
    rng = np.random.default_rng(seed)
    nuclear_laplace.sample(dimension, rng, 1)  # the ensemble's tables, made once per dimension
    exact, limit = seconds_in_turns(
        rounds,
        lambda: nuclear_laplace.sample(dimension, rng, batch),
        lambda: two_rotations_and_a_product(dimension, rng, batch),
    ).T
    return float(np.median(exact / limit))


def times_hit_and_run(
    dimension: int, *, chains: int, rounds: int = 10, batch: int = 1024, steps: int = 400, seed: int = 1
) -> float:
    """Return the time of an effective sample of hit-and-run divided by the time of an exact draw."""
    rng = np.random.default_rng(seed)
    contender = Chains(stationary_start(dimension, chains, rng), rng)
    nuclear_laplace.sample(dimension, rng, 1)
    ratios: list[Matrix] = []
    exact, walked = np.median(
        seconds_in_turns(
            rounds, lambda: nuclear_laplace.sample(dimension, rng, batch), lambda: ratios.append(contender.run(40))
        ),
        axis=0,
    )
    mixing = Chains(stationary_start(dimension, 100, rng), rng)
    time_of_a_sample = autocorrelation_time(mixing.run(steps))
    assert time_of_a_sample.standard_error < 0.1 * time_of_a_sample.value  # the error of the estimate is below 10 %
    return float(walked / ratios[0].size * time_of_a_sample.value / (exact / batch))


def test_the_ends_of_a_chord_are_on_the_sphere() -> None:
    """This test catches a search that stops inside the ball, or leaves it."""
    rng = np.random.default_rng(20250202)
    chains = Chains(stationary_start(5, 500, rng), rng)
    v = rng.standard_normal(chains.z.shape)
    v /= np.linalg.norm(v, axis=(1, 2), keepdims=True)
    forward, back = np.split(chains.ends(v), 2)
    for t in (forward, -back):
        norms = nuclear_laplace.nuclear_norm(chains.z + t[:, None, None] * v)
        assert ((norms <= 1 + 5e-14) & (norms >= 1 - 1.001e-3 / 25)).all()
    assert min(forward.min(), back.min()) >= 0


def test_the_baseline_has_the_exact_law() -> None:
    """This test catches points that are not uniform on the chord, and a wrong radius.

    The chains start at 0. One state is kept in every three autocorrelation times, so that successive kept states have
    correlations near e^{−6}.
    """
    rng = np.random.default_rng(20250203)
    chains = Chains(np.zeros((250, 2, 2)), rng)
    chains.run(18)
    kept = []
    for _ in range(8):
        chains.run(9)
        kept.append(chains.noise())
    noise = np.concatenate(kept)

    def ratio(z: Matrix) -> Vector:
        values = np.linalg.svd(z, compute_uv=False)
        return np.asarray(values[:, 0] / values.sum(axis=1))

    exact = nuclear_laplace.sample(2, rng, len(noise))
    assert two_sample(ratio(noise), ratio(exact), "‖Z‖/‖Z‖_* has one law").p_value > FALSE_ALARM
    norms = nuclear_laplace.nuclear_norm(noise)
    radius = kolmogorov_smirnov(norms, lambda t: nuclear_laplace.nuclear_norm_cdf(2, t), "‖Z‖_* ~ Gamma(d²)")
    assert radius.p_value > FALSE_ALARM


@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_an_autoregression_is_worth_its_length_times_the_known_factor(phi: float) -> None:
    """The autoregression x_{i+1} = φ x_i + √(1 − φ²) ξ has the autocorrelation time (1 + φ)/(1 − φ). The test fails if
    the estimated autocorrelation time differs from (1 + φ)/(1 − φ) by more than 6 standard errors.
    """
    x = np.random.default_rng(20250208).standard_normal((10_000, 40))
    x[1:] *= np.sqrt(1 - phi**2)
    for i in range(1, len(x)):
        x[i] += phi * x[i - 1]
    found = autocorrelation_time(x)
    assert found.value == pytest.approx((1 + phi) / (1 - phi), abs=6 * found.standard_error)


@pytest.mark.slow
def test_the_comparison_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    ratios = {chains: times_hit_and_run(10, chains=chains, steps=3000) for chains in (1, 100)}
    with capsys.disabled():
        print("", "d = 10: number of exact draws in the time of one effective sample of hit-and-run:", sep="\n\n")
        print(*(f"{chains} chain(s): {ratio:.0f}" for chains, ratio in ratios.items()), sep=", ")


@pytest.mark.slow
def test_the_cost_of_a_draw_is_printed_as_a_multiple_of_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    ratios = {d: times_the_limit(d, rounds=9 if d <= 50 else 3, batch=batch) for d, batch in BATCHES.items()}
    with capsys.disabled():
        print("", "time of an exact draw, divided by the time of two Haar QRs and a product:", sep="\n\n")
        print(*(f"d = {d}: {ratio:.0f}" for d, ratio in ratios.items()), sep=", ")
