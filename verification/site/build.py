"""Build the site: gather its pages from a clone of the repository, and let MkDocs turn them into HTML.

The site has the Markdown files of `pages`, the proofs and the ledger as they are in the repository, one page for every
mechanism and for every file that another page links to, and the API. Links into the repository become links between
pages of the site. MkDocs runs in strict mode, so that a link that leads nowhere is an error.
"""

import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import PROVENANCES, Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.declared import by_origin

PAGES = Path(__file__).parent / "pages"
IN_REPOSITORY = "verification/site/pages/"  # the folder of PAGES in the repository
SETTINGS = Path(__file__).parent / "mkdocs.yml"
STYLE = Path(__file__).parent / "site.css"
NEEDED = ("README.md", "reference", "verification", "proofs")
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]+)(#[^)\s]*)?\)")
# this pattern matches a fenced block of code, in which nothing is a link
CODE = re.compile(r"^(`{3,})[^`].*?^\1$", re.MULTILINE | re.DOTALL)
LEDGER = "proofs/LEDGER.md"
COPIED = (".svg", ".png", ".parquet")  # files under proofs with these endings are copied to the site unchanged
API = {
    "reference": (
        "covassay.reference.privacy",
        "covassay.reference.accounting",
        "covassay.reference.sensitivity",
        "covassay.reference.box_moments",
        "covassay.reference.projections",
        "covassay.reference.tails",
        "covassay.reference.mechanisms.mechanism",
        "covassay.reference.laws.nuclear_laplace",
        "covassay.reference.downstream.pca",
        "covassay.reference.downstream.ridge",
        "covassay.reference.rounded",
        "covassay.reference.errors",
    ),
    "verification": ("covassay.verification",),
}


def build(root: Path, out: Path) -> int:
    """Build the site of the clone `root` into the folder `out`, and return the number of pages written.

    Raises
    ------
    InvalidInput : `root` is no clone, `out` holds anything but a site, or MkDocs is missing or refuses a page.
    """
    missing = [name for name in NEEDED if not (root / name).exists()]
    if missing:
        raise InvalidInput(f"root = {root}: {missing[0]} is not there; run this from a clone of the repository")
    if out.exists() and any(out.iterdir()) and not (out / "sitemap.xml").exists():
        raise InvalidInput(f"out = {out}: the folder holds something other than a site; name an empty or a new folder")
    for module in ("mkdocs", "material", "mkdocstrings", "latexify", "latex2mathml"):
        if importlib.util.find_spec(module) is None:
            raise InvalidInput(f"building the site needs {module}: pip install 'covassay[site]'")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        pages = gather(root)
        _lay_out(pages, root, work)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mkdocs", "build", "--strict", "--site-dir", str(out.resolve())],
            cwd=work,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise InvalidInput(f"the site was not built:\n{done.stderr.strip()}")
    return len(pages)


def gather(root: Path) -> dict[str, str]:
    """Return the text of every page, keyed by its path on the site. Pages under proofs have the same paths on the site
    as in the repository.
    """
    pages = {path.relative_to(PAGES).as_posix(): path.read_text() for path in sorted(PAGES.rglob("*.md"))}
    for path in (root / "CONTRIBUTING.md", *sorted((root / "proofs").rglob("*.md"))):
        pages[path.relative_to(root).as_posix()] = path.read_text()
    pages["mechanisms/index.md"] = _list_of_mechanisms()
    pages |= {f"mechanisms/{name}.md": mechanism_page(m, root) for name, m in MECHANISMS.items()}
    pages |= {f"api/{name}.md": _api_page(name, modules) for name, modules in API.items()}
    for target in sorted(_linked_files(pages, root)):
        pages[_page_of_file(target)] = _file_page(root / target, target)
    return {path: _with_links_between_pages(path, text, pages) for path, text in pages.items()}


def mechanism_page(mechanism: Mechanism[Any, ..., Any], root: Path) -> str:
    """Return the page of a mechanism, which has its steps and costs, its typeset formulas, and its code."""
    from covassay.verification.site.typeset import section_of

    module = importlib.import_module(mechanism.release.__module__)
    formulas = section_of(module)
    code = (root / _file_of(mechanism)).read_text().rstrip()
    facts = {
        "source": f"{mechanism.source}; {PROVENANCES[mechanism.about.provenance]}",
        "guarantee": f"{mechanism.notion.label}, {mechanism.adjacency}, {mechanism.arithmetic}",
        "command": f"`covassay mechanisms {mechanism.name}`",
        "proof": f"[the whole proof](../{mechanism.page})",
        "claim": f"`{mechanism.claim}` in the [ledger](../{LEDGER})",
    }
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    typeset = f"## Formulas\n\nThe formulas are typeset from the functions that the code runs.\n\n{formulas}\n"
    return (
        f"# {mechanism.name}\n\n{mechanism.title[0].upper()}{mechanism.title[1:]}.\n\n| | |\n|---|---|\n{rows}\n\n"
        f"{typeset if formulas else ''}\n## Code\n\n`{_file_of(mechanism)}`\n\n```python\n{code}\n```\n"
    )


def _file_of(mechanism: Mechanism[Any, ..., Any]) -> str:
    """Return the path of a mechanism's file in the repository."""
    return mechanism.release.__module__.removeprefix("covassay.").replace(".", "/") + ".py"


def _list_of_mechanisms() -> str:
    proofs = "The [list of proofs](../proofs/paper/README.md) says in one line what each mechanism releases."
    lines = ["# Mechanisms\n", f"Every name leads to formulas, code and proof. {proofs}\n"]
    for heading, group in by_origin().items():
        lines += [f"\n## {heading[0].upper()}{heading[1:]}\n"]
        lines += ["| mechanism | in words | source | guarantee |", "|---|---|---|---|"]
        lines += [f"| [{m.name}]({m.name}.md) | {m.title} | {m.source} | {m.notion.label} |" for m in group]
    lines.append(f"\n{PROVENANCES['reconstructed'][0].upper()}{PROVENANCES['reconstructed'][1:]}.")
    return "\n".join(lines) + "\n"


def _api_page(name: str, modules: tuple[str, ...]) -> str:
    return f"# covassay.{name}\n\n" + "\n\n".join(f"::: {module}" for module in modules) + "\n"


def _resolved(page: str, target: str) -> str:
    """Return the target of a link on a page. If the target is a page of the site, return its path in the site, and
    otherwise its path from the root of the repository.

    A link is relative to the folder of the page in the repository, so that the link also works in the repository.
    """
    own = f"{IN_REPOSITORY}{page}" if (PAGES / page).is_file() else page
    parts: list[str] = []
    for part in (PurePosixPath(own).parent / target).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts).removeprefix(IN_REPOSITORY)


