"""Test the architecture of the project: imports, packages, and the layout of mechanism files."""

import ast
import importlib
import pkgutil
import re
import sys
import tomllib
from pathlib import Path

import pytest

import covassay.reference
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.audit.targets.target import adapters
from covassay.verification.claims.ledger import claims

ROOT = Path(__file__).resolve().parents[1]
TOP_LEVEL = {"pyproject.toml", "README.md", "reference", "verification", "tests", "proofs",
             "LICENSE", "CITATION.cff", "codemeta.json", "CHANGELOG.md", "CONTRIBUTING.md"}  # fmt: skip
MAY_IMPORT = {
    "reference": {"covassay.reference", "numpy", "scipy"},
    "verification": {"covassay.reference", "covassay.verification", "numpy", "scipy",
                     "sympy", "mpmath", "joblib", "rich"},
}  # fmt: skip
AUDITED = {  # modules of the packages that the adapters audit
    module.partition(".")[0]
    for point in adapters().values()
    if (package := getattr(point.load(), "PACKAGE", None))
    for module in package.modules
}
OPTIONAL = {  # modules that may be imported only inside functions
    "reference": {"pyarrow", "filelock"},
    "verification": AUDITED | {
        "dask", "distributed", "filelock", "jax", "latex2mathml", "latexify", "matplotlib", "pandas", "pyarrow", "ray",
        "ray.util.joblib", "sklearn", "torch",
    },
}  # fmt: skip
LABELS = ["# VALIDATE", "# QUERY", "# NOISE", "# RELEASE"]
STEP = re.compile(r"^ *# (\d+)\.", re.MULTILINE)  # a numbered comment
LISTED = re.compile(r"^(\d+)\. ", re.MULTILINE)  # a numbered step in the docstring of a module
SKELETON = ("def release(", "def sample(", "def spend(", "\nMECHANISM = Mechanism(")
LONGEST_DOCSTRING = 25
PYTEST_PLUGIN = ROOT / "verification" / "pytest_plugin.py"  # only this module may import pytest
# Modules in this folder are imported only when they are used, and only they may import flint.
ROUNDED = ROOT / "reference" / "rounded"


IMPORT = re.compile(r"^( *)(?:from (\S+) import\b|import ([\w., ]+))", re.MULTILINE)


def imported(source: str, at_load: bool = False) -> set[str]:
    """Return the modules that the source code imports, or only those imported at load time."""
    found = [match.groups() for match in IMPORT.finditer(source)]
    assert not [module for _, module, _ in found if module and module.startswith(".")], "relative import"
    chosen = [names for indent, *names in found if not (at_load and indent)]
    return {name.split()[0] for module, names in chosen for name in ([module] if module else names.split(", "))}


def forbidden(names: set[str], allowed: set[str]) -> set[str]:
    return {
        name
        for name in names
        if name.split(".")[0] not in sys.stdlib_module_names
        and not any(name == root or name.startswith(root + ".") for root in allowed)
    }


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_point_one_way(folder: str) -> None:
    """The test fails if `reference` imports `verification`, or if loading a module imports an optional package."""
    for path in (ROOT / folder).rglob("*.py"):
        source = path.read_text()
        allowed = MAY_IMPORT[folder] | ({"pytest"} if path == PYTEST_PLUGIN else set())
        allowed |= {"flint"} if path.parent == ROUNDED and path.name != "__init__.py" else set()
        assert not forbidden(imported(source, at_load=True), allowed), path
        assert not forbidden(imported(source), allowed | OPTIONAL[folder]), path


