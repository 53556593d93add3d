"""The declaration of a format in which a report is written to a file."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from covassay.verification.audit.report import AuditReport

NAME = re.compile("[a-z][a-z0-9]*")


@dataclass(frozen=True)
class Format:
    """A format in which a report can be written.

    name : the option for this format, such as "junit" for --junit FILE. help : a sentence on that option.
    text : (report, exit status) -> the text of the file. The exit status can differ from that of the verdict if the
    audit was interrupted.
    """

    name: str
    help: str
    text: Callable[[AuditReport, int], str]

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"name = {self.name!r}: must be small letters and digits")
