"""Find the source of a target, so that a report can name the file and the line."""

import ast
import inspect
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from covassay.verification.audit.targets.calling import Wrapped
from covassay.verification.audit.targets.target import SUFFIX, Target, TargetReference, TargetSource, parts_of_name


@dataclass(frozen=True)
class Whereabouts:
    """A line of a source file. The path is absolute, lines are counted from 1, and `directory` is that of the audit."""

    file: Path
    directory: Path
    line: int = 1


def whereabouts(source: TargetSource, loaded: Target | None = None) -> Whereabouts | None:
    """Return the place where a function is defined, or the script of a process; return None if the place is not known.

    The search imports nothing. For a function, the place is first taken from the target `loaded`. If this gives no
    place, the text of the module that `source` names is searched for the function.
    """
    directory = Path(source.directory if isinstance(source, TargetReference) else os.getcwd()).resolve()
    found = None if loaded is None else _defined(loaded.draw, directory)
    if not isinstance(source, TargetReference):
        return found
    try:
        if source.command:
            return _script(source.command, directory)
        if source.is_function:
            return found or _in_text(source, directory)
    except (OSError, ValueError):  # a word of a command may not be a valid path
        return None
    # the function behind an adapter is often in an installed package, which the user does not edit
    return found if found and found.file.is_relative_to(directory) else None


def _script(command: tuple[str, ...], directory: Path) -> Whereabouts | None:
    """Return the first argument in a command that names a file.

    If no argument names a file, return the program of the command if its file lies in the directory, and otherwise
    None.
    """
    for word in (*command[1:], command[0]):
        path = (directory / word).resolve()
        if path.is_file() and (word != command[0] or path.is_relative_to(directory)):
            return Whereabouts(path, directory)
    return None


def _function(draw: Any) -> Any:
    """Return the function, method or class behind a target, without wrappers."""
    while isinstance(draw, Wrapped | partial):
        draw = draw.function if isinstance(draw, Wrapped) else draw.func
    draw = inspect.unwrap(draw)
    own = inspect.isroutine(draw) or inspect.isclass(draw)
    return draw if own else type(draw)


def _defined(draw: Any, directory: Path) -> Whereabouts | None:
    try:
        found = _function(draw)
        file = inspect.getsourcefile(found)
        return Whereabouts(Path(file).resolve(), directory, inspect.findsource(found)[1] + 1) if file else None
    except Exception:  # the target may be of any type, and reading its attributes may run any code
        return None


def _in_text(source: TargetReference, directory: Path) -> Whereabouts | None:
    """Return where the function of a target is defined in the text of its module, without importing the module."""
    module, path = parts_of_name(source.spec)
    stem = (
        directory / module.removesuffix(SUFFIX) if module.endswith(SUFFIX) else directory.joinpath(*module.split("."))
    )
    places = stem.with_name(f"{stem.name}{SUFFIX}"), stem / "__init__.py"
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        return None
    try:
        body: list[ast.stmt] = ast.parse(file.read_bytes()).body
    except (OSError, ValueError, SyntaxError, RecursionError):
        return Whereabouts(file, directory)
    line = 1
    for name in path.split("."):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        named = [node for node in body if isinstance(node, kinds) and node.name == name]
        if not named:
            break
        line, body = named[-1].lineno, named[-1].body
    return Whereabouts(file.resolve(), directory, line)
