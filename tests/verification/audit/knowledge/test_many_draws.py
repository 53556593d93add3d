"""Test that many draws of the reference at once have the same bits as draws one by one."""

import numpy as np
import pytest

from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.verification.audit.knowledge.known import known
from covassay.verification.audit.knowledge.shared import many_draws
from covassay.verification.audit.knowledge.shared.many_draws import one_by_one
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit
from covassay.verification.declared import default_claim

SIZE = 30
CASES = [
    ("em-cov", {}),
    ("em-cov", {"calibration": "tight"}),
    ("gauss-cov", {"ensemble": "goe"}),
    ("lap-cov", {}),
    ("ppc", {}),
    ("ppc", {"calibration": "tight"}),
    ("ppc", {"kappa": 10.0}),  # no round is needed for κ = 10
    ("recursive-moment", {}),
    ("recursive-moment", {"calibration": "tight", "kappa": 10.0}),
]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 2), (400, 2), (65, 3), (4, 6)])
@pytest.mark.parametrize("size_of_rows", [0.3, 1e3, 1e160])  # the squares of the longest rows overflow
def test_draws_at_once_are_the_draws_one_by_one(
    name: str, options: dict[str, object], n: int, d: int, size_of_rows: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The test fails if the axes of the result are exchanged, or if the noise is drawn in another order.
    monkeypatch.setattr(many_draws, "ENTRIES", 16 * n * d)  # this limit splits the draws into two parts
    x = size_of_rows * np.random.default_rng(0).standard_normal((n, d))
    given = {**default_claim(name).keywords(), **options}
    many = known(name).many
    assert many is not None
    at_once = np.array(many(x, SIZE, rng=np.random.default_rng(1), **given))
    alone = np.array(one_by_one(mechanism(name).sample, x, SIZE, rng=np.random.default_rng(1), **given))
    np.testing.assert_array_equal(at_once, alone, strict=True)


@pytest.mark.parametrize("name", sorted(name for name in MECHANISMS if known(name).many))
def test_a_single_draw_beside_a_target_is_that_of_the_mechanism(name: str) -> None:
    # The test fails if the audit compares targets with draws that are not those of the mechanism's `sample`.
    declared = MECHANISMS[name]
    claim = ClaimUnderAudit(
        declared, default_claim(name), declared.resolve({}), samples=2000, seed=0, many=known(name).many
    )
    x = 0.5 * np.random.default_rng(0).standard_normal((6, 3))
    beside = claim.draws(x, 1, np.random.default_rng(1))[0]
    np.testing.assert_array_equal(beside, claim.draw(x, np.random.default_rng(1)), strict=True)
