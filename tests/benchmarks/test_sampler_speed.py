"""The speed of exact nuclear-Laplace noise beside hit-and-run and beside the physical limit; and hit-and-run is right.

    OPENBLAS_NUM_THREADS=1 pytest tests/benchmarks -m slow -s

prints the comparison, in about a minute. Timings are noisy: the contenders take turns in one run, a time is the median
over the rounds, and what is stated is a ratio. No test depends on time.

The baseline is given more than it is owed. It starts in its stationary law and pays for no burn-in. Its effective
samples are those for the mean of ‖Z‖/‖Z‖_*; an entry of Z mixes more slowly (printed too). Effective samples are not
independent; the exact draws are. Like is compared with like: a hundred chains side by side with a batch of exact draws.
The first row of the baselines is the plain algorithm, one chain, as one would write it down; it pays for a NumPy call
per matrix as well, which is why the other rows stand beside it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import haar, nuclear_laplace
from covassay.verification.statistics.tests import kolmogorov_smirnov, two_sample
from tests.benchmarks.hit_and_run import (
    AutocorrelationTime,
    Chains,
    SecantChains,
    ShrinkingChains,
    autocorrelation_time,
    effective_sample_size,
    on_lines,
    stationary_start,
)
from tests.conventions import FALSE_ALARM

BOTH = pytest.mark.parametrize("kind", [SecantChains, ShrinkingChains])


# THE MEASUREMENT


@dataclass(frozen=True)
class Baseline:
    """One way of running hit-and-run."""

    name: str
    decompositions: float  # SVDs per step
    seconds_per_step: float


@dataclass(frozen=True)
class Measurement:
    """Seconds per draw (exact, limit) or per step (baselines) of one run, and the steps one effective sample takes."""

    dimension: int
    exact: float
    limit: float
    baselines: tuple[Baseline, ...]
    ratio_time: AutocorrelationTime  # of ‖Z‖/‖Z‖_*
    entry_time: AutocorrelationTime  # of Z_11/‖Z‖_*

    def times_faster(self, baseline: Baseline, steps: float) -> float:
        """Seconds per effective sample of the baseline, `steps` steps each, over seconds per exact draw."""
        return baseline.seconds_per_step * steps / self.exact


def two_rotations_and_a_product(dimension: int, rng: np.random.Generator, size: int) -> Matrix:
    """The physical limit: what a draw costs whose singular values are free."""
    product: Matrix = haar.sample(dimension, rng, size) @ haar.sample(dimension, rng, size)
    return product


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Wall-clock seconds of the block, to be asked for after it."""
    start = end = time.perf_counter()
    yield lambda: end - start
    end = time.perf_counter()


