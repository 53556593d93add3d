"""Parse fully explicit statements in the form in which Rocq prints them under Set Printing All.

An example is `forall (n : nat) (_ : @M.small R n), and (@M.good R n) (M.q n)`. Its binders are `nat` and
`@M.small R n`. Its conclusion is the text after the comma, which establishes the predicates M.good and M.q.
"""

import re

OPENING, CLOSING = "([{", ")]}"
# a name may contain any character beyond ASCII
QUALIFIED = re.compile(r"[\w'.\u0080-\U0010ffff]+")
# Each of these types has an element in the library, for all values of the variables in the type.
PLAIN = re.compile(r"(?:nat|bool|Prop|Set|Type|classical_sets\.set|measure\.measure_display|(?:\w+\.)+type)$")
# the type of the elements of a structure, such as a ring, where the structure is a variable of the statement
ELEMENT = re.compile(r"@?(?:\w+\.)+sort(?: \w+)+$")
# the type of the natural numbers below k + 1, where k is a name
INDEX = re.compile(r"@?fintype\.ordinal \(S \w+\)$")
# These connectives join statements. A proof of the joined statement contains a proof of each statement; if the
# connective is "exists", it is a proof for some object.
CONNECTIVES = re.compile(r"(?:and\d*|ex2?|prod|sig2?|sigT2?|is_true)$")


def parts(text: str, separator: str) -> list[str]:
    """Split the text at every separator that is outside all brackets."""
    found, depth, start, i = [], 0, 0, 0
    while i < len(text):
        depth += (text[i] in OPENING) - (text[i] in CLOSING)
        if depth == 0 and text.startswith(separator, i):
            found.append(text[start:i])
            start = i = i + len(separator)
        else:
            i += 1
    return [part.strip() for part in [*found, text[start:]] if part.strip()]


def _first(text: str, separator: str) -> tuple[str, str]:
    """Return the text before the first separator outside all brackets, and the text after it."""
    head = parts(text, separator)[0]
    return head, text[text.index(head) + len(head) :].strip().removeprefix(separator.strip()).strip()


def unwrap(text: str) -> str:
    """Return the text without the brackets that enclose all of it."""
    text = text.strip()
    while text.startswith("(") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closing(text: str) -> int:
    """Return the position where the bracket at the start of a text is closed."""
    depth = 0
    for i, character in enumerate(text):
        depth += (character in OPENING) - (character in CLOSING)
        if depth == 0:
            return i
    return -1


def binders(text: str) -> tuple[list[str], str]:
    """Return the types of all variables that a statement quantifies, including its premises, and its conclusion."""
    types: list[str] = []
    text = unwrap(text)
    while text.startswith(("forall ", "let ")):
        if text.startswith("let "):
            text = _first(text, " in ")[1]
            continue
        bound, text = _first(text.removeprefix("forall "), ",")
        groups = [unwrap(group) for group in parts(bound, " ")] if bound.startswith("(") else [bound]
        types += [_first(group, ":")[1] for group in groups]
        text = unwrap(text)
    return types, text


def names(text: str, modules: frozenset[str]) -> set[str]:
    """Return the constants of the project that a term mentions."""
    found = (name.strip(".").removeprefix("covassay.") for name in QUALIFIED.findall(text))
    return {name for name in found if "." in name and name.split(".")[0] in modules}


def is_plain(text: str, modules: frozenset[str]) -> bool:
    """Return whether a type certainly has an element for all values of the variables in it.

    Such types are nat, Prop and other basic types, the type of all rings and of other structures, and the type of the
    elements of one structure. If a type certainly has an element, so has the type of matrices with entries in it, and
    the type of functions with values in it. The function returns False for a proposition, which may be false and then
    has no proof. The function also returns False for every type that mentions a definition of the project.
    """
    text = unwrap(text)
    if names(text, modules):
        return False
    if text.startswith("forall "):
        return is_plain(binders(text)[1], modules)
    if head(text) == "matrix.matrix":
        return is_plain(parts(text, " ")[1], modules)
    return bool(PLAIN.match(head(text)) or ELEMENT.match(text) or INDEX.match(text))


def head(text: str) -> str:
    """Return the name of the function that a term applies to arguments."""
    return parts(unwrap(text), " ")[0].removeprefix("@")


def establishes(conclusion: str, name: str) -> bool:
    """Return whether a conclusion establishes the predicate `name` for some object.

    The conclusion may state the predicate alone or in a conjunction, or may say that an object exists which satisfies
    the predicate.
    """
    text = unwrap(conclusion)
    if text.startswith("fun "):
        return establishes(_first(text, "=>")[1], name)
    if text.startswith("forall "):
        return establishes(binders(text)[1], name)
    _, *arguments = parts(text, " ")
    if head(text) == name:
        return True
    return bool(CONNECTIVES.match(head(text).rsplit(".")[-1])) and any(establishes(a, name) for a in arguments)
