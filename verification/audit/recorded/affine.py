"""Decide whether the output of a target is an affine function y = c + Gz of its recorded draws z, and measure c and G.

Each variable z_j is a recorded number whose law is one of `CONTINUOUS` and `WHOLE`. Column j of the matrix G is the
change of the output when the variable z_j changes by one unit. The affine model is checked on fresh draws and on small
changes of the recorded draws. The model is also checked with each variable alone, and with all variables together, at
the quantiles 10⁻³, 10⁻⁶ and 10⁻¹² of both tails.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.recorded.recorder import Recorded
from covassay.verification.audit.recorded.tape import Tape, flat

# in the check of the model, every variable is set to these quantiles and to their mirror images
FORCED = (1e-3, 1e-6, 1e-12)
FRESH = 6  # the model is checked in this many runs with fresh draws
UNIT = 2.0**-52
# rounding may change an output by this many rounding units of float64, relative to the largest intermediate number
ROUNDING = 512
AFFINE = 1e-6  # the largest error of an entry in an accepted affine model, relative to its noise scale
MOST = 600  # the largest number of variables
CONTINUOUS = ("normal", "laplace", "exponential", "logistic", "gumbel", "uniform")
WHOLE = ("geometric",)
# these are test values of a variable that the target may compute from a uniform number
PROBES = (-3.0, -1.0, 0.25, 2.0)
# these are test values of a uniform number; the output may be affine in the number itself
FLAT_PROBES = (0.03, 0.2, 0.6, 0.95)
IDLE = tuple(float(p) for p in (*FORCED, *(k / 24 for k in range(1, 24)), *(1 - q for q in FORCED)))


@dataclass(frozen=True)
class Variable:
    """A recorded random number with a known law.

    `draw` is the index of the draw that contains the number, and `entry` is the index of the number in this draw.

    `family` is the law of the variable. For a uniform number, `family` says how the target uses the number. If the
    target applies the quantile function of a law to the number, `family` is this law. If the output is affine in the
    uniform number itself, `family` is "flat". If the uniform number has no effect on the output, `family` is "idle".
    The family "radial" is for a coordinate of a vector whose direction is random. Recorded normal numbers give the
    direction of a radial vector, and a gamma number gives its length. `sign` is −1 if the target applies the quantile
    function to 1 − u. `parameter` is the parameter of a geometric or gamma law. `radius` is the index of the draw of
    the gamma number that gives the length.
    """

    draw: int
    entry: int
    family: str
    of_uniform: bool = False
    sign: int = 1
    parameter: float = 0.0
    radius: int = -1

    def value(self, z: float) -> float:
        """Return the recorded number for which the variable takes the value z."""
        return distribution(self.family, self.sign * z) if self.of_uniform else z

    def coordinate(self, value: float) -> float:
        """Return the value of the variable for which this number is recorded."""
        if not self.of_uniform:
            return value
        return self.sign * (quantile(self.family, value) if value <= 0.5 else -quantile(self.family, 1 - value))

    def at(self, p: float) -> float:
        """Return the quantile of the variable at level p, 0 < p < 1."""
        if self.family == "geometric":
            return float(max(1, np.ceil(np.log1p(-p) / np.log1p(-self.parameter))))
        return quantile(self.family, p)

    def drawn(self, rng: np.random.Generator) -> float:
        """Return the quantile of the variable at a random level between 10⁻⁶ and 1 − 10⁻⁶."""
        return self.at(float(np.clip(rng.random(), 1e-6, 1 - 1e-6)))

    def above(self, p: float) -> float:
        """Return the quantile at level 1 − p, computed without the rounding of 1 − p."""
        if self.family in ("normal", "laplace", "logistic", "radial"):
            return -quantile(self.family, p)
        if self.family == "exponential":
            return -float(np.log(p))
        if self.family == "gumbel":
            return -float(np.log(-np.log1p(-p)))
        if self.family == "geometric":
            return float(max(1, np.ceil(np.log(p) / np.log1p(-self.parameter))))
        return 1 - p

    def upper(self, z: float) -> float:
        """P(Z > z)."""
        if self.family in ("normal", "laplace", "logistic"):
            return distribution(self.family, -z)
        if self.family == "exponential":
            return float(np.exp(-max(z, 0.0)))
        if self.family == "gumbel":
            return float(-np.expm1(-np.exp(-z)))
        return 1 - min(max(z, 0.0), 1.0)

    def lower(self, z: float) -> float:
        """P(Z ≤ z)."""
        if self.family in ("normal", "laplace", "logistic"):
            return distribution(self.family, z)
        if self.family == "exponential":
            return float(-np.expm1(-max(z, 0.0)))
        if self.family == "gumbel":
            return float(np.exp(-np.exp(-z)))
        return min(max(z, 0.0), 1.0)


def distribution(family: str, z: float) -> float:
    """Return P(Z ≤ z) for a variable Z whose law is symmetric about 0."""
    if family == "normal":
        return float(special.ndtr(z))
    if family == "logistic":
        return float(special.expit(z))
    return float(0.5 * np.exp(z) if z < 0 else 1 - 0.5 * np.exp(-z))


def quantile(family: str, p: float) -> float:
    """Return the number z with P(Z ≤ z) = p.

    For the family "radial", return the Laplace quantile, which is not the quantile of the coordinate of a radial
    vector, but only a value at which the target is tested.
    """
    if family == "normal":
        return float(special.ndtri(p))
    if family in ("laplace", "radial"):
        return float(np.log(2 * p) if p <= 0.5 else -np.log(2 * (1 - p)))
    if family == "logistic":
        return float(special.logit(p))
    if family == "exponential":
        return float(-np.log1p(-p))
    if family == "gumbel":
        return float(-np.log(-np.log(p)))
    return p


def variables_of(tape: Tape) -> tuple[tuple[Variable, ...], tuple[int, ...]]:
    """Return the variables among the recorded draws, and the indices of all draws that contain no variables, such as
    permutations.
    """
    variables: list[Variable] = []
    others = []
    for k, draw in enumerate(tape.draws):
        if draw.family in CONTINUOUS or (draw.family in WHOLE and isinstance(draw.parameters[0], float)):
            parameter = float(draw.parameters[0]) if draw.family in WHOLE else 0.0  # type: ignore[arg-type]
            variables += [Variable(k, i, draw.family, parameter=parameter) for i in range(np.size(draw.value))]
        else:
            others.append(k)
    return tuple(variables), tuple(others)


def coordinates(tape: Tape, variables: Sequence[Variable]) -> Vector:
    """Return the values that the variables have in the recorded draws."""
    values = {k: flat(tape.draws[k].value) for k in {v.draw for v in variables}}
    z = np.array([v.coordinate(float(values[v.draw][v.entry])) for v in variables])
    radial = np.array([v.family == "radial" for v in variables], dtype=bool)
    if radial.any():
        z[radial] *= float(flat(tape.draws[_radius(variables)].value)[0]) / np.linalg.norm(z[radial])
    return z


def _radius(variables: Sequence[Variable]) -> int:
    """Return the index of the draw of a gamma number, or −1 if no draw is of a gamma number."""
    return max((v.radius for v in variables), default=-1)


def _split(variables: Sequence[Variable], z: Vector) -> tuple[float, Vector]:
    """Return the length of the radial vector, and a copy of z in which this vector has the same direction and another
    length.

    In the copy, the entries of the radial vector become the recorded normal numbers. The affine model holds only if the
    target uses nothing but the direction of these numbers. Their length therefore varies from point to point, so that
    an effect of the length is noticed.
    """
    radial = np.array([v.family == "radial" for v in variables], dtype=bool)
    length, numbers = float(np.linalg.norm(z[radial])), z.copy()
    if length:
        numbers[radial] *= radial.sum() ** 0.5 * 2.0 ** (zlib.crc32(z.tobytes()) % 9 - 4) / length
    return length, numbers


def tape_at(tape: Tape, variables: Sequence[Variable], z: Vector, others: dict[int, Any] | None = None) -> Tape:
    """Return recorded draws in which the variables have the values z, and the draws in `others` have the values given
    there.
    """
    values: dict[int, Any] = {}
    radius = _radius(variables)
    if radius >= 0:
        length, z = _split(variables, z)
        values[radius] = np.full(tape.draws[radius].shape, length)
    for variable, number in zip(variables, z, strict=True):
        k = variable.draw
        if k not in values:
            values[k] = np.array(tape.draws[k].value)
        values[k].reshape(-1)[variable.entry] = variable.value(float(number))
    for k, value in values.items():
        values[k] = value if tape.draws[k].shape else value[()]
    return tape.again({**values, **(others or {})})


@dataclass(frozen=True)
class AffineNoise:
    """The affine model y = centre + gains · z of an output y in variables z.

    For each entry of the output, `rounding` is the largest difference between the model and the target that was found
    when the model was checked. Such small differences count as rounding errors.
    """

    centre: Vector
    gains: Matrix
    variables: tuple[Variable, ...]
    rounding: Vector

    @property
    def used(self) -> tuple[bool, ...]:
        """Return which variables change the output."""
        return tuple(bool(u) for u in np.abs(self.gains).max(axis=0, initial=0.0) > 0)


@dataclass(frozen=True)
class NotAffine:
    """The result if the affine model does not hold; `reason` says why."""

    reason: str


Run = Callable[[Tape], Recorded]


def checked_run(run: Run, tape: Tape, shape: tuple[int, ...]) -> Recorded | NotAffine:
    """Run the target on recorded draws. Check that the target makes exactly these draws, and that its output has the
    given shape.
    """
    done = run(tape)
    if done.failure:
        return NotAffine(f"the target fails on some draws ({done.failure})")
    other = tape.differs()
    if other:
        return NotAffine(f"the target makes different draws if the drawn values change: {other}")
    return done if done.shape == shape else NotAffine("the shape of the output depends on the draws")


def understood(run: Run, base: Recorded, variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """Return the variables; each uniform number gets the law whose quantile function the target applies to it."""
    found = list(variables)
    z0 = coordinates(base.tape, variables)
    for i, variable in enumerate(variables):
        if variable.family == "uniform":
            guesses = (Variable(variable.draw, variable.entry, f, of_uniform=True) for f in ("laplace", "normal", "logistic"))  # fmt: skip  # noqa: E501
            fitting = next((g for g in guesses if _straight(run, base, variables, z0, i, g, PROBES)), None)
            plain = Variable(variable.draw, variable.entry, "flat")
            if fitting is None and _straight(run, base, variables, z0, i, plain, FLAT_PROBES):
                fitting = plain
            if fitting is None and _idle(run, base, variables, z0, i):
                fitting = Variable(variable.draw, variable.entry, "idle")
            if fitting is None:
                break  # there may be many uniform numbers, so the search stops at the first that has no known law
            found[i] = fitting
    return tuple(found)


def _outputs(
    run: Run, base: Recorded, variables: Sequence[Variable], z0: Vector, i: int, values: Iterable[float]
) -> Iterator[Vector]:
    """Set the variable with index i to each of the values in turn, and yield the outputs.

    Stop at the first value for which `checked_run` does not accept the run.
    """
    for value in values:
        moved = z0.copy()
        moved[i] = value
        done = checked_run(run, tape_at(base.tape, variables, moved), base.shape)
        if isinstance(done, NotAffine):
            return
        yield done.output


def _straight(
    run: Run, base: Recorded, variables: Sequence[Variable], z0: Vector, i: int, guess: Variable,
    probes: Sequence[float],
) -> bool:  # fmt: skip
    """Return whether the output moves along a straight line when the variable `guess` takes the values `probes`."""
    outputs = list(_outputs(run, base, variables, z0, i, map(guess.value, probes)))
    if len(outputs) < len(probes):
        return False
    slopes = np.diff(outputs, axis=0) / np.diff(probes)[:, None]
    size = np.abs(outputs).max() + np.abs(slopes).max()
    return bool(np.abs(slopes).max() > 0 and np.abs(slopes - slopes[0]).max() <= 1e-9 * size)


def _idle(run: Run, base: Recorded, variables: Sequence[Variable], z0: Vector, i: int) -> bool:
    """Return whether the output stays the same when a uniform number takes other values."""
    alike = 0
    for output in _outputs(run, base, variables, z0, i, IDLE):
        if not np.array_equal(output, base.output):
            return False
        alike += 1
    return alike == len(IDLE)


def measured(
    run: Run, base: Recorded, variables: tuple[Variable, ...], rng: np.random.Generator, seeds: Sequence[int] = (),
    fresh: int = FRESH,
) -> AffineNoise | NotAffine:  # fmt: skip
    """Measure the affine model of the output on one data set, and check that it agrees with the target.

    `seeds` has the indices of the draws that only seed generators; runs with fresh draws also draw new seeds.
    """
    noise = modelled(run, base, variables)
    return noise if isinstance(noise, NotAffine) else agrees(run, base, noise, rng, seeds, fresh)


def modelled(run: Run, base: Recorded, variables: tuple[Variable, ...]) -> AffineNoise | NotAffine:
    """Measure the affine model of the output on the data set of the run `base`, without a check of the model."""
    if len(variables) > MOST:
        return NotAffine(f"{len(variables)} numbers are drawn, more than {MOST}")
    uniform = [v for v in variables if v.family == "uniform"]
    if uniform:
        return NotAffine(f"{base.tape.draws[uniform[0].draw]}: it is unknown how the output depends on this number")
    z0 = coordinates(base.tape, variables)
    columns = []
    for i in range(len(variables)):
        moved = z0.copy()
        step = 1.0 if variables[i].family not in ("flat", "idle") else 0.5 if z0[i] < 0.5 else -0.5
        moved[i] += step
        done = checked_run(run, tape_at(base.tape, variables, moved), base.shape)
        if isinstance(done, NotAffine):
            return done
        columns.append((done.output - base.output) / step)
    gains = np.array(columns).T.reshape(len(base.output), len(variables))
    size = np.abs(base.output) + np.abs(gains) @ np.maximum(np.abs(z0), 1.0)
    gains[np.abs(gains) <= ROUNDING * UNIT * size[:, None]] = 0.0
    return AffineNoise(base.output - gains @ z0, gains, variables, np.zeros(len(base.output)))


def agrees(
    run: Run, base: Recorded, noise: AffineNoise, rng: np.random.Generator, seeds: Sequence[int] = (),
    fresh: int = FRESH,
) -> AffineNoise | NotAffine:  # fmt: skip
    """Return the affine model with its rounding error if the model agrees with the target at all test points, and
    otherwise the reason why not.
    """
    variables, gains = noise.variables, noise.gains
    z0 = coordinates(base.tape, variables)
    strength = np.sqrt((gains**2).sum(axis=1))
    rounding = np.zeros(len(base.output))
    for z, change in points(variables, z0, base.tape, rng, seeds, fresh):
        done = checked_run(run, tape_at(base.tape, variables, z, change), base.shape)
        if isinstance(done, NotAffine):
            return done
        residual = np.abs(done.output - noise.centre - gains @ z)
        size = np.abs(noise.centre) + np.abs(gains) @ np.abs(z) + np.abs(done.output)
        blur = np.abs(gains) @ _blur(variables, z)
        allowed = ROUNDING * UNIT * size + blur
        off = residual > np.maximum(allowed, AFFINE * strength)
        if off.any():
            row = int(np.argmax(off))
            told = f"{residual[row] / strength[row]:.2g} noise scales" if strength[row] else f"{residual[row]:.2g}"
            return NotAffine(f"the output is no affine function of the draws (entry {row + 1} is off by {told})")
        rounding = np.maximum(rounding, residual - blur)
    return replace(noise, rounding=np.maximum(rounding, 4 * UNIT * np.abs(noise.centre)))


def _blur(variables: Sequence[Variable], z: Vector) -> Vector:
    """Return the numerical error of each variable that is computed from a uniform number, which is rounded."""
    blur = np.zeros(len(variables))
    for i, variable in enumerate(variables):
        if variable.of_uniform:
            u = variable.value(float(z[i]))
            blur[i] = 4 * UNIT / max(min(u, 1 - u), UNIT)
    return blur


def points(
    variables: Sequence[Variable], z0: Vector, tape: Tape, rng: np.random.Generator, seeds: Sequence[int], fresh: int
) -> list[tuple[Vector, dict[int, Any]]]:
    """Return the points at which the model is checked. A point has values of all variables, and may have new values of
    the draws that only seed generators.
    """
    found: list[tuple[Vector, dict[int, Any]]] = []
    whole = np.array([v.family in WHOLE for v in variables], dtype=bool)
    for _ in range(fresh):
        z = np.array([v.at(float(np.clip(rng.random(), 1e-15, 1 - 1e-15))) for v in variables])
        found.append((z, {k: tape.draws[k].make(rng) for k in seeds}))
    small = z0 + np.where(whole, 0.0, 1e-3 * rng.standard_normal(len(variables)))
    small = np.where([v.family in ("flat", "idle") for v in variables], np.clip(small, 0.0, 1 - UNIT), small)
    found.append((small, {}))
    for p in FORCED:
        for upper in (False, True):
            far = np.array([v.above(p) if upper else v.at(p) for v in variables])
            found.append((far, {}))
            for i in range(len(variables)):
                z = z0.copy()
                z[i] = far[i]
                found.append((z, {}))
    radial = [v for v in variables if v.family == "radial"]
    for p in FORCED if radial else ():
        for length in (special.gammaincinv(radial[0].parameter, p), special.gammainccinv(radial[0].parameter, p)):
            direction = rng.standard_normal(len(radial))
            z = z0.copy()
            z[[v.family == "radial" for v in variables]] = length * direction / np.linalg.norm(direction)
            found.append((z, {}))
    return found
