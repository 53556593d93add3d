"""Compute additive mechanisms under add-remove in interval arithmetic, so that their outputs can be rounded to a grid.
Such a mechanism releases a noisy number of rows and a noisy sum. Each computed number is a ball, that is, an interval
that contains the exact number.

The number of rows, the sums of products and the shares of the budget are exact, so the two noises are those of
`reference.mechanisms.counted`. The number of rows is secret, and only the noisy number of rows and the noisy sum depend
on it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from covassay.reference.domain.exact_data import ExactData
from covassay.reference.mechanisms import counted, entrywise_laplace, gauss_cov, laplace, nuclear_laplace
from covassay.reference.mechanisms.counted import Entries
from covassay.reference.rounded import noise
from covassay.reference.rounded.balls import exact, square_root
from covassay.reference.rounded.bits import Uniforms

Options = Mapping[str, Any]


@dataclass(frozen=True)
class RowsAndSum:
    """The rounded form of one mechanism under add-remove.

    entries : a function of (options) that says which entries of the sum are released: "vector", "full" or "triangle",
        as in `RowsAndSumOutput`.
    share : a function of (d, options), the share of the budget for the number of rows.
    scale : a function of (d, options, share), the scale of the noise of the sum.
    noise : a function of (d, uniforms, options), the noise of the sum at scale 1, entry by entry.
    gaussian : whether the noise of the number of rows is Gaussian; otherwise it is Laplace.
    """

    entries: Callable[[Options], Entries]
    share: Callable[[int, Options], arb]
    scale: Callable[[int, Options, arb], arb]
    noise: Callable[[int, Uniforms, Options], list[arb]]
    gaussian: bool = False

    def ideal(self, data: ExactData, uniforms: Uniforms, options: Options) -> dict[str, list[arb]]:
        """Return the parts of the output before rounding, for rows in the unit ball."""
        d, share = data.d, self.share(data.d, options)
        if self.gaussian:
            count = counted.gaussian_count_scale(options["rho"], share, square_root) * noise.normals(1, uniforms)[0]
        else:
            count = counted.laplace_count_scale(options["epsilon"], share) * noise.laplace(uniforms)
        scale = self.scale(d, options, share)
        totals = [exact(data.total(i, j)) for i, j in _places(d, self.entries(options))]
        noises = self.noise(d, uniforms, options)
        sums = [total + scale * z for total, z in zip(totals, noises, strict=True)]
        return {"rows": [data.n + count], "sum": sums}


def finish(parts: dict[str, NDArray[np.float64]], n: int, d: int, options: Options) -> NDArray[np.float64]:
    """Return the output from its rounded parts, for rows in the unit ball."""
    return np.append(parts["rows"], parts["sum"])


def cube_root(value: Any) -> arb:
    """Return the ball of the cube root of a ball."""
    return arb(value).root(3)


def _places(d: int, entries: Entries) -> list[tuple[int, int]]:
    if entries == "vector":
        return [(i, i) for i in range(d)]
    return noise.triangle(d) if entries == "triangle" else [(i, j) for i in range(d) for j in range(d)]


def _upper(d: int, matrix: arb_mat) -> list[arb]:
    return [matrix[i, j] for i, j in noise.triangle(d)]


def _entries_laplace(d: int, uniforms: Uniforms, options: Options) -> list[arb]:
    """Draw Laplace(1) noise for the entries whose noise is independent."""
    return noise.laplaces(d * d if options.get("entries") == "full" else d * (d + 1) // 2, uniforms)


def _entrywise_share(d: int, options: Options) -> Any:
    words = (options.get("entries", "triangle"), options["calibration"])
    return entrywise_laplace.count_share(d, *words, cube_root)


def _entrywise_scale(d: int, options: Options, share: arb) -> Any:
    words = (options.get("entries", "triangle"), options["calibration"])
    return entrywise_laplace.scale_of_sum(d, (1 - share) * options["epsilon"], *words)


def _of_nuclear_scale(d: int, options: Options, share: arb) -> Any:
    return nuclear_laplace.scale_of_sum(options["epsilon"], share)


COUNTED: dict[str, RowsAndSum] = {
    "laplace": RowsAndSum(
        lambda options: "vector",
        lambda d, options: counted.pure_share(2 * d, cube_root),
        lambda d, options, share: laplace.noise_scale(1, (1 - share) * options["epsilon"]),
        lambda d, uniforms, options: noise.laplaces(d, uniforms),
    ),
    "gaussian": RowsAndSum(
        lambda options: "vector",
        lambda d, options: counted.gaussian_share(d, square_root),
        lambda d, options, share: 1 / square_root(2 * (1 - share) * options["rho"]),
        lambda d, uniforms, options: noise.normals(d, uniforms),
        gaussian=True,
    ),
    "entrywise-laplace": RowsAndSum(
        lambda options: options["entries"], _entrywise_share, _entrywise_scale, _entries_laplace
    ),
    "lap-cov": RowsAndSum(lambda options: "triangle", _entrywise_share, _entrywise_scale, _entries_laplace),
    "gauss-cov": RowsAndSum(
        lambda options: "triangle",
        lambda d, options: gauss_cov.count_share(d, options["ensemble"], square_root),
        lambda d, options, share: gauss_cov.scale_of_sum(d, options["rho"], options["ensemble"], square_root),
        lambda d, uniforms, options: _upper(d, noise.wigner(options["ensemble"], d, uniforms)),
        gaussian=True,
    ),
    "nuclear-laplace": RowsAndSum(
        lambda options: "full",
        lambda d, options: nuclear_laplace.count_share(arb(d), arb(d * d), cube_root),
        _of_nuclear_scale,
        lambda d, uniforms, options: noise.nuclear_laplace(d, uniforms).entries(),
    ),
    "nuclear-laplace-symmetric": RowsAndSum(
        lambda options: "triangle",
        lambda d, options: nuclear_laplace.count_share(arb(d), arb(d * (d + 1)) / 2, cube_root),
        _of_nuclear_scale,
        lambda d, uniforms, options: _upper(d, noise.nuclear_laplace_symmetric(d, uniforms)),
    ),
}
