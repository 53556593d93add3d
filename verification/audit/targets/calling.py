"""Call a function that does not have the signature f(x, *, epsilon, rng), by a Python expression.

The call is an expression such as `f(x, eps=epsilon, random_state=seed)[0]`. An expression may use

    f                     the function, class or object that is audited
    x                     the data, an (n, d) array
    epsilon, delta, rho   the claimed budget; bounds, a pair (low, high) for every column
    rng, seed             a numpy Generator, and a whole number below 2³² that is drawn from it
    fit(e, x, …)          the object e after e.fit(x, …), for a `fit` that does not return it
    symmetric(y)          the symmetric matrix of which y is one triangle, see `symmetric`

Every built-in function and every importable module may be used by its name, such as `pandas.DataFrame(x)`. If an
expression uses neither `rng` nor `seed`, the target draws its random numbers from its own source.
"""

import ast
import builtins
import contextlib
import functools
import importlib
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput

SEEDS = 2**32  # older generators of numpy accept no larger seed than this
BUDGET = ("epsilon", "delta", "rho")
RANDOM = ("rng", "seed")
GIVEN = ("f", "x", *BUDGET, *RANDOM, "bounds", "fit", "symmetric")


class CannotRun(Exception):
    """Raised if a target cannot be loaded or called at all; the message says why."""


def text_of(error: BaseException | None) -> str:
    """Return the text of an exception from a target in printable characters, or a placeholder if the text cannot be
    printed.
    """
    try:
        return str(error).encode("utf-8", "backslashreplace").decode("utf-8")
    except Exception:
        return "(no text)"


def fit(estimator: Any, *data: Any, **options: Any) -> Any:
    """Call the method `fit` of an estimator, and return the estimator itself."""
    estimator.fit(*data, **options)
    return estimator


def symmetric(triangle: Any, lower: bool = False) -> Matrix:
    """Return the symmetric (d, d) matrix that has the given triangle, which includes the diagonal.

    The triangle may be a matrix whose entries in the other triangle are zero. The triangle may also be a vector of
    d(d + 1)/2 numbers. If `lower` is true, the vector has the rows of the lower triangle, one after another. Otherwise
    the vector has the rows of the upper triangle, one after another.

    Raises
    ------
    ValueError : the argument is neither a triangular matrix nor the vector of a triangle.
    """
    given = np.asarray(triangle)
    if given.ndim == 2 and is_triangle(given):
        whole: Matrix = given + given.T
        whole[np.diag_indices(len(whole))] = np.diag(given)
        return whole
    d = int((2 * given.size) ** 0.5)
    if given.ndim != 1 or d < 1 or d * (d + 1) != 2 * given.size:
        raise ValueError(f"symmetric: must be a triangle, has the shape {given.shape}")
    whole = np.empty((d, d), given.dtype)
    rows, columns = np.tril_indices(d) if lower else np.triu_indices(d)
    whole[rows, columns] = whole[columns, rows] = given
    return whole


def is_triangle(y: Matrix) -> bool:
    """Return whether a matrix is square and has only zeros below its diagonal, or only zeros above it."""
    return y.ndim == 2 and y.shape[0] == y.shape[1] and not (np.tril(y, -1).any() and np.triu(y, 1).any())


def compiled(call: str) -> tuple[CodeType, frozenset[str], dict[str, Any]]:
    """Return the code of an expression, the names f, x, … that it uses, and the modules that it names.

    Raises
    ------
    InvalidInput : the text is no expression, does not use `f`, or uses an unknown name.
    """
    try:
        tree = ast.parse(call.strip(), mode="eval")
    except SyntaxError as error:
        raise InvalidInput(
            f"call = {call!r}: must be one Python expression such as 'f(x, eps=epsilon)' ({error.msg})"
        ) from None
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    used = {node.id for node in names} - own
    for needed in ("f", "x"):
        if needed not in used:
            raise InvalidInput(f"call = {call!r}: must use {needed}, as in 'f(x, eps=epsilon)'")
    modules = {n: _module(call, n) for n in sorted(used) if n not in GIVEN and not hasattr(builtins, n)}
    # for example, code that uses `sklearn.covariance.ledoit_wolf` needs the import of this submodule
    for node in ast.walk(tree):
        path = ast.unparse(node).split(".") if isinstance(node, ast.Attribute) else []
        if path and path[0] in modules and all(part.isidentifier() for part in path):
            with contextlib.suppress(ImportError):
                importlib.import_module(".".join(path))
    return compile(tree, "<call>", "eval"), frozenset(used & set(GIVEN)), modules


