"""Give the reference's answers about laws: exact probabilities, and the probability that a sampler accepts a
proposal.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from covassay.reference.domain import column_squares, require_dimension, require_positive, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham, discrete_laplace, k_norm, nuclear_laplace, wigner
from covassay.reference.mechanisms.building_blocks import above_threshold, exponential
from covassay.reference.mechanisms.concentrated import discrete_gaussian_covariance
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import discrete_laplace_covariance, matrix_bingham
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.exact import above_threshold as search_law
from covassay.verification.exact.spectral_cdf import enclose_spectral_cdf
from covassay.verification.vectors.formulas import evaluated
from covassay.verification.vectors.numbers import DIGITS, digits, exact, read

Parts = Mapping[str, Any]
SYMMETRIC = "nuclear-laplace-symmetric"


def probability(name: str, law: str, parameters: Parts, given: Parts, at: Any) -> Any:
    """Return a probability of a law of a mechanism, to 30 digits or as a float."""
    parameters, given, at = read(parameters), read(given), read(at)
    declared = mechanism(name)
    for key, value in parameters.items():
        if key in declared.declared:
            declared.declared[key].require(key, value)
    if isinstance(at, str) or not math.isfinite(at):
        raise InvalidInput(f"at = {at!r}: must be a finite number")
    if law == "index":
        return _index(declared, parameters, given, at)
    d = require_dimension("d", parameters["d"])
    if law == "spectral-norm":
        return enclose_spectral_cdf(d, Fraction(at), symmetric=name == SYMMETRIC, digits=DIGITS).text(DIGITS)
    with mpmath.workdps(2 * DIGITS):
        if law == "norm":
            return digits(mpmath.gammainc(_shape(name, d), 0, at, regularized=True))
        if law == "share":
            return digits(_share(parameters, d, at))
        return digits(_entry(declared, parameters, at) if law == "entry" else _integer(name, parameters, at))


def _shape(name: str, d: int) -> Any:
    return k_norm.degrees_of_freedom(d) if name == "k-norm" else nuclear_laplace.radius_shape(d, name == SYMMETRIC)


def _entry(declared: Mechanism[Any, ..., Any], parameters: Parts, at: Any) -> Any:
    """Return the distribution function of the noise that is added to one entry, at a point."""
    known = dict(parameters)
    if declared.name in ("laplace", "gaussian"):
        known["sensitivity"] = evaluated(declared, "second_moments_sensitivity", parameters)
    formula = "laplace_scale" if declared.name == "private-trace" else "noise_scale"
    x = mpmath.mpf(at) / evaluated(declared, formula, known)
    if declared.notion.default.keywords().keys() == {"rho"}:
        if parameters["where"] == "off-diagonal":
            variance = Fraction(wigner.deviations(2, parameters["ensemble"])[0, 1] ** 2).limit_denominator(
                8
            )  # 1 or 1/2
            x = x * mpmath.sqrt(variance.denominator) / mpmath.sqrt(variance.numerator)
        return mpmath.ncdf(x)
    return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2


def _share(parameters: Parts, d: int, at: float) -> Any:
    """Return P(vᵀPv ≤ at) for the random projection P that is drawn for n rows equal to one unit vector v. The
    integrals are over the angle whose sin² is vᵀPv.
    """
    k = matrix_bingham.released_rank(parameters["rank"], d)
    strength = matrix_bingham.exponent(mpmath.mpf(parameters["epsilon"])) * parameters["n"]

    def density(angle: Any) -> Any:
        w = mpmath.sin(angle) ** 2
        return mpmath.sin(angle) ** (k - 1) * mpmath.cos(angle) ** (d - k - 1) * mpmath.exp(strength * (w - 1))

    end = mpmath.asin(mpmath.sqrt(at))
    below, above = mpmath.quad(density, [0, end]), mpmath.quad(density, [end, mpmath.pi / 2])
    return below / (below + above)


def _integer(name: str, parameters: Parts, at: int) -> Any:
    d, bits = parameters["d"], parameters["input_bits"]
    if name == "discrete-laplace-covariance":
        change = discrete_laplace_covariance.sensitivity(d, bits)
        scale = discrete_laplace_covariance.noise_scale(change, Fraction(parameters["epsilon"]))
        return discrete_laplace.pmf(at, mpmath.mpf(scale.numerator) / scale.denominator, mpmath.exp)
    square = discrete_gaussian_covariance.sensitivity_squared(d, bits)
    variance = Fraction(discrete_gaussian_covariance.noise_variance(square, Fraction(parameters["rho"])))
    nome = mpmath.exp(-mpmath.mpf(variance.denominator) / (2 * variance.numerator))
    return nome ** (at * at) / mpmath.jtheta(3, 0, nome)


def _index(declared: Mechanism[Any, ..., Any], parameters: Parts, given: Parts, at: int) -> Any:
    if declared.name == "exponential":
        energies = column_squares(unit_rows(np.array(given["x"], dtype=float)))
        eta = exponential.exponent(parameters["epsilon"], exponential.ENERGY_RANGE)
        with mpmath.workdps(2 * DIGITS):
            weights = [mpmath.exp(mpmath.mpf(eta) * mpmath.mpf(float(energy))) for energy in energies]
            return digits(weights[at - 1] / sum(weights))
    scales = above_threshold.threshold_scale(parameters["epsilon"]), above_threshold.query_scale(**parameters)
    values = np.array(given["queries"], dtype=float)
    return float(search_law.probabilities(values, given["threshold"], *scales)[at - 1])


def acceptance(name: str, parameters: Parts, given: Parts) -> Any:
    """Return the probability that a sampler accepts a proposal, exact or to 30 digits."""
    given = read(given)
    if name == "bingham":
        require_positive("b", given["b"])
        values, u = given["eigenvalues"], given["u"]
        with mpmath.workdps(2 * DIGITS):
            y = sum((mpmath.mpf(max(values)) - v) * mpmath.mpf(c) ** 2 for v, c in zip(values, u, strict=True))
            b, q = mpmath.mpf(given["b"]), mpmath.mpf(len(values))
            return digits(mpmath.exp(bingham.log_acceptance(y, b, q, mpmath.log)))
    if name == "k-norm":
        diagonal = [exact(row)[i] for i, row in enumerate(given["matrix"])]
        return k_norm.acceptance(sum(map(abs, diagonal)), sum(diagonal), Fraction(len(diagonal)))
    variance = Fraction(require_positive("variance", given["variance"]))
    t = math.isqrt(variance.numerator // variance.denominator) + 1
    gamma = (abs(given["proposal"]) - variance / t) ** 2 / (2 * variance)
    with mpmath.workdps(2 * DIGITS):
        return digits(mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator))
