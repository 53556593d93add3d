"""Negative controls with 3 % less noise at some numbers of rows or columns, or at some budgets."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.beside import NAME as DRAW_FOR_DRAW
from covassay.verification.audit.engine.other_budgets import NAME as OTHER_BUDGET
from covassay.verification.audit.engine.same_noise import NAME_OF_ROWS
from tests.negative_controls.broken import noise_of, times
from tests.negative_controls.negative_control import NegativeControl

LESS = 0.97
BY_ROWS, BY_BUDGET = (("data path", NAME_OF_ROWS),), (("data path", OTHER_BUDGET),)
BESIDE = (("law", DRAW_FOR_DRAW),)


def _at(
    name: str,
    mechanism_name: str,
    where: str,
    at: Callable[[int, int, float], bool],
    caught_by: tuple[tuple[str, str], ...],
) -> NegativeControl:
    """Return a mechanism with 3 % less noise if `at(n, d, budget)` is true, where the budget is ε or ρ."""
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        z = noise_of(declared, x, rng, budget)
        loss = budget["rho"] if "rho" in budget else budget["epsilon"]
        n, d = x.shape
        return declared.release(x, times(LESS)(z, rng, x) if at(n, d, loss) else z, **budget)

    return NegativeControl(name, f"Reduce the noise by 3 % {where}.", mechanism_name, caught_by, draw)


NEGATIVE_CONTROLS = (
    _at("less-from-5000-rows", "gauss-cov", "if there are 5000 rows or more", lambda n, d, e: n >= 5000, BY_ROWS),
    _at("less-at-ten-thousand", "laplace", "at n = 10 000", lambda n, d, e: n == 10_000, BY_ROWS),
    _at("less-at-one-hundred", "lap-cov", "at n = 100", lambda n, d, e: n == 100, BY_ROWS),
    _at("less-at-255-rows", "gaussian", "at n = 255", lambda n, d, e: n == 255, BY_ROWS),
    _at("less-at-2049-rows", "entrywise-laplace", "at n = 2049", lambda n, d, e: n == 2049, BY_ROWS),
    _at("less-at-seven-rows", "private-trace", "at n = 7", lambda n, d, e: n == 7, BY_ROWS),
    _at("less-for-wide-data", "gauss-cov", "if there are more than 16 columns and fewer rows than columns",
        lambda n, d, e: n < d and d > 16, BY_ROWS),
    _at("less-for-long-data", "laplace", "if there are 14 columns or more, and at least four times as many rows",
        lambda n, d, e: d >= 14 and n >= 4 * d, BY_ROWS),
    _at("less-at-sixteen-columns", "lap-cov", "at d = 16", lambda n, d, e: d == 16, BESIDE),
    _at("less-at-thirteen-columns", "gauss-cov", "at d = 13", lambda n, d, e: d == 13, BESIDE),
    _at("less-above-48-columns", "gaussian", "above d = 48", lambda n, d, e: d > 48, BESIDE),
    _at("less-at-fifteen-columns", "entrywise-laplace", "at d = 15", lambda n, d, e: d == 15, BESIDE),
    _at("separate-less-at-500-rows", "separate-cov", "at n = 500", lambda n, d, e: n == 500, BESIDE),
    _at("separate-less-for-wide-data", "separate-cov", "for more columns than rows", lambda n, d, e: d > n, BESIDE),
    _at("separate-less-at-six-columns", "separate-cov-pure", "at d = 6", lambda n, d, e: d == 6, BESIDE),
    _at("coinpress-less-at-1000-rows", "coinpress-mean", "at n = 1000", lambda n, d, e: n == 1000, BESIDE),
    _at("coinpress-less-at-nine-columns", "coinpress-mean", "at d = 9", lambda n, d, e: d == 9, BESIDE),
    _at("em-less-at-four-columns", "em-cov", "at d = 4", lambda n, d, e: d == 4, BESIDE),
    _at("less-between-budgets", "gauss-cov", "for ρ between 0.3 and 0.46", lambda n, d, e: 0.3 < e < 0.46, BY_BUDGET),
    _at("less-at-two", "laplace", "at ε = 2", lambda n, d, e: e == 2, BY_BUDGET),
    _at("less-from-two-to-four", "lap-cov", "for ε above 2 and below 4", lambda n, d, e: 2 < e < 4, BY_BUDGET),
    _at("less-at-ten", "private-trace", "at ε = 10", lambda n, d, e: e == 10, BY_BUDGET),
    _at("less-at-a-tenth", "gaussian", "at ρ = 0.1", lambda n, d, e: e == 0.1, BY_BUDGET),
    _at("less-at-a-half", "entrywise-laplace", "at ε = 0.5", lambda n, d, e: e == 0.5, BY_BUDGET),
    _at("separate-less-at-two", "separate-cov", "at ρ = 2", lambda n, d, e: e == 2, BESIDE),
    _at("separate-less-from-three", "separate-cov-pure", "for ε between 3 and 3.9",
        lambda n, d, e: 3 <= e < 3.9, BESIDE),
    _at("coinpress-less-at-one", "coinpress-mean", "at ρ = 1", lambda n, d, e: e == 1, BESIDE),
)  # fmt: skip
