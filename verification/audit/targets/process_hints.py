"""Explain what is wrong with a reply of a process, to a reader who writes JSON by hand."""

import json
import re
from typing import Any

FLUSH = "fflush(stdout) in C, flush=True in Python, fflush() in awk"
LATE = (
    "the reply came only after standard input was closed: flush standard output after every line "
    f"({FLUSH}), and answer each line as it comes, without waiting for the end of the input"
)
UNENDED = 'there is no newline at the end of the reply: print "\\n" after it, and flush standard output'
NOT_A_NUMBER = 'nan and inf are no JSON numbers; reply {"error": "…"} if there is no number'
BROKEN_LINE = "a reply must stand on one line"
IN_TEXT: tuple[tuple[str, str], ...] = (
    (r"^$", "the line is empty: print a reply and one newline, and nothing else"),
    (r"\b-?(nan|inf|infinity)\b(?=[^\"]*$)", NOT_A_NUMBER),
    (r"^[^\"]*'", 'JSON has double quotes: {"output": …}'),
    (r",\s*[\]}]", "a comma stands before a closing bracket"),
    (r"[\[,:]\s*-?\.\d|\d\.(?!\d)", "a JSON number has a digit on both sides of its point"),
    (r"[\[,:]\s*\+", "a JSON number has no plus sign in front"),
    (r"[\[{,:]$", BROKEN_LINE),
    (r"^\{[^}]*$", f"a closing bracket is missing, or the reply goes on in the next line; {BROKEN_LINE}"),
)


def hint(text: str) -> str:
    """Return a likely mistake in a line that should be a reply, or an empty string if no mistake is recognised."""
    text = text.strip()
    try:
        reply: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = [told for pattern, told in IN_TEXT if re.search(pattern, text, re.IGNORECASE)]
        return found[0] if found else ""
    if isinstance(reply, list | int | float):
        return 'a bare value: write {"output": …} around it'
    if not isinstance(reply, dict):
        return ""
    if "error" in reply and reply["error"] is None:
        return '"error" is null and there is no "output": leave "error" out, or say in words why there is no output'
    if "output" in reply:
        return '"output" is null: if there is no output, reply {"error": "why there is none"}'
    if "outputs" in reply:
        return 'the key "outputs" is only for a reply to "seeds"; the reply to a request with "seed" has "output"'
    named = ", ".join(map(json.dumps, list(reply)[:3]))
    return f'the key must be "output" or "error"{f", and is {named}" if named else ""}'
