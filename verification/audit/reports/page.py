"""Write the report of an audit as one HTML page with the verdict, the failures, pictures, and a line for every check.

The page needs no other file, no network and no script. The page is built as a tree of elements, so that all text in the
page is escaped. A content security policy in the head of the page forbids scripts, and content from other addresses.
"""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from covassay.verification.audit.engine.finding import KINDS, Finding, Status
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports import words
from covassay.verification.audit.reports.format import Format
from covassay.verification.audit.reports.pictures import Drawn, pictures
from covassay.verification.audit.reports.plain import plain
from covassay.verification.audit.reports.sarif import ABOUT

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
NO_PICTURES = "There are no pictures, because this run has no test of a law and no pair of data sets to draw."


def as_page(report: AuditReport) -> str:
    """Return the HTML page of a report as text."""
    verdict = report.verdict.value
    html = Element("html", {"lang": "en"})
    head = SubElement(html, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": POLICY})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    _add(head, "title", f"{verdict}: {report.target} (covassay audit)")
    SubElement(head, "style").text = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    body = SubElement(html, "body", {"class": verdict.lower().replace(" ", "-")})
    _verdict(body, report)
    if report.refuted:
        _failed(body, report)
        _replay(body, report)
    undecided = [check for check in report.checks if check.status is Status.INCONCLUSIVE]
    if undecided:
        _add(body, "h2", "What could not be decided")
        for check in undecided:
            found = SubElement(body, "section", {"class": "finding undecided"})
            _add(found, "h3", check.label)
            _add(found, "p", words.explanation(check))
    if report.diagnoses:
        _add(body, "h2", "Law that fits instead" if report.mechanism else "What explains it")
        _list(body, report.diagnoses)
    _pictures(body, pictures(report))
    _checks(body, report)
    _run(body, report)
    if not report.refuted:
        _replay(body, report)
    return f"<!DOCTYPE html>\n{tostring(html, encoding='unicode', method='html')}\n"


def _add(parent: Element, name: str, text: str = "", style: str = "") -> Element:
    """Add an element below another element; the text may come from a target."""
    added = SubElement(parent, name, {"class": style} if style else {})
    added.text = plain(text)
    return added


def _list(parent: Element, texts: Iterable[str]) -> None:
    listed = SubElement(parent, "ul")
    for text in texts:
        _add(listed, "li", text)


def _verdict(body: Element, report: AuditReport) -> None:
    header = SubElement(body, "header")
    kinds = [kind for kind in KINDS if any(check.kind == kind for check in report.refuted)]
    _add(header, "h1", report.verdict.value + (f" ({', '.join(kinds)})" if kinds else ""))
    _add(header, "p", words.subject(report), "subject")
    _add(header, "p", words.MEANING[report.verdict])
    if report.exact:
        _add(header, "p", f"Exact: {words.exact_sentence(report)}")
    if report.bits is not None:
        _add(header, "p", f"Bits: {words.bits_sentence(report)}.")


def _failed(body: Element, report: AuditReport) -> None:
    _add(body, "h2", "What failed")
    for group in words.findings(report):
        check = group[0]
        found = SubElement(body, "section", {"class": "finding"})
        title = _add(found, "h3", check.label)
        if check.p_value is not None:
            _add(title, "span", f" (p\u00a0{_equal(check)})", "whole")
        for sentence in (check.detail, words.estimates(check, report), words.witness(check), words.repeats(group)):
            if sentence:
                _add(found, "p", sentence)
        rows = words.in_full(check)
        if rows:
            _add(found, "pre", "\n".join(rows))


def _equal(check: Finding) -> str:
    p = words.p_text(check.p_value)
    return p if p.startswith("<") else f"=\u00a0{p}"


def _pictures(body: Element, drawn: Sequence[Drawn]) -> None:
    _add(body, "h2", "Pictures")
    if not drawn:
        _add(body, "p", NO_PICTURES, "soft")
        return
    grid = SubElement(body, "div", {"class": "pictures"})
    for one in drawn:
        figure = SubElement(grid, "figure")
        caption = SubElement(figure, "figcaption")
        _add(caption, "strong", one.caption)
        figure.append(one.picture)
        legend = SubElement(figure, "ul", {"class": "legend"})
        for sample, text in one.swatches():
            entry = SubElement(legend, "li")
            entry.append(sample)
            _add(entry, "span", text)
        _add(figure, "p", one.explained, "soft")


def _checks(body: Element, report: AuditReport) -> None:
    _add(body, "h2", "Checks")
    for sentence in words.power_sentences(report):
        _add(body, "p", sentence)
    for kind in KINDS:
        checks = [check for check in report.checks if check.kind == kind]
        if not checks:
            continue
        _add(body, "h3", f"{kind}: {_counted(checks)}")
        _add(body, "p", ABOUT[kind], "soft")
        for check in checks:
            _check(body, check)


def _counted(checks: Sequence[Finding]) -> str:
    """Return the number of checks and the number of checks with each status, in words."""
    counts = {status: sum(check.status is status for check in checks) for status in Status}
    return f"{len(checks)} {'check' if len(checks) == 1 else 'checks'}, " + ", ".join(
        f"{count} {status.value}" for status, count in counts.items() if count
    )


def _check(body: Element, check: Finding) -> None:
    """Add a line for a check to the page; a reader can open the line to see what the check tested and found."""
    details = SubElement(body, "details")
    summary = SubElement(details, "summary")
    _add(summary, "span", check.status.value, f"status s-{check.status.value.lower().replace(' ', '-')}")
    _add(summary, "span", " / ".join(part for part in (check.scenario, check.name) if part), "name")
    if check.p_value is not None:
        figures = _add(summary, "span", f"p {_equal(check)}", "figures")
        _add(figures, "span", f"{check.n} draws", "draws")
    seen = words.could_have_seen(check)
    drawn = f" ({check.n} draws)" if check.n else ""
    _add(
        details,
        "p",
        f"{check.detail}{drawn}{f'. Loss shown, or effect detectable with 99 % power: {seen}' if seen else ''}",
    )


def _run(body: Element, report: AuditReport) -> None:
    _add(body, "h2", "Run")
    facts: dict[str, Any] = {
        "target": report.target,
        "version of the target": report.version or "not stated",
        "claim": f"{report.claim}, {report.adjacency}",
        "options": ", ".join(f"{key} {value}" for key, value in report.options.items()),
        "false alarm": f"probability at most {report.false_alarm:g} that a target which keeps its promises is refuted",
        "questions": words.questions_asked(report),
        "draws": words.draws_made(report),
        "seed": report.seed,
        "time": f"{report.seconds:.1f} s",
        "covassay": report.covassay,
        "notes": "; ".join(report.notes),
    }
    listed = SubElement(body, "dl")
    for name, value in facts.items():
        if value != "":
            _add(listed, "dt", name)
            _add(listed, "dd", str(value))


def _replay(body: Element, report: AuditReport) -> None:
    _add(body, "h2", "Replay")
    _add(body, "pre", report.replay)


FORMAT = Format("html", "also write the report as one HTML page with pictures", lambda report, status: as_page(report))
