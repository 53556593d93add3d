"""Run as a process in an adapter's environment, and draw from a target over JSON lines.

The Python of the environment, which has the audited package and no covassay, runs this file by its path. The first four
arguments of the program are the two folders of covassay, the adapter and the target. The file `runner` can import
modules of covassay only after it has read the names of the two folders. Standard output has only replies, and the
output of the package goes to standard error.

The first line that the process writes to standard output describes the target. After the description, the process
answers requests as in `process_target`, with two more keys. A request has the "shape" of the data, because a list
without rows does not show the number of columns. If the target has overwritten its data, the reply has the new data as
"x", so that the audit can detect the change.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def known_packages(reference: str, verification: str) -> None:
    """Make `covassay.reference` and `covassay.verification` importable from these folders."""
    covassay = ModuleType("covassay")
    covassay.__path__ = []
    sys.modules["covassay"] = covassay
    for name, folder in (("covassay.reference", reference), ("covassay.verification", verification)):
        spec = importlib.util.spec_from_file_location(
            name, Path(folder) / "__init__.py", submodule_search_locations=[folder]
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])


def adapter_of(where: str) -> ModuleType:
    """Return the module of an adapter from its name in covassay or the path of its file."""
    if not where.endswith(".py"):
        return importlib.import_module(where)
    spec = importlib.util.spec_from_file_location(Path(where).stem, where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def about(target: Any) -> dict[str, Any]:
    """Describe a target by everything that the audit needs to know."""
    bounds = inspect.signature(target.draw).parameters.get("bounds")
    return {
        "name": target.name,
        "mechanism": target.mechanism,
        "options": [list(option) for option in target.options],
        "seeded": target.seeded,
        "version": target.version,
        "notes": list(target.notes),
        "released": target.released,
        "claim": target.claim.keywords() if target.claim else None,
        "adjacency": target.adjacency,
        "bounds": target.bounds,
        "symmetric": target.symmetric,
        "takes_bounds": bounds is not None,
        "needs_bounds": bounds is not None and bounds.default is inspect.Parameter.empty,
    }


def answer(target: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request, which is an error if the target raises an exception."""
    import numpy as np

    x = np.array(request.pop("x"), dtype=np.float64).reshape(request.pop("shape"))
    before, rng = x.copy(), np.random.default_rng(int(request.pop("seed")))
    request.pop("protocol", None)
    if "bounds" in request:
        request["bounds"] = tuple(tuple(pair) for pair in request["bounds"])
    reply: dict[str, Any]
    try:
        reply = {"output": np.asarray(target.draw(x, rng=rng, **request)).tolist()}
    except (Exception, SystemExit) as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    if not np.array_equal(x, before, equal_nan=True):
        reply["x"] = x.tolist()
    return reply


def main(reference: str, verification: str, adapter: str, name: str) -> None:
    """Answer requests until the standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    known_packages(reference, verification)
    module = adapter_of(adapter)
    if getattr(module, "PACKAGE", None) is not None:
        problem = module.PACKAGE.no_copy() or module.PACKAGE.problem(own_process=True)
        if problem:
            sys.exit(f"error: {problem}")
    target = module.TARGETS[name]()
    replies.write(json.dumps(about(target)) + "\n")
    replies.flush()
    for line in sys.stdin:
        replies.write(json.dumps(answer(target, json.loads(line)), default=repr) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(*sys.argv[1:5])
