"""Test the search for repeated outputs in mechanisms that do not add noise to a query. Correct targets must not be
refuted.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.coincidences import NAME_SEEN, coincidences_seen, same_outputs, seeds_seen
from covassay.verification.audit.engine.finding import Status, Verdict
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.knowledge.known import known
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive
from covassay.verification.audit.questions.privacy.recorded_draws import CHECK
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.declared import default_claim

ALPHA = 5e-10
PATH = DataPath("stated", continuous=True)


def directions(rng: np.random.Generator, size: int, seeds: int | None = None) -> Matrix:
    """Draw uniform random directions. If `seeds` is given, only `seeds` different directions are possible, as for a
    generator with this number of seeds.
    """
    drawn = rng.standard_normal((seeds or size, 3))
    drawn = drawn[rng.integers(seeds, size=size)] if seeds else drawn
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def check(outputs: Matrix, path: DataPath = PATH) -> tuple[Status, str] | None:
    found = coincidences_seen(path, [(np.zeros((4, 3)), outputs)], ALPHA)
    return (found[0].status, found[0].detail) if found else None


def test_few_seeds_repeat_outputs_and_the_number_of_seeds_that_would_is_stated() -> None:
    rng = np.random.default_rng(0)
    status, text = check(directions(rng, 2000, 2**16)) or (None, "")
    assert status is Status.REFUTED
    assert "of 2000 draws have an output of their own" in text
    status, text = check(directions(rng, 2000)) or (None, "")
    assert status is Status.NOT_REFUTED
    assert "a generator with 99950 seeds or fewer would have shown repeats" in text
    seeds = seeds_seen([np.zeros((2000, 3))])
    refuted = [check(directions(rng, 2000, seeds)) for _ in range(20)]
    assert all(found is not None and found[0] is Status.REFUTED for found in refuted)


def test_a_law_with_atoms_a_rounded_output_and_a_number_are_left_alone() -> None:
    rng = np.random.default_rng(1)
    repeated = directions(rng, 2000, 100)
    assert check(repeated, DataPath("stated", atoms=True)) is None
    for harmless in (repeated.round(2), repeated.astype(np.float16).astype(float), repeated[:, :1], repeated[:, :2]):
        assert same_outputs(harmless) == []
    assert same_outputs(repeated)


def test_float32_directions_of_a_right_sampler_do_not_count_as_repeats() -> None:
    rng = np.random.default_rng(2)
    drawn = rng.standard_normal((200_000, 3)).astype(np.float32)
    unit = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(float)
    assert all(p > ALPHA for p, _ in same_outputs(unit))


def in_float32(name: str) -> Callable[..., Any]:
    """Return a target that runs the reference on float32 data and rounds the output to float32."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return np.asarray(mechanism(name).sample(x.astype(np.float32), rng, **budget), dtype=np.float32)

    return draw


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gauss-cov", "laplace", "separate-cov", "kv-mean"])
def test_a_correct_mechanism_in_float32_is_not_refuted_with_20_seeds(name: str) -> None:
    for seed in range(20):
        report = audit(in_float32(name), **default_claim(name).keywords(), mechanism=name, samples=300, seed=seed)
        assert report.verdict is Verdict.NOT_REFUTED, [c.detail for c in report.refuted]


@pytest.mark.slow
def test_the_laws_that_are_called_continuous_repeat_no_output() -> None:
    """The test fails if a mechanism that is declared to have continuous outputs returns the same output twice. The
    reference makes 400 draws on small data, where clipping and projection have the largest effect.
    """
    rng = np.random.default_rng(3)
    x = 0.5 * rng.standard_normal((12, 3)) / 3
    paths = {name: known(name).path for name in sorted(MECHANISMS)}
    continuous = [name for name, path in paths.items() if isinstance(path, NotAdditive) and path.continuous]
    assert "bingham" in continuous
    for name in continuous:
        declared, claim = mechanism(name), default_claim(name)
        for chosen in product(*declared.choices.values()):
            options = dict(zip(declared.choices, chosen, strict=True))
            drawn = np.array([declared.sample(x, rng, **claim.keywords(), **options) for _ in range(400)])
            assert len(np.unique(drawn.reshape(400, -1), axis=0)) == 400, (name, options)
    drawn = np.array([mechanism("kapralov-talwar").sample(x, rng, epsilon=1.0) for _ in range(400)])
    # the mechanism kapralov-talwar sometimes clips all values to 0
    assert len(np.unique(drawn.reshape(400, -1), axis=0)) < 390


@pytest.mark.slow
def test_a_bingham_sampler_with_few_seeds_is_refuted_by_a_whole_audit() -> None:
    """The test fails if the audit misses repeated outputs. The recorded draws show the seeds as well, since the target
    draws its seed from the given generator.
    """
    report = audit(TargetReference("mutant:few-seeds-bingham", "."), epsilon=1.0)
    recorded, repeated = report.refuted
    assert recorded.name == CHECK
    assert "all noise follows from one of at most 65536 seeds" in recorded.detail
    assert repeated.name == NAME_SEEN
