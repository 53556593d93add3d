"""Read tags, forbidden words and digests from the .v files, without Rocq."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

ACCEPT = "covassay claims accept --rocq"  # the command that writes the lock and the vectors
FILE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\.v$")  # coq_makefile reads any other name as an option, or as several names
TAG = re.compile(r"\(\*@ (\S+) \*\)")
STATEMENT = re.compile(
    r"\s*(?:(?:#\[[^\]]*\]|Local|Global|Program)\s+)*(?:Theorem|Lemma|Corollary|Proposition|Fact|Remark)\s+([\w']+)"
)
BANNED = re.compile(
    r"\b(?:Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Primitive|Register|Redirect|Load|Elpi|bypass_check"
    r"|Declare\s+(?:ML\s+)?Module|(?:Set|Unset)\s+(?:Guard|Positivity|Universe)\s+Checking)\b"
)
SECTION_ONLY = r"Hypothes[ie]s|Variables?|Context"  # commands that declare axioms if they are outside a section
SENTENCE = re.compile(
    rf"\b(?:(?P<open>Section|Module\s+Type|Module)\s+(?P<name>\w+)(?P<rest>[^.]*)\.|End\s+(?P<end>\w+)\s*\."
    rf"|(?P<local>{SECTION_ONLY})\b)"
)


@dataclass(frozen=True)
class Tagged:
    """A theorem in a .v file that carries a tag."""

    tag: str
    file: str
    name: str

    @property
    def module(self) -> str:
        """Return the name of the compiled module of the theorem's file."""
        return self.file.removesuffix(".v")

    @property
    def qualified(self) -> str:
        """Return the full name by which the kernel is asked about the theorem."""
        return f"{self.module}.{self.name}"


def paths(folder: Path) -> list[Path]:
    """Return the .v files in all folders below, sorted by their names, which `name_problems` requires to be unique."""
    return sorted(folder.rglob("*.v"), key=lambda path: path.name)


def path_of(folder: Path, name: str) -> Path:
    """Return the path of the file of the given name: a .v file in any folder below, any other file in the folder
    itself.
    """
    return next((path for path in paths(folder) if path.name == name), folder / name)


def files(folder: Path) -> dict[str, str]:
    """Return the text of every .v file, keyed by the name of the file."""
    return {path.name: path.read_text(encoding="utf-8") for path in paths(folder)}


def read_table(path: Path) -> dict[str, Any]:
    """Return the contents of a hand-written TOML file, or an empty table if the file does not exist."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@lru_cache(maxsize=256)  # the text is cached, because an audit asks for the code of every file several times
def code(text: str, strings: bool = False) -> str:
    """Return the text without its comments and, unless `strings`, without the contents of its strings.

    Tags and line breaks stay in the text.

    As in Rocq, comments may be nested, and a string within a comment may contain the end of a comment.
    """
    kept, depth, i = [], 0, 0
    while i < len(text):
        tag = TAG.match(text, i) if depth == 0 else None
        if tag:
            kept.append(tag.group())
            i = tag.end()
        elif text.startswith("(*", i):
            depth, i = depth + 1, i + 2
        elif depth and text.startswith("*)", i):
            depth, i = depth - 1, i + 2
            kept.append(" ")
        elif text[i] == '"':
            end = text.find('"', i + 1)
            end = len(text) if end < 0 else end + 1
            kept.append(
                text[i:end] if strings and depth == 0 else '""' * (depth == 0) + "\n" * text.count("\n", i, end)
            )
            i = end
        else:
            kept.append(text[i] if depth == 0 or text[i] == "\n" else "")
            i += 1
    return "".join(kept)


def hiding(text: str) -> list[str]:
    """Return the strings in the code that contain `(*` or `*)`, which begin and end a comment.

    A string can declare a token of a notation. If the declared token contains `(*`, Rocq reads these characters as part
    of the token. The function `code` would read the characters `(*` as the beginning of a comment, and would skip the
    code that follows.
    """
    strings = re.findall(r'"[^"]*"', code(text, strings=True))
    return [string for string in strings if "(*" in string or "*)" in string]


def tagged(sources: Mapping[str, str]) -> tuple[dict[str, Tagged], list[str]]:
    """Return the tagged theorems, keyed by tag, and a message for every misplaced tag."""
    found: dict[str, Tagged] = {}
    problems = []
    for file, text in sources.items():
        bare = code(text)
        for match in TAG.finditer(bare):
            tag, statement = match.group(1), STATEMENT.match(bare, match.end())
            if statement is None:
                problems.append(f"{file}: no theorem follows the tag {tag}")
            elif tag in found:
                problems.append(f"{file}: the tag {tag} is taken by a theorem in {found[tag].file}")
            else:
                found[tag] = Tagged(tag, file, statement.group(1))
    return found, problems


def banned(file: str, text: str) -> list[str]:
    """Return a message, with the line, for every word that would allow an unproved theorem."""
    bare = code(text)

    def told(position: int, token: str) -> str:
        return f"{file}, line {bare.count(chr(10), 0, position) + 1}: {' '.join(token.split())} is not allowed"

    found = [told(m.start(), m.group()) for m in BANNED.finditer(bare)]
    found += [
        f"{file}: the string {token!r} is not allowed, because it could hide forbidden words" for token in hiding(text)
    ]
    scopes: list[str] = []
    for m in SENTENCE.finditer(bare):
        is_alias = m["open"] != "Section" and ":=" in (m["rest"] or "")  # the command `Module M := N.` opens no scope
        if m["open"] and not is_alias:
            scopes.append(m["open"])
        elif m["end"] and scopes:
            scopes.pop()
        elif m["local"] and "Section" not in scopes:
            found.append(told(m.start(), f"{m['local']} outside a section"))
    return found


def name_problems(folder: Path) -> list[str]:
    """Return a message for every .v file whose name is not the name of a module, or is the name of another file too."""
    names = [path.name for path in paths(folder)]
    rule = "letters, digits and _ only, a letter first"
    found = [f"{name!r} is no name for a file: {rule}" for name in names if not FILE.match(name)]
    return found + [f"{name}: two files have this name" for name in sorted({n for n in names if names.count(n) > 1})]


def sha256(text: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file that the audit reads."""
    listed = [*paths(folder), folder / "witnesses.toml", folder / "vectors.toml"]
    return {p.name: sha256(p.read_text(encoding="utf-8")) for p in listed if p.exists()}
