"""Derive from the source code of a check the method that it uses and the cases that it covers. The function
`overclaims` lists what a check declares although its source does not permit it.

The source of a check consists of functions of the verification package: the function of the check, the functions that
it calls or has as defaults of arguments, and the functions that these use in turn. The source also contains the
module-level values that these functions use. The source contains no functions of the reference, because they do not
show in which arithmetic a check computes: one function of the reference can compute with floats, fractions or symbols.
The derivation searches the source for the following traits.

    rng    : a random generator; then the check covers random samples, whatever the declaration says
    floats : numpy, a rounded literal, a float function of math; then it is "floating"
    points : mpmath without intervals, or sympy's evalf; then it is no enclosure, and is "floating" too
    lists  : a loop over numbers that are written out or counted; then it covers a range, and not all cases

A check that covers all cases may loop over a short written list if the list contains all cases ("both signs"). The
argument `exhausts` of the check then gives the reason why the list contains all cases, and the ledger prints this
reason. A check that covers all cases must not loop over a range, such as d in range(2, 9).
"""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Number
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from covassay.verification.claims.evidence import ClaimCheck, Kind

OURS = "covassay.verification"
TOOLS = "covassay.verification.exact"
RANDOM = {"default_rng", "SeedSequence", "Random", "Generator"}
EXACT_MATH = {"comb", "factorial", "prod", "gcd", "lcm", "isqrt", "perm", "inf", "ceil", "floor"}
DIRECTED = {"fadd", "fsub", "fmul", "fdiv"}  # functions of mpmath with a direction of rounding
# names of mpmath that a check may use without the trait `points`
INTERVAL_MPMATH = {"iv", "mp", "libmp", "workprec", "workdps", "nstr", "mpf", "inf", *DIRECTED}
# names of numpy that do not show that a check computes in floating point
NOT_FLOATS = {"random", "bool_", "ndarray", "object_", "integer", "int64"}
SYMBOLS = re.compile(r"\w+\d+:\d+")  # in sympy, x1:4 stands for the symbols x1, x2, x3
LARGEST_DENOMINATOR = 64  # the largest denominator of a float literal that counts as exact
COUNTING = {"range", "product", "linspace", "arange", "geomspace", "logspace"}


@dataclass(frozen=True)
class Traits:
    """The pieces of a check's source that use a random generator, floats or a finite list. Each piece is a text of the
    form `function: source`.
    """

    rng: tuple[str, ...]
    floats: tuple[str, ...]
    # pieces that use mpmath without intervals; a check with such a piece must be declared "floating"
    points: tuple[str, ...]
    lists: tuple[str, ...]


@cache
def traits(check: ClaimCheck) -> Traits:
    """Return the traits of a check, collected from all functions that it runs."""
    found: dict[str, list[str]] = {"rng": [], "floats": [], "points": [], "lists": []}
    for function in _closure(_plain(check)):
        for trait, source in _marks(function):
            found[trait].append(f"{function.__name__}: {source}")
    return Traits(**{key: tuple(dict.fromkeys(value)) for key, value in found.items()})


def covers(check: ClaimCheck) -> str:
    """Return the coverage of the check, as it is declared or, by default, derived from its source."""
    return check.covers or ("random" if traits(check).rng else "range")


def kinds_allowed(check: ClaimCheck) -> set[Kind]:
    """Return the kinds that the source of the check permits it to declare."""
    seen = traits(check)
    if seen.floats:
        return {"floating"}
    return {"floating"} if seen.points else {"floating", "enclosed", "symbolic", "exact"}


def overclaims(check: ClaimCheck) -> list[str]:
    """Return a message for every declaration of the check that its source does not permit."""
    seen, found = traits(check), []
    if check.kind not in kinds_allowed(check):
        found.append(f"declares {check.kind}, but computes in floating point: {(seen.floats + seen.points)[0]}")
    if covers(check) != "random" and seen.rng:
        found.append(f'declares the coverage "{covers(check)}", but draws at random: {seen.rng[0]}')
    if covers(check) == "all" and check.kind == "floating":
        found.append('declares the coverage "all", but computes in floating point with a tolerance')
    counted = [line for line in seen.lists if "range(" in line]
    if covers(check) == "all" and seen.lists and (counted or not check.exhausts):
        found.append(f'declares the coverage "all", but tries a finite list: {(*counted, *seen.lists)[0]}')
    return found


# READING THE SOURCE


def _plain(check: ClaimCheck) -> FunctionType:
    """Return the function of a check, after asserting that it is a plain Python function."""
    assert isinstance(check.function, FunctionType)
    return check.function


@cache
def _definitions(file: str) -> dict[int, list[ast.AST]]:
    """Return the functions and lambdas of a source file by the number of their first line, which is that of the first
    decorator if there is one.
    """
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            found.setdefault(first, []).append(node)
    return found


