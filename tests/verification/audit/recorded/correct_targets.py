"""Correct functions for which an exact loss is hard to compute, so that a careless audit would refute them. The
statistic that they release changes by at most 1.
"""

import copy
import functools
import json
import math
import random
import secrets
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import laplace as imported_early

OF_THE_MODULE = np.random.default_rng(7)
CORRECT: dict[str, Callable[..., Any]] = {}
PAIR = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([[0.0], [0.0], [0.0], [0.0]])


def correct(function: Callable[..., Any]) -> Callable[..., Any]:
    CORRECT[function.__name__] = function
    return function


def query(x: Any) -> float:
    return float(np.clip(x, 0, 1).sum())


# DIFFICULT CASES


@functools.lru_cache
def _kept(data: bytes) -> float:
    return query(np.frombuffer(data)) + np.random.laplace()  # noqa: NPY002


@correct
def cached_output(x: Any, *, epsilon: float, rng: Any) -> Any:
    return _kept(x.tobytes())


@correct
def fixed_seed(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add noise from a fixed seed. The function is not private. Other checks must find this mistake, and the
    computation of exact losses may overlook it.
    """
    return query(x) + np.random.default_rng(0).laplace()


@correct
def seed_of_the_data(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + np.random.default_rng(abs(hash(x.tobytes()))).laplace()


@correct
def subsampled(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a sum over a random half of the rows. Sampling amplifies privacy, so the noise is for a larger budget."""
    stronger = math.log1p(2 * math.expm1(epsilon))
    return query(x[rng.random(len(x)) < 0.5]) + rng.laplace(scale=1 / stronger)


@correct
def one_row_chosen(x: Any, *, epsilon: float, rng: Any) -> Any:
    stronger = math.log1p(len(x) * math.expm1(epsilon))
    return query(x[rng.choice(len(x), 1, replace=False)]) + rng.laplace(scale=1 / stronger)


@correct
def half_of_the_rows(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a sum over exactly half of the rows, chosen at random. Sampling amplifies privacy, so the noise is for a
    larger budget.
    """
    many = max(1, len(x) // 2)
    stronger = math.log1p(len(x) / many * math.expm1(epsilon))
    return query(x[rng.choice(len(x), many, replace=False)]) + rng.laplace(scale=1 / stronger)


@correct
def one_of_two_choices(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Use the data if one of two coins shows heads. If both coins show heads, changing only one has no effect."""
    stronger = math.log1p(4 / 3 * math.expm1(epsilon))
    return query(x) * max(rng.integers(2), rng.integers(2)) + rng.laplace(scale=1 / stronger)


@correct
def more_noise_for_full_blocks(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add more noise than needed if the number of rows is a multiple of 8."""
    return query(x) + rng.laplace(scale=(1.0 if len(x) % 8 else 1.1) / epsilon)


@correct
def shuffled(x: Any, *, epsilon: float, rng: Any) -> Any:
    rows = x.copy()
    rng.shuffle(rows)
    return query(rows) + rng.laplace(scale=1 / epsilon)


@correct
def random_sign(x: Any, *, epsilon: float, rng: Any) -> Any:
    return abs(rng.choice([-1, 1]) * (query(x) + rng.laplace(scale=1 / epsilon)))


@correct
def mixture(x: Any, *, epsilon: float, rng: Any) -> Any:
    scale = rng.choice([1.0, 3.0])
    return query(x) + scale * rng.laplace(scale=1 / epsilon)


@correct
def basis_of_the_data(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add Laplace noise whose sign depends on the data, which does not change its law."""
    sign = 1.0 if query(x) > 0.5 else -1.0
    return query(x) + sign * rng.laplace(scale=1 / epsilon)


@correct
def order_of_the_data(x: Any, *, epsilon: float, rng: Any) -> Any:
    noise = rng.laplace(scale=1 / epsilon, size=2)
    return np.array([query(x), 0.0]) + (noise if query(x) > 0.5 else noise[::-1])


@correct
def rounded_late(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.round(query(x) + rng.laplace(scale=1 / epsilon), 1)


@correct
def clipped_late(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.clip(query(x) + rng.laplace(scale=1 / epsilon), 0.4, 0.6)


@correct
def clipped_late_and_too_little(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add slightly too little noise and clip the output. The privacy loss is 1.09 without
    clipping, and 0.87 with it.
    """
    return np.clip(query(x) + 0.9185 * rng.laplace(scale=1 / epsilon), 0.45, 0.55)


@correct
def early_import(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + imported_early(scale=1 / epsilon)  # noqa: NPY002


@correct
def early_and_late(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + imported_early(scale=1 / epsilon) + 1e-3 * rng.laplace()  # noqa: NPY002


@correct
def generator_of_the_module(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + OF_THE_MODULE.laplace(scale=1 / epsilon)


# MORE


@correct
def in_a_thread(x: Any, *, epsilon: float, rng: Any) -> Any:
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(query(x) + np.random.laplace(scale=1 / epsilon)))  # noqa: NPY002
    thread.start()
    thread.join()
    return found[0]


@correct
def sampled_by_a_normal(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw a normal number for every row, and release a sum over the rows whose number is negative."""
    stronger = math.log1p(2 * math.expm1(epsilon))
    return query(x[rng.standard_normal(len(x)) < 0]) + rng.laplace(scale=1 / stronger)


@correct
def sampled_at_three_deviations(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Leave out every row whose normal number is above 3, and release the sum."""
    stronger = math.log1p(math.expm1(epsilon) / 0.99865)
    return query(x[rng.standard_normal(len(x)) < 3]) + rng.laplace(scale=1 / stronger)


@correct
def two_exponentials(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + (rng.exponential() - rng.exponential()) / epsilon


@correct
def quantile_function(x: Any, *, epsilon: float, rng: Any) -> Any:
    u = random.random() - 0.5
    return query(x) - math.copysign(1, u) * math.log1p(-2 * abs(u)) / epsilon


@correct
def sign_and_exponential(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + secrets.choice((-1, 1)) * random.expovariate(epsilon)


@correct
def randomised_response(x: Any, *, epsilon: float, rng: Any) -> Any:
    bit = query(x) > 0.5
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return float(bit if rng.random() < keep else not bit)


@correct
def geometric(x: Any, *, epsilon: float, rng: Any) -> Any:
    p = -math.expm1(-epsilon)
    return query(x) + rng.geometric(p) - rng.geometric(p)


@correct
def mean_of_two(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release the average of two noisy sums, each with half of the budget."""
    return (query(x) + rng.laplace(scale=2 / epsilon, size=2)).mean()


@correct
def tiny_unit(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release two noisy sums in units that differ by the factor 10¹², each with half of the budget."""
    noise = rng.laplace(scale=2 / epsilon, size=2)
    return (query(x) + noise) * np.array([1e-6, 1e6])


@correct
def single_precision(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.float32(query(x) + rng.laplace(scale=1 / epsilon))


@correct
def own_generator(x: Any, *, epsilon: float, rng: Any) -> Any:
    own = np.random.RandomState(rng.integers(2**32, dtype=np.uint32))
    return query(x) + own.laplace(scale=1 / epsilon)


@correct
def entropy_of_the_system(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + np.random.default_rng(secrets.randbits(128)).laplace(scale=1 / epsilon)


@correct
def spawned(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + rng.spawn(2)[1].laplace(scale=1 / epsilon)


@correct
def noisy_threshold(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a sum of values that are clipped at a noisy threshold. The threshold and the sum each get half of the
    budget.
    """
    threshold = np.clip(np.round(rng.laplace(scale=2 / epsilon)), 0.0, 1.0)
    return np.minimum(x, threshold).sum() + rng.laplace(scale=2 / epsilon)


@correct
def redrawn(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Repeat the release with half of the budget until the output is not negative."""
    while True:
        y = query(x) + rng.laplace(scale=2 / epsilon)
        if y >= 0:
            return y


@correct
def counts_its_calls(x: Any, *, epsilon: float, rng: Any) -> Any:
    counts_its_calls.calls = getattr(counts_its_calls, "calls", 0) + 1  # type: ignore[attr-defined]
    return query(x) + rng.laplace(scale=1 / epsilon) + counts_its_calls.calls  # type: ignore[attr-defined]


@correct
def other_bit_generator(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + np.random.Generator(np.random.Philox(rng.integers(2**62))).laplace(scale=1 / epsilon)


@correct
def handed_bit_generator(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + np.random.Generator(rng.bit_generator).laplace(scale=1 / epsilon) + 1e-6 * rng.laplace()


@correct
def scale_in_single_precision(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add noise whose scale differs slightly between data sets, as if by rounding in single precision."""
    off = 1 + 1e-6 * query(x)
    return query(x) + rng.laplace(scale=off / epsilon)


# OTHER WAYS TO DRAW NOISE


@correct
def library_of_laws(x: Any, *, epsilon: float, rng: Any) -> Any:
    from scipy import stats

    return query(x) + stats.laplace.rvs(scale=1 / epsilon, random_state=rng)


@correct
def two_gammas(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + (rng.gamma(1.0) - rng.gamma(1.0)) / epsilon


@correct
def normal_of_random_variance(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw Laplace noise as a normal number whose variance is exponential."""
    return query(x) + rng.standard_normal() * math.sqrt(2 * rng.exponential()) / epsilon


@correct
def by_rejection(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw Laplace noise by rejection from an interval that contains all but 1e-15 of the mass."""
    while True:
        z, height = rng.uniform(-35, 35), rng.random()
        if height < math.exp(-abs(z)):
            return query(x) + z / epsilon


@correct
def bytes_of_the_system(x: Any, *, epsilon: float, rng: Any) -> Any:
    import os

    u = (int.from_bytes(os.urandom(7)) + 0.5) / 2**56 - 0.5
    return query(x) - math.copysign(1, u) * math.log1p(-2 * abs(u)) / epsilon


@correct
def seeded_by_the_clock(x: Any, *, epsilon: float, rng: Any) -> Any:
    import time

    return query(x) + np.random.default_rng(time.time_ns()).laplace(scale=1 / epsilon)


class _Pool:
    """A pool of Laplace numbers that are drawn in advance and used once each."""

    def __init__(self) -> None:
        self.numbers: list[float] = []

    def take(self) -> float:
        if not self.numbers:
            self.numbers = list(np.random.laplace(size=64))  # noqa: NPY002
        return self.numbers.pop()


POOL = _Pool()


@correct
def drawn_in_advance(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + POOL.take() / epsilon


# OTHER STEPS


@correct
def sampled_by_waiting_times(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a sum over the rows whose exponential number is above its median."""
    stronger = math.log1p(2 * math.expm1(epsilon))
    return query(x[rng.exponential(size=len(x)) > math.log(2)]) + rng.laplace(scale=1 / stronger)


@correct
def shuffled_by_sorting(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add independent noise to every row, and return the rows in random order."""
    return (np.clip(x[:, 0], 0, 1) + rng.laplace(scale=1 / epsilon, size=len(x)))[np.argsort(rng.random(len(x)))]


@correct
def sorted_afterwards(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.sort(np.array([query(x), 0.5]) + rng.laplace(scale=1 / epsilon, size=2))


@correct
def exponential_of_the_output(x: Any, *, epsilon: float, rng: Any) -> Any:
    return math.exp(query(x) + rng.laplace(scale=1 / epsilon))


@correct
def cube_of_the_output(x: Any, *, epsilon: float, rng: Any) -> Any:
    return (query(x) + rng.laplace(scale=1 / epsilon)) ** 3


@correct
def beside_a_large_number(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add the noisy sum to a large constant, so that few digits of the output depend on the data."""
    return 3e12 + query(x) + rng.laplace(scale=1 / epsilon)


@correct
def noisiest_of_two(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Choose between two scores by the exponential mechanism, with Gumbel noise."""
    return int(np.argmax(np.array([query(x), 0.5]) * epsilon / 2 + rng.gumbel(size=2)))


@correct
def sparse_vector(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Run the sparse vector technique with three queries."""
    threshold = 0.5 + rng.laplace(scale=2 / epsilon)
    for k in range(3):
        if query(x) + rng.laplace(scale=4 / epsilon) > threshold + k:
            return float(k)
    return 3.0


@correct
def rounded_at_random(x: Any, *, epsilon: float, rng: Any) -> Any:
    y = query(x) + rng.laplace(scale=1 / epsilon)
    return math.floor(y) + float(rng.random() < y - math.floor(y))


@correct
def a_public_matrix(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Multiply a noisy vector by a public random matrix."""
    a = np.random.default_rng(3).standard_normal((2, 2))
    return a @ (np.array([query(x), 0.0]) + rng.laplace(scale=1 / epsilon, size=2))


@correct
def told_twice(x: Any, *, epsilon: float, rng: Any) -> Any:
    y = query(x) + rng.laplace(scale=1 / epsilon)
    return np.array([y, 2 * y + 1, -y, 7.0])


@correct
def noise_of_the_largest(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add the larger of two Laplace numbers. The log density of the larger number changes up to twice as fast as that
    of one Laplace number, so half of the budget is used.
    """
    return query(x) + 2 * max(rng.laplace(size=2)) / epsilon


@correct
def a_joint_branch(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Return zeros if two of three noisy numbers are large."""
    y = np.array([query(x), 0.0, 0.0]) + rng.laplace(scale=1 / epsilon, size=3)
    return y if (np.abs(y) > 3).sum() < 2 else np.zeros(3)


@correct
def a_row_left_out_at_times(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Leave out the last row with small probability, and use the slightly larger budget that this allows."""
    stronger = math.log1p(math.expm1(epsilon) / 0.9953)
    last = x[-1:] if rng.standard_normal() < 2.6 else x[:0]
    return query(x[:-1]) + query(last) + rng.laplace(scale=1 / stronger)


@correct
def rounded_constant(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add noise whose scale is a constant rounded to four digits."""
    return query(x) + 0.9999 * rng.laplace(scale=1 / epsilon)


# RANDOM DECISIONS


@correct
def constant_at_times(x: Any, *, epsilon: float, rng: Any) -> Any:
    return 0.0 if rng.random() < 0.05 else query(x) + rng.laplace(scale=1 / epsilon)


@correct
def randomised_response_at_times(x: Any, *, epsilon: float, rng: Any) -> Any:
    return randomised_response(x, epsilon=epsilon, rng=rng) if rng.random() < 0.01 else query(x) + rng.laplace(scale=1 / epsilon)  # fmt: skip  # noqa: E501


@correct
def one_draw_beside_unused_ones(x: Any, *, epsilon: float, rng: Any) -> Any:
    rng.random(3)
    return query(x) + float(np.sign(u := rng.random() - 0.5) * -np.log1p(-2 * abs(u))) / epsilon


@correct
def whole_noise_beside_unused_draws(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a bit by randomised response, hidden in a number with many digits."""
    rng.random()
    bit = query(x) > 0.5
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return rng.integers(10**6) + 10**6 * float(bit if rng.random() < keep else not bit)


# REPEATED DRAWS


@correct
def redrawn_where_the_sum_is_small(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Repeat a release that spends half of the budget, until the sum of its two outputs exceeds −3."""
    while True:
        y = np.array([query(x), 0.0]) + 2 / epsilon * rng.laplace(size=2)
        if y.sum() > -3:
            return y


@correct
def drawn_again_without_need(x: Any, *, epsilon: float, rng: Any) -> Any:
    """If the absolute value of a Laplace number exceeds 3, draw the excess again, which does not change the law."""
    z = rng.laplace()
    return query(x) + (math.copysign(3 + rng.exponential(), z) if abs(z) > 3 else z) / epsilon


# COMMON STEPS


@correct
def three_significant_digits(x: Any, *, epsilon: float, rng: Any) -> Any:
    return float(f"{query(x) + rng.laplace(scale=1 / epsilon):.3g}")


@correct
def sixteen_bits_late(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.float16(query(x) + rng.laplace(scale=1 / epsilon))


@correct
def one_grid_for_both(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Round the sum and the noise to the same grid, with noise that allows for the rounding."""
    return (np.round(query(x) * 8) + np.round(rng.laplace(scale=9 / epsilon))) / 8


# UNUSUAL GENERATORS


@correct
def response_of_few_seeds(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a bit by randomised response with one of 2²⁰ seeds."""
    seeded = np.random.default_rng(int(rng.integers(2**20)))
    bit = query(x) > 0.5
    return float(bit if seeded.random() < math.exp(epsilon) / (1 + math.exp(epsilon)) else not bit)


@correct
def generators_of_one_source(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw noise from two generators that share one stream of bits."""
    source = np.random.PCG64(int(rng.integers(2**62)))
    noise = [np.random.Generator(source).laplace(scale=2 / epsilon) for _ in range(2)]
    return np.array([query(x) + noise[0], query(x) + noise[1]])


@correct
def rewound(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release two numbers with the same noise, because the generator is reset in between."""
    state = rng.bit_generator.state
    first = rng.laplace(scale=1 / epsilon)
    rng.bit_generator.state = state
    return np.array([query(x) + first, query(x) + rng.laplace(scale=1 / epsilon)])


@correct
def copied_generator(x: Any, *, epsilon: float, rng: Any) -> Any:
    twin = copy.deepcopy(rng)
    return np.array([query(x) + one.laplace(scale=1 / epsilon) for one in (rng, twin)])


@correct
def state_of_the_legacy_generator(x: Any, *, epsilon: float, rng: Any) -> Any:
    state = np.random.get_state()  # noqa: NPY002
    first = np.random.laplace(scale=1 / epsilon)  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    return np.array([query(x) + first, query(x) + np.random.laplace(scale=1 / epsilon)])  # noqa: NPY002


@correct
def state_of_python_s_generator(x: Any, *, epsilon: float, rng: Any) -> Any:
    state = random.getstate()
    first = random.expovariate(1) - random.expovariate(1)
    random.setstate(state)
    return np.array([query(x) + first, query(x) + random.expovariate(1) - random.expovariate(1)]) / 1.0


# MECHANISMS FROM THE LITERATURE


@correct
def staircase(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add the staircase noise of Geng and Viswanath (2014)."""
    b, share = math.exp(-epsilon), 1 / (1 + math.exp(epsilon / 2))
    step, place = rng.geometric(1 - b) - 1, rng.random()
    inner = rng.random() < share / (share + (1 - share) * b)
    size = step + share * place if inner else step + share + (1 - share) * place
    return query(x) + rng.choice([-1.0, 1.0]) * size


@correct
def snapped(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a number by the snapping mechanism of Mironov (2012), which clips, adds noise, rounds and clips again."""
    grid, most = 1.0, 20.0
    noisy = min(most, query(x)) + rng.choice([-1, 1]) * -math.log(rng.random()) * 2 / epsilon
    return float(np.clip(grid * round(noisy / grid), -most, most))


@correct
def sample_and_aggregate(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release the mean of the maxima of random blocks of rows, with Laplace noise."""
    rows = np.clip(x, 0, 1)[rng.permutation(len(x))]
    blocks = np.array_split(rows, min(3, len(rows)))
    return float(np.mean([block.max() for block in blocks])) + rng.laplace(scale=1 / (len(blocks) * epsilon))


@correct
def median_by_intervals(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Release a median by the exponential mechanism on the gaps between the sorted values."""
    ends = np.concatenate([[0.0], np.sort(np.clip(x, 0, 1)[:, 0]), [1.0]])
    lengths, ranks = np.diff(ends), np.abs(np.arange(len(x) + 1) - len(x) / 2)
    weights = np.cumsum(lengths * np.exp(-epsilon * ranks / 2))
    k = int(np.searchsorted(weights, rng.random() * weights[-1]))
    return ends[k] + rng.random() * lengths[min(k, len(lengths) - 1)]


@correct
def best_first(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw from the exponential mechanism by inversion, with the candidates sorted by
    scores that depend on the data.
    """
    values = np.linspace(0, 1, 40) ** 1.37
    scores = np.abs(values - min(query(x), 1.0))
    order = np.argsort(scores, kind="stable")
    weights = np.cumsum(np.exp(-epsilon / 2 * scores[order]))
    return float(values[order[int(np.searchsorted(weights, rng.random() * weights[-1]))]])


@correct
def clipped_at_a_noisy_quantile(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Choose a clipping bound with half of the budget, and release the clipped sum with the other half."""
    grid = np.linspace(0.1, 1, 10)
    values = np.sort(np.clip(x, 0, 1)[:, 0])
    scores = -np.abs(np.searchsorted(values, grid, side="right") - 0.9 * len(values))
    edge = grid[int(np.argmax(epsilon / 4 * scores + rng.gumbel(size=len(grid))))]
    return float(np.minimum(values, edge).sum()) + rng.laplace(scale=edge * 2 / epsilon)


@correct
def dithered(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Round the sum to a randomly shifted grid, and add noise that allows for the rounding."""
    grid, shift = 0.25, rng.random()
    told = grid * (np.floor(query(x) / grid + shift) - shift)
    return told + rng.laplace(scale=(1 + grid) / epsilon)


@correct
def flipped(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Choose between two scores by the mechanism permute-and-flip."""
    scores = np.array([min(query(x), 1.0), 0.5])
    for k in rng.permutation(2):
        if rng.random() < math.exp(epsilon / 2 * (scores[k] - scores.max())):
            return float(k)
    return 0.0


@correct
def opposite_draws_averaged(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Return the average of two releases, in which the second noise terms cancel."""
    noise, opposite = rng.laplace(scale=1 / epsilon), rng.laplace(scale=5 / epsilon)
    return float(np.mean([query(x) + noise + opposite, query(x) + noise - opposite]))


@correct
def shares_of_many_parties(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add Laplace noise that is the sum of the noise of seven parties."""
    shares = rng.gamma(1 / 7, 1 / epsilon, size=(7, 2))
    return query(x) + float((shares[:, 0] - shares[:, 1]).sum())


@correct
def read_from_text(x: Any, *, epsilon: float, rng: Any) -> Any:
    return float(json.loads(json.dumps({"sum": round(query(x) + rng.laplace(scale=1 / epsilon), 6)}))["sum"])


# NOISE WITH A RANDOM RADIUS


def radial(m: int, rng: Any) -> Any:
    """Draw a vector w in m dimensions whose density is proportional to e^{−|w|}."""
    g = rng.standard_normal(m)
    return rng.gamma(m) * g / np.linalg.norm(g)


def first_of(m: int, x: Any) -> Any:
    return query(x) * np.eye(m)[0]


@correct
def radius_times_direction(x: Any, *, epsilon: float, rng: Any) -> Any:
    return first_of(3, x) + radial(3, rng) / epsilon


@correct
def radius_times_sign(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + rng.gamma(1) * np.sign(rng.normal()) / epsilon


@correct
def direction_of_the_data(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add noise whose direction is reflected at a plane that depends on the data, which does not change the law."""
    v = np.array([1.0, query(x), 0.3])
    return first_of(3, x) + (np.eye(3) - 2 * np.outer(v, v) / (v @ v)) @ radial(3, rng) / epsilon


@correct
def ellipsoid(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Add noise whose level sets are ellipsoids."""
    body = np.array([[1, 0, 0], [0.5, 4, 0], [0, 1, 3]])
    return body @ (first_of(3, x) + radial(3, rng) / epsilon)


@correct
def one_coordinate_of_three(x: Any, *, epsilon: float, rng: Any) -> Any:
    return (first_of(3, x) + radial(3, rng) / epsilon)[0]


@correct
def radius_beside_more_noise(x: Any, *, epsilon: float, rng: Any) -> Any:
    return first_of(2, x) + (radial(2, rng) + rng.normal(size=2)) / epsilon


@correct
def radius_of_a_mixture(x: Any, *, epsilon: float, rng: Any) -> Any:
    return first_of(2, x) + radial(2, rng) * (1 if rng.random() < 0.5 else 3) / epsilon


@correct
def radius_of_a_ball(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw the noise as a uniform point of a disc times a Gamma(3) radius."""
    g = rng.standard_normal(2)
    return first_of(2, x) + rng.gamma(3) * rng.random() ** 0.5 * g / np.linalg.norm(g) / epsilon


@correct
def gamma_variance(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw Laplace noise as a normal number whose variance is exponential."""
    return query(x) + math.sqrt(2 * rng.gamma(1)) * rng.normal() / epsilon


@correct
def two_radii(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.concatenate([first_of(2, x) + 2 * radial(2, rng) / epsilon for _ in range(2)])


@correct
def length_decides(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Draw a direction by normalising a normal vector, and double the noise if the vector was long."""
    g = rng.standard_normal(3)
    return first_of(3, x) + rng.gamma(3) * g / np.linalg.norm(g) * (1 + (np.linalg.norm(g) > 2.5)) / epsilon


@correct
def direction_decides(x: Any, *, epsilon: float, rng: Any) -> Any:
    """Double the noise in half of the directions, which the data cannot change."""
    w = radial(3, rng)
    return first_of(3, x) + w * (1 + (w[2] > 0)) / epsilon


@correct
def gamma_unused(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + rng.laplace() / epsilon + 0 * rng.gamma(2.5)


@correct
def gamma_decides_rarely(x: Any, *, epsilon: float, rng: Any) -> Any:
    return query(x) + rng.laplace() * (1 if rng.gamma(1) < 12 else 2) / epsilon
