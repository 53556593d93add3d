"""Declare a file format for the reports of an audit."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from covassay.verification.audit.report import AuditReport

NAME = re.compile("[a-z][a-z0-9]*")


@dataclass(frozen=True)
class Format:
    """A format in which a report can be written.

    `name` names the format and its option of the command; for example, "junit" belongs to `--junit FILE`. `help` is a
    sentence about the option for `--help`. `text` takes a report and the exit status, and returns the text of the file.
    The exit status is an argument because the exit status of an interrupted audit may differ from the usual one for its
    verdict.
    """

    name: str
    help: str
    text: Callable[[AuditReport, int], str]

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"name = {self.name!r}: must be small letters and digits")
