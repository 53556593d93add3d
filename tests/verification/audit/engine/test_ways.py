"""Test that the noise does not depend on how the target is called, and that draws agree with those of the reference.
Broken targets must be refuted, and correct targets must pass. Every check has the error level 1e-11, and the seeds are
fixed.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.beside import draw_for_draw
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.paired import paired_difference
from covassay.verification.audit.engine.same_noise import same_noise
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.sizes import COLUMNS, ROWS
from covassay.verification.audit.engine.ways import NAME_OF_PROCESS, NAME_OF_STATE, ways_of_asking
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.targets.target import Failure, Target, TargetReference
from covassay.verification.declared import default_claim

LEVEL = 1e-11
Draw = Callable[..., Any]


def checks(draw: Draw, name: str = "gauss-cov", seed: int = 0) -> list[Finding]:
    """Return the findings of three checks on a target that claims to be the mechanism `name`."""
    declared, claim = mechanism(name), default_claim(name)
    known = profile(name, claim, declared.resolve({}), 2000, seed)
    setting = Setting(Target("own", draw), dict(claim.keywords()), declared.output, seed)
    assert known.beside is not None
    return [
        *ways_of_asking(setting, known.data_path, known.form, LEVEL),
        *draw_for_draw(setting, known.beside, known.data_path, known.at_budget, claim, LEVEL),
        *same_noise(setting, known.data_path, LEVEL)[0],
    ]


def released(x: Any, noise: Any, rho: float) -> Matrix:
    return np.asarray(gauss_cov.release(np.asarray(x, dtype=np.float64), noise, rho=rho))


def symmetric(z: Matrix, d: int) -> Matrix:
    w = np.zeros((d, d))
    w[np.triu_indices(d)] = z
    return w + np.triu(w, 1).T


def all_in_single_precision(x: Any, *, rho: float, rng: np.random.Generator) -> Any:
    """Round the rows to float32 and draw float32 noise if the data are float32."""
    if getattr(x, "dtype", None) != np.float32:
        return gauss_cov.sample(x, rng, rho=rho)
    d = x.shape[1]
    noise = symmetric(rng.standard_normal(d * (d + 1) // 2, dtype=np.float32), d)
    return second_moment(unit_rows(x)).astype(np.float32) + np.float32(gauss_cov.noise_scale(len(x), rho)) * noise


def otherwise_for_wide_data(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Draw the noise by numpy if there are at least as many rows as columns, and otherwise by the normal quantile
    function.
    """
    n, d = np.shape(x)
    if d <= n:
        return np.asarray(gauss_cov.sample(x, rng, rho=rho))
    return released(x, symmetric(ndtri(rng.random(d * (d + 1) // 2)), d), rho)


def otherwise_for_every_n(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Draw and drop as many normal numbers as there are rows, and then call the reference."""
    rng.standard_normal(len(x))
    return np.asarray(gauss_cov.sample(x, rng, rho=rho))


def turned_with_the_data(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Change the signs of rows and columns of the noise depending on the data, which does not change the law of the
    noise.
    """
    rows = np.asarray(x, dtype=np.float64)
    signs = np.where(rows.sum(axis=0) < 0, -1.0, 1.0)
    return released(rows, np.outer(signs, signs) * gauss_cov.draw_noise(rows.shape[1], rng), rho)


def keeps_a_spare_number() -> Draw:
    """Return a target that draws normal numbers in pairs, and keeps an unused number for the next call."""
    spare: list[float] = []

    def number(rng: np.random.Generator) -> float:
        if spare:
            return spare.pop()
        r, angle = np.sqrt(-2 * np.log1p(-rng.random())), 2 * np.pi * rng.random()
        spare.append(float(r * np.sin(angle)))
        return float(r * np.cos(angle))

    def draw(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
        d = np.shape(x)[1]
        return released(x, symmetric(np.array([number(rng) for _ in range(d * (d + 1) // 2)]), d), rho)

    return draw


def remembers_outputs() -> Draw:
    """Return a target that stores its outputs, and returns the stored output if it is called with the same data and
    generator state.
    """
    kept: dict[Any, Matrix] = {}

    def draw(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
        key = np.asarray(x, dtype=np.float64).tobytes(), rho, str(rng.bit_generator.state)
        if key not in kept:
            kept[key] = np.asarray(gauss_cov.sample(x, rng, rho=rho))
        return kept[key].copy()

    return draw


def refuses_all_but_arrays(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
    if type(x) is not np.ndarray or x.dtype != np.float64:
        raise TypeError("an array of float64, please")
    return np.asarray(gauss_cov.sample(x, rng, rho=rho))


def counts_before_clipping(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Count the rows by a float32 sum of ones, which is exact for up to 2²⁴ rows."""
    rows = np.asarray(x, dtype=np.float64)
    n = float(np.ones(len(rows), np.float32).sum())
    sigma = np.sqrt(2) / n / np.sqrt(2 * rho)
    return np.asarray(unit_rows(rows).T @ unit_rows(rows) / n + sigma * gauss_cov.draw_noise(rows.shape[1], rng))


CORRECT = {
    "single precision": lambda: all_in_single_precision,
    "wide": lambda: otherwise_for_wide_data,
    "other numbers": lambda: otherwise_for_every_n,
    "turned": lambda: turned_with_the_data,
    "spare": keeps_a_spare_number,
    "memory": remembers_outputs,
    "arrays": lambda: refuses_all_but_arrays,
    "counts": lambda: counts_before_clipping,
}
QUICK = ("arrays",)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.thorough) for n in CORRECT])
def test_a_correct_implementation_stands(name: str) -> None:
    """The test fails if a correct implementation is refuted."""
    found = checks(CORRECT[name]())
    assert not [(f.name, f.detail) for f in found if f.status is Status.REFUTED]


def in_other_order(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Change the order of the noise of separate-cov if there are 100 rows or more, which does not change its law."""
    rows = np.asarray(x, dtype=np.float64)
    z = separate_cov.draw_noise(rows.shape[1], rng)
    if len(rows) >= 100:
        z = type(z)(np.array(z.matrix)[::-1, ::-1], np.array(z.eigenvalues)[::-1])
    return np.asarray(separate_cov.release(rows, z, rho=rho))


@pytest.mark.thorough
def test_another_order_of_the_draws_is_no_other_law_where_noise_is_not_added() -> None:
    found = checks(in_other_order, "separate-cov")
    assert not [(f.name, f.detail) for f in found if f.status is Status.REFUTED]


def test_state_is_refuted_in_words() -> None:
    """The test fails if the audit does not find that the noise depends on the previous call, or if the report does not
    say so.
    """
    seen: list[int] = []

    def draw(x: Any, *, rho: float, rng: np.random.Generator) -> Matrix:
        less = bool(seen) and seen[-1] != np.shape(x)[0]
        seen.append(np.shape(x)[0])
        return released(x, (0.97 if less else 1.0) * gauss_cov.draw_noise(np.shape(x)[1], rng), rho)

    (found,) = (f for f in checks(draw) if f.name == NAME_OF_STATE)
    assert found.status is Status.REFUTED
    assert "after more rows, the noise is 0.97 times as large" in found.detail


@pytest.mark.thorough
def test_a_fresh_process_is_asked_where_the_target_has_a_name() -> None:
    claim, declared = default_claim("gauss-cov"), mechanism("gauss-cov")
    setting = Setting(TargetReference("covassay:gauss-cov", "."), dict(claim.keywords()), declared.output, 0)
    known = profile("gauss-cov", claim, declared.resolve({}), 2000, 0)
    found = {f.name: f for f in ways_of_asking(setting, known.data_path, known.form, LEVEL)}
    assert found[NAME_OF_PROCESS].status is Status.NOT_REFUTED


@pytest.mark.thorough
def test_pairs_of_one_law_differ_as_rarely_as_they_are_meant_to() -> None:
    """The test fails if samplers with equal laws are called different in more than 24 of 40 comparisons at level 0.2.
    In 40 comparisons, a valid test finds more than 24 differences with probability below 1e-8.
    """

    def one(rng: np.random.Generator) -> Matrix:
        return rng.standard_normal(2)

    def other(rng: np.random.Generator) -> Matrix:
        return np.array([1.0, -1.0]) * rng.standard_normal(2)[::-1]

    found = [paired_difference(one, other, seed, "test", 0.2) for seed in range(40)]
    assert sum(map(bool, found)) <= 24


def test_pairs_tell_three_per_cent_with_few_draws() -> None:
    def scaled(factor: float) -> Callable[[np.random.Generator], Matrix]:
        return lambda rng: factor * rng.standard_normal(6)

    assert "differ in law" in paired_difference(scaled(0.97), scaled(1.0), 0, "test", 1e-12)


def test_the_sizes_have_no_gaps() -> None:
    """The test fails if the numbers of rows and columns that the audit tries leave large gaps, because a mistake could
    hide there.
    """
    assert max(b / a for a, b in pairwise(ROWS) if a >= 12) <= 1.4
    assert max(b / a for a, b in pairwise(COLUMNS) if a >= 12) <= 1.3
    assert (ROWS[0], COLUMNS[0], COLUMNS[-1]) == (1, 1, 64)
    assert ROWS[-1] > 10_000


def test_pairs_of_one_law_stand_where_one_draw_of_a_pair_fails() -> None:
    """The test fails if failed draws bias the comparison of two samplers with equal laws. For one seed, at most one of
    the two samplers fails. If both samplers return a number for a seed, the second number is larger than the first.
    """

    def low(rng: np.random.Generator) -> Matrix | Failure:
        u = rng.random()
        return np.array([u]) if u >= 0.05 else Failure("exception", "low")

    def high(rng: np.random.Generator) -> Matrix | Failure:
        u = rng.random()
        return np.array([u + 0.05]) if u <= 0.95 else Failure("exception", "high")

    assert [paired_difference(low, high, seed, "failing", 1e-9) for seed in range(4)] == [""] * 4
