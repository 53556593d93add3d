"""The kind of output of a target that does not state one: a matrix, unless its shapes on example rows say otherwise."""

from dataclasses import replace

import numpy as np

from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import one_draw, plain_rows
from covassay.verification.audit.engine.sampling import Setting

USUAL = "matrix"
OTHERS = ("vector", "number")
EXAMPLES = ((5, 3), (7, 4))  # rows and columns, public


def answers_as(setting: Setting, kind: str) -> bool:
    """Whether the target gives outputs of that kind on all examples."""
    asked = replace(setting, output=OUTPUTS[kind])
    return all(
        isinstance(one_draw(asked, plain_rows(asked, n, d), "output kind", n, d), np.ndarray) for n, d in EXAMPLES
    )


def found_kind(setting: Setting) -> str | None:
    """The kind that all outputs on the examples have. None stands for a matrix, and for outputs of no common kind."""
    n, d = EXAMPLES[0]
    first = one_draw(setting, plain_rows(setting, n, d), "output kind", n, d)
    if isinstance(first, np.ndarray) or first.kind != "malformed":
        return None
    return next((kind for kind in OTHERS if answers_as(setting, kind)), None)


def stated(kind: str) -> str:
    """What the report says of a kind that was found."""
    return f"every output on example rows was a {kind}, so it is audited as a {kind}; --released KIND says otherwise"
