"""Make targets from noisy sums of rows by privjail 0.1.2 (Toyota).

The adapter makes a private array of the rows with `distance = 1`, as `privjail.numpy.load` does. In privjail,
neighbours of a private array with this distance differ by one row that is added or removed. The function
`privjail.clip_norm` clips the rows.

- The target `sum-laplace` calls `laplace_mechanism(clip_norm(rows, 1).sum(axis=0), eps=ε)` with a pure accountant;
  `clip_norm` uses the ℓ₂ norm by default. The target `sum-laplace-l1` clips with `clip_norm(rows, 1, ord=1)`, which
  uses the ℓ₁ norm.

- The target `sum-gaussian` calls `gaussian_mechanism(…, rho=ρ)` on the sum of the rows after ℓ₂ clipping, with a zCDP
  accountant. The target `scatter-gaussian` calls `gaussian_mechanism` on XᵀX.

- The target `histogram` calls `laplace_mechanism(numpy.histogram(first column, bins=d, range=(−1, 1)), eps=ε)`.

The package privjail draws from NumPy's global generator, which the adapter seeds for each draw. The package privjail
requires NumPy 2.1.3 and pandas 2, which no other adapter can use, so the command `covassay adapters install privjail`
makes an environment for it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.adapters.numbers import CONCENTRATED, PURE
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("privjail==0.1.2",), modules=("privjail.numpy",))
NEIGHBOURS = "neighbours have distance 1 in privjail, which means that one row is added or removed"


def _rows(x: Matrix, accountant: str) -> Any:
    """Return the private array of these rows, with an accountant that has no limit."""
    import privjail
    from privjail.numpy.array import PrivNDArray

    owner = getattr(privjail, accountant)(budget_limit=None)
    return PrivNDArray(np.array(x), distance=privjail.RealExpr(1), privacy_axis=0, accountant=owner)


def _sum(x: Matrix, *, epsilon: float, rng: np.random.Generator, ord: int | None) -> Vector:
    import privjail

    total = privjail.clip_norm(_rows(x, "PureDPAccountant"), 1.0, ord=ord).sum(axis=0)
    with numpy_seeded(rng):
        return np.asarray(privjail.laplace_mechanism(total, eps=epsilon))


def _histogram(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    import privjail
    from privjail.numpy import histogram

    counts, _ = histogram(_rows(x[:, 0], "PureDPAccountant"), bins=x.shape[1], range=(-1.0, 1.0))
    with numpy_seeded(rng):
        return np.asarray(privjail.laplace_mechanism(counts, eps=epsilon))


def _gaussian(x: Matrix, *, rho: float, rng: np.random.Generator, squared: bool) -> Any:
    import privjail

    rows = privjail.clip_norm(_rows(x, "zCDPAccountant"), 1.0)
    with numpy_seeded(rng):
        return np.asarray(privjail.gaussian_mechanism(rows.T @ rows if squared else rows.sum(axis=0), rho=rho))


def _target(name: str, draw: Callable[..., Any], part: str, released: str, claim: Guarantee = PURE) -> Target:
    return Target(
        f"privjail:{name}", draw, version=told_version(PACKAGE, part), released=released, claim=claim,
        adjacency="add-remove", notes=(NEIGHBOURS,),
    )  # fmt: skip


TARGETS: dict[str, Callable[[], Target]] = {
    "sum-laplace": partial(_target, "sum-laplace", partial(_sum, ord=None), "laplace_mechanism of a sum", "vector"),
    "sum-laplace-l1": partial(_target, "sum-laplace-l1", partial(_sum, ord=1), "laplace_mechanism of a sum", "vector"),
    "histogram": partial(_target, "histogram", _histogram, "laplace_mechanism of a histogram", "vector"),
    "sum-gaussian": partial(
        _target,
        "sum-gaussian",
        partial(_gaussian, squared=False),
        "gaussian_mechanism of a sum",
        "vector",
        CONCENTRATED,
    ),
    "scatter-gaussian": partial(
        _target,
        "scatter-gaussian",
        partial(_gaussian, squared=True),
        "gaussian_mechanism of XᵀX",
        "matrix",
        CONCENTRATED,
    ),
}
