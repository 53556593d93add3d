"""Define notions of privacy, with conversions and composition.

In this module, two data sets are neighbours if one row of one is replaced in the other. A mechanism has the guarantees
below if they hold for its output laws P and Q on every pair of neighbours:

- ε-DP (`PureDP`): P(E) ≤ e^ε Q(E) for every event E;
- ρ-zCDP (`ZCDP`): the Rényi divergence D_α(P‖Q) is at most ρα for every α > 1 (Bun–Steinke 2016);
- (ε, δ)-DP (`ApproximateDP`): P(E) ≤ e^ε Q(E) + δ for every event E.

The formulas in this module are pure expressions. Transcendental functions are passed as arguments, so the same code
runs on floats, on sympy symbols and on mpmath numbers.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import scipy

from covassay.reference.domain import Number, require_below_one, require_positive

# FORMULAS


def pure_composition(*epsilons: Number) -> Number:
    """Return the ε of several adaptively chosen pure DP releases together, which is the sum (DMNS 2006; DN25 §1)."""
    return sum(epsilons)


def zcdp_composition(*rhos: Number) -> Number:
    """Return the ρ of several adaptively chosen zCDP releases together, which is the sum (Bun–Steinke 2016, Lemma
    1.7).
    """
    return sum(rhos)


def advanced_composition(
    epsilon: Number, folds: int, delta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """The ε' for which k = `folds` uses of an ε-DP mechanism are together (ε', δ)-DP (DRV 2010, Theorem III.3).

    Dwork, Rothblum and Vadhan prove ε' = ε √(2k ln(1/δ)) + k ε (e^ε − 1). The code writes e^ε as a power, so that no
    second function is needed.
    """
    return epsilon * (2 * folds * log(1 / delta)) ** 0.5 + folds * epsilon * (math.e**epsilon - 1)


def zcdp_of_pure(epsilon: Number, tanh: Callable[[Number], Number] = math.tanh) -> Number:
    """The smallest ρ such that every ε-DP mechanism is ρ-zCDP: ε tanh(ε/2).

    Randomised response attains ρ = ε tanh(ε/2) as α → 1. The smallest ρ is at most ε²/2, the bound of Bun–Steinke 2016,
    Proposition 1.4.
    """
    return epsilon * tanh(epsilon / 2)


def zcdp_of_bounded_range(gamma: Number) -> Number:
    """The ρ of a mechanism whose privacy loss lies in an interval of length γ: γ²/8 (Cesar–Rogers 2020, Lemma 3.2).

    The exponential mechanism with density ∝ exp(η g) has γ = η (sup Δg − inf Δg), where Δg is the change of its score.
    """
    return gamma**2 / 8


def zcdp_of_gaussian(sensitivity: Number, variance: Number) -> Number:
    """The ρ of Gaussian noise with variance σ² on a query of ℓ2 sensitivity Δ: Δ²/(2σ²), attained at every α."""
    return sensitivity**2 / (2 * variance)


def epsilon_of_zcdp(rho: Number, delta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """An ε at which a ρ-zCDP mechanism is (ε, δ)-DP: ρ + 2 √(ρ ln(1/δ)) (Bun–Steinke 2016, Proposition 1.3)."""
    return rho + 2 * (rho * log(1 / delta)) ** 0.5


def log_delta_of_zcdp_at(
    rho: Number, epsilon: Number, alpha: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """The logarithm of the δ for which a ρ-zCDP mechanism is (ε, δ)-DP, by the bound on its Rényi divergence of order α
    > 1.

    The returned ln δ is (α − 1)(αρ − ε) + α ln(1 − 1/α) − ln(α − 1) (Canonne–Kamath–Steinke 2020, Proposition 7). The
    bound holds for every order α, so the mechanism has the smallest of these δ.
    """
    return (alpha - 1) * (alpha * rho - epsilon) + alpha * log(1 - 1 / alpha) - log(alpha - 1)


def epsilon_of_zcdp_at(rho: Number, delta: Number, alpha: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The ε for which the Rényi divergence of order α > 1 shows that a ρ-zCDP mechanism is (ε, δ)-DP.

    For the returned ε, `log_delta_of_zcdp_at` is ln δ.
    """
    return alpha * rho + (alpha * log(1 - 1 / alpha) - log(alpha - 1) - log(delta)) / (alpha - 1)


# GUARANTEES


@dataclass(frozen=True)
class PureDP:
    """ε-differential privacy."""

    epsilon: float

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)

    def keywords(self) -> dict[str, float]:
        """Return the keyword arguments that carry this budget into a mechanism."""
        return {"epsilon": self.epsilon}

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g} (pure DP)"


@dataclass(frozen=True)
class ZCDP:
    """ρ-zero-concentrated differential privacy."""

    rho: float

    def __post_init__(self) -> None:
        require_positive("rho", self.rho)

    def keywords(self) -> dict[str, float]:
        """Return the keyword arguments that carry this budget into a mechanism."""
        return {"rho": self.rho}

    def __str__(self) -> str:
        return f"ρ = {self.rho:g} (zCDP)"


@dataclass(frozen=True)
class ApproximateDP:
    """(ε, δ)-differential privacy."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        require_below_one("delta", self.delta)

    def keywords(self) -> dict[str, float]:
        """Return the keyword arguments that carry this budget into a mechanism."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}, δ = {self.delta:g} (approximate DP)"


Guarantee = PureDP | ZCDP | ApproximateDP
_NOTIONS: dict[frozenset[str], Callable[..., Guarantee]] = {
    frozenset({"epsilon"}): PureDP,
    frozenset({"rho"}): ZCDP,
    frozenset({"epsilon", "delta"}): ApproximateDP,
}


def guarantee_of(budget: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee that the given budget keywords describe. The function raises KeyError if no notion of
    privacy has the given keywords.
    """
    return _NOTIONS[frozenset(budget)](**budget)


@dataclass(frozen=True)
class Notion:
    """A notion of privacy, with the way in which it is written, the symbol of its budget, and the default budget."""

    name: str
    label: str
    symbol: str
    default: Guarantee


PURE = Notion("pure", "ε-DP", "ε", PureDP(1.0))
CONCENTRATED = Notion("zcdp", "ρ-zCDP", "ρ", ZCDP(0.5))
APPROXIMATE = Notion("approximate", "(ε, δ)-DP", "ε", ApproximateDP(1.0, 1e-6))


@dataclass(frozen=True)
class Spend:
    """The cost of one release of a mechanism, as `claimed` by its paper and as `proven` here.

    The budget `proven` holds for all neighbours. The field `attained` says whether some pair of neighbours comes
    arbitrarily close to the proven budget, and `remark` explains what is attained.
    """

    claimed: Guarantee
    proven: Guarantee
    attained: bool
    remark: str = ""


# CONVERSION


def smallest_epsilon_of_zcdp(rho: float, delta: float) -> float:
    """Return the smallest ε, over the orders α that are tried, at which a ρ-zCDP mechanism is (ε, δ)-DP. The returned ε
    is at most `epsilon_of_zcdp`.

    Every α proves an ε of its own, so the search can miss the smallest value but never give a false one. The result is
    0 if some α gives an ε below 0: then δ alone covers what a ρ-zCDP mechanism can reveal.
    """
    require_positive("rho", rho)
    require_below_one("delta", delta)
    found = scipy.optimize.minimize_scalar(
        lambda t: epsilon_of_zcdp_at(rho, delta, 1 + math.exp(t)), bounds=(-12.0, 40.0), method="bounded"
    )
    return max(0.0, min(float(found.fun), float(epsilon_of_zcdp(rho, delta))))
