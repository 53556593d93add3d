"""Test the report as an HTML page: its content, that it loads no other file, and that a browser shows all of it."""

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.laws import nuclear_laplace
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.reports.page import NO_PICTURES, as_page
from covassay.verification.audit.reports.pictures import BAND, half_width, pictured, pictures, printed_marks, tail_lines
from covassay.verification.audit.reports.svg import HEIGHT, LONGEST, WIDTH, Axis, Picture
from covassay.verification.audit.reports.words import MEANING, findings, subject
from covassay.verification.statistics.curves import LAST, Curve
from covassay.verification.statistics.tests import kolmogorov_smirnov, two_sample
from tests.verification.audit.reports.kinds_of_reports import HOSTILE, KINDS, report_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Reader(HTMLParser):
    """A parser that collects the elements and texts of an HTML page, and checks that every element is closed in its
    place.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def squeezed(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


@pytest.mark.parametrize("kind", ["refuted", "not refuted", "inconclusive"])
def test_a_page_begins_with_the_verdict_and_has_every_check_and_the_replay_command(kind: str) -> None:
    report, text = report_of(kind), squeezed(Reader(as_page(report_of(kind))).text)
    head, _, body = text.partition("(covassay audit)")
    assert head.startswith(report.verdict.value)
    assert body.strip().startswith(report.verdict.value)
    assert body.index(subject(report)) < body.index(MEANING[report.verdict]) < body.index("Pictures")
    for check in report.checks:
        assert squeezed(check.name) in text
        assert squeezed(check.detail) in text
    for group in findings(report):
        assert body.index(squeezed(group[0].detail)) < body.index("Pictures")
    assert squeezed(report.replay) in text
    assert "verified" not in text.lower()
    assert (NO_PICTURES in text) == (kind == "inconclusive")
    if kind == "inconclusive":
        assert body.index("What could not be decided") < body.index("the process ended") < body.index("Pictures")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_needs_no_script_and_nothing_from_elsewhere(kind: str) -> None:
    page = as_page(report_of(kind))
    tags = Reader(page).tags
    assert {tag for tag, _ in tags} <= {
        "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "section", "pre", "ul", "li",
        "span", "strong", "div", "figure", "figcaption", "details", "summary", "dl", "dt", "dd",
        "svg", "path", "circle", "text",
    }  # fmt: skip
    for tag, attributes in tags:
        known = {"class", "lang", "charset", "http-equiv", "content", "name", "role", "viewbox", "aria-hidden", "d"}
        assert set(attributes) <= known | {"x", "y", "cx", "cy", "r", "text-anchor"}, tag
    assert not re.search(r"url\(|@import|https?:", page.replace("https://example.org", ""))
    (policy,) = (a["content"] for t, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_a_hostile_name_is_shown_as_it_is_and_does_nothing() -> None:
    """The test fails if the page treats a text of the target as HTML. The test covers names, versions, messages,
    options and kinds of failures.
    """
    page = as_page(report_of("hostile"))
    for part in ("<script>", "<img", "</title></style>"):
        assert part not in page
    text = Reader(page).text
    assert text.count("<script>alert(1)</script>") >= 10
    for character in "\u202e\x00\x1b\ud800":
        assert character in HOSTILE
        assert character not in page


def test_a_page_that_passes_on_unseen_characters_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covassay.verification.audit.reports.page.plain", lambda text: text)
    assert "\u202e" in as_page(report_of("hostile"))


# THE PICTURES


def test_the_numbers_of_a_curve_are_those_of_the_sample_and_of_the_law() -> None:
    x = np.random.default_rng(3).exponential(size=400)
    found = kolmogorov_smirnov(x, lambda t: -np.expm1(-np.maximum(t, 0)), "exponential").curve
    assert found is not None
    values = np.array(found.values)
    np.testing.assert_allclose(found.up_to, [(x <= v).mean() for v in values])
    np.testing.assert_allclose(found.from_on, [(x >= v).mean() for v in values])
    np.testing.assert_allclose(found.law_up_to, -np.expm1(-values))
    np.testing.assert_allclose(found.law_from_on, np.exp(-values), atol=1e-12)
    assert set(np.sort(x)[-np.array(LAST)]) <= set(values)
    assert x.min() in values
    y = np.random.default_rng(4).exponential(size=300).round(1)
    other = two_sample(x.round(1), y, "same").curve
    assert other is not None
    np.testing.assert_allclose(other.law_up_to, [(y <= v).mean() for v in other.values])
    np.testing.assert_allclose(other.law_from_on, [(y >= v).mean() for v in other.values])
    assert (other.size, other.law_size) == (400, 300)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_few_values_and_equal_ones_have_a_curve(size: int) -> None:
    found = kolmogorov_smirnov(np.zeros(size), lambda t: (np.asarray(t) >= 0).astype(float), "zero").curve
    assert found == Curve((0.0,), (1.0,), (1.0,), (1.0,), (1.0,), size)


def test_the_band_holds_as_often_as_it_says() -> None:
    """The test fails if the confidence band in a plot is too narrow. Among 2000 samples, at most 2 are expected to
    leave a correct band, and more than 15 do so with probability below 1e-9. On more than 1900 samples, the band must
    exclude a law whose scale is wrong by a third.
    """
    rng, missed, seen = np.random.default_rng(11), 0, 0
    width = half_width(Curve((), (), (), (), (), 500))
    steps = np.arange(501) / 500
    for _ in range(2000):
        u = np.sort(rng.random(500))
        missed += max((steps[1:] - u).max(), (u - steps[:-1]).max()) > width
        v = 1 - (1 - u) ** 1.5
        seen += max((steps[1:] - v).max(), (v - steps[:-1]).max()) > width
    assert BAND == 0.999
    assert missed <= 15
    assert seen > 1900


def _with_curve(name: str, d: int, p: float) -> Finding:
    rng = np.random.default_rng(d)
    norms = np.linalg.norm(nuclear_laplace.sample(d, rng, 100), 2, axis=(1, 2))
    curve = kolmogorov_smirnov(norms, lambda t: nuclear_laplace.spectral_norm_cdf(d, t), "the law").curve
    data = (np.zeros((4, d)),)
    return Finding("law", name, Status.NOT_REFUTED, "", f"d={d}", p_value=p, n=100, data=data, curve=curve)


def _as(mechanism: str | None, *checks: Finding) -> Any:
    report = report_of("inconclusive")
    return type(report)(**{**vars(report), "mechanism": mechanism, "checks": checks})


def test_the_most_telling_law_is_drawn_and_for_nuclear_laplace_the_tail_with_both_bounds() -> None:
    checks = [
        _with_curve("spectral norm", 1, 0.5),
        _with_curve("nuclear norm", 2, 0.1),
        _with_curve("spectral norm", 2, 0.9),
    ]
    report = _as("nuclear-laplace", *checks)
    assert pictured(report) == [checks[1], checks[2]]
    law, tail = pictures(report)
    assert "nuclear norm" in law.explained
    assert [text for _, _, text in tail.legend] == [
        "100 draws of the target", "the exact law", "the corrected bound, proven",
        "the bound of the paper, 1.1 ρd, refuted",
    ]  # fmt: skip
    (printed,) = (path.attrib["d"] for path in tail.picture.iter("path") if path.attrib["class"] == "line printed")
    assert printed.count("L") == 1  # a vertical line
    other = _as("entrywise-laplace", *checks)
    assert pictured(other) == [checks[1]]
    assert [text for _, _, text in pictures(other)[1].legend] == ["100 draws of the target", "the exact law"]
    symmetric = pictures(_as("nuclear-laplace-symmetric", *checks))[1]
    assert not any("printed" in text for _, _, text in symmetric.legend)
    assert pictures(_as(None)) == []


def test_the_bound_that_is_drawn_lies_above_the_exact_tail() -> None:
    """The test fails if the plotted bound lies below the exact tail. A point further down in the plot has a smaller
    probability.
    """
    tail = pictures(_as("nuclear-laplace", _with_curve("spectral norm", 2, 0.5)))[1].picture
    paths = {path.attrib["class"]: path.attrib["d"] for path in tail.iter("path")}
    law, bound = (
        np.array([list(map(float, point.split(","))) for point in paths[f"line {kind}"][1:].split("L")])
        for kind in ("law", "bound")
    )
    at = np.linspace(max(law[0, 0], bound[0, 0]), min(law[-1, 0], bound[-1, 0]), 50)
    assert (np.interp(at, *bound.T) <= np.interp(at, *law.T) + 0.1).all()


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_lines_of_the_tail_are_those_of_the_law_and_of_its_bound(d: int, symmetric: bool) -> None:
    (_, exact, _), (_, bound, _) = tail_lines(d, symmetric, 1e-6)
    for t, p in exact:
        assert p == pytest.approx(1 - float(nuclear_laplace.spectral_norm_cdf(d, t, symmetric)), rel=1e-6, abs=1e-10)
    for t, p in bound:
        law = 1 - float(nuclear_laplace.spectral_norm_cdf(d, t, symmetric))
        assert p >= law - 1e-10
        assert p == min(1, nuclear_laplace.spectral_norm_tail_bound(d, t, symmetric))
    assert min(p for _, p in bound) < 1e-5
    assert printed_marks(d, symmetric) == ([] if symmetric else [pytest.approx(1.1 * d)])


def test_the_trade_off_picture_has_a_box_and_a_dot_for_every_threshold() -> None:
    report = report_of("refuted")
    (check,) = (c for c in report.checks if getattr(c.facts, "trade_off", None))
    (drawn,) = (d for d in pictures(report) if d.caption.startswith("The trade-off"))
    points = check.facts.trade_off.points
    assert len(list(drawn.picture.iter("circle"))) == len(points)
    (boxes,) = (p.attrib["d"] for p in drawn.picture.iter("path") if "boxes" in p.attrib["class"])
    assert boxes.count("Z") == len(points)


@pytest.mark.parametrize(
    ("low", "high", "log"), [(0, 1, False), (-3, 7, False), (0.021, 0.022, False), (1e-6, 1, True)]
)
def test_ticks_are_round_few_and_within_the_axis(low: float, high: float, log: bool) -> None:
    ticks = Axis("", low, high, log).ticks()
    assert 2 <= len(ticks) <= 8
    assert all(low - 1e-12 <= tick <= high * (1 + 1e-12) for tick in ticks)


def test_nothing_is_drawn_beyond_the_picture() -> None:
    """The test fails if a value that is NaN, infinite or beyond the axes is plotted outside the picture."""
    picture = Picture("", Axis("", 0.0, 1.0), Axis("", 1e-6, 1.0, log=True))
    wild = [(-5.0, 0.0), (0.5, 1e-30), (7.0, 3.0), (float("nan"), 1.0), (0.1, float("inf"))]
    picture.line(wild, "law")
    picture.points(wild, "seen")
    picture.band(wild, wild, "law")
    numbers = [float(n) for p in picture.root.iter("path") for n in re.findall(r"-?\d+\.?\d*", p.attrib["d"])]
    assert min(numbers) >= 0
    assert max(numbers) <= max(WIDTH, HEIGHT)
    assert list(picture.root.iter("circle")) == []


def test_a_long_name_is_shortened_to_the_width_of_the_picture() -> None:
    picture = Picture("", Axis("a name of many words " * 9, 0.0, 1.0), Axis("y", 0.0, 1.0))
    assert max(len(text.text or "") for text in picture.root.iter("text")) <= LONGEST


# IN A BROWSER

MEASURE = """<script>
const wide = [...document.querySelectorAll("body *")].filter(e => {
  const box = e.getBoundingClientRect(); return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5); });
