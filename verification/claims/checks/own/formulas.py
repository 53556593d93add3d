"""Check formulas of the reference by close comparison, because a comparison with a loose bound would accept slightly
wrong formulas.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product

import mpmath

from covassay.reference import tails
from covassay.reference.domain import Number
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.concentrated import em_cov
from covassay.reference.mechanisms.gaussian_estimation import naive_pce
from covassay.reference.mechanisms.pure import johnson_lindenstrauss_image, nuclear_laplace, output_perturbation
from covassay.verification.claims.evidence import MORE, Formula, Found, check, mutant, scaled

CLOSE = 1e-12  # relative difference that counts as rounding; floats have 16 digits


@check("floating", less="scale eigenvalue", more="exponents", scope="2 ≤ d ≤ 6")
def spends_of_scales(
    scale: Formula = johnson_lindenstrauss_image.noise_scale,
    exponents: Formula = em_cov.exponents,
    eigenvalue: Formula = em_cov.eigenvalue_scale,
) -> Found:
    """The Johnson–Lindenstrauss image spends ε. The directions of EMCov spend ρ(d − 1)/(32d) with the reconstructed
    calibration, and ρ/2 with the tight one.

    A direction with exponent η costs η²/2, because its loss fills an interval of length 2η. The eigenvalues of C move
    by at most √2 in ℓ2, so Gaussian noise of the tight scale s costs 2/(2s²) = ρ/2. They move by at most 2 in ℓ1, so
    Laplace noise of the reconstructed scale s costs an ε of 2/s = √ρ.
    """
    n, epsilon = Fraction(7), Fraction(3, 5)
    yield {"scale": nuclear_laplace.privacy_loss(2, n, scale(n, epsilon)) == epsilon}
    for d, rho in product(range(2, 7), (0.3, 2.0)):
        for calibration, share in (("reconstructed", (d - 1) / (32 * d)), ("tight", 0.5)):
            spent = sum(v**2 / 2 for v in exponents(rho, d, calibration))
            yield {f"d={d}, {calibration}": abs(spent / (rho * share) - 1) < CLOSE}
        costs = 2 / (2 * eigenvalue(rho, "tight") ** 2 * rho / 2), 2 / (eigenvalue(rho, "reconstructed") * rho**0.5)
        yield {f"eigenvalues, ρ={rho}": max(abs(c - 1) for c in costs) < CLOSE}


@check("floating", less="largest gradients", scope="α from 0.01 to 40, W = 0.1, 1, 7")
@mutant(
    "the paper's bound in place of the tight one", largest=lambda a, c: output_perturbation.largest_norm(a, "paper")
)
def norm_of_a_regression(
    largest: Formula = output_perturbation.largest_norm, gradients: Formula = output_perturbation.gradient_change
) -> Found:
    """For rows (a, b) = (√s, √(1 − s)) the ridge coefficient √(s(1 − s))/(s + 2α) is largest at s = 2α/(1 + 4α).

    The maximum W = 1/(2√(2α(1 + 2α))) is the tight bound on ‖ŵ‖. The paper's bound on ‖ŵ‖ is the norm at which the
    penalty α‖w‖² alone is ½. A minimiser ŵ is not longer, because the loss at w = 0 is at most ½. A gradient (w·a − b)a
    with a = w sin φ/W, b = −cos φ has the coordinate W sin²φ + sin φ cos φ along w. The range of this coordinate is the
    tight bound on the distance of two gradients; twice its maximum is the paper's bound.
    """
    for w in (0.1, 1.0, 7.0):
        # tan 2φ = −1/W at the maximum φ = `top` and at the minimum, which are a right angle apart
        top = (math.pi - math.atan(1 / w)) / 2
        high, low = (w * math.sin(v) ** 2 + math.sin(v) * math.cos(v) for v in (top, top + math.pi / 2))
        wanted = {"tight": high - low, "paper": 2 * high}
        yield from (f"gradients, {c}" for c, v in wanted.items() if not math.isclose(v, float(gradients(w, c))))
    for alpha in (0.01, 0.3, 1.0, 40.0):
        grid = [alpha * 2 / (1 + 4 * alpha) * factor for factor in (0.5, 0.9, 0.99, 1.0, 1.01, 1.1)]
        values = [math.sqrt(s * (1 - s)) / (s + 2 * alpha) for s in grid]
        top = max(values)
        yield {f"tight, α={alpha}": top == values[3] and abs(largest(alpha, "tight") / top - 1) < CLOSE}
        yield {f"paper, α={alpha}": abs(alpha * largest(alpha, "paper") ** 2 / 0.5 - 1) < CLOSE}


@check("floating", scope="d = 1, 4, 300", less="radius")
@mutant("7/6 smaller by 3 %", angle=lambda d, level: law.spectral_norm_angle(d, level - 0.035 * math.log(d)))
def radii_and_angles(radius: Formula = naive_pce.radius_squared, angle: Formula = law.spectral_norm_angle) -> Found:
    """NaivePCE's r² is κη² with η the exact Chernoff bound on ‖N(0, I_d)‖ at β/n.

    The angle φ of the tail bound satisfies (2/3)dφ³ = ln(1/β) + (7/6) ln d.
    """
    for n, d, kappa, beta in product((10, 10**5), (1, 4, 300), (1.0, 50.0), (0.3, 1e-6)):
        same = radius(n, d, kappa, beta) / (kappa * tails.eta(d, beta / n) ** 2)
        wanted = -math.log(beta) + 7 / 6 * math.log(d)
        cubed = 2 / 3 * d * angle(d, -math.log(beta)) ** 3 / wanted
        yield {f"n={n}, d={d}, κ={kappa}": max(abs(same - 1), abs(cubed - 1)) < CLOSE}


Coded = Callable[..., Number]


def stated_bounds(d: Number, beta: Number) -> dict[str, Number]:
    """Return four bounds that DLY22's code uses, by the formulas that the ledger states."""
    two, log = mpmath.sqrt(2), mpmath.log
    theta = min((log(d) / d) ** (mpmath.mpf(3) / 10), mpmath.mpf(1) / 2)
    m = d * (d + 1) / 2

    def orlicz(k: Number) -> Number:
        return 2 * max((two + 1) / (two - 1), 2 * log(k) / log(2))

    mean = 2 * mpmath.sqrt(d)
    return {
        "upsilon": (1 + theta) * (mean + 6 * mpmath.sqrt(log(d) / log(1 + theta))) + mpmath.sqrt(2 * log(2 / beta)),
        "upsilon_laplace": (1 + theta) * (mean + 6 * log(d) / mpmath.sqrt(log(1 + theta)))
        + two * orlicz(m) * log(2 / beta),
        "eta_laplace": mpmath.sqrt(d) * 3 / 2 + orlicz(d) * log(2 / beta),
        "omega_laplace": d * mpmath.mpf(3) / 2 + orlicz(m) * log(2 / beta),
    }


CODED: dict[str, Coded] = {
    "upsilon": tails.upsilon,
    "upsilon_laplace": tails.upsilon_laplace,
    "eta_laplace": tails.eta_laplace,
    "omega_laplace": tails.omega_laplace,
}


LARGER = {f"{name}: 3 % more": {"coded": {**CODED, name: scaled(CODED[name], MORE)}} for name in CODED}


@check("floating", mutants=LARGER, scope="d from 2 to 5000, β from 1e-9 to 0.5")
def coded_bounds(coded: Mapping[str, Coded] = CODED) -> Found:
    """For four bounds that DLY22's code uses, one for Gaussian and three for Laplace noise, the reference has the
    formulas that the ledger states.
    """
    with mpmath.workdps(40):
        for d, beta in product((2, 3, 9, 60, 5000), (0.5, 0.1, 1e-9)):
            exact = mpmath.mpf(d), mpmath.mpf(beta)
            for name, value in stated_bounds(*exact).items():
                gap = abs(coded[name](*exact, mpmath.log) / value - 1)
                # the reference has the exponent 3/10 as the float 0.3, so the two values differ by rounding
                yield {f"{name}, d={d}": gap <= mpmath.mpf(10) ** -14}
