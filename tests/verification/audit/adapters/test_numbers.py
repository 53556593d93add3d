"""Audit samplers that draw single numbers. If rounding is ignored, no sampler is refuted, but the low-order bits of
some samplers violate privacy.
"""

import importlib.util
from pathlib import Path

import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, PureDP
from covassay.verification.audit.api import audit, audit_bits
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.expected import claim_of
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.targets.target import CannotRun, TargetReference
from covassay.verification.declared import stated_claim
from tests.conventions import needs


def marked(name: str, module: str, quick: bool = False) -> object:
    return pytest.param(name, marks=[pytest.mark.peers, needs(module), *([] if quick else [pytest.mark.slow])])


LEAKS = [
    "numpy:laplace",
    pytest.param("numpy:normal", marks=pytest.mark.slow),
    marked("diffprivlib:laplace", "diffprivlib"),
    *(marked(f"diffprivlib:{name}", "diffprivlib")
      for name in ("laplace-truncated", "staircase", "gaussian", "gaussian-analytic")),
    marked("python-dp:gaussian", "pydp"),
]  # fmt: skip
PASSES = [
    marked("diffprivlib:snapping", "diffprivlib"),
    marked("opendp:laplace", "opendp", quick=True),
    marked("opendp:gaussian", "opendp"),
    marked("python-dp:laplace", "pydp"),
    marked("tmlt:laplace", "tmlt"),
    marked("tmlt:gaussian", "tmlt"),
]


def bits_of(name: str) -> Verdict:
    source = TargetReference(name, ".")
    target = source.load()
    return audit_bits(source, target.claim or stated_claim(target.mechanism), samples=1000).verdict


@pytest.mark.thorough
@pytest.mark.parametrize("name", LEAKS)
def test_a_sum_of_floats_is_flagged(name: str) -> None:
    """The test fails if the check of the low-order bits misses a sampler that adds floating-point noise to a sum."""
    assert bits_of(name) is Verdict.REFUTED


@pytest.mark.parametrize("name", PASSES)
def test_samplers_that_round_correctly_are_not(name: str) -> None:
    """The test fails if a correctly rounded sampler is refuted. For each sampler, a false alarm has probability at
    most 1e-10.
    """
    assert bits_of(name) is Verdict.NOT_REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LEAKS, *PASSES])
def test_in_real_arithmetic_none_is_refuted(name: str) -> None:
    """The test fails if a sampler is refuted in real arithmetic. For each sampler, a false alarm has probability at
    most 1e-9.
    """
    source = TargetReference(name, ".")
    target = source.load()
    claim = target.claim or stated_claim(target.mechanism)
    assert audit(source, **claim.keywords(), samples=300).in_real_arithmetic is not Verdict.REFUTED


def test_a_target_that_names_its_claim_is_audited_for_it() -> None:
    assert TargetReference("numpy:normal", ".").load().claim == ZCDP(0.5)
    assert claim_of("numpy:normal") == ZCDP(0.5)
    assert claim_of("numpy:normal", AuditOptions(rho=2.0)) == ZCDP(2.0)
    assert claim_of("covassay:laplace") == PureDP(1.0)


@pytest.mark.parametrize("name", ["python-dp", "tmlt"])
def test_a_package_that_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = {"python-dp": "pydp", "tmlt": "tmlt"}[name]
    if importlib.util.find_spec(module) is not None:
        pytest.skip(f"{module} is installed")
    monkeypatch.setenv("COVASSAY_ADAPTERS", str(tmp_path))
    with pytest.raises(CannotRun, match=f"is not installed.*: covassay adapters install {name}"):
        TargetReference(f"{name}:laplace", ".").load()


def test_an_unknown_sampler_is_refused() -> None:
    with pytest.raises(InvalidInput, match="laplace, normal"):
        TargetReference("numpy:cauchy", ".").load()
