"""Negative controls that are private at the claimed budget, but not at some other budget.

Each negative control calls the reference implementation with a budget that is not the given one. If the mechanism does
not simply add noise to a query, the audit draws outputs of the negative control and of the reference implementation at
other budgets, and compares them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.other_budgets import NAME
from tests.negative_controls.negative_control import NegativeControl

Loss = Callable[[float], float]  # a function that maps the given ε or ρ to the value that is used
OTHER_BUDGET = (("data path", NAME),)


def _control(name: str, mechanism_name: str, mistake: str, used: Loss) -> NegativeControl:
    """Return a negative control that calls the mechanism with the budget used(ε) or used(ρ) in place of ε or ρ."""
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        loss = "rho" if "rho" in budget else "epsilon"
        return declared.sample(x, rng, **budget | {loss: used(budget[loss])})

    return NegativeControl(name, mistake, mechanism_name, (), draw)


def _additive(name: str, mechanism_name: str, mistake: str, used: Loss) -> NegativeControl:
    """Return a negative control that adds the mechanism's noise for the budget used(ε) or used(ρ) to its query."""
    control = _control(name, mechanism_name, mistake, used)
    return NegativeControl(name, mistake, mechanism_name, OTHER_BUDGET, control.draw)


NEGATIVE_CONTROLS = (
    _additive(
        "doubled-small-rho", "gauss-cov", "Double ρ if it is below 0.1.", lambda rho: rho * (2 if rho < 0.1 else 1)
    ),
    _additive("least-epsilon", "laplace", "Replace every ε below 0.1 by 0.1.", lambda epsilon: max(epsilon, 0.1)),
    _additive(
        "squared-epsilon", "nuclear-laplace", "Use ε² in place of ε; the two are equal at ε = 1.", lambda e: e**2
    ),
    _additive(
        "rooted-rho", "gaussian", "Use √(ρ/2) in place of ρ; the two are equal at ρ = 0.5.", lambda r: (r / 2) ** 0.5
    ),
    _additive(
        "three-per-cent-above-two",
        "lap-cov",
        "Increase ε by 3 % if it is above 2.",
        lambda e: e * (1.03 if e > 2 else 1),
    ),
    _additive("rounded-up-epsilon", "private-trace", "Round ε up to an integer.", lambda e: float(np.ceil(e))),
    _additive(
        "log-epsilon",
        "k-norm",
        "Use e^ε − 1 in place of ε if ε is above 1.",
        lambda e: float(np.expm1(e)) if e > 1 else e,
    ),
    _control(
        "bingham-least-epsilon", "bingham", "Replace every ε below 0.1 by 0.1.", lambda epsilon: max(epsilon, 0.1)
    ),
    _control("em-cov-doubled-small-rho", "em-cov", "Double ρ if it is below 0.1.", lambda r: r * (2 if r < 0.1 else 1)),
    _control("discrete-squared-epsilon", "discrete-laplace-covariance", "Use ε² in place of ε.", lambda e: e**2),
    _control("separate-cov-rooted-rho", "separate-cov", "Use √(ρ/2) in place of ρ.", lambda r: (r / 2) ** 0.5),
    _control("naive-pce-least-rho", "naive-pce", "Replace every ρ below 0.1 by 0.1.", lambda rho: max(rho, 0.1)),
    _control("exponential-rounded-up", "exponential", "Round ε up to an integer.", lambda e: float(np.ceil(e))),
)
