"""Enumerate all runs of a randomised program, each with its exact probability.

The program takes its random decisions from an object of the class `Coins`. The program is run once for every possible
sequence of results of its random decisions. Only runs that exceed the limits of an `Extent` are left out. The
probability of a run is the product of the probabilities of its decisions. This probability is an `ExpSum`, which is a
sum of terms c·e^{−r} with rational c and r. By the theorem of Lindemann and Weierstrass, e^{−r} for different rational
r are linearly independent over the rationals. Two sums of such terms are therefore equal only if they have the same
terms, so comparing the terms decides, without approximation, whether two probabilities are equal.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from covassay.reference.laws.exact_draws import Coins

T = TypeVar("T", bound=Hashable)


class ExpSum:
    """A number Σ c·e^{−r}, stored as its coefficients c ≠ 0 keyed by the exponents r."""

    def __init__(self, terms: Mapping[Fraction, Fraction]) -> None:
        self.terms = {r: c for r, c in terms.items() if c}

    @classmethod
    def of(cls, coefficient: Fraction | int, exponent: Fraction | int = 0) -> "ExpSum":
        """Return the number coefficient · e^{−exponent} as an `ExpSum`."""
        return cls({Fraction(exponent): Fraction(coefficient)})

    def __add__(self, other: "ExpSum") -> "ExpSum":
        total = dict(self.terms)
        for r, c in other.terms.items():
            total[r] = total.get(r, Fraction(0)) + c
        return ExpSum(total)

    def __mul__(self, other: "ExpSum") -> "ExpSum":
        total: dict[Fraction, Fraction] = {}
        for r, c in self.terms.items():
            for s, e in other.terms.items():
                total[r + s] = total.get(r + s, Fraction(0)) + c * e
        return ExpSum(total)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExpSum) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    @property
    def rational(self) -> Fraction:
        """Return the number as a fraction; it must have no power of e other than e⁰."""
        assert set(self.terms) <= {Fraction(0)}
        return self.terms.get(Fraction(0), Fraction(0))


class LeftOut(Exception):
    """Raised if a run makes more decisions, or draws more uniform integers, than its `Extent` allows."""


@dataclass(frozen=True)
class Extent:
    """The largest numbers of decisions and of uniform integers in a run; a run that exceeds one of them is left out.

    A rejection sampler begins a new round with a uniform integer, so the limit on integers also limits the rounds.
    """

    decisions: int
    integers: int


class Run(Coins):
    """A run that follows a plan, which is a list of branches for its first decisions. At every later decision the run
    takes the first branch.
    """

    def __init__(self, plan: list[int], extent: Extent) -> None:
        self.plan, self.extent = plan, extent
        self.ways: list[int] = []  # the number of branches of each decision so far
        self.integers = 0
        self.probability = ExpSum.of(1)

    def choose(self, probabilities: list[ExpSum]) -> int:
        """Return the index of the branch that the run takes."""
        if len(self.ways) == self.extent.decisions:
            raise LeftOut
        if len(self.plan) == len(self.ways):
            self.plan.append(0)
        way = self.plan[len(self.ways)]
        self.ways.append(len(probabilities))
        self.probability = self.probability * probabilities[way]
        return way

    def uniform(self, m: int) -> int:
        """Take one of m equally likely branches, and return its index."""
        self.integers += 1
        if self.integers > self.extent.integers:
            raise LeftOut
        return self.choose([ExpSum.of(Fraction(1, m))] * m)

    def either(self, p: ExpSum) -> bool:
        """Return True with probability p."""
        return self.choose([ExpSum.of(1) + ExpSum.of(-1) * p, p]) == 1


class OnBits(Run):
    """A run that branches whenever the program requests random bits; each value of the bits has its own branch."""

    def bits(self, count: int) -> int:
        """Return an integer of `count` bits, all of which are equally likely."""
        return self.uniform(2**count)


class OnChances(Run):
    """A run that branches at every decision with a rational probability."""

    def chance(self, p: int, q: int) -> bool:
        """Return True with probability p/q."""
        return self.either(ExpSum.of(min(Fraction(p, q), Fraction(1))))


class OnExponentials(OnChances):
    """A run that branches at every draw of a uniform integer and at every decision with probability p/q or e^{−p/q}."""

    def below(self, m: int) -> int:
        """Return an integer from 0 to m − 1, all of which are equally likely."""
        return self.uniform(m)

    def chance_exp(self, p: int, q: int) -> bool:
        """Return True with probability e^{−p/q}."""
        return self.either(ExpSum.of(1, Fraction(p, q)))


def probabilities(program: Callable[[Coins], T], down_to: type[Run], extent: Extent) -> dict[T, ExpSum]:
    """Return the probability of every outcome of the program.

    A run that exceeds a limit of `extent` is left out, and its probability is not counted.
    """
    found: dict[T, ExpSum] = {}
    plan: list[int] = []
    while True:
        run = down_to(plan, extent)
        try:
            outcome = program(run)
        except LeftOut:
            pass
        else:
            if run.probability.terms:
                found[outcome] = found.get(outcome, ExpSum({})) + run.probability
        plan = plan[: len(run.ways)]
        # remove the last decision of the plan as long as its last branch was taken
        while plan and plan[-1] + 1 == run.ways[len(plan) - 1]:
            plan.pop()
        if not plan:
            return found
        plan[-1] += 1
