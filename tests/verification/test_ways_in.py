"""Test the documented entry points in Python, in every order of imports."""

import inspect
import pydoc
import subprocess
import sys

import pytest

import covassay.verification

AUDIT = (
    "from covassay.verification import audit\n"
    "assert audit('covassay:private-trace', epsilon=1, samples=100).verdict.value == 'NOT REFUTED'\n"
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "before",
    ["", "import covassay.verification.audit.run\n", "from covassay.verification import audit\n"],
    ids=["first", "after a part of it", "twice"],
)
def test_audit_is_a_function_whatever_was_imported_before(before: str) -> None:
    subprocess.run([sys.executable, "-P", "-c", before + AUDIT], check=True)


@pytest.mark.thorough
def test_audit_takes_a_plain_function() -> None:
    from covassay.verification import audit

    report = audit(lambda x, *, epsilon, rng: x.T @ x / len(x), epsilon=1.0, samples=100)
    assert report.verdict.value == "REFUTED"


def test_parts_of_the_package_are_found_beside_the_function() -> None:
    import covassay.verification.audit.engine.finding as by_path
    from covassay.verification.audit.engine import finding

    assert by_path is finding
    assert inspect.isfunction(covassay.verification.audit)
    assert "epsilon: float | None = None" in pydoc.render_doc(covassay.verification.audit)
    with pytest.raises(AttributeError, match="cannot be set"):
        covassay.verification.audit = 1  # type: ignore[assignment]


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The test fails if access to an unknown name raises another error than AttributeError."""
    with pytest.raises(AttributeError, match="certify"):
        covassay.verification.certify  # noqa: B018
