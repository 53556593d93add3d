"""Test that every mechanism has a proof page with the required headings, and that all names and links on the pages
exist. Each rule is a function that returns the defects of a page, and a test shows that each rule finds a planted
defect.
"""

import importlib
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.audit.questions import own
from covassay.verification.claims.ledger import assumptions, claims, covering, theorem_tags

PROOFS = Path(__file__).resolve().parents[2] / "proofs"
PAPER = PROOFS / "paper"
PAGES = sorted(path.name for path in PAPER.glob("*.md"))
OF_MECHANISMS = [page for page in PAGES if page.removesuffix(".md") in MECHANISMS]
ROOT = PROOFS.parent
FOLDERS = "reference", "verification", "proofs", "tests"
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *(file for name in FOLDERS for file in (ROOT / name).rglob("*.md")))
)
HEADINGS = [
    "Claim",
    "What the code enforces",
    "What the caller promises",
    "Proof",
    "Numeric model",
    "Accuracy",
    "Source",
]
OPTIONAL = {"Accuracy"}
PACKAGES = (
    "reference",
    "reference.mechanisms",
    "reference.mechanisms.building_blocks",
    "reference.mechanisms.pure",
    "reference.mechanisms.concentrated",
    "reference.mechanisms.approximate",
    "reference.mechanisms.gaussian_estimation",
    "reference.domain",
    "reference.laws",
    "reference.rounded",
    "reference.downstream",
    "verification",
    "verification.exact",
    "verification.claims.checks",
)
FUNCTION = re.compile(r"(?:(?P<module>[a-z_]\w*(?:\.\w+)*):)?(?P<name>[A-Za-z_]\w*)(?P<call>\()?")
NAME = re.compile(r"[A-Z][A-Z0-9]*(?:[.-][^\s.-]+)+")  # the name of a theorem, a claim or an assumption
EXTERNAL = ("http://", "https://", "mailto:")


def inline(text: str) -> list[Token]:
    """Return the inline elements of a Markdown text: words, code spans, emphasis and links."""
    blocks = MarkdownIt("commonmark").enable("table").parse(text)
    return [piece for block in blocks for piece in block.children or []]


def spans(text: str) -> list[str]:
    """Return the texts of the code spans in a Markdown text."""
    return [piece.content for piece in inline(text) if piece.type == "code_inline"]


def wrong_headings(text: str) -> str:
    """Return a message if the headings of the page differ from the required headings, and an empty string otherwise."""
    found = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    expected = [heading for heading in HEADINGS if heading not in OPTIONAL or heading in found]
    return "" if found == expected else f"has {found}"


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub generates for the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(text: str, folder: Path) -> list[str]:
    """Return the relative links whose target does not exist."""
    links = [str(piece.attrs["href"]) for piece in inline(text) if piece.type == "link_open"]
    broken = []
    for link in links:
        if link.startswith(EXTERNAL):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = folder / path
        found = not path or target.exists()
        if found and anchor:
            found = anchor in anchors(target.read_text(encoding="utf-8") if path else text)
        if not found:
            broken.append(link)
    return broken


def exists(module: str, name: str) -> bool:
    """Return whether a package of this project has a module `module` that defines a callable `name`."""
    for package in PACKAGES:
        try:
            found = importlib.import_module(f"covassay.{package}.{module}")
        except ModuleNotFoundError:
            continue
        if callable(getattr(found, name, None)):
            return True
    return False


def missing_functions(text: str, mechanism: str) -> list[str]:
    """Return the code spans on a page that name a function that does not exist. If a code span is `module:name`, the
    module must define `name`. If a code span on the page of a mechanism begins with `name(`, the mechanism's file must
    define `name`.
    """
    own = mechanism.replace("-", "_")
    missing = []
    for span in spans(text):
        match = FUNCTION.match(span)
        module = match and (match["module"] or (own if match["call"] else ""))
        if match and module and not exists(module, match["name"]):
            missing.append(span)
    return missing


@cache
def known_names() -> set[str]:
    return {*theorem_tags(PROOFS), *covering(), *assumptions()}


def unknown_names(text: str) -> list[str]:
    """Return the names of theorems, claims and assumptions on the page that do not exist."""
    return [span for span in spans(text) if NAME.fullmatch(span) and span not in known_names()]


def unnamed_wholes(text: str, mechanism: str) -> list[str]:
    """Return the Rocq theorems about the whole mechanism that the page of the mechanism does not name."""
    whole = [leg.name for leg in claims()[f"MECH.{mechanism}"].legs if leg.whole]
    return [theorem for theorem in whole if theorem not in spans(text)]


def lost_underscores(text: str) -> list[str]:
    """Return accidental emphasis: Markdown reads the underscores of two formulas in one paragraph as emphasis."""
    return [piece.type for piece in inline(text) if piece.type == "em_open" and piece.markup == "_"]


