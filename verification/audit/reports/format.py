"""Declare a file format for the reports of an audit."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from covassay.verification.audit.report import AuditReport

NAME = re.compile("[a-z][a-z0-9]*")


@dataclass(frozen=True)
class Format:
    """A format in which a report can be written.

    `name` is the option of the command for a format, such as "junit" for --junit FILE. `help` is a sentence about the
    option for `--help`. `text` takes a report and the exit status, and returns the text of the file. The exit status is
    an argument because an interrupted audit may exit with another status than its verdict has.
    """

    name: str
    help: str
    text: Callable[[AuditReport, int], str]

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"name = {self.name!r}: must be small letters and digits")
