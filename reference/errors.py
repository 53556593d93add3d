"""The exception that every function raises for bad input."""


class InvalidInput(ValueError):
    """An argument breaks a rule. The message names the argument, its value and the rule.

    When it is raised, nothing has been released or written. Some checks read the rows of a data set, so whether they
    raise depends on the data: such a check is a precondition on the data, not part of the mechanism. The docstring of
    every function with such a check says so.
    """
