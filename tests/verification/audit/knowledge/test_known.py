"""Test that the audit finds the facts that it needs about a mechanism. These facts are in a file that is named after
the mechanism, or in another package.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import registry
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.verification.audit import knowledge
from covassay.verification.audit.knowledge.known import GROUP, UNKNOWN, Known, known, profile
from covassay.verification.audit.knowledge.shared.noise_entries import SIGNS
from covassay.verification.declared import default_claim

NAME = "unheard-of"
OTHER_PACKAGE = """
import math
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale

KNOWN = Known(
    gaussian_noise.law(lambda claim, n: float(noise_scale(n, claim.budget["rho"]))),
    QueryPlusNoise(independent=True),
    add_remove=math.sqrt(0.5),
)
"""


def named(name: str) -> Mechanism[Any, ..., Any]:
    """Return a copy of the declaration of the mechanism gauss-cov under another name."""
    declared = copy(mechanism("gauss-cov"))
    object.__setattr__(declared, "about", replace(declared.about, name=name))
    return declared


@pytest.fixture
def unheard_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Register a mechanism of which the audit knows nothing."""
    monkeypatch.setitem(registry.MECHANISMS, NAME, named(NAME))
    known.cache_clear()
    yield NAME
    known.cache_clear()


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> None:
    """Install a package of one file that tells the audit about the mechanism `name`."""
    module = f"knows_{abs(hash((str(folder), name)))}"
    (folder / f"{module}.py").write_text(source)
    told = folder / f"{module}-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {module}\n")
    monkeypatch.syspath_prepend(str(folder))
    known.cache_clear()


def test_every_mechanism_has_a_file_and_every_file_a_mechanism() -> None:
    files = {path.stem for path in Path(str(knowledge.__file__)).parent.glob("*.py")}
    assert files - {"__init__", "known", "adjacency"} == {name.replace("-", "_") for name in MECHANISMS}
    for name in MECHANISMS:
        assert known(name).path is not UNKNOWN, name


def test_a_mechanism_without_a_file_is_compared_with_draws_of_the_reference(unheard_of: str) -> None:
    assert known(unheard_of) == Known()
    found = profile(unheard_of, default_claim("gauss-cov"), mechanism("gauss-cov").resolve({}), 200, 0)
    assert [scenario.name for scenario in found.scenarios] == ["n=6, d=3", "n=400, d=2"]
    assert found.data_path is not None
    assert found.data_path.query is None
    assert found.shapes is None
    assert found.pairs(frozenset())


def test_another_package_brings_what_it_knows(unheard_of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, unheard_of, OTHER_PACKAGE)
    assert known(unheard_of).add_remove == known("gauss-cov").add_remove
    claim, options = default_claim("gauss-cov"), mechanism("gauss-cov").resolve({})
    found, own = profile(unheard_of, claim, options, 200, 0), profile("gauss-cov", claim, options, 200, 0)
    assert [scenario.name for scenario in found.scenarios] == [scenario.name for scenario in own.scenarios]
    assert found.data_path is not None
    assert found.data_path.query is not None


def test_another_package_does_not_replace_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if another package can replace what the audit knows about a mechanism of covassay."""
    own = known("lap-cov")
    install(tmp_path, monkeypatch, "lap-cov", OTHER_PACKAGE)
    assert known("lap-cov").law is own.law
    known.cache_clear()


def test_a_package_without_a_declaration_is_named(
    unheard_of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, unheard_of, "KNOWN = 'nothing'\n")
    with pytest.raises(InvalidInput, match=r"covassay\.knowledge: unheard-of = .*: KNOWN = 'nothing': must be an obj"):
        known(unheard_of)


@pytest.mark.parametrize("name", ["known", "shared", "adjacency"])
def test_a_file_that_is_no_mechanism_is_not_taken_for_one(name: str) -> None:
    with pytest.raises(InvalidInput, match="must be an object of the class Known"):
        known(name)


@pytest.mark.parametrize("name", ["output-perturbation", "gauss-cov", "nuclear-laplace"])
def test_the_signs_of_all_entries_of_additive_noise_are_tested(name: str) -> None:
    """The test fails if the audit does not test the signs of the noise entries of a mechanism whose noise entries
    depend on each other, such as output-perturbation.
    """
    declared = mechanism(name)
    found = profile(name, default_claim(name), declared.resolve({}), 2000, 0)
    assert all(SIGNS in scenario.tests for scenario in found.scenarios if scenario.x.shape[1] > 2)
    assert any(scenario.x.shape[1] > 2 for scenario in found.scenarios)
