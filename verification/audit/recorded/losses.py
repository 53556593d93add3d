"""Compute the exact privacy loss between two laws, in the unit of a claim.

The law of an output is that of centre + Gz, where the variables z_j are independent. Groups of rows and variables that
the matrix G does not connect are independent, so their privacy losses add up.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.approximate.l2_approximate import log_delta
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.recorded.affine import AffineNoise

# a relative singular value above the first number counts as positive, and one below the second number counts as 0
RANK = 1e-9, 1e-12
CERTAIN = 100  # rounding does not explain a change of an output that exceeds this many rounding errors
# rounding is no explanation if more than this share of the difference of the outputs lies in directions without noise
OUTSIDE = 1e-6
# a shift counts as a whole number if its distance from one is at most the first number, and does not count as a whole
# number if the distance exceeds the second number
WHOLE = 1e-6, 1e-3
NEARLY = 1e-3  # a parameter of a gamma law may be a rounded constant if its relative error is below this
ORDERS = 1 + np.geomspace(1e-6, 1e6, 400)  # orders of Rényi divergences


Letter = Literal["epsilon", "rho", "delta"]


class Undecided(Exception):
    """Raised if the privacy loss of a pair cannot be computed; the message says why."""


@dataclass(frozen=True)
class Law:
    """The difference between two laws that have the same noise and different centres.

    `mu` is the distance of the normal parts of the two laws in standard deviations. `shifts` are the shifts of the
    independent Laplace and discrete Laplace variables, divided by their scales. `error` is the possible numerical error
    of the size √(μ² + Σ shift²) of the difference. `whole` says whether some variables are discrete Laplace. `flat` has
    the shifts of the independent uniform variables, and `one_sided` has the shifts of the independent exponential
    variables. After these shifts, some outputs are possible on one data set only. If several uniform variables change
    one output, their shift is NaN. The noise may also contain a vector w with a density proportional to e^(−|w|).
    `radial` is the norm of the shift of w, and `entries` is the number of entries of w, or 0 if the output shows only a
    projection of w.
    """

    mu: float
    shifts: tuple[float, ...]
    error: float
    whole: bool = False
    flat: tuple[float, ...] = ()
    one_sided: tuple[float, ...] = ()
    radial: float = 0.0
    entries: int = 0

    def with_more_noise(self, share: float) -> "Law":
        """Return the difference that the two laws would have if every noise scale were multiplied by 1 + `share`."""
        shifts, flat, one_sided = (
            tuple(t / (1 + share) for t in ts) for ts in (self.shifts, self.flat, self.one_sided)
        )
        radial = self.radial / (1 + share)
        return replace(self, mu=self.mu / (1 + share), shifts=shifts, flat=flat, one_sided=one_sided, radial=radial)


def letter_of(claim: Guarantee) -> tuple[Letter, float]:
    """Return the letter of the privacy loss, such as "rho", and the claimed value."""
    if isinstance(claim, PureDP):
        return "epsilon", claim.epsilon
    return ("rho", claim.rho) if isinstance(claim, ZCDP) else ("delta", claim.delta)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return δ(ε) of two normal laws at distance μ in standard deviations, which is Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 −
    ε/μ).
    """
    if mu == 0:
        return 0.0
    if math.isinf(mu):
        return 1.0
    log_second = epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu))
    return max(0.0, float(special.ndtr(mu / 2 - epsilon / mu)) - math.exp(log_second))


def bounded_delta(flat: tuple[float, ...], one_sided: tuple[float, ...], epsilon: float) -> float:
    """Return δ(ε) between independent uniform and exponential variables and the same variables after the given shifts.
    The larger of the values in the two directions is returned.

    Outputs that are possible on only one of the two data sets add to δ. For all other outputs the densities have the
    ratio e^c, where c is the sum of the shifts of the exponential variables.
    """
    common = math.prod(max(0.0, 1 - abs(t)) for t in flat)
    found = 0.0
    for sign in (1, -1):
        shared = common * math.exp(-sum(max(0.0, -sign * t) for t in one_sided))
        more = -math.expm1(min(0.0, epsilon - sign * sum(one_sided)))
        found = max(found, 1 - shared + shared * more)
    return found


