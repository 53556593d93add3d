"""Test the pairs of neighbouring data sets for audits without a named mechanism. Targets that reach their largest
privacy loss on different pairs must all be refuted if they violate their claim.
"""

from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.privacy import ZCDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.knowledge.shared.profile import black_box
from covassay.verification.audit.targets.target import Target

Query = Callable[[Matrix], Matrix]


def clipped(x: Matrix) -> Matrix:
    return x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))


def additive(query: Query, scale: Callable[[Matrix], float], draw: str) -> Target:
    """Return a target that adds noise to a query of the clipped rows. The noise scale may depend on the public size of
    the data.
    """

    def many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        value = np.asarray(query(clipped(x)))
        return value + scale(x) * getattr(rng, draw)(size=(size, *value.shape))

    return Target(f"{draw} noise", lambda x, *, rng, **budget: many(x, 1, rng=rng, **budget)[0], draw_many=many)


def mean(x: Matrix) -> Matrix:
    return x.mean(axis=0)


def moment(x: Matrix) -> Matrix:
    return x.T @ x / len(x)


def laplace_mean(share: float) -> Target:
    """Return a target that adds Laplace noise to the mean, whose ℓ1 sensitivity is at most 2√d/n."""
    return additive(mean, lambda x: share * 2 * x.shape[1] ** 0.5 / len(x), "laplace")


def gaussian_mean(share: float) -> Target:
    """Return a target that adds Gaussian noise to the mean, whose ℓ2 sensitivity is 2/n. If `share` is 1, the noise
    suffices for ρ = 1/2.
    """
    return additive(mean, lambda x: share * 2 / len(x), "standard_normal")


def full_laplace(share: float) -> Target:
    """Return a target that adds Laplace noise to all entries of the second moment, whose ℓ1 sensitivity is at most √2
    d/n.
    """
    return additive(moment, lambda x: share * (2**0.5 * x.shape[1] if x.shape[1] > 1 else 1) / len(x), "laplace")


def trace(x: Matrix) -> Matrix:
    return np.asarray((x**2).sum() / len(x))


def laplace_trace(share: float) -> Target:
    return additive(trace, lambda x: share / len(x), "laplace")


def first_mean(share: float) -> Target:
    """Return a target that releases the noisy mean of the first column, which changes most if a row is replaced by its
    opposite.
    """
    return additive(lambda x: np.asarray(x[:, 0].mean()), lambda x: share * 2 / len(x), "laplace")


def gaussian_form(share: float) -> Target:
    """Return a target that adds Gaussian noise to a mean and a second moment together, whose joint ℓ2 sensitivity is
    at most √6/n.
    """
    return additive(lambda x: np.vstack([mean(x), moment(x)]), lambda x: share * 6**0.5 / len(x), "standard_normal")


def level(share: float) -> Target:
    """Return a target that chooses a column by the exponential mechanism. The score of a column is its sum of squares,
    which one row changes by at most 1.
    """

    def many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        energies = (clipped(x) ** 2).sum(axis=0) / (2 * share)
        return 1.0 + (energies + rng.gumbel(size=(size, len(energies)))).argmax(axis=1)

    return Target("level", lambda x, *, rng, **budget: many(x, 1, rng=rng, **budget)[0], draw_many=many)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "claim", "released"),
    [
        pytest.param(laplace_trace, PureDP(1.0), "number", marks=pytest.mark.slow),
        pytest.param(first_mean, PureDP(1.0), "number", marks=pytest.mark.slow),
        pytest.param(gaussian_form, ZCDP(0.5), "gaussian", marks=pytest.mark.slow),
        pytest.param(level, PureDP(1.0), "level", marks=pytest.mark.slow),
        (laplace_mean, PureDP(1.0), "vector"),
        (gaussian_mean, ZCDP(0.5), "vector"),
        (full_laplace, PureDP(1.0), "matrix"),
    ],
)
def test_half_of_the_noise_is_refuted_and_all_of_it_is_not(target, claim: Guarantee, released: str) -> None:  # type: ignore[no-untyped-def]
    """The test fails if half of the required noise is not refuted at the default number of draws. If the target
    releases a mean with half of the noise, the only pairs that refute it are those in which one row is replaced by the
    opposite row.
    """
    assert audit(target(0.5), **claim.keywords(), released=released).verdict is Verdict.REFUTED
    report = audit(target(1.0), **claim.keywords(), released=released, samples=1000)
    assert report.verdict is Verdict.NOT_REFUTED, [(c.label, c.p_value) for c in report.refuted]


@pytest.mark.parametrize("kind", OUTPUTS)
def test_pairs_differ_in_one_row_and_have_names_of_their_own(kind: str) -> None:
    pairs = black_box(OUTPUTS[kind]).pairs(frozenset())
    assert len({pair.name for pair in pairs}) == len(pairs)
    assert all((pair.first != pair.second).any(axis=1).sum() == 1 for pair in pairs)
    assert all(pair.statistics for pair in pairs)
