"""Make text from a target harmless for a report: it may contain characters that hide or reorder others."""

import unicodedata

UNSEEN = (
    "Cc",
    "Cf",
    "Cs",
    "Co",
    "Cn",
)  # control, format (direction marks), surrogate, private and unassigned characters
BREAKS = "\n\t"


def plain(text: str) -> str:
    """The text with � in place of every invisible character, except line breaks and tabs."""
    return "".join("�" if unicodedata.category(c) in UNSEEN and c not in BREAKS else c for c in text)
