"""Define the exception that every function raises for bad input, and find the name that the user may have meant."""

import difflib
from collections.abc import Callable, Iterable

MOST_GUESSES = 5


class InvalidInput(ValueError):
    """An argument breaks a rule. The message names the argument, its value and the rule.

    When this exception is raised, nothing has been released or written. Some checks read the rows of a data set, so
    whether they raise depends on the data. A check that reads the data is a precondition and no part of the mechanism.
    The docstring of every function with a check that reads the data mentions the check.
    """


def guess(name: str, known: Iterable[str], quoted: Callable[[str], str] = str) -> str:
    """Return a question that suggests known names, for a message about an unknown name. Return "" if no known name is
    similar.

    The question suggests the known names that begin with the unknown name. If there is no such known name, or if there
    are more than `MOST_GUESSES`, the question suggests the most similar known name instead.
    """
    names = [*known]
    near = [one for one in names if name and one.startswith(name)]
    if not 1 <= len(near) <= MOST_GUESSES:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {' or '.join(map(quoted, near))}? It " if near else ""
