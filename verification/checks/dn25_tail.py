"""DN25 Theorems 1 and 6: the spectral norm of nuclear-Laplace noise is about πρd, not 1.1ρd."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import mpmath

from covassay.reference.domain import Number
from covassay.reference.laws.nuclear_laplace import schatten_limit
from covassay.verification.evidence import Evidence, check
from covassay.verification.exact.spectral_cdf import Enclosure, enclose_spectral_cdf

PRINTED = Fraction(11, 10)
PRINTED_FOR_P = 3


def _full(d: int, s: Fraction) -> Enclosure:
    return enclose_spectral_cdf(d, s)


@check(
    "enclosed",
    mutants={
        "the law of symmetric noise": {"law": lambda d, s: enclose_spectral_cdf(d, s, symmetric=True)},
        "a bound that is true": {"constant": Fraction(7, 2)},
    },
)
def published_bound(
    law: Callable[[int, Fraction], Enclosure] = _full,
    constant: Fraction = PRINTED,
    published: Mapping[int, str] | None = None,
) -> Evidence:
    """P(‖Z‖ ≤ 1.1ρd) falls to 2.3e-136 at d = 40, where Theorem 6 lets it tend to 1.

    Theorem 6 has a free constant: P ≥ 1 − 2 exp(−d^{1/3}/C). An enclosure [·, p] at one d contradicts it for every
    C < d^{1/3} / ln(2/(1 − p)). That every C fails is the moment argument's part, not this one's.
    """
    expected = published or {1: "6.67128916302e-1", 2: "2.87168439394e-1", 10: "4.42040601721e-10",
                             40: "2.34324317517e-136"}  # fmt: skip
    figures, wrong, last = {}, [], mpmath.mpf(1)
    for d, digits in expected.items():
        enclosure = law(d, constant * d)
        figures[f"P(d={d})"] = enclosure.text(12)
        if figures[f"P(d={d})"] != digits or enclosure.upper >= last:
            wrong.append(f"d={d}")
        last = enclosure.lower
    refuted = mpmath.iv.mpf(max(expected)) ** (mpmath.iv.mpf(1) / 3) / mpmath.iv.log(2 / (1 - mpmath.iv.mpf(last)))
    figures["contradicted for every C below"] = mpmath.nstr(mpmath.mpf(refuted.a), 3)
    return Evidence(not wrong, f"d in {tuple(expected)}, given the joint density", ", ".join(wrong), figures)


@check(
    "numeric",
    mutants={
        "half the limit": {"limit": lambda p, gamma, pi: schatten_limit(p, gamma, pi) / 2},
        "without the factor p + 1": {"limit": lambda p, gamma, pi: schatten_limit(p, gamma, pi) * (p + 1) ** (1 / p)},
    },
)
def schatten_constants(limit: Callable[..., Number] = schatten_limit) -> Evidence:
    """2 lim ‖Z‖_{S_p}/(ρd^{1+1/p}) is 2, 2.5651, 2.9746, … for p = 1, 2, 3, …, and passes 3 at p* = 3.0724357….

    The constant is compared with quadrature of Ullman's density (2/π²) arccosh(π/t), to 20 digits.
    """
    with mpmath.workdps(30):
        wrong, figures = [], {}
        for p in (1, 2, 3, 4, 8):
            moment = mpmath.quad(lambda t, p=p: t**p * 2 / mpmath.pi * mpmath.acosh(1 / t), [0, 0.5, 1])
            closed = limit(mpmath.mpf(p), mpmath.gamma, mpmath.pi)
            if abs(mpmath.pi * moment ** (mpmath.mpf(1) / p) - closed) > mpmath.mpf(10) ** -20:
                wrong.append(f"p={p}")
            figures[f"C_{p}"] = mpmath.nstr(2 * closed, 10)
        if not wrong:
            crossing = mpmath.findroot(lambda p: 2 * limit(p, mpmath.gamma, mpmath.pi) - PRINTED_FOR_P, 3.1)
            figures["p*"] = mpmath.nstr(crossing, 25)
    return Evidence(not wrong, "p in 1, 2, 3, 4, 8", ", ".join(wrong), figures)
