"""How a check was carried out and what it covered, read from its source. The gate compares this with what it declares.

The source of a check is its own function, and every function of the verification package that it calls or has as a
default, with the module-level values that these use. The reference is left out: its formulas compute with whatever they
are given. In the source are looked for

    rng    : a random generator; then the check covers random samples, whatever it declares
    floats : numpy, a rounded literal, a float function of math; then it is "floating"
    points : mpmath without intervals, or sympy's evalf; then it is no enclosure, and is "floating" too
    lists  : a loop over numbers that are written out or counted; then it covers a range, and not all cases

A short list that is written out and exhausts the cases ("both signs") is allowed in a check that covers all of them, if
the check says why in `exhausts`; the ledger shows that sentence. A counted list, such as d in range(2, 9), never is.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Number
from types import FunctionType, ModuleType
from typing import Any

from covassay.verification.claims.evidence import PACKAGE, ClaimCheck, Kind

OURS = "covassay.verification"
RANDOM = {"default_rng", "SeedSequence", "Random", "Generator"}
EXACT_MATH = {"comb", "factorial", "prod", "gcd", "lcm", "isqrt", "perm", "inf", "ceil", "floor"}
DIRECTED = {"fadd", "fsub", "fmul", "fdiv"}  # mpmath's operations with a direction of rounding
INTERVAL_MPMATH = {"iv", "mp", "libmp", "workprec", "workdps", "nstr", "mpf", "inf", *DIRECTED}  # the rest has no bound
NOT_FLOATS = {"random", "bool_", "ndarray", "object_", "integer"}  # what numpy has besides floating point
SYMBOLS = re.compile(r"\w+\d+:\d+")  # sympy's name for a counted list of symbols, x1:4
LARGEST_DENOMINATOR = 64  # of the float literals that stand for the number that is written
COUNTING = {"range", "product", "linspace", "arange", "geomspace", "logspace"}


@dataclass(frozen=True)
class Traits:
    """Where the source of a check uses a generator, floats, or a finite list: `function: line of source`."""

    rng: tuple[str, ...]
    floats: tuple[str, ...]
    points: tuple[str, ...]  # mpmath without intervals, which an exact check and an enclosure cannot rest on
    lists: tuple[str, ...]


@cache
def traits(check: ClaimCheck) -> Traits:
    """The traits of a check, from everything that it runs."""
    found: dict[str, list[str]] = {"rng": [], "floats": [], "points": [], "lists": []}
    for function in _closure(check.function):
        for trait, source in _marks(function):
            found[trait].append(f"{function.__name__}: {source}")
    return Traits(**{key: tuple(dict.fromkeys(value)) for key, value in found.items()})


def covers(check: ClaimCheck) -> str:
    """What the check covered: what it declares, or by default what its source shows."""
    return check.covers or ("random" if traits(check).rng else "range")


def kinds_allowed(check: ClaimCheck) -> set[Kind]:
    """The kinds that the source of the check permits."""
    seen = traits(check)
    if seen.floats:
        return {"floating"}
    return {"floating"} if seen.points else {"floating", "enclosed", "symbolic", "exact"}


def overclaims(check: ClaimCheck) -> list[str]:
    """A message for everything that the check declares and its source does not permit."""
    seen, found = traits(check), []
    if check.kind not in kinds_allowed(check):
        found.append(f"declares {check.kind}, but computes in floating point: {(seen.floats + seen.points)[0]}")
    if covers(check) != "random" and seen.rng:
        found.append(f"covers {covers(check)}, but draws at random: {seen.rng[0]}")
    if covers(check) == "all" and check.kind == "floating":
        found.append("covers all cases, but in floating point with a tolerance")
    counted = [line for line in seen.lists if "range(" in line]
    if covers(check) == "all" and seen.lists and (counted or not check.exhausts):
        found.append(f"covers all cases, but tries a finite list: {(*counted, *seen.lists)[0]}")
    return found


# READING THE SOURCE


@cache
def _tree(function: FunctionType) -> ast.AST:
    """The syntax tree of a function, without its docstring; of a lambda, the statement that holds it."""
    try:
        source = textwrap.dedent(inspect.getsource(function)).strip()
        node: ast.AST = ast.parse(source)
    except (OSError, TypeError, SyntaxError):
        return ast.parse("pass")  # a lambda in the middle of a call: the function around it is read anyway
    if isinstance(node, ast.Module) and len(node.body) == 1 and isinstance(node.body[0], ast.FunctionDef):
        definition = node.body[0]
        definition.decorator_list = []  # the mutants of a check are not the check
        if ast.get_docstring(definition) is not None:
            definition.body = definition.body[1:] or [ast.Pass()]
    return node


def _used(function: FunctionType) -> dict[str, Any]:
    """The module-level values that a function names, and the functions it reaches through a module: name -> value."""
    values: dict[str, Any] = {}
    for node in ast.walk(_tree(function)):
        if isinstance(node, ast.Name) and node.id in function.__globals__:
            values[node.id] = function.__globals__[node.id]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = function.__globals__.get(node.value.id)
            if isinstance(owner, ModuleType) and owner.__name__.startswith(OURS):
                values[f"{node.value.id}.{node.attr}"] = getattr(owner, node.attr, None)
    return values


def _defaults(function: FunctionType) -> dict[str, Any]:
    """The slots of a function with their default values."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def _closure(function: FunctionType) -> list[FunctionType]:
    """The function and every function of this project that it can call."""
    found: dict[FunctionType, None] = {}
    waiting: list[Any] = [function]
    while waiting:
        value = inspect.unwrap(waiting.pop()) if waiting else None
        value = getattr(value, "function", value)  # a check that another check runs
        if isinstance(value, Mapping):
            waiting += value.values()
        if not isinstance(value, FunctionType) or value in found or not value.__module__.startswith(OURS):
            continue
        found[value] = None
        waiting += [v for v in (*_used(value).values(), *_defaults(value).values()) if callable(v)]
    return list(found)


