"""Read numbers from text that uses only the digits 0 to 9, and no characters that merely look like them."""


def read_number(text: str) -> float:
    """Return the number that a text means, or raise `ValueError` unless it is written in ASCII, without underscores.

    Python's `float` also accepts the digits of other scripts, and reads 1_0 as 10. A budget or a bound must not be
    written with such digits or with underscores, so this function rejects them.
    """
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r} must be written in the digits 0 to 9, without underscores")
    return float(text)
