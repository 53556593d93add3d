"""Compare the running time of a rounded release with that of a release in float64, both measured in one run.

    OPENBLAS_NUM_THREADS=1 pytest tests/benchmarks/test_rounded_cost.py -m slow -s

The command prints a table in half a minute. The contenders take turns, and the time of each is the median of its
processor time. No test depends on time.
"""

import time
from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.domain.exact_data import exact_data
from covassay.reference.mechanisms.pure import nuclear_laplace, nuclear_laplace_symmetric
from covassay.reference.rounded import rounded_release

ROUNDS = 7


def medians(*contenders: Callable[[], object]) -> list[float]:
    """Return the median processor time of each contender, in seconds."""
    taken: list[list[float]] = [[] for _ in contenders]
    for _ in range(ROUNDS):
        for contender, times in zip(contenders, taken, strict=True):
            start = time.process_time()
            contender()
            times.append(time.process_time() - start)
    return [float(np.median(times)) for times in taken]


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 5, 10, 20])
@pytest.mark.parametrize("module", [nuclear_laplace, nuclear_laplace_symmetric], ids=["full", "symmetric"])
def test_the_cost_of_a_rounded_release(module: object, d: int) -> None:
    declared = module.MECHANISM  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(200, d)) / d
    # the tables that are kept for this dimension are made before the measurement
    rounded_release(declared.name, x, epsilon=1)
    plain, rounded = medians(
        lambda: declared.sample(x, rng, epsilon=1.0), lambda: rounded_release(declared.name, x, epsilon=1)
    )
    print(
        f"{declared.name}, d = {d}: float {plain * 1e3:.1f} ms, rounded {rounded * 1e3:.1f} ms, {rounded / plain:.1f}"
    )
    assert rounded > 0


@pytest.mark.slow
def test_the_cost_of_exact_sums() -> None:
    x = np.random.default_rng(1).uniform(-0.3, 0.3, size=(1_000_000, 10))
    product, exact = medians(lambda: x.T @ x, lambda: exact_data(x))
    print(f"n = 1 000 000, d = 10: exact sums take {exact / product:.2f} times as long as one float64 product")
    assert exact > 0
