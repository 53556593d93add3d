"""Test that the pairs of a black-box audit detect violations of targets with different worst neighbours."""

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
    """Make a target that releases a query of the clipped rows with noise; the noise scale may depend on the public size
    of the data."""

    def many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        value = np.asarray(query(clipped(x)))
        return value + scale(x) * getattr(rng, draw)(size=(size, *value.shape))

    return Target(f"{draw} noise", lambda x, *, rng, **budget: many(x, 1, rng=rng, **budget)[0], draw_many=many)


def mean(x: Matrix) -> Matrix:
    return x.mean(axis=0)


def moment(x: Matrix) -> Matrix:
    return x.T @ x / len(x)


def laplace_mean(share: float) -> Target:
    """Release the mean with Laplace noise; the ℓ1 sensitivity of the mean is 2√d/n."""
    return additive(mean, lambda x: share * 2 * x.shape[1] ** 0.5 / len(x), "laplace")


def gaussian_mean(share: float) -> Target:
    """Release the mean with Gaussian noise; the ℓ2 sensitivity is 2/n, and σ = Δ/√(2ρ) with ρ = 1/2."""
    return additive(mean, lambda x: share * 2 / len(x), "standard_normal")


def full_laplace(share: float) -> Target:
    """Add Laplace noise to all entries of the second moment; √2 d bounds the ℓ1 norm of the change."""
    return additive(moment, lambda x: share * (2**0.5 * x.shape[1] if x.shape[1] > 1 else 1) / len(x), "laplace")


def trace(x: Matrix) -> Matrix:
    return np.asarray((x**2).sum() / len(x))


def laplace_trace(share: float) -> Target:
    return additive(trace, lambda x: share / len(x), "laplace")


def first_mean(share: float) -> Target:
    """Release one number, which opposite rows change most."""
    return additive(lambda x: np.asarray(x[:, 0].mean()), lambda x: share * 2 / len(x), "laplace")


def gaussian_form(share: float) -> Target:
    """Release a mean and a second moment as one Gaussian vector; together they change by at most √6/n in ℓ2."""
    return additive(lambda x: np.vstack([mean(x), moment(x)]), lambda x: share * 6**0.5 / len(x), "standard_normal")


def level(share: float) -> Target:
    """Run the exponential mechanism on the energies of the columns, which change by at most 1."""

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
    """This test catches a list of pairs without opposite rows, with which half of the necessary noise on a mean would
    pass at the default number of draws.
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
