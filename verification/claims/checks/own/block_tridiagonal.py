"""Check the block-tridiagonal mechanism: what it spends on the rows that move the noisy blocks the most.

The noisy blocks are those on and next to the diagonal.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import block_tridiagonal as mechanism
from covassay.verification.claims.evidence import Found, check, mutant

SHAPES = tuple(product((1, 2, 3, 4, 6, 7), (1, 2, 3, 8)))  # pairs (d, k) of dimension and block size


def worst_rows(d: int, block: int) -> tuple[Matrix, Matrix]:
    """Return the two rows that, according to the proof page, move P(Σ) the most."""
    x = np.where(np.arange(d) % block == 0, 1.0, 0.0)
    if d > block:
        return x, np.where(np.arange(d) // block % 2 == 0, x, -x)
    return x, np.eye(d)[1] if d > 1 else np.zeros(1)


def scaled(factor: float) -> Callable[..., Any]:
    """Return a deliberately wrong `release`, whose noise is multiplied by `factor`."""
    return lambda x, noise, **given: mechanism.release(x, factor * np.asarray(noise), **given)


def whole_rows(x: Any, noise: Any, **given: Any) -> Any:
    """Return the result of `release` with a deliberate error: whole rows are shortened first."""
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    return mechanism.release(x / np.maximum(lengths / given["block_bound"], 1), noise, **given)


@check("floating", scope=f"{len(SHAPES)} shapes, two bounds, two budgets")
@mutant("3 % less noise", release=scaled(0.97))
@mutant("3 % more noise", release=scaled(1.03))
@mutant("whole rows are shortened", release=whole_rows)
@mutant("noise in one block", release=lambda x, z, **given: mechanism.release(x, z * np.eye(len(z)), **given))
def spent(release: Callable[..., Any] = mechanism.release) -> Found:
    """`release` spends ρ on the pair of rows that is worst according to the proof page, at the bounds r = 1 and r = 3.

    The check passes the rows 50r times as long, so that `release` has to shorten them.
    """
    for (d, block), bound, rho in product(SHAPES, (1.0, 3.0), (0.375, 2.0)):
        given = {"rho": rho, "block": block, "block_bound": bound}
        first, second = (np.vstack([50 * bound * row, np.zeros(d)]) for row in worst_rows(d, block))
        ones, zeros = np.ones((d, d)), np.zeros((d, d))
        plain = release(first, zeros, **given)
        noise = release(first, ones, **given) - plain
        change = plain - release(second, zeros, **given)
        kept = noise != 0
        found = float(((change[kept] / noise[kept]) ** 2).sum()) / 2
        name = f"d={d}, k={block}, r={bound:g}: {found:.6g} of {rho:g}"
        yield {name: not change[~kept].any() and abs(found / rho - 1) < 1e-9}
