"""Collect the negative controls of all modules of this package in a dictionary by name."""

from importlib import import_module
from pkgutil import iter_modules

from tests import negative_controls
from tests.negative_controls.negative_control import NegativeControl

NEGATIVE_CONTROLS: dict[str, NegativeControl] = {
    control.name: control
    for found in iter_modules(negative_controls.__path__)
    if found.name.startswith("of_")
    for control in getattr(import_module(f"{negative_controls.__name__}.{found.name}"), "NEGATIVE_CONTROLS", ())
}