def laplace_rho(shifts: tuple[float, ...]) -> float:
    """Return the supremum over α > 1 of D_α/α between independent Laplace laws whose centres differ by `shifts`
    scales.
    """
    alpha = ORDERS
    total = np.zeros(len(alpha))
    for t in np.abs(shifts):
        first = np.log(alpha / (2 * alpha - 1)) + (alpha - 1) * t
        second = np.log((alpha - 1) / (2 * alpha - 1)) - alpha * t
        total += np.logaddexp(first, second) / (alpha - 1)
    # as α → 1, the divergence tends to the Kullback–Leibler divergence
    limit = sum(abs(t) + math.expm1(-abs(t)) for t in shifts)
    return max(float((total / alpha)[alpha > 1 + 1e-4].max(initial=0.0)), limit)


def loss_in(claim: Guarantee, law: Law) -> tuple[float, float]:
    """Return the privacy loss in the unit of the claim, and its numerical error.

    Raises
    ------
    Undecided : for δ of several Laplace variables, or of Laplace and normal variables together; for integer noise
        unless the claim is pure DP.
    """
    shifts = tuple(t for t in law.shifts if t)
    if law.radial:
        return _with_radial(claim, law)
    if law.flat or law.one_sided:
        if not isinstance(claim, ApproximateDP):
            return math.inf, 0.0
        if any(map(math.isnan, law.flat)):
            raise Undecided("the loss of more uniform draws than outputs is not computed for (ε, δ)-DP")
        if law.mu or shifts:
            raise Undecided("the loss of uniform or exponential noise with other noise is not computed for (ε, δ)-DP")
        return bounded_delta(law.flat, law.one_sided, claim.epsilon), law.error
    if isinstance(claim, PureDP):
        return (math.inf, 0.0) if law.mu else (sum(map(abs, shifts)), math.sqrt(len(shifts)) * law.error)
    if law.whole and math.inf not in shifts:
        raise Undecided("the loss of integer noise is computed only for pure DP")
    if isinstance(claim, ZCDP):
        loss = law.mu**2 / 2 + (math.inf if math.inf in shifts else laplace_rho(shifts) if shifts else 0.0)
        size = math.sqrt(law.mu**2 + sum(t * t for t in shifts))
        return loss, law.error * (size + law.error) if math.isfinite(loss) else 0.0
    if not shifts:
        loss = gaussian_delta(law.mu, claim.epsilon)
        return loss, abs(gaussian_delta(law.mu + law.error, claim.epsilon) - loss)
    if law.mu and not math.isinf(law.mu):
        raise Undecided("the loss of normal and Laplace noise together is not computed for (ε, δ)-DP")
    total = sum(map(abs, shifts))
    if math.isinf(total) or math.isinf(law.mu):
        return 1.0, 0.0
    if total <= claim.epsilon:
        return 0.0, 0.0
    if len(shifts) > 1:
        raise Undecided("the loss of several Laplace variables together is not computed for (ε, δ)-DP")
    return -math.expm1((claim.epsilon - total) / 2), law.error


def _with_radial(claim: Guarantee, law: Law) -> tuple[float, float]:
    """Return the privacy loss if a vector w with a density proportional to e^(−|w|) is shifted, with its numerical
    error.

    For pure DP the loss of a shift t is the supremum of |w + t| − |w|, which is |t|. The loss of a shift t is also |t|
    for a projection of w, because the logarithm of the projection's density has the slope −1 far out. For (ε, δ)-DP the
    loss is an integral, which the page of `l2_approximate` derives.
    """
    if isinstance(claim, PureDP):
        loss, error = loss_in(claim, replace(law, radial=0.0))
        return loss + law.radial, error + law.error
    if math.isinf(law.radial) or law.flat or law.one_sided or law.mu or any(law.shifts) or not law.entries:
        raise Undecided(
            "a gamma number is the length of the noise; in this case, the loss is computed only for pure DP"
        )
    if isinstance(claim, ZCDP):
        raise Undecided("a gamma number is the length of the noise; in this case, the loss is not computed for zCDP")
    one, two = (math.exp(log_delta(q, claim.epsilon, law.entries)) for q in (law.radial, law.radial + law.error))
    return one, abs(two - one)


def event_loss(claim: Guarantee, p: float, q: float) -> float:
    """Return the loss that is proven by an event with probability at least p on one data set and at most q on the
    other.
    """
    if p <= 0:
        return 0.0
    if isinstance(claim, PureDP):
        return math.inf if q <= 0 else max(0.0, math.log(p / q))
    if isinstance(claim, ZCDP):
        if q <= 0:
            return math.inf
        if p <= q:
            return 0.0
        alpha = ORDERS[ORDERS > 1 + 1e-3]
        with np.errstate(over="ignore"):
            yes = alpha * math.log(p) + (1 - alpha) * math.log(q)
            no = alpha * math.log1p(-p) + (1 - alpha) * math.log1p(-q) if p < 1 else np.full(len(alpha), -np.inf)
            divergence = np.logaddexp(yes, no) / (alpha - 1)
        return float((divergence / alpha).max(initial=0.0))
    return max(0.0, p - math.exp(claim.epsilon) * q)


