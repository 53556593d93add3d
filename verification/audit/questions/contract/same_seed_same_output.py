"""Check that two generators with equal seeds give equal outputs."""

from dataclasses import dataclass, replace

import numpy as np

from covassay.verification.audit.engine.contract import ROWS, UNSEEDED, decided, one_draw, plain_rows, skipped
from covassay.verification.audit.engine.facts import Facts
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.targets.target import Failure

IGNORES_RNG = "equal generators give different outputs, so that comparing outputs under equal seeds shows nothing"


def same_seed(setting: Setting) -> Finding:
    """Check that two generators with equal seeds give equal outputs."""
    name = "same seed, same output"
    if not setting.target.seeded:
        return skipped(name, UNSEEDED)
    x = plain_rows(setting, ROWS)
    first, second = one_draw(setting, x.copy(), "seed", 1), one_draw(setting, x.copy(), "seed", 1)
    if isinstance(first, Failure) or isinstance(second, Failure):
        return skipped(name, first, second)
    broken = "two equal generators gave different outputs: the randomness does not come from rng"
    return decided(
        name, broken="" if np.array_equal(first, second) else broken, whole="equal generators give equal outputs"
    )


@dataclass(frozen=True)
class IgnoresRng(Facts):
    """Generators with equal seeds gave different outputs, so comparing outputs under equal seeds does not show an
    effect of the data.
    """


def where_seeds_decide_nothing(subject: Subject) -> str:
    """Return why a question that compares outputs under equal seeds is left out, or an empty string if it is asked."""
    return IGNORES_RNG if subject.facts(IgnoresRng) else ""


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Return the findings of the function `same_seed`."""
    found = same_seed(subject.setting)
    return [replace(found, facts=IgnoresRng()) if found.status is Status.REFUTED else found]


QUESTION = Question(
    name="same seed, same output",
    kind="contract",
    asks="Do two equal generators give equal outputs?",
    blind_to="randomness that does not come from rng, if two draws were equal by chance",
    ask=ask,
    gives=(IgnoresRng,),
)
