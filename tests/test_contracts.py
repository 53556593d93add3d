"""Test that the import contracts in pyproject.toml hold, and that a forbidden import breaks each of them."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
# For every contract, this table names a module and an import that the contract forbids in the module.
FORBIDDEN = {
    "one-way": ("reference/tails.py", "import covassay.verification.statistics.tests"),
    "reference": ("reference/laws/haar.py", "import covassay.reference.mechanisms.registry"),
    "mechanisms": (
        "reference/mechanisms/building_blocks/laplace.py",
        "import covassay.reference.mechanisms.pure.nuclear_laplace",
    ),
    "light-reference": ("reference/release/scaling.py", "import rich"),
    "flint": ("reference/laws/haar.py", "import flint"),
    "products": ("verification/claims/ledger.py", "import covassay.verification.audit.engine.finding"),
    "mathematics": ("verification/exact/series.py", "import covassay.reference.privacy"),
    "tables": ("verification/audit/engine/law.py", "import covassay.reference.release.tables.reading"),
    "claims": ("verification/claims/kernel/lock.py", "import covassay.verification.claims.ledger"),
    "audit": ("verification/audit/targets/target.py", "import covassay.verification.audit.engine.law"),
    "knowledge": ("verification/audit/knowledge/lap_cov.py", "import covassay.verification.audit.knowledge.gauss_cov"),
}


def lint(root: Path, contract: str | None = None) -> tuple[int, str]:
    """Return the exit status and output of import-linter for the packages in the folder `root`."""
    chosen = [] if contract is None else ["--contract", contract]
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from importlinter.cli import lint_imports_command; lint_imports_command()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "--config", str(ROOT / "pyproject.toml"), "--no-cache", *chosen],
        capture_output=True,
        text=True,
        cwd=root,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a copy of both packages, which a test may change."""
    for folder in ("reference", "verification"):
        shutil.copytree(ROOT / folder, tmp_path / "covassay" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_every_contract_has_an_import_that_breaks_it() -> None:
    assert set(FORBIDDEN) == {contract["id"] for contract in CONTRACTS}


@pytest.mark.slow
def test_the_contracts_are_kept(packages: Path) -> None:
    status, told = lint(packages)
    assert status == 0, told
    assert len(re.findall(r"\bKEPT\b", told)) == len(CONTRACTS)


@pytest.mark.slow
@pytest.mark.parametrize("contract", FORBIDDEN)
def test_a_contract_is_seen_to_fail(contract: str, packages: Path) -> None:
    """The test fails if a forbidden import does not break the import contract."""
    path, statement = FORBIDDEN[contract]
    spoiled = packages / "covassay" / path
    spoiled.write_text(f"{spoiled.read_text()}\n\n{statement}\n")
    status, told = lint(packages, contract)
    assert status == 1, told
    assert "BROKEN" in told
