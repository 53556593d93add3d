"""Describe the value that a call of a target returned, and suggest expressions that select an output from it."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

OFFERED = 4  # a message lists at most this many expressions, and a description lists at most this many parts
LOOKED_AT = 100  # the search covers at most this many parts of a value
DEPTH = 4  # parts of parts are searched to this depth
KINDS: dict[str, Callable[[int], tuple[int, ...]]] = {  # each kind of output has this shape for d columns
    "matrix": lambda d: (d, d),
    "vector": lambda d: (d,),
    "triangle": lambda d: (d * (d + 1) // 2,),
    "gaussian": lambda d: (d + 1, d),
    "moments": lambda d: (d + 1, d),
    "rows-mean-covariance": lambda d: (d + 1, d + 1),
    "coefficients": lambda d: (d - 1,),
    "number": lambda d: (),
}


# each template of an expression that converts a value to real numbers, and the function that does the same
CONVERSIONS: dict[str, Callable[[Any, int], Any]] = {
    "numpy.real({call})": lambda output, d: np.real(output),
    "{call}.toarray()": lambda output, d: output.toarray(),
    "{call}.to_numpy()": lambda output, d: output.to_numpy(),
    "{call}.numpy()": lambda output, d: output.numpy(),
    "{call}.detach().numpy()": lambda output, d: output.detach().numpy(),
    "numpy.asarray({call}, dtype=float)": lambda output, d: np.asarray(output, dtype=float),
    "numpy.reshape({call}, (x.shape[1], x.shape[1]))": lambda output, d: np.reshape(output, (d, d)),
}


def kind_of(shape: tuple[int, ...] | None, d: int) -> str | None:
    """Return the kind of output with this shape on data with d columns, or None if no kind fits."""
    return next((kind for kind, shape_at in KINDS.items() if shape_at(d) == shape), None)


def parts_of(output: Any) -> dict[str, Any]:
    """Return the first parts of a returned value, each with the index, key or attribute that selects the part.

    A value with an attribute `shape` is not split, because its attributes are details of its storage.
    """
    if isinstance(output, dict):
        return {f"[{key!r}]": value for key, value in islice(output.items(), LOOKED_AT)}
    if isinstance(output, list | tuple):
        return {f"[{index}]": value for index, value in enumerate(output[:LOOKED_AT])}
    return {f".{name}": value for name, value in _attributes(output)} if _shape_attribute(output) is None else {}


def leaves(output: Any, name: str = "", depth: int = DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield the arrays, tables, numbers and texts in a returned value with their positions.

    The search includes parts of parts to the given depth, and attributes whose names begin with an underscore.
    """
    if isinstance(output, str | bytes) or (output is not None and shape_of(output) is not None):
        yield name, output
    elif depth and not (callable(output) or inspect.ismodule(output)):
        parts = parts_of(output)
        kept = {f".{key}": value for key, value in _kept(output).items() if key.startswith("_")}
        for part, value in {**parts, **kept}.items():
            yield from leaves(value, f"{name}{part}", depth - 1)


def _kept(output: Any) -> dict[str, Any]:
    """Return the attributes that are stored in an object."""
    found = getattr(output, "__dict__", {})
    return dict(islice(found.items(), LOOKED_AT)) if isinstance(found, dict) else {}


def described(output: Any) -> str:
    """Return a description of a returned value by types, shapes and keys, without its other numbers and texts."""
    if not isinstance(output, list | tuple | dict) or shape_of(output) is not None:
        return _named(output)
    parts = [f"{part[1:-1]}: {_named(value)}" for part, value in islice(parts_of(output).items(), OFFERED)]
    more = f", … ({len(output)} in all)" if len(output) > OFFERED else ""
    return f"{_named(output)} with {', '.join(parts)}{more}" if parts else f"{_named(output)}, which is empty"


def _named(value: Any) -> str:
    shape = shape_of(value)
    told = f" of shape {shape}" if shape is not None else _of_no_numbers(value)
    return f"{type(value).__qualname__}{told}"


def _of_no_numbers(value: Any) -> str:
    """Return the shape and the type of the entries of an array that has no real numbers."""
    return f" of shape {value.shape} with entries of type {value.dtype}" if type(value) is np.ndarray else ""


def _shape_attribute(output: Any) -> Any:
    """Return the attribute `shape` of an array, a matrix or a table."""
    try:
        return None if inspect.isclass(output) else getattr(output, "shape", None)
    except (Exception, SystemExit):
        return None


def _attributes(output: Any) -> Iterator[tuple[str, Any]]:
    for name in dir(output):
        if not name.startswith("_"):
            try:
                value = getattr(output, name)
            except (Exception, SystemExit):  # a property of an object may raise an exception when it is read
                continue
            if not callable(value):
                yield name, value


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a value that consists of real numbers, and None for any other value."""
    try:
        array = np.asarray(value)
    except (Exception, SystemExit):
        return None
    return array.shape if array.dtype.kind in "biuf" else None


def offers(output: Any, call: str, d: int) -> list[str]:
    """Return expressions that may give an output.

    Each expression contains the expression `call`. The value of `call` is `output`, which is no matrix, vector or
    number.
    """
    if inspect.iscoroutine(output):
        output.close()  # otherwise Python would warn that the coroutine was never awaited
        return [f"asyncio.run({call})"]
    if isinstance(output, Iterator):
        return [f"next({call})", f"list({call})"]
    shape = shape_of(output)
    if kind_of(shape, d) == "triangle":
        return [f"symmetric({call})", f"symmetric({call}, lower=True)"]
    kinds = {part: kind_of(shape_of(value), d) for part, value in parts_of(output).items()}
    found = sorted((part for part in kinds if kinds[part]), key=lambda part: [*KINDS].index(kinds[part] or ""))
    offered = _conversions(output, call, d) + [f"{call}{part}" for part in found if shape is None]
    return offered or ([f"{call}(x)"] if callable(output) else [])


def _conversions(output: Any, call: str, d: int) -> list[str]:
    """Return, in a list, the first expression that converts a returned value to a matrix of real numbers, if any."""
    found = []
    for written, convert in CONVERSIONS.items():
        with suppress(Exception, SystemExit):
            if kind_of(shape_of(convert(output, d)), d) == "matrix":
                found.append(written.format(call=call))
    return found[:1]


def told(output: Any, shape: tuple[int, ...], call: str, d: int) -> str:
    """Return a message that a value does not have the form of an output, with expressions that would give an output."""
    found = shape_of(output)
    kinds = [kind for kind, shape_at in KINDS.items() if shape_at(d) == found]
    ways = [f"--call {quoted(one)}" for one in offers(output, call, d)[:OFFERED]] if call else []
    ways += [f"--released {kind} without --mechanism" for kind in kinds]
    return (
        f"{described(output)}, but an output has the shape {shape}"
        f"{'; to select the output or to name its kind, use ' if ways else ''}{' or '.join(ways)}"
    )


def quoted(call: str) -> str:
    """Put an expression into quotes that are valid in a shell and in Python."""
    return f'"{call}"' if "'" in call else f"'{call}'"
