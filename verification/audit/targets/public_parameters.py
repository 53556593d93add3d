"""Choose one value for a public parameter that both a target and the mechanism have, such as kappa or a bound on the
rows.

A function f(x, *, rho, rng, kappa=1e4) keeps its promise with its own default value of kappa, which may differ from the
mechanism's. The audit therefore expects the law that the mechanism has for the function's own default value. A value
that the user states is passed to the function in place of the default.
"""

import ast
import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.verification.audit.targets.calling import Wrapped, signature_of
from covassay.verification.audit.targets.fitting import role_of

UNIT_BALL = 1.0
AMBIGUOUS = "radius", "norm"  # parameters with these names need not be the length to which the rows are clipped


def own_values(draw: Any, declared: Mechanism[Any, ..., Any]) -> dict[str, Any]:
    """Return the values of the mechanism's choices and parameters with which a target is called.

    A value is a constant argument in the expression that calls the target. If the expression does not pass the
    argument, the value is the default of the function or class. A value is left out if the mechanism has no parameter
    of this name, because the parameter may mean something else.
    """
    found = {}
    for name, value in (_defaults(draw) | _in_the_call(draw)).items():
        if name in (*declared.choices, *declared.parameters) and value is not None:
            with suppress(InvalidInput, TypeError):
                found[name] = declared.declared[name].read(value)
    return found


def notes_on(draw: Any, declared: Mechanism[Any, ..., Any]) -> tuple[str, ...]:
    """Return a note for every parameter whose value in the target differs from the mechanism's default."""
    usual = declared.resolve({}) | declared.parameters
    return tuple(
        f"{name} = {value}: this is the target's own value; the expected law is that of {declared.name} for it"
        for name, value in own_values(draw, declared).items()
        if value != usual[name]
    )


def to_pass(draw: Any, declared: Mechanism[Any, ..., Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords to add to the call of a target.

    A value that the user stated is added to the call under two conditions. The target has a parameter of this name, and
    without the added keyword it would use another value. If the rows of the mechanism lie in the unit ball, a parameter
    of the target that bounds the length of rows gets the value 1, unless 1 is its default. A keyword that the
    expression for the call already has is not passed.
    """
    defaults, own = _defaults(draw), own_values(draw, declared)
    passed = {name: value for name, value in stated.items() if name in defaults and own.get(name) != value}
    if declared.domain == "ball":
        known = (*declared.choices, *declared.parameters, *AMBIGUOUS)
        lengths = [name for name in defaults if role_of(name) == "norm" and name.lower() not in known]
        passed |= {name: UNIT_BALL for name in lengths if _is_number(defaults[name]) and defaults[name] != UNIT_BALL}
    return {name: value for name, value in passed.items() if name not in _in_the_call(draw)}


def with_keywords(call: str, values: Mapping[str, Any]) -> str:
    """Return the expression with these keyword arguments in every call of f.

    >>> with_keywords("f(x, rho=rho, rng=rng)[0]", {"kappa": 10.0})
    'f(x, rho=rho, rng=rng, kappa=10.0)[0]'
    """
    tree = ast.parse(call.strip(), mode="eval")
    for node in _calls_of_f(tree):
        node.keywords += [ast.keyword(name, ast.Constant(value)) for name, value in values.items()]
    return ast.unparse(tree)


def _defaults(draw: Any) -> dict[str, Any]:
    """Return the defaults of the parameters of the function or class that a target calls."""
    function = draw.function if isinstance(draw, Wrapped) else draw
    signature = signature_of(function) if callable(function) else None
    parameters = signature.parameters.values() if signature is not None else ()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def _in_the_call(draw: Any) -> dict[str, Any]:
    """Return the keywords in the expression that calls a target, with the value None for arguments that are no
    constants."""
    values: dict[str, Any] = {}
    call = draw.call if isinstance(draw, Wrapped) else None
    for node in _calls_of_f(ast.parse(call.strip(), mode="eval")) if call else ():
        for keyword in node.keywords:
            values[str(keyword.arg)] = None
            with suppress(ValueError):
                values[str(keyword.arg)] = ast.literal_eval(keyword.value)
    return values


def _calls_of_f(tree: ast.AST) -> list[ast.Call]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "f"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
