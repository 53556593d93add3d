"""Make mutants by a program: small changes of checks, and of the reference formulas that claims name.

A mutant changes one place of one function: a constant by 3 % up or down, a comparison into its opposite, or a sum or a
difference into one of its terms. If the mutant changes a formula of the reference, some check of a claim that names
this formula must reject the mutant. If the mutant changes a check, this check itself must reject the mutant. A crash of
the check does not count as a rejection. Some mutants cannot be rejected, because they are still correct, for example if
they increase an upper bound. The share of rejected mutants therefore never reaches 1, and only serves to compare two
states of the checks. The program removes decorators first, so that a mutant changes the formula of `spend` and not the
checking of its arguments.

    python -P -m covassay.verification.maintain formula-mutants --count 200 --seed 14
"""

import ast
import inspect
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from covassay.verification.claims.checks import checks
from covassay.verification.claims.ledger import claims, function_at

SHIFT = 0.03
OPPOSITE = {ast.Lt: ast.Gt, ast.LtE: ast.Gt, ast.Gt: ast.Lt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
SMALLEST_CONSTANT = 1e-4  # smaller constants are tolerances
PATIENCE = 20  # the number of seconds of processor time after which a mutant counts as crashed
COUNTS = {"range", "default_rng", "Random", "product", "combinations", "linspace", "digits", "round", "reshape"}


@dataclass(frozen=True)
class Mutant:
    """One changed place of one function, with the checks that must reject it."""

    name: str  # module:function
    change: str
    number: int  # the change is number `number`, counted from 0, of the changes that `places` yields
    judges: tuple[str, ...]

    @property
    def part(self) -> str:
        """Return whether the mutant changes a check or a formula of the reference."""
        return "check" if self.name in checks() else "formula"


def undecorated(name: str) -> Any:
    """Return the function of the given name without its decorators `@checked` or `@strict`."""
    return inspect.unwrap(function_at(name))


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return the syntax tree of a function without decorators and without the types of the arguments."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list, node.returns = [], None
    for argument in (*node.args.args, *node.args.kwonlyargs):
        argument.annotation = None  # an annotation may use names that are imported only for the type checker
    return node


def places(node: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield every node that can be changed, with the way of changing it and a description."""
    skipped: set[int] = set()
    for inner in ast.walk(node):
        called = getattr(inner, "func", None)
        counted = isinstance(inner, ast.Call) and getattr(called, "id", getattr(called, "attr", "")) in COUNTS
        if counted or isinstance(inner, ast.Subscript | ast.JoinedStr | ast.Raise | ast.arguments):
            parts = [inner.slice] if isinstance(inner, ast.Subscript) else [inner]
            skipped |= {id(n) for part in parts for n in ast.walk(part)}
        if isinstance(inner, ast.Call) and getattr(called, "id", "") == "Evidence":
            skipped |= {id(n) for a in inner.args[1:] for n in ast.walk(a)}  # the detail and figures
        if isinstance(inner, ast.keyword) and inner.arg in ("axis", "size", "seed", "digits", "draws"):
            skipped |= {id(n) for n in ast.walk(inner)}
    for inner in ast.walk(node):
        if id(inner) in skipped:
            continue
        line = f"line {getattr(inner, 'lineno', 0)}"
        if isinstance(inner, ast.Constant) and _changeable(inner.value):
            yield inner, "up", f"{ast.unparse(inner)} + 3 %, {line}"
            yield inner, "down", f"{ast.unparse(inner)} − 3 %, {line}"
        elif _rational(inner):
            skipped |= {id(n) for n in ast.walk(inner)}
            yield inner, "up", f"{ast.unparse(inner)} + 3 %, {line}"
            yield inner, "down", f"{ast.unparse(inner)} − 3 %, {line}"
        elif isinstance(inner, ast.Compare) and len(inner.ops) == 1 and type(inner.ops[0]) in OPPOSITE:
            yield inner, "flip", f"{ast.unparse(inner)[:60]} turned round, {line}"
        elif isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
            yield inner, "left", f"{ast.unparse(inner)[:60]} without its second term, {line}"
            if isinstance(inner.op, ast.Add):
                yield inner, "right", f"{ast.unparse(inner)[:60]} without its first term, {line}"


def _changeable(value: object) -> bool:
    """Return whether a constant may be changed. It must be a number, and too large to be a tolerance."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > SMALLEST_CONSTANT


def _rational(node: ast.AST) -> bool:
    """Return whether the node is a number such as Fraction(1, 3) or sp.Rational(1, 3)."""
    if not isinstance(node, ast.Call) or not node.args or not all(isinstance(a, ast.Constant) for a in node.args):
        return False
    return getattr(node.func, "id", getattr(node.func, "attr", "")) in ("Fraction", "Rational", "Integer", "mpf")


class Change(ast.NodeTransformer):
    """A transformer of syntax trees that replaces one node by its changed form."""

    def __init__(self, place: ast.AST, how: str) -> None:
        self.place, self.how = place, how

    def visit(self, node: ast.AST) -> Any:
        """Return the node, or its changed form if it is the node to change."""
        if node is not self.place:
            return super().visit(node)
        if isinstance(node, ast.Constant | ast.Call):
            factor = ast.Constant(1 + (SHIFT if self.how == "up" else -SHIFT))
            changed: ast.AST = ast.BinOp(node, ast.Mult(), factor)
        elif isinstance(node, ast.Compare):
            changed = ast.Compare(node.left, [OPPOSITE[type(node.ops[0])]()], node.comparators)
        else:
            assert isinstance(node, ast.BinOp)
            changed = node.left if self.how == "left" else node.right
        return ast.copy_location(changed, node)


def mutated(function: Callable[..., Any], number: int) -> Any:
    """Return the code of the function with one place changed, given by its index."""
    node = definition(function)
    place, how, _ = list(places(node))[number]
    tree = ast.fix_missing_locations(ast.Module([Change(place, how).visit(node)], []))
    space = dict(vars(sys.modules[function.__module__]))
    exec(compile(tree, f"mutant of {function.__name__}", "exec"), space)
    return space[function.__name__].__code__


@cache
def population() -> list[Mutant]:
    """Return every mutant of every check, and of every function of the reference that a claim names."""
    found = []
    judges: dict[str, dict[str, None]] = {}
    for c in claims().values():
        for name in c.code:
            judges.setdefault(name, {}).update({leg.name: None for leg in c.legs if leg.name in checks()})
    for name in sorted(judges):
        value = undecorated(name)
        if isinstance(value, FunctionType):
            legs = tuple(judges[name])
            found += [Mutant(name, told, i, legs) for i, (_, _, told) in enumerate(places(definition(value)))]
    for name, check in checks().items():
        found += [Mutant(name, told, i, (name,)) for i, (_, _, told) in enumerate(places(definition(check.function)))]
    return found


def _give_up(*_: object) -> None:
    raise TimeoutError


def outcome(mutant: Mutant) -> str:
    """Run the check of a mutant, and return "rejected", "crashed" or "accepted"."""
    function: Any = checks()[mutant.name].function if mutant.part == "check" else undecorated(mutant.name)
    kept = function.__code__
    crashed = False
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        function.__code__ = mutated(function, mutant.number)
        for judge in mutant.judges:
            try:
                if not checks()[judge]().holds:
                    return "rejected"
            except TimeoutError:
                raise
            except Exception:  # any exception of a mutant counts as a crash
                crashed = True
    except TimeoutError:
        crashed = True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        function.__code__ = kept
    return "crashed" if crashed else "accepted"


def draw(count: int, seed: int) -> list[Mutant]:
    """Return mutants drawn without replacement, half of them of checks and half of reference formulas."""
    rng = np.random.default_rng(seed)
    found = []
    for part, share in (("check", count // 2), ("formula", count - count // 2)):
        pool = [m for m in population() if m.part == part]
        found += [pool[i] for i in rng.choice(len(pool), size=share, replace=False)]
    return found
