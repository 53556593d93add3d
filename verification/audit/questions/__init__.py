"""Collect all questions that an audit can ask. Each question has a module of its own. The name of the module is the
name of the question, and the folder of the module has the name of the question's kind.

Another package adds a question by an entry point in the group `covassay.questions` that names a `Question`.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import walk_packages

from covassay.verification.audit.question import Question

GROUP = "covassay.questions"


@cache
def own() -> tuple[Question, ...]:
    """Return the questions of covassay itself."""
    modules = (import_module(m.name) for m in walk_packages(__path__, f"{__name__}.") if not m.ispkg)
    return tuple(module.QUESTION for module in modules if hasattr(module, "QUESTION"))


def questions() -> tuple[Question, ...]:
    """Return all questions, including those of other packages, and check that no two questions have the same id."""
    found = (*own(), *(point.load() for point in entry_points(group=GROUP)))
    ids = [question.id for question in found]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ValueError(f"questions declared twice: {', '.join(twice)}")
    return found
