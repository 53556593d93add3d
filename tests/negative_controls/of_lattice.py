"""Negative controls of discrete Laplace and discrete Gaussian noise on a second moment of integers.

With the default number of bits, two neighbouring integers are only about 10⁻¹² noise scales apart. A wrong probability
of a single integer can then not be detected. Some of these negative controls therefore use only one or two bits.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from covassay.reference.domain import IntegerMatrix, Matrix, second_moment, unit_rows
from covassay.reference.domain.exact_data import INPUT_BITS, ExactData, as_integers, as_written, exact_data, in_units
from covassay.reference.laws import discrete_gaussian, discrete_laplace
from covassay.reference.laws.exact_draws import Coins, generator_bits
from covassay.reference.mechanisms.concentrated import discrete_gaussian_covariance as gaussian
from covassay.reference.mechanisms.pure import discrete_laplace_covariance as laplace
from covassay.reference.privacy import ZCDP, PureDP
from tests.negative_controls.negative_control import NegativeControl

OneDraw = Callable[[Fraction, np.random.Generator], int]  # a function that maps the parameter of the law to an integer
# a function that maps (number of columns, binary places of an entry, budget) to the parameter of the law
Calibration = Callable[[int, int, Fraction], Fraction]
Products = Callable[[Matrix, int], ExactData]


def exact_laplace(scale: Fraction, rng: np.random.Generator) -> int:
    """Draw from the correct discrete Laplace law."""
    return discrete_laplace.sample(scale, Coins(generator_bits(rng)))


def exact_gaussian(variance: Fraction, rng: np.random.Generator) -> int:
    """Draw from the correct discrete Gaussian law."""
    return discrete_gaussian.sample(variance, Coins(generator_bits(rng)))


def laplace_scale(d: int, b: int, epsilon: Fraction) -> Fraction:
    """Return the correct scale of discrete Laplace noise."""
    return Fraction(laplace.noise_scale(laplace.sensitivity(d, b), epsilon))


def gaussian_variance(d: int, b: int, rho: Fraction) -> Fraction:
    """Return the correct variance of discrete Gaussian noise."""
    return Fraction(gaussian.noise_variance(gaussian.sensitivity_squared(d, b), rho))


def clipped_products(x: Matrix, b: int) -> ExactData:
    """Return the sums over the rows of the products of their entries, for rows that are clipped and rounded to
    integers.
    """
    return exact_data(x, input_bits=b)


def released(
    draw: OneDraw, calibration: Calibration, b: int = INPUT_BITS, products: Products = clipped_products
) -> Callable[..., Matrix]:
    """Return a release that consists of these parts, as a function of (x, rng=, epsilon=) or (x, rng=, rho=)."""

    def target(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Matrix:
        data = products(x, b)
        parameter = calibration(data.d, b, as_written(next(iter(budget.values()))))
        noise = discrete_laplace.filled(data.d, lambda: draw(parameter, rng))
        noisy: IntegerMatrix = data.products + noise
        return in_units(noisy, data.unit)

    return target


# DRAWS WITH A MISTAKE


def attempt_without_rejection(scale: Fraction, coins: Coins) -> int:
    """Draw discrete Laplace noise as a sign and an absolute value, but accept the result −0 in place of drawing
    again."""
    t, s = scale.numerator, scale.denominator
    while not coins.chance_exp(u := coins.below(t), t):
        pass
    v = 0
    while coins.chance_exp(1, 1):
        v += 1
    size = (u + t * v) // s
    return -size if coins.chance(1, 2) else size


def both_zeros(scale: Fraction, rng: np.random.Generator) -> int:
    """Draw discrete Laplace noise in which the weight of 0 is doubled."""
    return attempt_without_rejection(scale, Coins(generator_bits(rng)))


def rounded_laplace(scale: Fraction, rng: np.random.Generator) -> int:
    """Return a continuous Laplace draw, rounded to an integer."""
    return round(float(scale) * rng.laplace())


def rounded_gaussian(variance: Fraction, rng: np.random.Generator) -> int:
    """Return a continuous Gaussian draw, rounded to an integer."""
    return round(math.sqrt(variance) * rng.standard_normal())


def _accepted(
    variance: Fraction, rng: np.random.Generator, exponent: Callable[[int, Fraction], Fraction], zeros: bool
) -> int:
    """Draw discrete Gaussian noise by rejection from discrete Laplace noise, with another acceptance probability."""
    coins = Coins(generator_bits(rng))
    t = Fraction(math.isqrt(math.floor(variance)) + 1)
    while True:
        y = attempt_without_rejection(t, coins) if zeros else discrete_laplace.sample(t, coins)
        gamma = exponent(abs(y), t)
        if coins.chance_exp(gamma.numerator, gamma.denominator):
            return y


def proposals(variance: Fraction, rng: np.random.Generator) -> int:
    """Accept all discrete Laplace proposals."""
    return _accepted(variance, rng, lambda size, t: Fraction(0), zeros=False)


def uncentred(variance: Fraction, rng: np.random.Generator) -> int:
    """Accept a proposal y with probability e^{−y²/(2σ²)}, as if the proposals were uniform."""
    return _accepted(variance, rng, lambda size, t: size**2 / (2 * variance), zeros=False)


def gaussian_zeros(variance: Fraction, rng: np.random.Generator) -> int:
    """Draw discrete Gaussian noise from proposals in which the weight of 0 is doubled."""
    return _accepted(variance, rng, lambda size, t: (size - variance / t) ** 2 / (2 * variance), zeros=True)


# QUERIES WITH A MISTAKE


def unclipped_products(x: Matrix, b: int) -> ExactData:
    """Return the sums of products of integer rows without clipping them."""
    q = as_integers(np.trunc(np.asarray(x, dtype=np.float64) * 2.0**b))
    return ExactData(len(q), (q.T @ q).tolist(), [], b)


def float_query(draw: OneDraw, calibration: Calibration) -> Callable[..., Matrix]:
    """Return a release that adds integer noise to a second moment in float64."""
    without_query = released(draw, calibration, products=lambda x, b: exact_data(np.zeros_like(x), input_bits=b))

    def target(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Matrix:
        return second_moment(unit_rows(x)) + without_query(x, rng=rng, **budget)

    return target


def scaled(calibration: Calibration, factor: Fraction) -> Calibration:
    """Return a calibration that multiplies the parameter of the noise distribution by a factor."""
    return lambda d, b, budget: calibration(d, b, budget) * factor


def frobenius_scale(d: int, b: int, epsilon: Fraction) -> Fraction:
    """Return the ℓ2 sensitivity divided by ε, in place of the ℓ1 sensitivity divided by ε."""
    return Fraction(math.isqrt(gaussian.sensitivity_squared(d, b))) / epsilon


ONE_BIT, TWO_BITS = (("input_bits", "1"),), (("input_bits", "2"),)
_laplace = partial(NegativeControl, mechanism="discrete-laplace-covariance")
_gaussian = partial(NegativeControl, mechanism="discrete-gaussian-covariance")
NEGATIVE_CONTROLS = (
    _laplace(
        "discrete-laplace-97",
        "Draw discrete Laplace noise with 97 % of its scale.",
        caught_by=(),
        draw=released(exact_laplace, scaled(laplace_scale, Fraction(97, 100))),
    ),
    _laplace(
        "discrete-laplace-frobenius",
        "Calibrate discrete Laplace noise to the ℓ2 sensitivity.",
        caught_by=(("law", "entrywise norm"),),
        draw=released(exact_laplace, frobenius_scale),
        diagnosis="Frobenius sensitivity",
    ),
    _laplace(
        "discrete-laplace-zero-twice",
        "Draw a sign and an absolute value without rejecting −0, so that the weight of 0 is doubled.",
        caught_by=(("law", "zeros"),),
        draw=released(both_zeros, laplace_scale, 2),
        options=TWO_BITS,
    ),
    _laplace(
        "discrete-laplace-rounded",
        "Round continuous Laplace noise to integers.",
        caught_by=(("law", "zeros"),),
        draw=released(rounded_laplace, laplace_scale, 1),
        options=ONE_BIT,
        claim=PureDP(8.0),
    ),
    _laplace(
        "discrete-laplace-float-query",
        "Add integer noise to a second moment in float64.",
        caught_by=(("law", "on the lattice"),),
        draw=float_query(exact_laplace, laplace_scale),
    ),
    _laplace(
        "discrete-laplace-unclipped",
        "Assume without a check that every row has norm at most 1.",
        caught_by=(("privacy", "event"),),
        draw=released(exact_laplace, laplace_scale, products=unclipped_products),
    ),
    _gaussian(
        "discrete-gaussian-97",
        "Draw discrete Gaussian noise with 97 % of its scale.",
        caught_by=(),
        draw=released(exact_gaussian, scaled(gaussian_variance, Fraction(97, 100) ** 2)),
    ),
    _gaussian(
        "discrete-gaussian-sensitivity-one",
        "Calibrate discrete Gaussian noise to the sensitivity 1 in place of √2.",
        caught_by=(("law", "squared norm"),),
        draw=released(exact_gaussian, lambda d, b, rho: Fraction(gaussian.noise_variance(16**b, rho))),
        diagnosis="√2 times too small",
    ),
    _gaussian(
        "discrete-gaussian-zero-twice",
        "Propose a sign and an absolute value without rejecting −0, so that proposals of 0 get twice their weight.",
        caught_by=(("law", "zeros"),),
        draw=released(gaussian_zeros, gaussian_variance, 1),
        options=ONE_BIT,
    ),
    _gaussian(
        "discrete-gaussian-rounded",
        "Round continuous Gaussian noise to integers.",
        caught_by=(("law", "zeros"), ("law", "all entries")),
        draw=released(rounded_gaussian, gaussian_variance, 1),
        options=ONE_BIT,
        claim=ZCDP(32.0),
    ),
    _gaussian(
        "discrete-gaussian-proposals",
        "Accept every discrete Laplace proposal, so that the noise is discrete Laplace in place of discrete Gaussian.",
        caught_by=(("law", "squared norm"),),
        draw=released(proposals, gaussian_variance),
    ),
    _gaussian(
        "discrete-gaussian-uncentred",
        "Accept a Laplace proposal y with probability e^{−y²/(2σ²)}, as if the proposals were uniform.",
        caught_by=(("law", "squared norm"),),
        draw=released(uncentred, gaussian_variance),
    ),
    _gaussian(
        "discrete-gaussian-float-query",
        "Add integer noise to a second moment in float64.",
        caught_by=(("law", "on the lattice"),),
        draw=float_query(exact_gaussian, gaussian_variance),
    ),
)