@cache
def _marks(function: FunctionType) -> tuple[tuple[str, str], ...]:
    """Every trait of one function, with the piece of its source that shows it."""
    return tuple((trait, ast.unparse(node)[:80]) for trait, node in _marked(function))


def _silent(tree: ast.AST) -> set[int]:
    """The nodes that decide nothing: what is only printed, annotations, and arrays of exact objects."""
    silent: set[int] = set()
    for node in ast.walk(tree):
        quiet = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        quiet += [node] if isinstance(node, ast.JoinedStr) else []
        exact = isinstance(node, ast.Call) and any(
            k.arg == "dtype" and ast.unparse(k.value) == "object" for k in node.keywords
        )
        silent |= {id(node.func)} if exact and isinstance(node, ast.Call) else set()
        silent |= {id(inner) for part in quiet if part is not None for inner in ast.walk(part)}
    return silent


def _marked(function: FunctionType) -> Iterator[tuple[str, ast.AST]]:
    """Every node of one function that shows a trait."""
    tree, used, slots = _tree(function), _used(function), _defaults(function)
    silent = _silent(tree)
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in RANDOM:
            yield "rng", node
        yield from _floats(node, function)
        if not function.__module__.startswith(PACKAGE):
            continue  # a loop in the tools of verification/exact computes one value
        if isinstance(node, ast.For | ast.comprehension) and _is_list(node.iter, {**used, **slots}):
            yield "lists", node.iter
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SYMBOLS.fullmatch(node.value):
            yield "lists", node


def _floats(node: ast.AST, function: FunctionType) -> Iterator[tuple[str, ast.AST]]:
    """The trait of one node, if it computes in floating point."""
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and not _dyadic(node.value):
        yield "floats", node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        yield "floats", node
    if not isinstance(node, ast.Attribute):
        return
    owner = function.__globals__.get(node.value.id) if isinstance(node.value, ast.Name) else None
    package = owner.__name__.partition(".")[0] if isinstance(owner, ModuleType) else ""
    if package in ("numpy", "scipy") and node.attr not in NOT_FLOATS:
        yield "floats", node
    elif package == "math" and node.attr not in EXACT_MATH:
        yield "floats", node
    elif node.attr == "evalf" or (package == "mpmath" and node.attr not in INTERVAL_MPMATH):
        yield "points", node


def _dyadic(value: float) -> bool:
    """Whether a literal such as 0.5 is exact in binary."""
    return value.as_integer_ratio()[1] <= LARGEST_DENOMINATOR


def _is_list(iterable: ast.AST, values: Mapping[str, Any]) -> bool:
    """Whether a loop runs over numbers that are counted, written out, or kept in a module-level value or a slot."""
    for node in ast.walk(iterable):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in COUNTING:
            return True
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and any(_numeric(e) for e in node.elts):
            return True
        if isinstance(node, ast.Name) and _holds_numbers(values.get(node.id)):
            return True
    return False


def _numeric(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Constant) and isinstance(n.value, int | float) for n in ast.walk(node))


def _holds_numbers(value: Any) -> bool:
    if isinstance(value, Mapping):
        value = tuple(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return any(isinstance(v, Number) or _holds_numbers(v) for v in value[:3])
