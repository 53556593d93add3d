"""Show a file, a value or an error in a message, always on one line."""

from pathlib import Path
from typing import Any

from covassay.reference.errors import InvalidInput

LONGEST_SHOWN = 40  # the number of characters of an offending value that a message repeats


def require_suffix(path: Path, suffixes: tuple[str, ...]) -> str:
    """Return the path's suffix in lower case, or raise `InvalidInput` unless it is one of `suffixes`."""
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise InvalidInput(f"{named(path)} has the suffix {path.suffix!r}: must be one of {', '.join(suffixes)}")
    return suffix


def named(path: Path) -> str:
    """Return the path as text, in quotes if it contains a line break or any other character that does not print."""
    return str(path) if str(path).isprintable() else repr(str(path))


def clipped(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Return the text; if it is longer than `longest` characters, cut it there and add an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def shown(value: str) -> str:
    """Return the text of a value of the data, put in quotes."""
    return repr(clipped(value))


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary from the pairs of a JSON object.

    Raise `ValueError` if a name occurs twice, because Python would keep only the last value.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{shown(next(name for name in names if names.count(name) > 1))} comes twice")
    return found


def reason(error: Exception) -> str:
    """Return the message of an error from the system or a library, on one line and without the path."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(said.split()) or type(error).__name__
