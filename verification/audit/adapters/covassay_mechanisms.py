"""The reference's own mechanisms as targets: `covassay:NAME`, `covassay:NAME-tight`, …"""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import product
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import bingham as bingham_law
from covassay.reference.laws import k_norm as k_norm_law
from covassay.reference.laws import matrix_bingham as matrix_bingham_law
from covassay.reference.laws import nuclear_laplace as nuclear_law
from covassay.reference.laws.k_norm import Body
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import (
    bingham,
    k_norm,
    matrix_bingham,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
)
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.audit.targets.target import Target

Many = Callable[..., list[Matrix]]

# Many draws, faster: the noise is drawn in one batch, then `release` runs on each. These are the two steps of `sample`.


def _many_nuclear(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> list[Matrix]:
    noise = nuclear_laplace.draw_noise(x.shape[1], rng, size)
    return [nuclear_laplace.release(x, z, epsilon=epsilon) for z in noise]


def _many_symmetric(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> list[Matrix]:
    noise = nuclear_laplace_symmetric.draw_noise(x.shape[1], rng, size)
    return [nuclear_laplace_symmetric.release(x, z, epsilon=epsilon) for z in noise]


def _many_projections(
    x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, **options: Any
) -> list[Matrix]:
    matrices, traces = nuclear_law.sample(x.shape[1], rng, size), rng.laplace(size=size)
    return [
        nuclear_ball_projection.release(
            x, nuclear_ball_projection.NuclearBallProjectionNoise(z, float(t)), epsilon=epsilon, **options
        )
        for z, t in zip(matrices, traces, strict=True)
    ]


def _many_bingham(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, **options: Any) -> list[Matrix]:
    seen: list[Matrix] = []

    def remember(m: Matrix) -> Matrix:
        seen.append(m)
        first: Matrix = np.eye(len(m))[0]
        return first

    bingham.release(x, remember, epsilon=epsilon, **options)
    return list(bingham_law.sample(seen[0], rng, size))


def _many_subspaces(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, **options: Any) -> list[Matrix]:
    seen: list[tuple[Matrix, int]] = []

    def remember(m: Matrix, k: int) -> Matrix:
        seen.append((m, k))
        return np.diag(np.arange(len(m)) < k).astype(np.float64)

    matrix_bingham.release(x, remember, epsilon=epsilon, **options)
    return list(matrix_bingham_law.sample(*seen[0], rng, size))


def _many_k_norm(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, body: Body) -> list[Matrix]:
    noise = k_norm_law.sample(body, x.shape[1], rng, size)
    return [k_norm.release(x, z, epsilon=epsilon, body=body) for z in noise]


MANY: dict[str, Many] = {
    "nuclear-laplace": _many_nuclear,
    "nuclear-laplace-symmetric": _many_symmetric,
    "nuclear-ball-projection": _many_projections,
    "bingham": _many_bingham,
    "matrix-bingham": _many_subspaces,
    "k-norm": _many_k_norm,
}


def _target(name: str, declared: Mechanism[Any, ..., Any], options: dict[str, str]) -> Target:
    many = MANY.get(declared.name)
    return Target(
        name=f"covassay:{name}",
        draw=partial(declared.sample, **options),
        mechanism=declared.name,
        options=tuple(options.items()),
        version=f"covassay {version('covassay')}",
        draw_many=partial(many, **options) if many else None,
    )


def _targets() -> dict[str, Callable[[], Target]]:
    targets: dict[str, Callable[[], Target]] = {}
    for declared in MECHANISMS.values():
        for chosen in product(*declared.choices.values()):
            # the first choice of each is the default and needs no suffix
            extra = [c for c, allowed in zip(chosen, declared.choices.values(), strict=True) if c != allowed[0]]
            options = dict(zip(declared.choices, chosen, strict=True))
            targets["-".join([declared.name, *extra])] = partial(
                _target, "-".join([declared.name, *extra]), declared, options
            )
    return targets


TARGETS = _targets()
