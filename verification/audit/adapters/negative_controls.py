"""The mutants as targets: `mutant:NAME`."""

from collections.abc import Callable
from functools import partial

from covassay.verification.audit.negative_controls.every import NEGATIVE_CONTROLS
from covassay.verification.audit.negative_controls.negative_control import NegativeControl
from covassay.verification.audit.targets.target import Target


def _target(mutant: NegativeControl) -> Target:
    return Target(
        name=f"mutant:{mutant.name}",
        draw=mutant.draw,
        mechanism=mutant.mechanism,
        options=mutant.options,
        version="a negative control of covassay",
        notes=(f"the mistake: {mutant.mistake}",),
        draw_many=mutant.draw_many,
    )


TARGETS: dict[str, Callable[[], Target]] = {
    name: partial(_target, mutant) for name, mutant in NEGATIVE_CONTROLS.items()
}
