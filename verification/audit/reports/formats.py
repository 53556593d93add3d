"""List the formats in which `covassay audit` can write a report to a file; every format has an option of the same name.

Each format of covassay is the `FORMAT` of a module of this package. Another package adds a format by an entry point in
the group `covassay.formats` that names a `Format`.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from covassay.verification.audit import reports
from covassay.verification.audit.reports.format import Format

GROUP = "covassay.formats"


@cache
def own() -> tuple[Format, ...]:
    """Return the report formats that covassay defines, without those of other packages."""
    modules = (import_module(f"{reports.__name__}.{found.name}") for found in iter_modules(reports.__path__))
    return tuple(module.FORMAT for module in modules if hasattr(module, "FORMAT"))


def formats() -> dict[str, Format]:
    """Return all formats by their names, including those of other packages; and check that no two formats have the same
    name."""
    found = (*own(), *(point.load() for point in entry_points(group=GROUP)))
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"formats declared twice: {', '.join(twice)}")
    return dict(zip(names, found, strict=True))
