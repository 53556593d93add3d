"""The verification: evidence for the claims of the reference, and audits of other implementations.

This package compares the formulas and samplers of `covassay.reference` with exact laws, and audits other
implementations. The package imports the reference; the reference never imports the package.

    >>> from covassay.verification import audit, check
    >>> report = audit("covassay:nuclear-laplace", epsilon=1, samples=100)
    >>> report.verdict.value
    'NOT REFUTED'
    >>> check(lambda X, eps: X.T @ X, epsilon=1.0, samples=100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    covassay.verification.audit.check.Refuted: <lambda>, ε = 1 (pure DP), replace-one: REFUTED. ...
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covassay.verification.audit.api import audit
    from covassay.verification.audit.check import Inconclusive, Refuted, check
    from covassay.verification.audit.targets.calling import wrap
    from covassay.verification.pytest_plugin import parametrize_with_checks

_FOUND_IN = {
    "Inconclusive": "covassay.verification.audit.check",
    "Refuted": "covassay.verification.audit.check",
    "check": "covassay.verification.audit.check",
    "parametrize_with_checks": "covassay.verification.pytest_plugin",
    "wrap": "covassay.verification.audit.targets.calling",
}
__all__ = ["Inconclusive", "Refuted", "audit", "check", "parametrize_with_checks", "wrap"]


def __getattr__(name: str) -> Any:
    """Import a name at its first use, so that the pytest plugin and `covassay --help` start quickly."""
    if name in _FOUND_IN:
        return getattr(importlib.import_module(_FOUND_IN[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _WithAudit(ModuleType):
    """The class of this module. Its attribute `audit` is always the function `audit`, although a package has the same
    name.

    When a part of the package `verification/audit` is imported, Python sets the attribute `verification.audit` to this
    package. The class ignores this assignment, so that `verification.audit` remains the function `audit`. The module
    `audit/api.py` makes the parts of the package attributes of the function.
    """

    @property
    def audit(self) -> Any:
        return importlib.import_module("covassay.verification.audit.api").audit

    @audit.setter
    def audit(self, package: ModuleType) -> None:
        if not isinstance(package, ModuleType):
            raise AttributeError(f"audit of {self.__name__!r} cannot be set")


if not TYPE_CHECKING:
    sys.modules[__name__].__class__ = _WithAudit
