"""Test the website: its pages, links and formulas, errors during the build, and that it loads nothing from other
hosts.
"""

import html
import re
import shutil
from pathlib import Path

import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.pure import entrywise_laplace, nuclear_laplace
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.site import build as site
from covassay.verification.site.typeset import as_mathml, formulas_of, section_of

ROOT = Path(__file__).parents[3]
FROM_ANOTHER_HOST = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//(?!127)[^"]*"')


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    pytest.importorskip("latexify")
    return site.gather(ROOT)


def test_every_mechanism_has_a_page_with_its_code_and_its_proof(pages: dict[str, str]) -> None:
    for name, mechanism in MECHANISMS.items():
        page = pages[f"mechanisms/{name}.md"]
        assert mechanism.page in pages
        assert f"(../{mechanism.page})" in page
        assert "def release(" in page


def test_links_lead_to_pages(pages: dict[str, str]) -> None:
    """The test fails if a link on the website has no target. Links to code must lead to the page of a mechanism or to
    a file.
    """
    for path, text in pages.items():
        for target in site._links(path, text):
            known = target in pages or (target.endswith(site.COPIED) and (ROOT / target).exists())
            assert known, f"{path} links to {target}, which is no page"
    assert "(../../mechanisms/nuclear-laplace.md)" in pages["proofs/paper/nuclear-laplace.md"]


def test_a_formula_is_typeset_from_the_code() -> None:
    """The test fails if a formula on the website differs from the one in the code."""
    pytest.importorskip("latexify")
    names = [function.__name__ for function in formulas_of(entrywise_laplace)]
    assert {"sensitivity", "noise_scale", "privacy_loss", "mean_squared_error", "largest_entry"} <= set(names)
    shown = html.unescape(re.sub(r"<[^>]*>", "", as_mathml(nuclear_laplace.noise_scale) or ""))
    assert shown == "noise\xa0scale(n,ϵ)=2nϵ"  # without the HTML tags, the fraction 2/(nϵ) reads 2nϵ


def test_what_looks_like_a_link_in_code_is_left_alone() -> None:
    page = "[a](b.md)\n```python\nx[0](b.md)\n```\n[a](c.md)\n````text\n```\n[a](b.md)\n````\n"
    shown = site._with_links_between_pages("folder/page.md", page, {"folder/b.md": "", "folder/c.md": ""})
    assert shown == page.replace("[a](b.md)", "[a](../folder/b.md)", 1).replace("(c.md)", "(../folder/c.md)")


def scale_with_another_constant(n: float, epsilon: float) -> float:
    return 3 / (n * epsilon)


def list_of_numbers(n: int) -> list[int]:
    return [n] * 2


def test_another_constant_and_what_is_no_formula() -> None:
    """The test fails if the typeset form of a formula has another meaning than its code."""
    pytest.importorskip("latexify")
    assert "<mn>3</mn>" in (as_mathml(scale_with_another_constant) or "")
    assert as_mathml(list_of_numbers) is None  # readers would take the text [n]·2 for a product
    assert section_of(site) == ""


@pytest.mark.parametrize(("root", "named"), [("nowhere", "root = "), (None, "out = ")])
def test_a_wrong_folder_is_one_clear_error(root: str | None, named: str, tmp_path: Path) -> None:
    """The test fails if the build of the website deletes a folder that contains other files."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a thesis.tex").write_text("")
    with pytest.raises(InvalidInput, match=named):
        site.build(tmp_path / root if root else ROOT, tmp_path / "out")
    assert (tmp_path / "out" / "a thesis.tex").exists()


@pytest.mark.slow
def test_the_site_is_built_and_loads_nothing_from_another_host(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    count = site.build(ROOT, tmp_path / "site")
    built = list((tmp_path / "site").rglob("index.html"))
    assert len(built) >= count
    assert not [path for path in built if FROM_ANOTHER_HOST.search(path.read_text())]
    assert FROM_ANOTHER_HOST.search('<script async src="https://elsewhere.example/a.js"></script>')


@pytest.mark.slow
def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    """The test fails if the website is built although a link leads to a missing page or heading."""
    pytest.importorskip("mkdocs")
    root = tmp_path / "clone"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".git", "__pycache__", "build"))
    page = root / "proofs" / "paper" / "laplace.md"
    page.write_text(f"{page.read_text()}\n[no page](nowhere.md) and [no heading](nuclear-laplace.md#not-there)\n")
    with pytest.raises(InvalidInput, match="not built") as error:
        site.build(root, tmp_path / "site")
    told = [line for line in str(error.value).splitlines() if line.startswith("WARNING")]
    assert len(told) == 2
    assert all(any(link in line for line in told) for link in ("/nowhere.md'", "#not-there'"))
