"""Read numbers from text that uses only the digits 0 to 9, and no characters that merely look like them."""


def read_number(text: str) -> float:
    """Return the number that a text means, or raise `ValueError` unless it is written in ASCII, without underscores.

    Python itself reads the digits of every script, and 1_0 as 10. A text that looks like a number but is not one must
    not be read as a budget or a bound.
    """
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r} must be written in the digits 0 to 9, without underscores")
    return float(text)
