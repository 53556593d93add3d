"""Make text from a target safe for a report, because such text may contain characters that hide or reorder other
characters.
"""

import unicodedata

UNSEEN = (
    "Cc",
    "Cf",
    "Cs",
    "Co",
    "Cn",
)  # these Unicode categories are control, format (direction marks), surrogate, private and unassigned characters
BREAKS = "\n\t"


def plain(text: str) -> str:
    """Replace every invisible character of a text by �, except line breaks and tabs."""
    return "".join("�" if unicodedata.category(c) in UNSEEN and c not in BREAKS else c for c in text)
