"""Check that a process that draws in batches gives the same output for a seed in a batch as for this seed alone."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from covassay.verification.audit.engine.contract import ROWS, plain_rows
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure, Target, TargetReference, call, well_formed
from covassay.verification.statistics.streams import stream

NAME = "batch, same output"
SIZE = 5


def makes_batches(setting: Setting) -> bool:
    """Return whether the target makes several seeded draws in one request."""
    source, target = setting.source, setting.target
    return isinstance(source, TargetReference) and bool(source.batch and target.seeded and target.draw_many)


def batch_is_single(setting: Setting) -> list[Finding]:
    """Compare the outputs of one batch with the outputs of single draws under the same seeds, if the target draws in
    batches.
    """
    target = setting.target
    if not makes_batches(setting):
        return []
    x, shape = plain_rows(setting, ROWS), setting.shape(plain_rows(setting, ROWS))
    rngs = [np.random.default_rng(stream(setting.seed, "contract", "batches")) for _ in range(2)]
    alone = [well_formed(call(target, x, setting.budget, rngs[0], setting.seconds)[0], shape) for _ in range(SIZE)]
    batch, _ = call(replace(target, draw=partial(_many, target)), x, setting.budget, rngs[1], setting.seconds * SIZE)
    drawn = [batch] * SIZE if isinstance(batch, Failure) else batch
    pairs = zip(alone, (well_formed(output, shape) for output in drawn), strict=True)
    for one, other in pairs:
        if isinstance(one, Failure) or isinstance(other, Failure):
            failed = one if isinstance(one, Failure) else other
            if type(one) is not type(other):
                return [
                    Finding(
                        "contract",
                        NAME,
                        Status.REFUTED,
                        "one seed was drawn alone and in a batch of seeds; one of these two draws gave an output, and "
                        f"the other failed: {failed}",
                    )
                ]
        elif not np.array_equal(one, other):
            detail = "a seed gave another output in a batch than alone: an output must depend on its own seed only"
            return [Finding("contract", NAME, Status.REFUTED, detail)]
    return [Finding("contract", NAME, Status.NOT_REFUTED, f"{SIZE} seeds gave the same outputs in a batch as alone")]


def _many(target: Target, x: Any, **given: Any) -> Any:
    return target.draw_many(x, SIZE, **given) if target.draw_many else None


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="Does a seed give the same output in a batch as alone?",
    blind_to="other sizes of batches and other data",
    ask=lambda subject, look: batch_is_single(subject.setting),
    applies=lambda subject: "" if makes_batches(subject.setting) else "the target makes no batches of seeded draws",
)
