"""The verification: how we know, and whether yours does it.

Runs the formulas and samplers of `covassay.reference` against exact laws, and audits other
implementations. Imports the reference; the reference never imports it.

    >>> from covassay.reference.privacy import PureDP
    >>> from covassay.verification import audit
    >>> report = audit("covassay:nuclear-laplace", PureDP(1.0), samples=100)
    >>> report.verdict.value
    'NOT REFUTED'
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covassay.verification.audit.run import audit

__all__ = ["audit"]


def __getattr__(name: str) -> Any:
    """Import the audit when it is first used: the pytest plugin and `covassay --help` must not wait for it."""
    if name == "audit":
        return importlib.import_module("covassay.verification.audit")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
