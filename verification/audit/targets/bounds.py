"""Whether a target takes the bounds of its columns as an argument."""

import inspect

from covassay.verification.audit.targets.process_target import PREFIX
from covassay.verification.audit.targets.target import Target

BOUNDS = "bounds"  # the keyword argument, and the key in the request to a process: d pairs (low, high)


def takes_bounds(target: Target) -> bool:
    """Whether the function has a parameter `bounds`. A process gets them in its request and may ignore them."""
    if target.name.startswith(f"{PREFIX}:"):
        return True
    try:
        return BOUNDS in inspect.signature(target.draw).parameters
    except (TypeError, ValueError):
        return False


def needs_bounds(target: Target) -> bool:
    """Whether the function has a parameter `bounds` without a default."""
    if target.name.startswith(f"{PREFIX}:") or not takes_bounds(target):
        return False
    return inspect.signature(target.draw).parameters[BOUNDS].default is inspect.Parameter.empty