def components(gains: Matrix) -> list[tuple[list[int], list[int]]]:
    """Split the rows and columns of the matrix G into groups, and return the groups. A row and a column are in one
    group if a chain of nonzero entries of G connects them. A row of zeros, which is an entry of the output without
    noise, is a group by itself.
    """
    rows = len(gains)
    linked = gains != 0
    left, found = set(range(rows)), []
    while left:
        group, variables, new = set(), set(), {min(left)}
        while new:
            group |= new
            variables |= {int(j) for i in new for j in np.flatnonzero(linked[i])}
            new = {int(i) for j in variables for i in np.flatnonzero(linked[:, j])} - group
        left -= group
        found.append((sorted(group), sorted(variables)))
    return found


def one_noise(first: AffineNoise, second: AffineNoise) -> bool:
    """Return whether the noises of two models have the same law, because the matrices G agree up to signs or a
    rotation.
    """
    a, b = first.gains, second.gains
    strength = np.maximum(np.sqrt((a**2).sum(axis=1)), np.sqrt((b**2).sum(axis=1)))
    close = 1e-9 * np.outer(strength, np.ones(a.shape[1])) + (first.rounding + second.rounding)[:, None]
    if (np.abs(a - b) <= close).all():
        return True
    families = {v.family for v, u, w in zip(first.variables, first.used, second.used, strict=True) if u or w}
    safe = np.where(strength > 0, strength, 1.0)
    if families == {"normal"} or families == {"radial"}:
        return bool(np.abs((a @ a.T - b @ b.T) / np.outer(safe, safe)).max() <= 1e-9)
    if families == {"laplace"}:
        left = [column / safe for column in b.T if column.any()]
        for column in (c / safe for c in a.T if c.any()):
            near = [k for k, other in enumerate(left) if min(np.abs(column - other).max(), np.abs(column + other).max()) <= 1e-9]  # fmt: skip  # noqa: E501
            if not near:
                return False
            left.pop(near[0])
        return not left
    return False


def law_of(first: AffineNoise, second: AffineNoise) -> Law:
    """Return the difference between two laws with the same noise.

    Raises
    ------
    Undecided : the code does not cover the shape or the family of the noise.
    """
    delta = first.centre - second.centre
    error = first.rounding + second.rounding
    gains, families, scales = joined(first)
    mu_squared, radial_squared, shifts, errors, whole = 0.0, 0.0, [], [0.0], False
    bounded: dict[str, list[float]] = {"flat": [], "one-sided exponential": []}
    for rows, columns in components(gains):
        d, e = delta[rows], error[rows]
        if (np.abs(d) <= 4 * e).all():
            continue
        if not columns:
            if (np.abs(d) > CERTAIN * e).any():
                return Law(math.inf, (math.inf,), 0.0)
            raise Undecided(
                "an entry without noise differs so little between the data sets that rounding may be the cause"
            )
        kinds = {families[j] for j in columns}
        g = gains[np.ix_(rows, columns)]
        if kinds == {"normal"} or kinds == {"radial"}:
            z, off = _solved(g, d, e, needs_all=False)
            if z is None:
                return Law(math.inf, (), 0.0)
            if kinds == {"normal"}:
                mu_squared += float(z @ z)
            else:
                radial_squared += float(z @ z)
        elif kinds <= {"laplace", "whole laplace"}:
            z, off = _solved(g, d, e, needs_all=True)
            if z is None:
                return Law(0.0, (math.inf,), 0.0)
            for number, j in zip(z, columns, strict=True):
                if families[j] == "whole laplace":
                    distance = abs(number - round(number))
                    if distance > WHOLE[1] + off:
                        return Law(0.0, (math.inf,), 0.0)
                    if distance > WHOLE[0] + off:
                        raise Undecided("rounding leaves open whether the shift of integer noise is a whole number")
                    number, whole = float(round(number)), True
                shifts.append(float(number) / scales[j])
        elif kinds == {"flat"} or kinds == {"one-sided exponential"}:
            family, more = families[columns[0]], len(columns) > np.linalg.matrix_rank(g)
            z, off = _solved(g, d, e, needs_all=family != "flat")
            if z is None:
                return Law(0.0, (math.inf,), 0.0)
            if (np.abs(d) <= CERTAIN * e).all():
                raise Undecided(
                    "an entry with bounded noise differs so little between the data sets that rounding may be the cause"
                )
            bounded[family] += [math.nan] if more else [float(t) for t in z]
        else:
            raise Undecided(
                f"{' and '.join(sorted(kinds))} noise, whose loss is not known in closed form".replace(
                    "flat", "uniform"
                )
            )
        errors.append(off)
    flat, one_sided = (tuple(ts) for ts in bounded.values())
    law = Law(math.sqrt(mu_squared), tuple(shifts), float(np.linalg.norm(errors)), whole, flat, one_sided)
    return _radial_too(law, first, math.sqrt(radial_squared)) if radial_squared else law