@cache
def _bodies(function: FunctionType) -> tuple[ast.AST, ...]:
    """Return the body of a function without its docstring. For a lambda, return the bodies of all lambdas on its
    line.
    """
    code = function.__code__
    found: list[ast.AST] = []
    for node in _definitions(code.co_filename).get(code.co_firstlineno, []):
        if isinstance(node, ast.FunctionDef) and function.__name__ == node.name:
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            found += [*body, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        elif isinstance(node, ast.Lambda) and function.__name__ == "<lambda>":
            found.append(node)
    return tuple(found)


def _nodes(function: FunctionType) -> Iterator[ast.AST]:
    """Yield every node of the syntax tree of a function."""
    for body in _bodies(function):
        yield from ast.walk(body)


def _used(function: FunctionType) -> dict[str, Any]:
    """Return the module-level values that a function uses, by name. The result also contains the attributes of modules
    of the verification package that the function uses, such as `series.PI`.
    """
    values: dict[str, Any] = {}
    code = function.__code__
    local = {*code.co_varnames, *code.co_cellvars}
    for node in _nodes(function):
        if isinstance(node, ast.Name) and node.id in function.__globals__ and node.id not in local:
            values[node.id] = function.__globals__[node.id]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = function.__globals__.get(node.value.id)
            if isinstance(owner, ModuleType) and owner.__name__.startswith(OURS):
                values[f"{node.value.id}.{node.attr}"] = getattr(owner, node.attr, None)
    return values


def _defaults(function: FunctionType) -> dict[str, Any]:
    """Return the slots of a function, which are the keyword arguments that mutants may replace, with their default
    values.
    """
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def _closure(function: FunctionType) -> list[FunctionType]:
    """Return the function and every function of this project that it can call."""
    found: dict[FunctionType, None] = {}
    waiting: list[Any] = [function]
    while waiting:
        value = inspect.unwrap(waiting.pop()) if waiting else None
        value = getattr(value, "function", value)  # if the value is a check, take its function
        if isinstance(value, Mapping):
            waiting += value.values()
        if not isinstance(value, FunctionType) or value in found:
            continue
        if not (value.__module__.startswith(OURS) or value.__module__ == function.__module__):
            continue
        found[value] = None
        waiting += [v for v in (*_used(value).values(), *_defaults(value).values()) if callable(v)]
    return list(found)


@cache
def _marks(function: FunctionType) -> tuple[tuple[str, str], ...]:
    """Return every trait of one function, with the piece of source code that causes it."""
    return tuple((trait, ast.unparse(node)[:80]) for trait, node in _marked(function))


def _silent(function: FunctionType) -> set[int]:
    """Return the `id` of every node that is not searched for traits: f-strings, annotations, and functions that are
    called to make an array of objects or whole numbers.
    """
    silent: set[int] = set()
    for node in _nodes(function):
        quiet = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        quiet += [node] if isinstance(node, ast.JoinedStr) else []
        exact = isinstance(node, ast.Call) and any(
            k.arg == "dtype" and ast.unparse(k.value) in ("object", "np.int64") for k in node.keywords
        )
        silent |= {id(node.func)} if exact and isinstance(node, ast.Call) else set()
        silent |= {id(inner) for part in quiet if part is not None for inner in ast.walk(part)}
    return silent


def _marked(function: FunctionType) -> Iterator[tuple[str, ast.AST]]:
    """Yield pairs of a trait, such as "floats", and a node of the function's syntax tree that shows the trait."""
    values = {**_used(function), **_defaults(function), **_constants(function)}
    silent = _silent(function)
    for node in _nodes(function):
        if id(node) in silent:
            continue
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in RANDOM:
            yield "rng", node
        yield from _floats(node, function)
        if function.__module__.startswith(TOOLS):
            # a loop in verification/exact is a step of a computation; it does not go through the cases of a claim
            continue
        if isinstance(node, ast.For | ast.comprehension) and _is_list(node.iter, values):
            yield "lists", node.iter
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SYMBOLS.fullmatch(node.value):
            yield "lists", node


def _floats(node: ast.AST, function: FunctionType) -> Iterator[tuple[str, ast.AST]]:
    """Yield the node with the trait "floats" or "points" if the node computes in floating point."""
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and not _dyadic(node.value):
        yield "floats", node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        yield "floats", node
    if not isinstance(node, ast.Attribute):
        return
    owner = function.__globals__.get(node.value.id) if isinstance(node.value, ast.Name) else None
    package = owner.__name__.partition(".")[0] if isinstance(owner, ModuleType) else ""
    arrays = package in ("numpy", "scipy") and node.attr not in NOT_FLOATS
    if arrays or (package == "math" and node.attr not in EXACT_MATH):
        yield "floats", node
    elif node.attr == "evalf" or (package == "mpmath" and node.attr not in INTERVAL_MPMATH):
        yield "points", node


def _dyadic(value: float) -> bool:
    """Return whether a float literal counts as exact: it is a fraction whose denominator is a power of 2 up to 64, such
    as 0.5.
    """
    return value.as_integer_ratio()[1] <= LARGEST_DENOMINATOR


def _constants(function: FunctionType) -> dict[str, Any]:
    """Return the local names to which a function assigns a number, with their values."""
    return {
        target.id: node.value.value
        for node in _nodes(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_list(iterable: ast.AST, values: Mapping[str, Any]) -> bool:
    """Return whether a loop runs over numbers: a range, a written list, a module-level value or a default argument.

    A loop over symbolic indices, range(d), does not count.
    """
    for node in ast.walk(iterable):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in COUNTING:
            return any(_numeric(a, values) for a in (*node.args, *(k.value for k in node.keywords)))
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and any(_numeric(e, values) for e in node.elts):
            return True
        if isinstance(node, ast.Name) and _holds_numbers(values.get(node.id)):
            return True
    return False


def _numeric(node: ast.AST, values: Mapping[str, Any]) -> bool:
    """Return whether an expression contains a number or a name that stands for one."""
    for n in ast.walk(node):
        value = n.value if isinstance(n, ast.Constant) else values.get(n.id) if isinstance(n, ast.Name) else None
        if isinstance(value, Number) and not isinstance(value, bool):
            return True
        if isinstance(n, ast.Name) and _holds_numbers(value):
            return True
    return False


def _holds_numbers(value: Any) -> bool:
    if isinstance(value, Mapping):
        value = tuple(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return any(isinstance(v, Number) or _holds_numbers(v) for v in value[:3])