const sizes = [...document.querySelectorAll("body *")]
  .filter(e => e.textContent.trim() && e.getBoundingClientRect().width).map(e => { const svg = e.closest("svg.picture");
    return parseFloat(getComputedStyle(e).fontSize) * (svg ? svg.getBoundingClientRect().width / 360 : 1); });
const cut = [...document.querySelectorAll("svg.picture text")].filter(e => {
  const box = e.getBoundingClientRect(), all = e.closest("svg").getBoundingClientRect();
  return box.left < all.left - 1 || box.right > all.right + 1; });
const split = [...document.querySelectorAll(".status")].filter(e => e.scrollWidth > e.clientWidth + 1
  || e.getBoundingClientRect().height > 2 * parseFloat(getComputedStyle(e).fontSize));
parent.document.body.setAttribute("data-measured", JSON.stringify({
  width: innerWidth, scroll: document.documentElement.scrollWidth, smallest: Math.min(...sizes),
  wide: wide.map(e => e.tagName + ": " + e.textContent.slice(0, 40)),
  cut: [...cut, ...split].map(e => e.textContent) }));
</script>"""


def _dom(file: Path) -> str:
    """Return the HTML document after a browser has loaded the file."""
    assert CHROMIUM is not None
    own = file.parent / "browser"
    done = subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={own}", "--window-size=1400,900", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, encoding="utf-8", check=True, timeout=120,
    )  # fmt: skip
    return done.stdout


def _measured(page: str, width: int, folder: Path) -> dict[str, Any]:
    """Return a browser's measurements of the page at the given width, with all collapsed parts opened. The page is put
    into a frame, because a browser window cannot be as narrow as a phone.
    """
    opened = page.replace("<details>", "<details open>")
    without = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", opened)
    assert without != opened
    inner = html.escape(without.replace("</body>", f"{MEASURE}</body>"))
    file = folder / "measured.html"
    frame = (
        f'<!DOCTYPE html><body><iframe style="border:0;width:{width}px;height:900px" srcdoc="{inner}"></iframe></body>'
    )
    file.write_text(frame, encoding="utf-8")
    found = re.search(r'<body data-measured="([^"]*)"', _dom(file))
    assert found is not None
    return json.loads(html.unescape(found.group(1)))


@pytest.fixture(scope="module")
def pages() -> list[str]:
    """Return report pages that together contain every kind of plot."""
    drawn = (
        audit("covassay:nuclear-laplace", epsilon=1.0, samples=100),
        audit("covassay:gauss-cov", rho=0.5, samples=100),
    )
    return [as_page(report) for report in (*map(report_of, KINDS), *drawn)]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_phone_and_a_desktop_show_all_of_the_page_in_letters_that_can_be_read(
    width: int, pages: list[str], tmp_path: Path
) -> None:
    """The test fails if a narrow or a wide screen cuts off a part of the page, or if a letter is smaller than 11.5
    pixels.
    """
    for page in pages:
        measured = _measured(page, width, tmp_path)
        assert measured["width"] == width
        assert measured["scroll"] <= width
        assert measured["wide"] == []
        assert measured["cut"] == []
        assert measured["smallest"] >= 11.5


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_measurement_sees_a_page_that_is_too_wide_or_too_small(tmp_path: Path) -> None:
    page = as_page(report_of("refuted"))
    assert _measured(page.replace("overflow-wrap: anywhere", "white-space: nowrap"), 390, tmp_path)["scroll"] > 390
    assert _measured(page.replace("<h2>", '<h2 style="width:391px">'), 390, tmp_path)["wide"] != []
    assert _measured(page.replace("font: 16px", "font: 9px"), 390, tmp_path)["smallest"] < 11.5
    assert _measured(page.replace("flex: 0 0 6.4rem", "max-width: 3rem; flex: 0 0 3rem"), 390, tmp_path)["cut"] != []
    assert _measured(page.replace('<text x="', '<text x="-'), 390, tmp_path)["cut"] != []


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_runs_nothing_of_a_hostile_name(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(as_page(report_of("hostile")), encoding="utf-8")
    dom = _dom(file)
    assert not re.search(r"<(script|img)\b", dom)
    assert "onload=" not in re.sub(r">[^<]*<", "><", dom)
