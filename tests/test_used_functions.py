"""Test that every public function of `reference` is used there, is documented, or is listed in this file."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from covassay.verification.site.build import API

ROOT = Path(__file__).resolve().parents[1]
# The test does not check functions whose name is in `DECLARED`. In a mechanism file, the constant `MECHANISM` refers to
# the functions with these names.
DECLARED = {"release", "sample", "spend", "draw_noise"}
OFFERED_BY_A_LAW = re.compile(r"\.laws\.\w+\.(log_density|pmf|tail|\w*cdf|\w*quantile)$")
PLAIN = {  # these functions are written for readers, and tests compare them with the fast samplers
    "covassay.reference.laws.matrix_bingham.propose_one",
    "covassay.reference.laws.pfaffian_sampler.draw_points",
}
USED_BY_THE_VERIFICATION = {
    "covassay.reference.box_sensitivity.centred_pair",
    "covassay.reference.box_sensitivity.centred_sensitivity",
    "covassay.reference.box_sensitivity.moment_pair",
    "covassay.reference.box_sensitivity.second_moment_sensitivity",
    "covassay.reference.laws.bingham.acceptance_rate",
    "covassay.reference.laws.k_norm.norm",
    "covassay.reference.laws.wigner.separation_squared",
    "covassay.reference.mechanisms.building_blocks.exponential.failure_bound",
    "covassay.reference.mechanisms.building_blocks.laplace.largest_error",
    "covassay.reference.release.tables.reading.read_table",
}  # names may be removed from this list, but none may be added


@dataclass(frozen=True)
class Module:
    """A Python module, given by its name, its syntax tree, and whether it is the `__init__` of a package."""

    name: str
    tree: ast.Module
    package: bool

    @property
    def public(self) -> Iterator[str]:
        """Yield the names of the public functions that the module defines."""
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.name not in DECLARED:
                yield node.name


@cache
def modules(folder: str) -> list[Module]:
    """Return all modules of a package."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = ".".join(("covassay", *path.relative_to(ROOT).with_suffix("").parts))
        found.append(Module(name.removesuffix(".__init__"), ast.parse(path.read_text()), path.stem == "__init__"))
    return found


def exported(packages: list[Module]) -> dict[str, str]:
    """Return a dict from the name under which a package exports an object to the full name of the object."""
    return {
        f"{package.name}.{alias.asname or alias.name}": f"{node.module}.{alias.name}"
        for package in packages
        for node in package.tree.body
        if package.package and isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def used_by(module: Module, exports: dict[str, str]) -> set[str]:
    """Return the full names of the functions that a module uses. A call of a function in its own body is not counted as
    a use of the function.
    """
    bound = {}  # maps an imported name to the full name of the object
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            full = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            bound |= {name: exports.get(meant, meant) for name, meant in full.items()}
    used = set()
    for statement in module.tree.body:
        own = getattr(statement, "name", None)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id != own:
                used.add(bound.get(node.id, f"{module.name}.{node.id}"))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.add(f"{bound.get(node.value.id)}.{node.attr}")
    return used


def unused(reference: list[Module]) -> set[str]:
    """Return the public functions that no other code of `reference` uses and no package exports."""
    exports = exported(reference)
    used = set(exports.values()).union(*(used_by(module, exports) for module in reference))
    return {f"{module.name}.{name}" for module in reference for name in module.public} - used


def documented(function: str) -> bool:
    """Return whether a function is documented on an API page or a proof page, or is one of the usual functions of a law
    of random numbers, such as its distribution function.
    """
    module, _, name = function.rpartition(".")
    pages = "".join(path.read_text() for path in (ROOT / "proofs" / "paper").glob("*.md"))
    return module in API["reference"] or f"`{name}`" in pages or bool(OFFERED_BY_A_LAW.search(function))


def undocumented(reference: list[Module]) -> set[str]:
    """Return the functions of `reference` that are neither used nor documented."""
    return {function for function in unused(reference) - PLAIN if not documented(function)}


@pytest.mark.thorough
def test_what_the_reference_does_not_use_is_documented_or_listed() -> None:
    reference = modules("reference")
    assert undocumented(reference) == USED_BY_THE_VERIFICATION
    exports = exported(reference)
    used = set().union(*(used_by(module, exports) for module in modules("verification")))
    assert used >= USED_BY_THE_VERIFICATION
    assert unused(reference) >= PLAIN


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("def idle(x):\n    return x\n", {"idle"}),
        ("def idle(x):\n    return idle(x - 1)\n", {"idle"}),
        ("def busy(x):\n    return x\n\n\nONE = busy(1)\n", set()),
        ("def _own(x):\n    return x\n", set()),
    ],
    ids=["never used", "used by itself", "used", "private"],
)
def test_a_function_that_nothing_uses_is_seen(source: str, seen: set[str]) -> None:
    new = Module("covassay.reference.new", ast.parse(source), False)
    assert undocumented([*modules("reference"), new]) - USED_BY_THE_VERIFICATION == {
        f"covassay.reference.new.{name}" for name in seen
    }