def test_every_package_is_shipped() -> None:
    """The test fails if a package is missing in pyproject.toml, because an installation would lack the package."""
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    present = {
        ".".join(("covassay", *init.parent.relative_to(ROOT).parts))
        for folder in MAY_IMPORT
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert listed == present


def test_every_module_lies_in_a_package() -> None:
    for folder in MAY_IMPORT:
        for path in (ROOT / folder).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path


def test_the_top_level_is_fixed() -> None:
    """The test fails if a file or folder is added at the top level of the repository."""
    built = {"build", "dist", "covassay.egg-info"}  # build tools make these folders, and git ignores them
    present = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")} - built
    assert present == TOP_LEVEL


def file_of(name: str) -> Path:
    (path,) = (ROOT / "reference" / "mechanisms").glob(f"*/{name.replace('-', '_')}.py")
    return path


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_file_has_the_skeleton(name: str) -> None:
    """The test fails if a part of a mechanism's file is missing or in the wrong order."""
    source = file_of(name).read_text()
    assert "# FORMULAS" in source
    assert "# MECHANISM" in source or "FORMULAS: " in source
    positions = [source.index(part) for part in SKELETON]
    assert positions == sorted(positions)


def release_of(source: str) -> str:
    """Return the source of `release`. If `release` calls a helper function that contains numbered steps, the line of
    the call is replaced by the source of this function.
    """
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    functions = {node.name: ast.get_source_segment(source, node) or "" for node in nodes}
    release = functions.pop("release")
    for name, body in functions.items():
        if STEP.search(body):
            release = re.sub(rf"^.*\b{name}\(.*$", lambda _, body=body: body, release, flags=re.MULTILINE)
    return release


def wrong_steps(source: str) -> list[str]:
    """Return the mistakes in the numbered steps of a mechanism file. The docstring and the comments of the file must
    number the same steps.
    """
    release = release_of(source)
    listed, made = LISTED.findall(ast.get_docstring(ast.parse(source)) or ""), STEP.findall(release)
    wrong = [] if listed and listed == made else [f"the docstring has steps {listed}, the code {made}"]
    first = release.find(f"# {made[0]}.") if made else len(release)
    wrong += [] if -1 < release.find("# VALIDATE") < first else ["VALIDATE does not come first"]
    return wrong + [f"{label} has no number" for label in LABELS[1:] if label in release]


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_steps_of_the_docstring_are_the_steps_of_the_code(name: str) -> None:
    assert not wrong_steps(file_of(name).read_text())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("    # 1. QUERY\n", "", id="a step that is missing"),
        pytest.param("# 2. NOISE", "# 3. NOISE", id="a wrong number"),
        pytest.param("2. Draw a unit", "Draw a unit", id="a step that is not in the docstring"),
        pytest.param("# 1. QUERY", "# QUERY", id="a step without a number"),
        pytest.param("    # VALIDATE, and", "    # and", id="no VALIDATE"),
    ],
)
def test_a_step_that_differs_is_seen(old: str, new: str) -> None:
    source = file_of("bingham").read_text()
    assert not wrong_steps(source)
    assert old in source
    assert wrong_steps(source.replace(old, new))


def test_a_step_that_differs_in_a_function_that_release_calls_is_seen() -> None:
    source = file_of("ppc").read_text()
    assert not wrong_steps(source)
    assert wrong_steps(source.replace("# 2. QUERY", "# QUERY"))
    assert wrong_steps(source.replace("= precondition(", "= something_else("))


def empty_steps(source: str) -> list[str]:
    """Return the numbered comments in `release` that have no code below them."""
    lines = [line.strip() for line in release_of(source).splitlines() if line.strip()]
    steps = [line.startswith(tuple(LABELS)) or STEP.match(line) is not None for line in lines]
    return [line for line, this, following in zip(lines, steps, [*steps[1:], True], strict=True) if this and following]


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_step_of_a_release_is_empty(name: str) -> None:
    assert not empty_steps(file_of(name).read_text())


def test_an_empty_step_is_seen() -> None:
    assert empty_steps("def release(x):\n    # VALIDATE\n\n    # 1. QUERY\n    return x\n") == ["# VALIDATE"]


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_file_is_short_and_leads_to_its_proof_and_its_claim(name: str) -> None:
    docstring = ast.get_docstring(ast.parse(file_of(name).read_text())) or ""
    assert len(docstring.splitlines()) <= LONGEST_DOCSTRING
    found = MECHANISMS[name]
    assert docstring.rstrip().endswith(f"Proof: {found.page}")
    assert (ROOT / found.page).is_file()
    assert found.claim in claims()
    for section in ("Parameters", "Returns", "Raises", "Privacy :"):
        assert section in (found.sample.__doc__ or ""), section


def impure_formulas(source: str) -> set[str]:
    """Return the functions between FORMULAS and MECHANISM that work only on floats, because they use np, math, float()
    or int().
    """
    formulas = source.partition("# FORMULAS")[2].partition("# MECHANISM")[0].partition("def release")[0]
    impure = set()
    for function in (node for node in ast.parse("#" + formulas).body if isinstance(node, ast.FunctionDef)):
        for node in (n for statement in function.body for n in ast.walk(statement)):
            module = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id
            cast = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
            if module in ("np", "math") or cast in ("float", "int"):
                impure.add(function.name)
    return impure


@pytest.mark.parametrize("name", MECHANISMS)
def test_formulas_are_pure_expressions(name: str) -> None:
    source = file_of(name).read_text()
    assert not impure_formulas(source)


@pytest.mark.parametrize("body", ["np.sqrt(n)", "math.pi * n", "float(n)", "n + int(n)"])
def test_an_impure_formula_is_seen(body: str) -> None:
    assert impure_formulas(f"# FORMULAS\n\n\ndef scale(n):\n    return {body}\n\n\n# MECHANISM\n") == {"scale"}


def test_every_mechanism_file_is_registered() -> None:
    """The test fails if a mechanism file is missing in the registry of mechanisms."""
    folder = ROOT / "reference" / "mechanisms"
    files = {path.stem.replace("_", "-") for path in folder.glob("*/*.py")} - {"--init--"}
    assert files == set(MECHANISMS)


def test_every_module_of_the_reference_imports() -> None:
    """The test fails if a module cannot be imported or has no docstring."""
    for module in pkgutil.walk_packages(covassay.reference.__path__, "covassay.reference."):
        assert importlib.import_module(module.name).__doc__, module.name


def test_the_reference_loads_without_the_verification() -> None:
    import subprocess

    code = "import sys, covassay.reference.mechanisms.registry; print([m for m in sys.modules if 'verification' in m])"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
