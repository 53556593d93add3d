"""Test that the headings in the lists of mechanisms follow from the declarations of the mechanisms."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification import declared
from covassay.verification.cli.main import run
from covassay.verification.site.build import gather

ROOT = Path(__file__).resolve().parents[2]


def test_every_mechanism_stands_under_one_heading_and_none_of_ours_between_printed_ones() -> None:
    groups = declared.by_origin()
    assert sorted(m.name for group in groups.values() for m in group) == sorted(MECHANISMS)
    for heading, group in groups.items():
        origins = {(m.about.provenance, m.about.paper) for m in group}
        if heading.startswith("our reconstructions of "):
            assert origins == {("reconstructed", heading.removeprefix("our reconstructions of "))}
        else:
            assert {declared.HEADINGS[provenance] for provenance, _ in origins} == {heading}
    assert {m.name for m in groups["our reconstructions of KLSU19"]} >= {"ppc", "pgce", "pme", "ppde", "kv-mean"}


def test_the_heading_follows_the_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a heading does not change when the declaration of a mechanism changes."""
    laplace = MECHANISMS["laplace"]
    moved = replace(laplace.about, provenance="reconstructed")
    monkeypatch.setitem(MECHANISMS, "laplace", replace(laplace, about=moved))
    assert "laplace" in [m.name for m in declared.by_origin()["our reconstructions of ADK19"]]


def lines_in_order(text: str, wanted: list[str]) -> bool:
    positions = [text.find(line) for line in wanted]
    return -1 not in positions and positions == sorted(positions)


def test_the_command_and_the_site_show_the_headings(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("latex2mathml")  # the extra `site` installs this library
    assert run(["mechanisms"]) == 0
    printed = capsys.readouterr().out
    page = gather(ROOT)["mechanisms/index.md"]
    headings = list(declared.by_origin())
    assert lines_in_order(printed, [f"\n{heading}\n" for heading in headings])
    assert lines_in_order(page, [f"## {heading[0].upper()}{heading[1:]}" for heading in headings])
    assert run(["mechanisms", "--json"]) == 0
    assert list(dict.fromkeys(row["name"] for row in json.loads(capsys.readouterr().out))) == list(MECHANISMS)
