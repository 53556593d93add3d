"""Measure how much each random draw changes the output, and compare the changes with those of the reference's draws.

The gain of a draw is a vector, namely the change of the output if the draw changes by one unit and all other continuous
draws are 0. For noise that is added to one entry of the output, the norm of the gain is the noise scale. Draws of the
target and of the reference are matched if they have the same law and move the output in the same direction, whatever
the order of the draws is. If the gains of two matched draws have different norms, a step of the target may have a wrong
factor. Different norms do not refute a claim, because another correct implementation may use other draws.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from covassay.reference.domain import Matrix
from covassay.verification.audit.recorded.affine import Variable, coordinates, tape_at, variables_of
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.tape import Tape

STEP = 1e-3
ALIKE = 0.999  # two directions count as equal if the cosine of the angle between them is larger than this number
SAME = 1e-3  # a ratio of gains counts as 1 if its distance from 1 is smaller than this number
SMALL = 1e-12  # a gain counts as 0 if it is smaller than this share of the largest gain
MOST = 200  # variables


@dataclass(frozen=True)
class Gain:
    """A draw of the target, and a draw of the reference that has the same law and changes the output in the same
    direction.

    `factor` says how strongly the target's draw changes the output, divided by how strongly the reference's draw
    changes it. The target's draw may have several random numbers, and `numbers` counts those whose effects have the
    ratio `factor`.
    """

    family: str
    draw: str
    reference: str
    factor: float
    numbers: int

    def __str__(self) -> str:
        return (
            f"{self.draw} reaches the output {self.factor:.6g} times as strongly as {self.reference} ({self.numbers})"
        )


@dataclass(frozen=True)
class Gains:
    """The result of a comparison of the draws of a target and of the reference, by how strongly they change the output.

    `unmatched` gives, for each law, how many draws of the target and of the reference have no counterpart.
    """

    matched: tuple[Gain, ...]
    unmatched: Mapping[str, tuple[int, int]]
    reason: str = ""

    @property
    def changed(self) -> tuple[Gain, ...]:
        """Return those matched draws that change the output more strongly, or less strongly, in the target than in the
        reference.
        """
        return tuple(gain for gain in self.matched if abs(gain.factor - 1) > SAME)


def gains(target: Recorder, reference: Recorder, x: Matrix, seed: int = 0) -> Gains:
    """Compare the gains of a target's draws with those of the reference's draws, on one data set."""
    theirs = _columns(target, x, seed)
    ours = theirs if isinstance(theirs, str) else _columns(reference, x, seed)
    for one in (theirs, ours):
        if isinstance(one, str):
            return Gains((), {}, one)
    assert not isinstance(ours, str)
    assert not isinstance(theirs, str)
    matched: dict[tuple[str, str, str, float], int] = {}
    unmatched: dict[str, tuple[int, int]] = {}
    for family in sorted({v.family for v, _, _ in (*theirs, *ours)}):
        first, second = ([c for c in side if c[0].family == family] for side in (theirs, ours))
        pairs: list[tuple[int, int]] = []
        if first and second:
            a, b = (np.array([column / np.linalg.norm(column) for _, _, column in side]) for side in (first, second))
            if a.shape[1] != b.shape[1]:
                return Gains((), {}, "the outputs have different sizes")
            cosines = np.abs(a @ b.T)
            pairs = [(int(i), int(j)) for i, j in zip(*scipy.optimize.linear_sum_assignment(-cosines), strict=True) if cosines[i, j] > ALIKE]  # fmt: skip  # noqa: E501
        for i, j in pairs:
            factor = float(np.linalg.norm(first[i][2]) / np.linalg.norm(second[j][2]))
            key = family, first[i][1], second[j][1], float(f"{factor:.6g}")
            matched[key] = matched.get(key, 0) + 1
        left = len(first) - len(pairs), len(second) - len(pairs)
        if any(left):
            unmatched[family] = left
    return Gains(tuple(Gain(*key, numbers) for key, numbers in matched.items()), unmatched)


def _columns(made: Recorder, x: Matrix, seed: int) -> list[tuple[Variable, str, Any]] | str:
    """Return the variables on which the output depends. Each variable comes with a text that names its draw, and with
    its gain, which is the change of the output if the variable changes by one unit. If the gains cannot be measured,
    return a text that says why.
    """
    # all draws are 0 in this run, and a sampler may divide by their norm
    with made.standing(), np.errstate(all="ignore"):
        base = made.run(x, Tape(seed))
        if base.failure:
            return f"the target fails while its draws are recorded ({base.failure})"
        variables, _ = variables_of(base.tape)
        if len(variables) > MOST:
            return f"{len(variables)} numbers are drawn, more than {MOST}"
        centre = np.where([v.family == "uniform" for v in variables], coordinates(base.tape, variables), 0.0)
        found = []
        for i, variable in enumerate(variables):
            if variable.family in ("uniform", "geometric"):
                continue
            outputs = []
            for step in (STEP, -STEP):
                z = centre.copy()
                z[i] = abs(step) * 2 + step if variable.family == "exponential" else step
                done = made.run(x, tape_at(base.tape, variables, z))
                if done.failure or done.tape.differs():
                    return f"the draws cannot be set to 0 ({done.failure or done.tape.differs()})"
                outputs.append(done.output)
            found.append((variable, str(base.tape.draws[variable.draw]), (outputs[0] - outputs[1]) / (2 * STEP)))
    largest = max((float(np.linalg.norm(column)) for _, _, column in found), default=0.0)
    return [one for one in found if np.linalg.norm(one[2]) > SMALL * largest]
