"""Implement the command `covassay law`."""

import argparse
from fractions import Fraction
from typing import Any

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham, nuclear_laplace
from covassay.verification.cli.screen import print_json
from covassay.verification.exact.spectral_cdf import enclose_spectral_cdf

EXACT_DIMENSION = 60  # up to this dimension, the distribution function is enclosed by interval arithmetic
PARSER = {
    "description": "Compute exact figures, such as probabilities and moments, of a noise distribution with scale ρ.",
    "epilog": """\
examples:
  covassay law nuclear-laplace --dimension 10 --spectral-cdf 1.1
  covassay law bingham --eigenvalues 6,3,0,0,0""",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    add = parser.add_argument
    add("law", choices=("nuclear-laplace", "nuclear-laplace-symmetric", "bingham"), help="the law")
    add("--dimension", type=int, help="the dimension d of the matrix Z")
    add(
        "--spectral-cdf",
        metavar="C",
        help="print interval bounds of P(‖Z‖ ≤ C ρd), for a number C such as 1.1 or 11/10",
    )
    add("--digits", type=int, default=12, help="significant digits of --spectral-cdf (default %(default)s)")
    add("--quantile", type=float, metavar="P", help="print the quantile of ‖Z‖/(ρd) at this probability")
    add("--moment", type=float, metavar="p", help="print E ‖Z‖_{S_p}^p / ρ^p")
    add("--eigenvalues", help="the eigenvalues of M such as 6,3,0,0,0 (bingham only)")
    add("--json", action="store_true", help="print JSON (covassay schema law)")
    parser.set_defaults(run=run)


def _fraction(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(f"{text!r}: must be a number such as 1.1 or 11/10") from None


def run(options: argparse.Namespace) -> int:
    """Print the requested figures, or the main figures if none is requested."""
    facts = _bingham_law(options) if options.law == "bingham" else _nuclear_law(options)
    if options.json:
        print_json(facts)
    else:
        for key, value in facts.items():
            print(f"{key}: {value}")
    return 0


def _nuclear_law(options: argparse.Namespace) -> dict[str, Any]:
    symmetric = options.law.endswith("symmetric")
    if options.dimension is None:
        raise InvalidInput("--dimension is missing: a whole number of at least 1")
    d = options.dimension
    if d < 1:
        raise InvalidInput(f"dimension = {d}: must be at least 1")
    if options.eigenvalues is not None:
        raise InvalidInput("--eigenvalues applies only to the law bingham")
    facts: dict[str, Any] = {"law": options.law, "dimension": d}
    if options.spectral_cdf is not None:
        c = _fraction(options.spectral_cdf)
        if c <= 0:
            raise InvalidInput(f"spectral-cdf = {options.spectral_cdf}: must be above 0")
        key = f"P(‖Z‖ ≤ {options.spectral_cdf} ρd)"
        if d <= EXACT_DIMENSION:
            enclosure = enclose_spectral_cdf(d, c * d, symmetric=symmetric, digits=options.digits + 2)
            facts[key] = enclosure.text(options.digits)
            facts["method"] = (
                "interval arithmetic: every printed digit is certain, given the joint density of the spectrum"
            )
        else:
            facts[key] = f"{nuclear_laplace.spectral_norm_cdf(d, float(c * d), symmetric):.10g}"
            facts["method"] = (
                f"a Pfaffian in float64, absolute error near 1e-15 (intervals only up to d = {EXACT_DIMENSION})"
            )
    if options.quantile is not None:
        t = nuclear_laplace.spectral_norm_quantile(d, options.quantile, symmetric)
        facts[f"quantile {options.quantile:g} of ‖Z‖/(ρd)"] = t / d
    if options.moment is not None:
        value = nuclear_laplace.mean_power_sum(d, options.moment, symmetric)
        facts[f"E ‖Z‖_{{S_{options.moment:g}}}^{options.moment:g} / ρ^{options.moment:g}"] = value
    if len(facts) == 2:
        facts |= {
            "‖Z‖_*/ρ": f"Gamma({nuclear_laplace.radius_shape(d, symmetric):g})",
            "E ‖Z‖_F²/ρ²": nuclear_laplace.mean_power_sum(d, 2.0, symmetric),
            "median of ‖Z‖/(ρd)": nuclear_laplace.spectral_norm_quantile(d, 0.5, symmetric) / d,
            "limit of ‖Z‖/(ρd)": "π/2" if symmetric else "π",
        }
    return facts


def _bingham_law(options: argparse.Namespace) -> dict[str, Any]:
    if options.eigenvalues is None:
        raise InvalidInput("--eigenvalues is missing: the eigenvalues of M, such as 6,3,0,0,0")
    if options.spectral_cdf is not None or options.quantile is not None or options.moment is not None:
        raise InvalidInput("bingham takes --eigenvalues alone")
    try:
        values = sorted((float(v) for v in options.eigenvalues.split(",")), reverse=True)
    except ValueError:
        raise InvalidInput(f"eigenvalues = {options.eigenvalues!r}: must be numbers separated by commas") from None
    if not np.isfinite(values).all():
        raise InvalidInput(f"eigenvalues = {options.eigenvalues!r}: must be finite")
    m = np.diag(values)
    return {
        "law": "bingham, density ∝ exp(uᵀMu)",
        "eigenvalues of M": values,
        "E ⟨u, v_i⟩²": [round(float(v), 12) for v in bingham.second_moments(m)],
        "acceptance rate of the sampler": bingham.acceptance_rate(m),
    }
