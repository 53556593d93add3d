"""Negative controls that are right at the claimed budget and wrong at another one.

Each control calls the reference with another budget than the given one. Where noise is not added to a query, the
comparison with draws of the reference at other budgets must detect the mistake.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.other_budgets import NAME
from tests.negative_controls.negative_control import NegativeControl

Loss = Callable[[float], float]  # maps ε or ρ to the value that is used
OTHER_BUDGET = (("data path", NAME),)


def _control(name: str, mechanism_name: str, mistake: str, used: Loss) -> NegativeControl:
    """Make a control that calls the reference with used(ε) in place of ε, or with used(ρ) in place of ρ."""
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        loss = "rho" if "rho" in budget else "epsilon"
        return declared.sample(x, rng, **budget | {loss: used(budget[loss])})

    return NegativeControl(name, mistake, mechanism_name, (), draw)


def _additive(name: str, mechanism_name: str, mistake: str, used: Loss) -> NegativeControl:
    """Make a control with another budget for a mechanism that adds noise to a query."""
    control = _control(name, mechanism_name, mistake, used)
    return NegativeControl(name, mistake, mechanism_name, OTHER_BUDGET, control.draw)


NEGATIVE_CONTROLS = (
    _additive("doubled-small-rho", "gauss-cov", "Doubles ρ below 0.1.", lambda rho: rho * (2 if rho < 0.1 else 1)),
    _additive("least-epsilon", "laplace", "Uses at least ε = 0.1.", lambda epsilon: max(epsilon, 0.1)),
    _additive(
        "squared-epsilon", "nuclear-laplace", "Uses ε² in place of ε, which is the same at ε = 1.", lambda e: e**2
    ),
    _additive(
        "rooted-rho", "gaussian", "Uses √(ρ/2) in place of ρ, which is the same at ρ = 0.5.", lambda r: (r / 2) ** 0.5
    ),
    _additive("three-per-cent-above-two", "lap-cov", "Adds 3 % to ε above 2.", lambda e: e * (1.03 if e > 2 else 1)),
    _additive("rounded-up-epsilon", "private-trace", "Rounds ε up to an integer.", lambda e: float(np.ceil(e))),
    _additive(
        "log-epsilon", "k-norm", "Uses e^ε − 1 in place of ε above 1.", lambda e: float(np.expm1(e)) if e > 1 else e
    ),
    _control("bingham-least-epsilon", "bingham", "Uses at least ε = 0.1.", lambda epsilon: max(epsilon, 0.1)),
    _control("em-cov-doubled-small-rho", "em-cov", "Doubles ρ below 0.1.", lambda r: r * (2 if r < 0.1 else 1)),
    _control("discrete-squared-epsilon", "discrete-laplace-covariance", "Takes ε² for ε.", lambda e: e**2),
    _control("separate-cov-rooted-rho", "separate-cov", "Takes √(ρ/2) for ρ.", lambda r: (r / 2) ** 0.5),
    _control("naive-pce-least-rho", "naive-pce", "Uses at least ρ = 0.1.", lambda rho: max(rho, 0.1)),
    _control("exponential-rounded-up", "exponential", "Rounds ε up to an integer.", lambda e: float(np.ceil(e))),
)