def measure(
    dimension: int, *, rounds: int = 10, batch: int = 1024, chains: int = 100, steps: int = 400, seed: int = 1
) -> Measurement:
    """Let the exact sampler, the limit and the baselines take turns.

    The autocorrelation times come from the shrinking chains, all `rounds · steps` steps of them; the secant chains have
    the same law and run a tenth as long.
    """
    rng = np.random.default_rng(seed)
    shrinking = ShrinkingChains(stationary_start(dimension, chains, rng), rng)
    secant = SecantChains(stationary_start(dimension, chains, rng), rng)
    simple = SecantChains(stationary_start(dimension, 1, rng), rng)
    runs: list[tuple[str, Chains, int]] = [
        ("chord ends, one chain", simple, steps // 4),
        ("chord ends", secant, steps // 10),
        ("shrinking interval", shrinking, steps),
    ]
    nuclear_laplace.sample(dimension, rng, 1)  # the ensemble's tables, made once per dimension
    before = [run.decompositions for _, run, _ in runs]

    seconds = np.empty((rounds, 2 + len(runs)))
    ratios, entries = np.empty((2, rounds, steps, chains))
    for i in range(rounds):
        with stopwatch() as exact:
            nuclear_laplace.sample(dimension, rng, batch)
        with stopwatch() as limit:
            two_rotations_and_a_product(dimension, rng, batch)
        per_step = []
        for _, run, count in runs:
            with stopwatch() as spent:
                path = run.run(count)
            per_step.append(spent() / (count * len(run.z)))
        seconds[i] = exact() / batch, limit() / batch, *per_step
        ratios[i], entries[i] = path  # of the last: the shrinking chains

    per_draw, limit_per_draw, *per_step = np.median(seconds, axis=0).tolist()
    return Measurement(
        dimension,
        per_draw,
        limit_per_draw,
        tuple(
            Baseline(name, (run.decompositions - start) / (rounds * count * len(run.z)), each)
            for (name, run, count), start, each in zip(runs, before, per_step, strict=True)
        ),
        autocorrelation_time(ratios.reshape(-1, chains)),
        autocorrelation_time(entries.reshape(-1, chains)),
    )


BATCHES = {2: 1024, 5: 1024, 10: 512, 20: 512, 50: 128, 100: 48, 200: 24, 300: 11}  # draws in a round, by dimension


def times_the_limit(dimension: int, *, rounds: int, batch: int, seed: int = 1) -> float:
    """Seconds of an exact draw over seconds of its limit: the median over rounds in which they take turns."""
    rng = np.random.default_rng(seed)
    nuclear_laplace.sample(dimension, rng, 1)  # the ensemble's tables, made once per dimension
    ratios = []
    for _ in range(rounds):
        with stopwatch() as exact:
            nuclear_laplace.sample(dimension, rng, batch)
        with stopwatch() as limit:
            two_rotations_and_a_product(dimension, rng, batch)
        ratios.append(exact() / limit())
    return float(np.median(ratios))


def table(measurement: Measurement) -> str:
    """The measurement in words and milliseconds."""
    m = measurement
    ratio, entry = m.ratio_time, m.entry_time
    lines = [
        f"d = {m.dimension}",
        f"steps per effective sample of ‖Z‖/‖Z‖_*: {ratio.value:.1f} ± {ratio.standard_error:.1f}, conservatively "
        f"{ratio.conservative:.1f}; of Z_11/‖Z‖_*: {entry.value:.1f} ± {entry.standard_error:.1f}",
        f"{'':43} {'SVDs':>5} {'ms':>7} {'ms per':>8}   {'cost relative to an exact draw':>35}",
        f"{'':43} {'/step':>5} {'/step':>7} {'sample':>8}   {'‖Z‖/‖Z‖_*':>11} {'conserv.':>11} {'Z_11/‖Z‖_*':>11}",
        f"{'limit: two Haar QRs and a product, batched':57} {1e3 * m.limit:8.4f}   {m.limit / m.exact:11.3f}",
        f"{'covassay, exact, batched':57} {1e3 * m.exact:8.4f}   {1:11}",
    ]
    for b in m.baselines:
        relative = [m.times_faster(b, steps) for steps in (ratio.value, ratio.conservative, entry.value)]
        lines.append(
            f"{'hit-and-run, ' + b.name:43} {b.decompositions:5.1f} {1e3 * b.seconds_per_step:7.4f} "
            f"{1e3 * b.seconds_per_step * ratio.value:8.4f}   " + " ".join(f"{each:11.1f}" for each in relative)
        )
    return "\n".join(lines)


# THE BASELINE IS RIGHT


def noise_from_the_centre(kind: type[Chains], dimension: int, rng: np.random.Generator) -> Matrix:
    """2000 matrices of noise: 250 chains started at Z = 0, kept after each three autocorrelation times of ‖Z‖/‖Z‖_*.

    That leaves correlations near e^{−6} between the singular values, the only ones that matter below: a chain that
    starts at 0 has a rotationally invariant law at once.
    """
    gap = 3 * {2: 3, 3: 10}[dimension]
    chains = kind(np.zeros((250, dimension, dimension)), rng)
    chains.run(2 * gap)
    kept = []
    for _ in range(8):
        chains.run(gap)
        kept.append(chains.noise())
    return np.concatenate(kept)


def law_p_values(noise: Matrix, rng: np.random.Generator) -> tuple[float, float]:
    """p-values against the exact law: of ‖Z‖/‖Z‖_*, beside exact draws, and of ‖Z‖_*, which is Gamma(d²)."""
    size, d, _ = noise.shape

    def ratio(z: Matrix) -> Vector:
        values = np.linalg.svd(z, compute_uv=False)
        largest: Vector = values[:, 0] / values.sum(axis=1)
        return largest

    exact = nuclear_laplace.sample(d, rng, size)
    shape = two_sample(ratio(noise), ratio(exact), "‖Z‖/‖Z‖_* has one law")
    radius = kolmogorov_smirnov(
        nuclear_laplace.nuclear_norm(noise), lambda t: nuclear_laplace.nuclear_norm_cdf(d, t), "‖Z‖_* ~ Gamma(d²)"
    )
    return shape.p_value, radius.p_value


@BOTH
@pytest.mark.parametrize("dimension", [1, 3, pytest.param(10, marks=pytest.mark.slow)])
def test_no_chain_ever_leaves_the_ball(kind: type[Chains], dimension: int) -> None:
    rng = np.random.default_rng(20250201)
    chains = kind(stationary_start(dimension, 100, rng), rng)
    for _ in range(50):
        before = chains.z
        chains.step()
        norms = nuclear_laplace.nuclear_norm(chains.z)
        assert (norms <= 1 + 1e-14 * dimension).all()  # rounding of a sum of d singular values
        assert chains.norms == pytest.approx(norms, abs=1e-14 * dimension)
        assert (chains.z != before).any(axis=(1, 2)).all()


@pytest.mark.parametrize("dimension", [1, 2, 5, 10])
def test_the_ends_of_a_chord_are_on_the_sphere(dimension: int) -> None:
    rng = np.random.default_rng(20250202)
    chains = SecantChains(stationary_start(dimension, 500, rng), rng)
    v = rng.standard_normal(chains.z.shape)
    v /= np.linalg.norm(v, axis=(1, 2), keepdims=True)
    forward, back = np.split(chains.ends(v), 2)
    for t in (forward, -back):
        norms = nuclear_laplace.nuclear_norm(on_lines(chains.z, t, v))
        assert ((norms <= 1 + 1e-14 * dimension) & (norms >= 1 - 1.001e-3 / dimension**2)).all()
    assert (forward >= 0).all()
    assert (back >= 0).all()


@BOTH
@pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_baseline_has_the_exact_law(kind: type[Chains], dimension: int) -> None:
    rng = np.random.default_rng(20250203)
    shape, radius = law_p_values(noise_from_the_centre(kind, dimension, rng), rng)
    assert shape > FALSE_ALARM
    assert radius > FALSE_ALARM


class MiddleSeekingChains(SecantChains):
    """Wrong: the point is Beta(2, 2) on the chord, not uniform."""

    def move(self, v: Matrix) -> None:
        forward, back = np.split(self.ends(v), 2)
        self.z = on_lines(self.z, -back + (forward + back) * self.rng.beta(2, 2, len(v)), v)
        self.singular_values = self.decompose(self.z)


class ShortRadiusChains(ShrinkingChains):
    """Wrong: the radius is Gamma(d²), the law of ‖Z‖_* itself."""

    def noise(self) -> Matrix:
        return self.z * self.rng.gamma(self.z.shape[1] ** 2, size=len(self.z))[:, None, None]


class DiagonalChains(ShrinkingChains):
    """Wrong: the directions are not uniform, and the chains never leave the diagonal matrices."""

    def step(self) -> None:
        v = np.eye(self.z.shape[1]) * self.rng.standard_normal(self.z.shape)
        self.move(v / np.linalg.norm(v, axis=(1, 2), keepdims=True))


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", [MiddleSeekingChains, ShortRadiusChains, DiagonalChains])
def test_a_wrong_baseline_is_found_out(mutant: type[Chains]) -> None:
    rng = np.random.default_rng(20250204)
    assert min(law_p_values(noise_from_the_centre(mutant, 2, rng), rng)) <= FALSE_ALARM


def test_the_stationary_start_is_uniform_on_the_ball() -> None:
    rng = np.random.default_rng(20250205)
    norms = nuclear_laplace.nuclear_norm(stationary_start(3, 4000, rng))
    assert kolmogorov_smirnov(norms, lambda r: r**9, "P(‖Z‖_* ≤ r) = r^9").p_value > FALSE_ALARM


@pytest.mark.parametrize(("kind", "decompositions"), [(SecantChains, 10), (ShrinkingChains, 6)])
def test_a_step_takes_as_many_decompositions_as_stated(kind: type[Chains], decompositions: float) -> None:
    rng = np.random.default_rng(20250206)
    chains = kind(stationary_start(10, 100, rng), rng)
    before = chains.decompositions
    chains.run(20)
    assert (chains.decompositions - before) / (20 * 100) == pytest.approx(decompositions, abs=0.6)


# THE EFFECTIVE SAMPLE SIZE IS RIGHT


def autoregression(phi: float, steps: int, chains: int, rng: np.random.Generator) -> Matrix:
    """Stationary x_{i+1} = φ x_i + √(1 − φ²) ξ: autocorrelation φ^k, time 1 + 2 Σ φ^k = (1 + φ)/(1 − φ)."""
    x = rng.standard_normal((steps, chains))
    x[1:] *= np.sqrt(1 - phi**2)
    for i in range(1, steps):
        x[i] += phi * x[i - 1]
    return x


# Six standard errors: a false alarm of 2e-9 in the normal approximation, with a fixed seed.


def test_white_noise_is_worth_its_length() -> None:
    x = np.random.default_rng(20250207).standard_normal((5000, 40))
    error = autocorrelation_time(x).standard_error
    assert error < 0.02
    assert effective_sample_size(x) == pytest.approx(x.size, rel=6 * error)


@pytest.mark.parametrize("phi", [0.3, 0.9, 0.95])
def test_an_autoregression_is_worth_its_length_times_the_known_factor(phi: float) -> None:
    x = autoregression(phi, 10_000, 40, np.random.default_rng(20250208))
    time_of_x = autocorrelation_time(x)
    relative_error = time_of_x.standard_error / time_of_x.value
    assert relative_error < 0.05
    assert effective_sample_size(x) == pytest.approx(x.size * (1 - phi) / (1 + phi), rel=6 * relative_error)
    assert time_of_x.conservative == time_of_x.value - 2 * time_of_x.standard_error


def test_the_standard_error_is_the_scatter_between_repetitions() -> None:
    # 200 repetitions: the scatter of their scatter is 5 %, and the formula is asymptotic.
    rng = np.random.default_rng(20250209)
    times = [autocorrelation_time(autoregression(0.8, 500, 20, rng)) for _ in range(200)]
    scatter = np.std([t.value for t in times])
    assert scatter == pytest.approx(np.mean([t.standard_error for t in times]), rel=0.4)


def test_a_series_too_short_for_any_window_is_refused() -> None:
    drift = np.linspace(0, 1, 10)[:, None] * np.ones((1, 3))
    with pytest.raises(ArithmeticError, match="10 steps are too few"):
        autocorrelation_time(drift + np.array([0.0, 10.0, 20.0]))


def test_the_measurement_runs_and_prints_the_limit_beside_the_figure() -> None:
    measurement = measure(2, rounds=2, batch=16, chains=50, steps=100)
    text = table(measurement)
    assert "limit: two Haar QRs and a product" in text
    for baseline in measurement.baselines:
        assert baseline.name in text
        assert baseline.decompositions > 2
        assert baseline.seconds_per_step > 0


def test_the_ratio_is_of_seconds_per_effective_sample_to_seconds_per_draw() -> None:
    some_time = AutocorrelationTime(30.0, 1.0, 90)
    measurement = Measurement(2, 1e-4, 1e-5, (), some_time, some_time)
    baseline = Baseline("30 steps of 2 ms, against 0.1 ms", 10.0, 2e-3)
    assert measurement.times_faster(baseline, some_time.value) == pytest.approx(600)


@pytest.mark.slow
def test_the_comparison_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """Print the table. The assertions say that the run is long enough to mean something, not how fast anything is."""
    measurements = [measure(5, steps=200), measure(10)]
    with capsys.disabled():
        print("", *map(table, measurements), sep="\n\n")
    for m in measurements:
        assert m.ratio_time.standard_error < 0.1 * m.ratio_time.value


def test_the_ratio_to_the_limit_is_measured_in_turns() -> None:
    assert times_the_limit(2, rounds=3, batch=16) > 0


@pytest.mark.slow
def test_the_cost_of_a_draw_is_printed_as_a_multiple_of_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    ratios = {d: times_the_limit(d, rounds=9 if d <= 50 else 3, batch=batch) for d, batch in BATCHES.items()}
    with capsys.disabled():
        print("", "an exact draw costs as much as so many times two Haar QRs and a product:", sep="\n\n")
        print(*(f"d = {d}: {ratio:.0f}" for d, ratio in ratios.items()), sep=", ")