def page(name: str) -> str:
    return (PAPER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_has_a_page_and_a_claim(name: str) -> None:
    assert f"{name}.md" in PAGES
    entry = claims()[f"MECH.{name}"]
    assert ("page", f"{name}.md") in {(leg.kind, leg.name) for leg in entry.legs if not leg.second_opinion}
    assert f"{MECHANISMS[name].release.__module__.removeprefix('covassay.')}:spend" in entry.code


@pytest.mark.parametrize("name", OF_MECHANISMS)
def test_a_page_has_the_headings_in_order(name: str) -> None:
    assert not wrong_headings(page(name))


@pytest.mark.parametrize("name", OF_MECHANISMS)
def test_a_page_links_to_its_file_and_to_the_ledger(name: str) -> None:
    text = page(name)
    path = MECHANISMS[name.removesuffix(".md")].release.__module__.removeprefix("covassay.").replace(".", "/")
    assert f"](../../{path}.py)" in text
    assert f"`MECH.{name.removesuffix('.md')}`" in text.partition("## Source")[2]


@pytest.mark.parametrize("name", PAGES)
def test_the_functions_that_a_page_names_exist(name: str) -> None:
    assert missing_functions(page(name), name.removesuffix(".md") if name in OF_MECHANISMS else "") == []


@pytest.mark.parametrize("name", OF_MECHANISMS)
def test_the_page_of_a_whole_mechanism_names_its_theorem(name: str) -> None:
    assert unnamed_wholes(page(name), name.removesuffix(".md")) == []


def test_every_theorem_on_a_whole_mechanism_is_one_of_its_claim() -> None:
    tags = {tag.removeprefix("WHOLE.") for tag in theorem_tags(PROOFS) if tag.startswith("WHOLE.")}
    legs = {name: {leg.name for leg in claims()[f"MECH.{name}"].legs if leg.whole} for name in MECHANISMS}
    assert tags == {name for name, whole in legs.items() if f"WHOLE.{name}" in whole}


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_cites_exists_and_what_it_writes_is_shown(name: str) -> None:
    assert unknown_names(page(name)) == []
    assert lost_underscores(page(name)) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    path = ROOT / name
    assert broken_links(path.read_text(encoding="utf-8"), path.parent) == []


# Each rule must find a planted defect.


def test_a_mechanism_without_a_page_or_a_claim_is_seen() -> None:
    with pytest.raises(AssertionError):
        test_a_mechanism_has_a_page_and_a_claim("no-such-mechanism")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Proof", "## The proof"),
        ("## Proof\n", "Proof\n"),
        ("## Claim", "## Source"),
        ("## Source", "## Numeric model\n\n## Source"),
    ],
    ids=["renamed", "missing", "out of order", "twice"],
)
def test_wrong_headings_are_seen(old: str, new: str) -> None:
    text = page("laplace.md")
    assert old in text
    assert wrong_headings(text.replace(old, new))
    without = text.partition("## Accuracy")[0] + "## Source" + text.partition("## Source")[2]
    assert not wrong_headings(without)  # only the heading "Accuracy" may be left out


@pytest.mark.parametrize("link", ["nowhere.md", "../paper", "../LEDGER.md#no-such-heading", "#nor-this"])
def test_a_broken_link_is_seen(link: str) -> None:
    text = f"# A page\n\nSee [this]({link}), [that](#a-page), [those](laplace.md#what-the-code-enforces)."
    assert broken_links(text, PAPER) == ([link] if link != "../paper" else [])
    assert broken_links(f"[x]({link}) [y](https://example.org/nowhere)", PROOFS) == [link]


@pytest.mark.parametrize(
    "span", ["noise_scale_2(n)", "nowhere:noise_scale", "laplace:no_such_function", "dn25.privacy:no_such_check"]
)
def test_a_missing_function_is_seen(span: str) -> None:
    known = (
        "`noise_scale(sensitivity, epsilon)` `domain:unit_rows` `laws.k_norm:sample` `adk19.basics:laplace_loss` `x`"
    )
    assert missing_functions(f"{known} and `{span}`", "laplace") == [span]
    # the function is defined in the file of another mechanism
    assert missing_functions("`energies_loss(b1, b2, d)`", "laplace")


@pytest.mark.parametrize("span", ["LAPLACE-NOT-DP", "MECH.no-such-mechanism", "DN25.Thm99", "N-NOTHING"])
def test_an_unknown_name_is_seen(span: str) -> None:
    assert unknown_names(f"`KNORM-DP` `DN25.Thm3` `N-FLOAT` `I` `-DP` and `{span}`") == [span]


@pytest.mark.parametrize("mechanism", ["nuclear-laplace", "nuclear-ball-projection"])
def test_an_unnamed_whole_is_seen(mechanism: str) -> None:
    theorem = f"WHOLE.{mechanism}"
    assert unnamed_wholes(page(f"{mechanism}.md").replace(f"`{theorem}`", theorem), mechanism) == [theorem]


def test_lost_underscores_are_seen() -> None:
    assert lost_underscores("‖Δ‖_F ≤ Σ_{i<j} x")
    assert not lost_underscores("‖Δ‖_F ≤ Σ\\_{i<j} x, *Step 1*, `a_b` and `c_d`")


QUESTION_OF_THE_AUDIT = re.compile(r"^\| (?P<id>[a-z ]+: [^|]+?) \| (?P<share>[0-9/]+) \|", re.MULTILINE)


def test_the_page_on_the_audit_lists_every_question_with_its_share() -> None:
    listed = QUESTION_OF_THE_AUDIT.findall((PAPER / "audit-sound.md").read_text())
    assert sorted(listed) == sorted((question.id, str(question.share)) for question in own())
