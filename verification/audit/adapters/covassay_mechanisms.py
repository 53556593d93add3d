"""Make targets from covassay's own mechanisms: `covassay:NAME` with default options, and `covassay:NAME-tight`, … with
other choices of the options.
"""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import product
from typing import Any

from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.audit.knowledge.known import known
from covassay.verification.audit.knowledge.shared.many_draws import one_by_one
from covassay.verification.audit.targets.target import Target


def _target(name: str, declared: Mechanism[Any, ..., Any], options: dict[str, str]) -> Target:
    many = known(declared.name).many or partial(one_by_one, declared.sample)
    return Target(
        name=f"covassay:{name}",
        draw=partial(declared.sample, **options),
        mechanism=declared.name,
        options=tuple(options.items()),
        version=f"covassay {version('covassay')}",
        draw_many=partial(many, **options),
    )


def _targets() -> dict[str, Callable[[], Target]]:
    targets: dict[str, Callable[[], Target]] = {}
    for declared in MECHANISMS.values():
        for chosen in product(*declared.choices.values()):
            # the first choice of each option is the default, which adds no suffix to the name of the target
            extra = [c for c, allowed in zip(chosen, declared.choices.values(), strict=True) if c != allowed[0]]
            options = dict(zip(declared.choices, chosen, strict=True))
            targets["-".join([declared.name, *extra])] = partial(
                _target, "-".join([declared.name, *extra]), declared, options
            )
    return targets


TARGETS = _targets()
