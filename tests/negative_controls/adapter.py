"""Make every negative control available as the audit target `mutant:NAME`."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from covassay.verification.audit.targets.target import Target
from tests.negative_controls.every import NEGATIVE_CONTROLS
from tests.negative_controls.negative_control import NegativeControl
from tests.negative_controls.of_bits import BIT_CONTROLS, SOUND, BitControl
from tests.negative_controls.of_box import BOX_CONTROLS, BoxControl


def _target(control: NegativeControl | BoxControl) -> Target:
    target = Target(
        name=f"mutant:{control.name}",
        draw=control.draw,
        version="a negative control of covassay",
        notes=(f"the mistake: {control.mistake}",),
        draw_many=control.draw_many,
    )
    if isinstance(control, BoxControl):
        return target
    return replace(target, mechanism=control.mechanism, options=control.options)


def _bit_target(control: BitControl) -> Target:
    return Target(
        name=f"mutant:{control.name}",
        draw=control.draw,
        version="a negative control of covassay for the check of low-order bits",
        notes=(control.mistake,),
        released=control.released,
    )


TARGETS: dict[str, Callable[[], Target]] = {
    **{name: partial(_target, control) for name, control in NEGATIVE_CONTROLS.items()},
    **{name: partial(_bit_target, control) for name, control in (BIT_CONTROLS | SOUND).items()},
    **{name: partial(_target, control) for name, control in BOX_CONTROLS.items()},
}
