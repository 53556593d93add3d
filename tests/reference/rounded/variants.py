"""List every rounded mechanism with its options, and make data sets for releases."""

from typing import Any

import numpy as np

from covassay.reference.domain import row_norms
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.rounded.bits import Seeded
from covassay.reference.rounded.counted import COUNTED
from covassay.reference.rounded.mechanisms import ROUNDED
from covassay.reference.rounded.releasing import RoundedRelease, release
from tests.conventions import Matrix

CHOICES: dict[str, list[dict[str, str]]] = {
    "entrywise-laplace": [{"entries": "full"}, {"entries": "triangle", "calibration": "tight"}],
    "lap-cov": [{}, {"calibration": "tight"}],
    "gauss-cov": [{"ensemble": "wigner"}, {"ensemble": "goe"}],
    "k-norm": [{"body": body} for body in ("schatten1", "covariance", "l1", "l2", "linf")],
    "iterative-eigenvectors": [{}, {"budget": "adaptive", "calibration": "tight"}, {"rank": "1"}],
    "above-threshold": [{"share": "0.5"}],
    "box-gauss": [{"adjacency": "replace-one"}, {"adjacency": "add-remove"}],
    "box-laplace": [{"adjacency": "replace-one"}, {"adjacency": "add-remove"}],
}
VARIANTS: list[tuple[str, dict[str, str]]] = [(name, o) for name in ROUNDED for o in CHOICES.get(name, [{}])]
VARIANTS += [(name, {"adjacency": "add-remove", **o}) for name in COUNTED for o in CHOICES.get(name, [{}])]
NAMES = [" ".join([name, *options.values()]) for name, options in VARIANTS]


def rows(n: int, d: int, seed: int = 0) -> Matrix:
    """Return random rows of norm at most 1, longest along the first axis."""
    x = np.random.default_rng([seed, n, d]).normal(size=(n, d)) / np.arange(1, d + 1)
    return x / row_norms(x).max()


def budget(name: str, amount: str = "1") -> dict[str, str]:
    """Return the budget of a mechanism as keyword arguments."""
    return dict.fromkeys(mechanism(name).notion.default.keywords(), amount)


def draw(name: str, options: dict[str, str], x: Matrix, seed: int | str, **more: Any) -> RoundedRelease:
    """Return a release with the random bits of a seed."""
    return release(name, x, source=Seeded(f"{name} {options} {seed}"), **(budget(name) | options | more))
