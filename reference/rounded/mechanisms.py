"""Compute the ideal output of each rounded mechanism in interval arithmetic, as a function of the data and of the bits.

Each computed number is a ball, that is, an interval that contains the exact number. A function `ideal` returns the
parts of the output by name, as lists of balls, for rows in the unit ball. All parts of the output are rounded to the
grid. A function `finish` turns the rounded parts into the output in float64. A function `finish` uses only the rounded
parts, n and the public options, so it is post-processing. The noise scales are computed by the formulas of the
reference, with balls in place of floats.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray
from scipy.linalg import null_space

from covassay.reference.domain.exact_data import ExactData
from covassay.reference.laws import wigner
from covassay.reference.mechanisms import (
    above_threshold,
    bingham,
    centred_covariance,
    entrywise_laplace,
    exponential,
    gauss_cov,
    gaussian,
    iterative_eigenvectors,
    k_norm,
    lap_cov,
    laplace,
    nuclear_ball_projection,
    nuclear_laplace,
    private_trace,
    separate_cov,
    separate_cov_pure,
)
from covassay.reference.projections import nuclear_ball, psd_trace_ball
from covassay.reference.rounded import bingham as bingham_law
from covassay.reference.rounded import box, counted, noise
from covassay.reference.rounded.balls import exact, is_negative, largest, less, square_root
from covassay.reference.rounded.bits import Uniforms
from covassay.reference.rounded.eigenvalues import eigenvalues

Parts = dict[str, list[arb]]
Released = dict[str, NDArray[np.float64]]
Options = Mapping[str, Any]  # the budget and numeric options are intervals (`arb`); choices are strings


@dataclass(frozen=True)
class Rounded:
    """The functions that make the rounded release of one mechanism.

    ideal : a function of (data, uniforms, options) that returns the parts.
    finish : a function of (rounded parts, n, d, options) that returns the output for rows in the unit ball.
    bits : a function of d that returns the number of bits of precision that the computation is expected to lose. This
        number is public, because d is public, and the precision of the first attempt is computed from it.
    sums : whether `ideal` uses the sums of the columns (`ExactData.sums`).
    box : whether the columns have public bounds and are scaled to [−1, 1]. Otherwise the rows lie in the unit ball.
    """

    ideal: Callable[[ExactData, Uniforms, Options], Parts]
    finish: Callable[[Released, int, int, Options], Any]
    bits: Callable[[int], int]
    sums: bool = False
    box: bool = False


# STATISTICS OF THE DATA


def _energies(data: ExactData) -> list[arb]:
    """Return the diagonal entries n Σ_ii of XᵀX, which are the sums of squares."""
    return [arb(exact(data.total(i, i))) for i in range(data.d)]


def _moments(data: ExactData) -> list[arb]:
    """Return the diagonal entries Σ_ii of the second moment."""
    return [arb(exact(data.moment(i, i))) for i in range(data.d)]


def _full(data: ExactData, z: arb_mat, scale: arb) -> list[arb]:
    """Return all entries of Σ + scale · Z, row by row."""
    d = data.d
    return [exact(data.moment(i, j)) + scale * z[i, j] for i in range(d) for j in range(d)]


def _upper(data: ExactData, z: arb_mat, scale: arb) -> list[arb]:
    """Return the entries of Σ + scale · Z on and above the diagonal."""
    return [exact(data.moment(i, j)) + scale * z[i, j] for i, j in noise.triangle(data.d)]


# OUTPUTS FROM THE ROUNDED PARTS


def _matrix(parts: Released, n: int, d: int, options: Options) -> Any:
    values = parts["matrix"]
    return values.reshape(d, d) if len(values) == d * d else wigner.symmetric(values)


def _part(name: str) -> Callable[[Released, int, int, Options], Any]:
    return lambda parts, n, d, options: parts[name]


def _single(name: str) -> Callable[[Released, int, int, Options], Any]:
    return lambda parts, n, d, options: parts[name][0]


# THE MECHANISMS


def _laplace(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = laplace.noise_scale(laplace.second_moments_sensitivity(arb(data.n), data.d), options["epsilon"])
    noises = noise.laplaces(data.d, uniforms)
    return {"vector": [moment + scale * z for moment, z in zip(_moments(data), noises, strict=True)]}


def _gaussian(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    change = gaussian.second_moments_sensitivity(arb(data.n), data.d, square_root)
    scale = gaussian.noise_scale(change, options["rho"])
    noises = noise.normals(data.d, uniforms)
    return {"vector": [moment + scale * z for moment, z in zip(_moments(data), noises, strict=True)]}


def _private_trace(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = private_trace.laplace_scale(arb(data.n), options["epsilon"])
    return {"number": [exact(data.trace()) + scale * noise.laplace(uniforms)]}


def _entrywise_laplace(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    d, entries = data.d, options["entries"]
    scale = entrywise_laplace.noise_scale(
        arb(data.n), d, options["epsilon"], entries, options["calibration"], square_root
    )
    if entries == "triangle":
        return {"matrix": _upper(data, noise.wigner_laplace(d, uniforms), scale)}
    return {"matrix": _full(data, arb_mat(d, d, noise.laplaces(d * d, uniforms)), scale)}


def _lap_cov(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = lap_cov.noise_scale(arb(data.n), data.d, options["epsilon"], options["calibration"], square_root)
    return {"matrix": _upper(data, noise.wigner_laplace(data.d, uniforms), scale)}


def _gauss_cov(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = gauss_cov.noise_scale(arb(data.n), options["rho"])
    return {"matrix": _upper(data, noise.wigner(options["ensemble"], data.d, uniforms), scale)}


def _nuclear_laplace(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = nuclear_laplace.noise_scale(arb(data.n), options["epsilon"])
    return {"matrix": _full(data, noise.nuclear_laplace(data.d, uniforms), scale)}


def _nuclear_laplace_symmetric(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = nuclear_laplace.noise_scale(arb(data.n), options["epsilon"])
    return {"matrix": _upper(data, noise.nuclear_laplace_symmetric(data.d, uniforms), scale)}


def _centred_covariance(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = centred_covariance.noise_scale(arb(data.n), data.d, options["epsilon"], square_root)
    z = noise.nuclear_laplace_symmetric(data.d, uniforms)
    return {"matrix": [exact(data.centred(i, j)) + scale * z[i, j] for i, j in noise.triangle(data.d)]}


def _k_norm(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    body = options["body"]
    change = k_norm.sensitivity(body, arb(data.n), data.d, square_root)
    scale = k_norm.noise_scale(change, options["epsilon"])
    return {"matrix": _upper(data, noise.k_norm_noise(body, data.d, uniforms), scale)}


def _exponential(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    eta = exponential.exponent(options["epsilon"], exponential.ENERGY_RANGE)
    runners = [eta * energy + noise.gumbel(uniforms) for energy in _energies(data)]
    first = 0
    for i in range(1, len(runners)):
        if less(runners[first], runners[i]):
            first = i
    return {"level": [arb(first + 1)]}


def _above_threshold(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    epsilon, calibration = options["epsilon"], options["calibration"]
    threshold = options["share"] * data.n / data.d
    threshold += above_threshold.threshold_scale(epsilon) * noise.laplace(uniforms)
    scale = above_threshold.query_scale(epsilon, calibration)
    for i, energy in enumerate(_energies(data)):
        if not less(energy + scale * noise.laplace(uniforms), threshold):
            return {"level": [arb(i + 1)]}
    return {"level": [arb(data.d + 1)]}


def _nuclear_ball_projection(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    n, epsilon, calibration = arb(data.n), options["epsilon"], options["calibration"]
    radius_scale = nuclear_ball_projection.trace_scale(n, epsilon, calibration)
    radius = 2 * exact(data.trace()) + radius_scale * noise.laplace(uniforms)
    scale = nuclear_ball_projection.matrix_scale(n, epsilon, calibration)
    return {"matrix": _full(data, noise.nuclear_laplace(data.d, uniforms), scale), "radius": [radius]}


def _projected_on_ball(parts: Released, n: int, d: int, options: Options) -> Any:
    return nuclear_ball(parts["matrix"].reshape(d, d), max(0.0, float(parts["radius"][0])))


def _projected_on_trace(parts: Released, n: int, d: int, options: Options) -> Any:
    projected = psd_trace_ball(wigner.symmetric(parts["matrix"]), 1.0)
    return (projected + projected.T) / 2


def _separate_cov(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    scale = separate_cov.noise_scale(arb(data.n), options["rho"])
    z = noise.wigner(options["ensemble"], data.d, uniforms)
    return {
        "matrix": _upper(data, z, scale),
        "eigenvalues": _noisy_eigenvalues(data, scale, noise.normals(data.d, uniforms)),
    }


def _separate_cov_pure(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    n, epsilon = arb(data.n), options["epsilon"]
    scale = separate_cov_pure.matrix_scale(n, data.d, epsilon, options["calibration"], square_root)
    z = noise.wigner_laplace(data.d, uniforms)
    spread = separate_cov_pure.eigenvalue_scale(n, epsilon)
    return {
        "matrix": _upper(data, z, scale),
        "eigenvalues": _noisy_eigenvalues(data, spread, noise.laplaces(data.d, uniforms)),
    }


def _noisy_eigenvalues(data: ExactData, scale: arb, noises: list[arb]) -> list[arb]:
    """Return the noisy eigenvalues λ_i(Σ) + scale · noise_i."""
    return [value / data.n + scale * z for value, z in zip(eigenvalues(_second_moments(data)), noises, strict=True)]


def _second_moments(data: ExactData) -> arb_mat:
    """Return the matrix C = nΣ of the sums of products."""
    return arb_mat([[arb(exact(data.total(i, j))) for j in range(data.d)] for i in range(data.d)])


def _rebuilt(low: float, high: float) -> Callable[[Released, int, int, Options], Any]:
    """Return a function `finish` that returns Σ_i λ̃_i v_i v_iᵀ, with eigenvectors of the rounded matrix and λ̃_i in
    [low, high].
    """

    def finish(parts: Released, n: int, d: int, options: Options) -> Any:
        vectors = separate_cov.descending_eigenvectors(wigner.symmetric(parts["matrix"]))
        matrix = (vectors * np.clip(parts["eigenvalues"], low, high)) @ vectors.T
        return (matrix + matrix.T) / 2

    return finish


def _bingham(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    eta = bingham.exponent(options["epsilon"], options["calibration"])
    return {"direction": bingham_law.bingham(_second_moments(data) * eta, uniforms)}


def _iterative_eigenvectors(data: ExactData, uniforms: Uniforms, options: Options) -> Parts:
    d, epsilon, calibration = data.d, options["epsilon"], options["calibration"]
    c = _second_moments(data)
    kept = min(options["rank"] or d, d)
    scale = iterative_eigenvectors.eigenvalue_scale(epsilon)
    noises = noise.laplaces(d, uniforms)
    noisy = [value + scale * z for value, z in zip(eigenvalues(c), noises, strict=True)][:kept]
    if options["budget"] == "uniform":
        exponents = iterative_eigenvectors.uniform_exponents(epsilon, d, calibration, kept)
    else:
        offset = iterative_eigenvectors.adaptive_offset(epsilon, arb(kept), options["beta"], arb.log)
        weights = [(value.max(arb(0)).min(arb(data.n)) + offset).sqrt() for value in noisy]
        exponents = iterative_eigenvectors.adaptive_exponents(epsilon, weights, calibration, d, largest)
    directions: list[arb] = []
    basis = arb_mat([[int(i == j) for j in range(d)] for i in range(d)])
    for eta in exponents:
        u = bingham_law.bingham(c * eta, uniforms)
        directions += (arb_mat([u]) * basis).entries()
        rest = _complement(u)
        basis, c = rest * basis, rest * c * rest.transpose()
    return {"eigenvalues": noisy, "directions": directions}


def _complement(u: list[arb]) -> arb_mat:
    """Return orthonormal rows that are orthogonal to the unit vector u.

    They are the rows, except the first, of a Householder reflection.
    """
    q = len(u)
    v = [u[0] + (-1 if is_negative(u[0]) else 1), *u[1:]]
    half_square = 1 + abs(u[0])  # the number |v|²/2
    return arb_mat([[int(i == j) - v[i] * v[j] / half_square for j in range(q)] for i in range(1, q)])


def _from_directions(parts: Released, n: int, d: int, options: Options) -> Any:
    directions = parts["directions"].reshape(-1, d)
    kept = len(parts["eigenvalues"])
    if len(directions) < kept:  # the missing directions are orthogonal to the drawn directions
        rest = null_space(directions).T if len(directions) else np.eye(d)
        directions = np.vstack([directions, rest[: kept - len(directions)]])
    matrix = (directions.T * parts["eigenvalues"]) @ directions / n
    return (matrix + matrix.T) / 2


# the numbers of bits that a computation loses were measured; `tests/reference/rounded` checks that they rarely are
# too small
def _few(d: int) -> int:
    return 2 * d


def _of_full_spectrum(d: int) -> int:
    return 7 * d * d // 2 + 8 * d


def _of_symmetric_spectrum(d: int) -> int:
    return 2 * d * d + 6 * d


ROUNDED: dict[str, Rounded] = {
    "laplace": Rounded(_laplace, _part("vector"), _few),
    "gaussian": Rounded(_gaussian, _part("vector"), _few),
    "private-trace": Rounded(_private_trace, _single("number"), _few),
    "entrywise-laplace": Rounded(_entrywise_laplace, _matrix, _few),
    "lap-cov": Rounded(_lap_cov, _matrix, _few),
    "gauss-cov": Rounded(_gauss_cov, _matrix, _few),
    "nuclear-laplace": Rounded(_nuclear_laplace, _matrix, _of_full_spectrum),
    "nuclear-laplace-symmetric": Rounded(_nuclear_laplace_symmetric, _matrix, _of_symmetric_spectrum),
    "centred-covariance": Rounded(_centred_covariance, _matrix, _of_symmetric_spectrum, sums=True),
    "k-norm": Rounded(_k_norm, _matrix, _of_symmetric_spectrum),
    "exponential": Rounded(_exponential, _single("level"), _few),
    "above-threshold": Rounded(_above_threshold, _single("level"), _few),
    "nuclear-ball-projection": Rounded(_nuclear_ball_projection, _projected_on_ball, _of_full_spectrum),
    "projection-mechanism": Rounded(_gauss_cov, _projected_on_trace, _few),
    "separate-cov": Rounded(_separate_cov, _rebuilt(-np.inf, np.inf), _few),
    "separate-cov-pure": Rounded(_separate_cov_pure, _rebuilt(0.0, 1.0), _few),
    "bingham": Rounded(_bingham, _part("direction"), _few),
    "iterative-eigenvectors": Rounded(_iterative_eigenvectors, _from_directions, lambda d: 2 * d * d + 10 * d),
    "box-gauss": Rounded(box.gauss, box.finish, _few, sums=True, box=True),
    "box-laplace": Rounded(box.laplace, box.finish, _few, sums=True, box=True),
}


def form_of(name: str, adjacency: Any) -> Rounded:
    """Return the rounded form of a mechanism for the given adjacency."""
    usual = ROUNDED[name]
    if usual.box or adjacency != "add-remove":
        return usual
    return replace(usual, ideal=counted.COUNTED[name].ideal, finish=counted.finish)