def _links(page: str, text: str) -> Iterator[str]:
    """Yield the files of the repository that a page links to, as paths from the root."""
    for match in LINK.finditer(CODE.sub("", text)):
        if ":" not in match[2]:
            yield _resolved(page, match[2])


def _linked_files(pages: Mapping[str, str], root: Path) -> set[str]:
    """Return the files and folders that pages link to and that are neither a page nor a picture."""
    found = {target for page, text in pages.items() for target in _links(page, text)}
    own = {_file_of(m) for m in MECHANISMS.values()}
    return {t for t in found - own if t not in pages and not t.endswith(COPIED) and (root / t).exists()}


def _page_of_file(target: str) -> str:
    # MkDocs leaves out files whose names begin with a dot
    return f"files/{target.replace('/.', '/').removeprefix('.')}.md"


def _file_page(path: Path, name: str) -> str:
    """Return a page that shows the text of a file, or the names in a folder."""
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith(("__", ".")))
        return f"# {name}\n\n" + "\n".join(f"- `{entry}`" for entry in names) + "\n"
    kind = {"py": "python", "json": "json", "toml": "toml", "v": "coq"}.get(path.suffix[1:], "text")
    return f"# {path.name}\n\n`{name}`\n\n````{kind}\n{path.read_text().rstrip()}\n````\n"


def _with_links_between_pages(page: str, text: str, pages: Mapping[str, str]) -> str:
    """Return the text of a page, with links into the repository replaced by links to pages of the site."""
    mechanisms = {_file_of(m): f"mechanisms/{name}.md" for name, m in MECHANISMS.items()}

    def replaced(match: re.Match[str]) -> str:
        if ":" in match[2]:
            return match[0]
        target = _resolved(page, match[2])
        shown = next((t for t in (mechanisms.get(target), target, _page_of_file(target)) if t in pages), target)
        up = "../" * (len(PurePosixPath(page).parts) - 1)
        return f"{match[1]}{up}{shown}{match[3] or ''})"

    prose, blocks = CODE.split(text)[::2], [match[0] for match in CODE.finditer(text)]
    return "".join(LINK.sub(replaced, part) + block for part, block in zip_longest(prose, blocks, fillvalue=""))


def _lay_out(pages: Mapping[str, str], root: Path, work: Path) -> None:
    """Write the input of MkDocs: its settings, the pages, the pictures, and the packages whose docstrings it shows."""
    docs = work / "docs"
    for path, text in pages.items():
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).write_text(text)
    for asset in sorted((root / "proofs").rglob("*.*")):
        if asset.name.endswith(COPIED):
            copy = docs / asset.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(asset, copy)
    shutil.copy(SETTINGS, work / "mkdocs.yml")
    shutil.copy(STYLE, docs / STYLE.name)
    for package in ("reference", "verification"):
        (work / "covassay").mkdir(exist_ok=True)
        (work / "covassay" / package).symlink_to((root / package).resolve())