def _module(call: str, name: str) -> Any:
    if name == "np":
        name = "numpy"
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InvalidInput(
            f"call = {call!r}: {name} is neither one of {', '.join(GIVEN)} nor a module that can be imported"
        ) from None


def whole_call(call: str) -> str:
    """Return the part of an expression that calls `f` on `x`; the rest of the expression selects the output from the
    returned value.

    In some expressions `f` makes an object, and a method of this object takes `x`. The function then returns the text
    of a list with two elements, which are the object and the result of the method.

    >>> whole_call("numpy.asarray(f(epsilon).fit(x, seed).covariance_)")
    '[(made := f(epsilon)), made.fit(x, seed)]'
    >>> whole_call("f(x, epsilon)['cov']")
    'f(x, epsilon)'
    """
    tree = ast.parse(call.strip(), mode="eval").body

    def names(node: ast.AST) -> set[str]:
        return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

    holding = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and {"f", "x"} <= names(node)]
    inner = min(holding, key=lambda node: sum(1 for _ in ast.walk(node)))
    method = inner.func if isinstance(inner, ast.Call) else None
    if not (isinstance(inner, ast.Call) and isinstance(method, ast.Attribute) and "f" in names(method)):
        return ast.unparse(inner)
    rest = ast.Call(ast.Attribute(ast.Name("made"), method.attr), inner.args, inner.keywords)
    return f"[(made := {ast.unparse(method.value)}), {ast.unparse(rest)}]"


class Wrapped:
    """A function with the parameters of a target, (x, *, epsilon, rng), that calls a function with other parameters.

    An expression says how the other function is called. If no expression is given, `fitting.found_call` finds an
    expression at the first call. An audit does not wait for the first call: it finds the expression before its first
    draw, on data that it chooses.
    """

    def __init__(self, function: Any, call: str | None = None) -> None:
        self.function = function
        self.call: str | None = None
        self.__qualname__ = name_of(function)
        if call is not None:
            self._settle(call)

    def _settle(self, call: str) -> None:
        self.call = call
        self._code, self.uses, self._modules = compiled(call)
        self.takes_part = isinstance(ast.parse(call.strip(), mode="eval").body, ast.Subscript | ast.Attribute)
        vars(self)["__signature__"] = _signature(self.uses)

    def __call__(self, x: Any, *, rng: Any, **budget: Any) -> Any:
        """One output."""
        if self.call is None:
            from covassay.verification.audit.targets.fitting import found_call

            self._settle(found_call(self.function, [x], budget, None))
        known = {"f": self.function, "x": x, "fit": fit, "symmetric": symmetric, "rng": rng, **budget, **self._modules}
        if "seed" in self.uses:
            known["seed"] = int(rng.integers(SEEDS))
        return eval(self._code, known)

    def __reduce__(self) -> tuple[Any, ...]:
        return Wrapped, (self.function, self.call)


def wrap(function: Any, call: str | None = None) -> Wrapped:
    """Return a function g(x, *, epsilon, rng) that calls a function with another signature and can be audited.

    >>> import numpy as np
    >>> def noisy(X, eps, random_state=None):
    ...     noise = np.random.RandomState(random_state).laplace(size=(X.shape[1],) * 2)
    ...     return {"cov": X.T @ X / len(X) + noise / eps, "eps": eps}
    >>> rng, x = np.random.default_rng(1), np.eye(2)
    >>> wrap(noisy)(x, epsilon=1.0, rng=rng).shape
    (2, 2)
    >>> wrap(noisy, "f(x, epsilon, random_state=seed)['cov']")(x, epsilon=1.0, rng=rng).shape
    (2, 2)

    Parameters
    ----------
    function : a function, a method, a `functools.partial`, a class with `fit`, an object with `fit`, …
    call : a Python expression that calls the function, in the names explained above. By default the expression is
        derived from the names of the parameters.

    Raises
    ------
    InvalidInput : the expression is not valid. If no expression is given and none can be found, the first call of g
    raises `InvalidInput`.
    """
    return Wrapped(function, call)


def name_of(function: Any) -> str:
    """Return the name of a function, or the name of the function that it wraps."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    name = getattr(function, "__qualname__", None)
    return name if isinstance(name, str) else type(function).__qualname__


def _signature(uses: frozenset[str]) -> inspect.Signature:
    keywords = [name for name in (*BUDGET, "bounds") if name in uses]
    return inspect.Signature(
        [
            inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (*keywords, "rng")),
            inspect.Parameter("budget", inspect.Parameter.VAR_KEYWORD),
        ]
    )


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature of a function, or None if Python does not know it, as for some functions written in C."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None
