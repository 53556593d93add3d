"""Audit a function with StatDP (Ding, Wang, Wang, Zhang and Kifer, 2018), with the authors' code."""

from multiprocessing.pool import ThreadPool

import numpy as np

from covassay.reference.domain import Vector
from tests.other_auditors.cases import Case
from tests.other_auditors.tool import LEVELS, Finding, Findings, drawn, module, pure_only, quiet

STATDP = "StatDP"
MOST_ENTRIES = 5  # the number of StatDP's events grows exponentially with the number of entries
LARGEST, BISECTIONS = 10.0, 14  # largest ε that is tested for a lower bound, and number of bisections


def absent(case: Case) -> str:
    """Return the reason why StatDP cannot be used for a case, or "" if it can be used."""
    return pure_only(case) or ("has too many events" if case.length > MOST_ENTRIES else "")


def by_statdp(case: Case, draws: int, seed: int) -> Findings:
    """Choose an event with half of the draws, and test it with the other half. StatDP's p-values are used without a
    change."""
    with quiet(), ThreadPool(1) as pool:
        numba, core, tests = (module(name) for name in ("numba", "statdp.core", "statdp.hypotest"))
        numba.njit(lambda s: np.random.seed(s))(seed)  # noqa: NPY002 - StatDP's tests draw from this state
        outputs = drawn(case, draws + 2, seed, STATDP)  # each of StatDP's two runs makes one additional draw
        rows = {0: iter(outputs[0]), 1: iter(outputs[1])}

        def algorithm(prng: object, which: int) -> np.float64 | tuple[np.float64, ...]:
            row: Vector = next(rows[which])
            return tuple(row) if case.length > 1 else row[0]

        epsilon = case.claim.keywords()["epsilon"]
        selector = module("statdp.selectors")
        *_, event = selector.select_event(algorithm, [(0, 1, {})], epsilon, draws // 2, pool, quiet=True)
        tested = draws - draws // 2
        ((counts, *_), _) = core.run_algorithm(algorithm, 0, 1, {}, event, tested)
        found = []
        for level in LEVELS:
            low, high = 0.0, LARGEST
            for _ in range(BISECTIONS):
                middle = (low + high) / 2
                refuted = tests.test_statistics(*counts, middle, tested) < level
                low, high = (middle, high) if refuted else (low, middle)
            found.append(Finding(low, bool(tests.test_statistics(*counts, epsilon, tested) < level)))
    return tuple(found)
