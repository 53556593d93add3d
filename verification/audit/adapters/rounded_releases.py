"""Make targets `rounded:NAME`, `rounded:NAME-tight`, … from releases that are rounded correctly, with the names of
`covassay_mechanisms`.

The random bits come from a source that the generator of the audit seeds, so that a run can be repeated. The command
`covassay release --rounded` makes the same releases, apart from the source of the random bits.
"""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.rounded import ON_A_LATTICE, WITH_ROUNDED_FORM, exact_release, require_flint
from covassay.verification.audit.adapters import covassay_mechanisms
from covassay.verification.audit.targets.target import CannotRun, Target


def draw(x: Matrix, *, rng: np.random.Generator, mechanism: str, **arguments: Any) -> Any:
    """One exact release."""
    return exact_release(mechanism, x, seed=int.from_bytes(rng.bytes(16)), **arguments).values


def _target(float_target: Callable[[], Target]) -> Target:
    real = float_target()
    exactly = "in integers"
    if real.mechanism not in ON_A_LATTICE:
        try:
            require_flint()
        except InvalidInput as error:
            raise CannotRun(str(error)) from None
        exactly = f"rounded with python-flint {version('python-flint')}"
    options: dict[str, Any] = {"mechanism": real.mechanism, **dict(real.options)}
    return Target(
        name=real.name.replace("covassay:", "rounded:"),
        draw=partial(draw, **options),
        mechanism=real.mechanism,
        options=real.options,
        version=f"covassay {version('covassay')}, {exactly}",
    )


TARGETS: dict[str, Callable[[], Target]] = {
    name: partial(_target, target)
    for name, target in covassay_mechanisms.TARGETS.items()
    if target().mechanism in (*WITH_ROUNDED_FORM, *ON_A_LATTICE)
}
