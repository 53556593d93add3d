"""The one exception that bad input raises."""


class InvalidInput(ValueError):
    """An argument breaks a rule; the message names the argument, its value and the rule.

    Nothing has been released or written when it is raised. A check that reads the rows of a data
    set is a precondition on the data, not part of the mechanism: whether it raises depends on
    the data, and the docstring of every function that has such a check says so.
    """
