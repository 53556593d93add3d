"""Test that CITATION.cff and codemeta.json agree with pyproject.toml."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def differences(citation: dict[str, Any], codemeta: dict[str, Any]) -> list[str]:
    """Return the fields in which CITATION.cff, codemeta.json and pyproject.toml differ."""
    preferred = citation["preferred-citation"]
    pairs = {
        "version": (citation["version"], PROJECT["version"]),
        "preferred version": (preferred["version"], PROJECT["version"]),
        "codemeta version": (codemeta["version"], PROJECT["version"]),
        "license": (citation["license"], PROJECT["license"]),
        "codemeta license": (codemeta["license"].rsplit("/", 1)[1], PROJECT["license"]),
        "codemeta name": (codemeta["name"], PROJECT["name"]),
        "codemeta description": (codemeta["description"], PROJECT["description"]),
        "title": (preferred["title"], citation["title"]),
        "year": (str(preferred["year"]), str(citation["date-released"])[:4]),
        "authors": (codemeta["author"][0]["name"], citation["authors"][0]["name"]),
    }
    return [name for name, (found, expected) in pairs.items() if found != expected]


def read() -> tuple[dict[str, Any], dict[str, Any]]:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "CITATION.cff").read_text()), json.loads((ROOT / "codemeta.json").read_text())


def test_the_files_for_citation_agree_with_the_package() -> None:
    citation, codemeta = read()
    assert differences(citation, codemeta) == []


def test_a_version_that_was_forgotten_is_seen() -> None:
    citation, codemeta = read()
    citation["preferred-citation"]["version"] = "0.0.9"
    assert differences(citation, codemeta) == ["preferred version"]