def _radial_too(law: Law, noise: AffineNoise, shift: float) -> Law:
    """Return the law with the shift of a noise vector w added. The direction of w is uniform, and its length has a
    gamma law.

    If the vector w has m entries and k is the parameter of the gamma law, the density of w is proportional to |w|^(k −
    m) e^(−|w|). If k is not m, the density of w is 0 or infinite at one point, which differs between the neighbours.
    """
    block = [j for j, v in enumerate(noise.variables) if v.family == "radial"]
    m, k = len(block), noise.variables[block[0]].parameter
    g = noise.gains[:, block]
    strength = np.sqrt((g**2).sum(axis=1))
    whole = np.linalg.matrix_rank(g[strength > 0] / strength[strength > 0][:, None], tol=RANK[0]) == m
    if k == m:
        return replace(law, radial=shift, entries=m if whole else 0)
    if not whole or abs(k - m) < NEARLY * m or shift <= CERTAIN * law.error:
        raise Undecided(f"the length of the noise in {m} entries has the law Gamma({k:g})")
    return replace(law, radial=math.inf)


def joined(noise: AffineNoise) -> tuple[Matrix, list[str], list[float]]:
    """Return the matrix G, and the family and scale of the variable of each column, after some pairs of variables were
    replaced by one variable. Two exponential variables with opposite columns become one Laplace variable, and two such
    geometric variables become one discrete Laplace variable.
    """
    columns, families, scales = [], [], []
    single: dict[str, list[tuple[Vector, float]]] = {"exponential": [], "geometric": []}
    for column, variable in zip(noise.gains.T, noise.variables, strict=True):
        if not column.any():
            continue
        if variable.family not in single:
            columns.append(column)
            families.append(variable.family)
            scales.append(1.0)
            continue
        waiting = single[variable.family]
        size = np.abs(column).max()
        near = [k for k, (c, p) in enumerate(waiting) if p == variable.parameter and np.abs(c + column).max() <= 1e-9 * size]  # fmt: skip  # noqa: E501
        if near:
            waiting.pop(near[0])
            columns.append(column)
            families.append("laplace" if variable.family == "exponential" else "whole laplace")
            scales.append(1.0 if variable.family == "exponential" else -1 / math.log1p(-variable.parameter))
        else:
            waiting.append((column, variable.parameter))
    for family, left in single.items():
        for column, _ in left:
            columns.append(column)
            families.append(f"one-sided {family}")
            scales.append(1.0)
    gains = np.array(columns).T if columns else np.zeros((len(noise.centre), 0))
    return gains, families, scales


def _solved(g: Matrix, d: Vector, e: Vector, needs_all: bool) -> tuple[Vector | None, float]:
    """Return the shortest z with Gz = d and its error, or None if no z solves the equation.

    Raises
    ------
    Undecided : the matrix G is ill-conditioned, rounding leaves open whether a solution exists, or `needs_all` is set
        and the rank of G is smaller than its number of columns.
    """
    strength = np.sqrt((g**2).sum(axis=1))
    a, b, off = g / strength[:, None], d / strength, float(np.linalg.norm(e / strength))
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    kept = s > RANK[0] * s[0]
    if ((s > RANK[1] * s[0]) & ~kept).any():
        raise Undecided("the noise is ill-conditioned")
    outside = float(np.linalg.norm(b - u[:, kept] @ (u[:, kept].T @ b)))
    if outside > max(OUTSIDE * float(np.linalg.norm(b)), 100 * off):
        return None, 0.0
    if outside > 4 * off + 1e-9 * float(np.linalg.norm(b)):
        raise Undecided("rounding leaves open whether the noise can cover the change of the output")
    if needs_all and kept.sum() < g.shape[1]:
        raise Undecided("more Laplace draws than outputs")
    z: Vector = vt[kept].T @ ((u[:, kept].T @ b) / s[kept])
    return z, (off + outside) / float(s[kept].min())
