"""The auditor: does an implementation do what its mechanism says?

It finds a violation or finds none; it never certifies.

After `from covassay.verification import audit` the package can be called: `audit(target, claim)` runs an audit. Python
binds the name `covassay.verification.audit` to this package as soon as any part of it is imported, so a function could
not have that name.
"""

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run an audit, see `covassay.verification.audit.run.audit`."""
        from covassay.verification.audit.api import audit

        return audit(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
