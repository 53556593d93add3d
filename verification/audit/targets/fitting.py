"""Find out how a function is called from the names of its parameters, and by trying expressions that call it.

The candidate expressions have the form that the module `calling` describes. The candidates differ in the form of the
data (an array, a pandas data frame, a list of rows) and of the randomness (a numpy Generator, a whole number, numpy's
older RandomState, Python's random.Random). The audit uses the first candidate that gives an output. Candidate
expressions are tried on public example rows, and never on the user's data.

An expression may also call a method of the object that the function returns, or take a part of the returned value. The
audit uses such an expression only if its value changes with the seed. Otherwise the value may be a quantity without
noise that is never released.
"""

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets.calling import (
    BUDGET,
    CannotRun,
    Wrapped,
    compiled,
    is_triangle,
    name_of,
    signature_of,
    text_of,
)
from covassay.verification.audit.targets.process_state import put_back
from covassay.verification.audit.targets.returned import OFFERED, described, offers, parts_of, quoted, shape_of

ROLES = {
    "data": "x xs data dataset rows records samples array arr df frame dataframe values observations points matrix "
    "features table input inputs vectors a m",
    "epsilon": "epsilon eps ε epsilontotal totalepsilon targetepsilon epsilontarget dpepsilon privacyepsilon",
    "delta": "delta δ targetdelta totaldelta dpdelta privacydelta",
    "rho": "rho ρ zcdp zcdprho rhozcdp totalrho targetrho",
    "budget": "budget privacybudget totalbudget privacyparameter",
    "generator": "rng generator gen prng randomgenerator randomnumbergenerator numpyrng random",
    "state": "randomstate rs",
    "seed": "seed randomseed rngseed",
    "bounds": "bounds databounds columnbounds range ranges",
    "norm": "datanorm rowbound rownorm maxnorm maxrownorm normbound l2bound l2norm clipnorm clippingnorm "
    "clipbound radius norm",
    "rows": "n nrows nsamples nrecords numrows numsamples numrecords",
    "columns": "d dim dimension nfeatures ncols ncolumns numfeatures numcolumns",
}
ROLE = {word: role for role, words in ROLES.items() for word in words.split()}
RANDOM_FORMS = {
    "generator": ("rng", "numpy.random.RandomState(seed)", "seed", "random.Random(seed)"),
    "state": ("seed", "numpy.random.RandomState(seed)", "rng", "random.Random(seed)"),
    "seed": ("seed", "rng", "numpy.random.RandomState(seed)", "random.Random(seed)"),
}
DATA_FORMS = ("x", "pandas.DataFrame(x)", "x.tolist()")
RELEASING = ["release", "privatize", "privatise"]  # methods with these names return an output
METHODS = [*RELEASING, "estimate", "covariance", "cov", "compute", "sample", "run", "execute", "randomise", "randomize"]
LEARNING = ["partial_fit", "update", "learn"]  # methods with these names take data and return no output
OUTPUTS = [
    "covariance_",
    "covariance",
    "cov_",
    "cov",
    "second_moment_",
    "second_moment",
    "output_",
    "output",
    "value",
    "result",
]


TRIES = 6  # a value changes with the seed if this many draws of it are not all equal
# rows are multiplied by this factor, because outputs such as projections are often constant on smaller rows
MORE = 100


class Misfit(Exception):
    """Raised if no expression can be made; `calls` has incomplete expressions in which the user must replace every
    …."""

    def __init__(self, reason: str, *calls: str) -> None:
        super().__init__(reason)
        self.calls = calls


class WrongOutput(CannotRun):
    """The target returned nothing of the required form, or only values that do not change with the seed."""


def role_of(name: str) -> str | None:
    """Return the key of `ROLES` that the name of a parameter suggests, or None if the name is not known."""
    # in scikit-learn, a__b is the parameter b of the step a
    return ROLE.get(name.rpartition("__")[2].lower().replace("_", ""))


@dataclass(frozen=True)
class _Forms:
    """A way in which an expression passes the data, the randomness and the budget to a function.

    `random` is an index of the tuples in `RANDOM_FORMS`. `box` says whether the bounds of the columns are known.
    """

    data: str
    random: int
    budget: tuple[str, ...]
    box: bool


def _value(parameter: inspect.Parameter, forms: _Forms) -> str | None:
    """Return an expression for the value of a parameter that is not the data; return None if the parameter keeps its
    default.
    """
    role, required = role_of(parameter.name), parameter.default is inspect.Parameter.empty
    if role in RANDOM_FORMS:
        return RANDOM_FORMS[role][forms.random]
    if role in forms.budget:
        return role
    if role == "budget" and len(forms.budget) == 1:
        return forms.budget[0]
    if role in BUDGET and (required or (isinstance(parameter.default, int | float) and parameter.default)):
        asked = "--epsilon and --delta" if role == "delta" else f"--{role}"
        return f"… (the claim has only {' and '.join(forms.budget)}: give {asked})"
    # if these parameters keep their defaults, the function may derive them from the data
    unset = required or parameter.default is None
    if role == "bounds" and unset:
        return "bounds" if forms.box else "… (bounds of the data, which must be public: give --bounds)"
    if role == "norm" and unset:
        return "float(numpy.linalg.norm(numpy.abs(bounds).max(1)))" if forms.box else "1.0"  # the unit ball
    if not required:
        return None
    return {"rows": "len(x)", "columns": "x.shape[1]"}.get(role or "", "…")


def _arguments(parameters: Iterable[inspect.Parameter], forms: _Forms, with_data: bool) -> tuple[str, list[str]]:
    """Return the arguments of a call as text, and the names of the parameters whose value is unknown."""
    listed = _given(parameters)
    data = _data(listed) if with_data else None
    words, missing, positional = [], [], True
    for parameter in listed:
        value = forms.data if parameter is data else _value(parameter, forms)
        if value is None:
            positional = False
            continue
        if value.startswith("…"):
            missing.append(parameter.name + value.removeprefix("…"))
            value = "…"
        by_place = parameter.kind is parameter.POSITIONAL_ONLY or (parameter is data and positional)
        by_place &= parameter.kind is not parameter.KEYWORD_ONLY
        words.append(value if by_place else f"{parameter.name}={value}")
        positional &= by_place
    if with_data and data is None:
        if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
            missing.append("a parameter for the data")
        words.insert(0, forms.data)
    return ", ".join(words), missing


def _data(parameters: Sequence[inspect.Parameter]) -> inspect.Parameter | None:
    """Return the parameter for the data, which has a telling name or is the first parameter without another purpose."""
    named = [p for p in parameters if role_of(p.name) == "data"]
    unnamed = [p for p in parameters if role_of(p.name) is None]
    unnamed.sort(key=lambda p: p.default is not inspect.Parameter.empty)
    return next(iter(named + unnamed), None)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that may be passed; parameters that a `functools.partial` has fixed may not."""
    signature = signature_of(function)
    if signature is None:
        raise Misfit("Python does not know its parameters", "f(x, …)")
    fixed = function.keywords if isinstance(function, partial) else {}
    found = [p for name, p in signature.parameters.items() if name not in fixed]
    if found and found[0].name == "self":
        raise Misfit("it is a method of a class; give the class, or the method of an object", "f(…, x, …)")
    return found


def _expression(function: Any, forms: _Forms, chained: bool) -> str:
    """Return an expression that calls the function and passes data, randomness and budget as `forms` says.

    If `chained` is false, the expression uses the object itself after the call of its `fit`.
    """
    if not (inspect.isclass(function) or hasattr(function, "fit")):
        arguments, missing = _arguments(_parameters(function), forms, True)
        return _complete(f"f({arguments})", missing)
    made, missing, method = _object(function, forms)
    if not method:
        return _complete(made, missing)
    arguments, more = _arguments(_parameters_of_method(function, method), forms, True)
    dot = "" if method == "__call__" else f".{method}"
    call = f"{made}{dot}({arguments})"
    if not chained and method == "fit":
        call = f"fit({made}, {arguments})"
    elif not chained and method in LEARNING:
        call = f"[made := {made}, made{dot}({arguments})][0]"
    return _complete(call, missing + more)


def _object(function: Any, forms: _Forms) -> tuple[str, list[str], str]:
    """Return the expression that makes an object, the arguments that are missing in this expression, and the name of
    the method that takes the data.
    """
    if not inspect.isclass(function):
        return _copied(function, forms), [], "fit"
    parameters = _parameters(function)
    if hasattr(function, "fit"):
        arguments, missing = _arguments(parameters, forms, False)
        return f"f({arguments})", missing, "fit"
    if any(role_of(p.name) == "data" and p.default is inspect.Parameter.empty for p in parameters):
        arguments, missing = _arguments(parameters, forms, True)
        return f"f({arguments})", missing, ""
    arguments, missing = _arguments(parameters, forms, False)
    return f"f({arguments})", missing, _method(function, f"f({arguments})", forms)


def _copied(estimator: Any, forms: _Forms) -> str:
    """Return a copy of an estimator with the same options, and with a new seed if the estimator takes one."""
    made = "copy.deepcopy(f)"
    options = estimator.get_params() if hasattr(estimator, "get_params") else {}
    for name in options if hasattr(estimator, "set_params") else ():
        if role_of(name) in RANDOM_FORMS:
            return f"{made}.set_params({name}={RANDOM_FORMS[role_of(name) or ''][forms.random]})"
    return made


def _method(kind: type, made: str, forms: _Forms) -> str:
    """Return the name of the method of a class that takes the data.

    If several methods can take the data, a method with a known name is returned. If no method has a known name, a
    method whose data parameter has a known name is returned, provided that there is only one such method.
    """

    def call(name: str) -> str:
        return f"{made}.{name}({_arguments(_parameters_of_method(kind, name), forms, True)[0]})"

    public = [name for name in dir(kind) if not name.startswith("_") and inspect.isfunction(getattr(kind, name))]
    if "__call__" in dir(kind):
        public.append("__call__")
    taking = {name: data for name in public if (data := _data(_given(_parameters_of_method(kind, name)))) is not None}
    telling = [name for name in METHODS + LEARNING if name in taking]
    named = [name for name, data in taking.items() if role_of(data.name) == "data"]
    chosen = telling[:1] or (named if len(named) == 1 else [*taking])
    if len(chosen) != 1:
        if not taking:
            raise Misfit("no method takes data", f"{made}.…(x)")
        raise Misfit(f"several methods take data ({', '.join(taking)})", *map(call, chosen))
    return chosen[0]


def _given(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """Return the parameters other than *args and **kwargs."""
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _parameters_of_method(owner: Any, method: str) -> list[inspect.Parameter]:
    signature = signature_of(getattr(owner, method))
    if signature is None:
        raise Misfit(f"Python does not know the parameters of {method}", f"f(…).{method}(x)")
    found = list(signature.parameters.values())
    bound = not inspect.isclass(owner) or isinstance(inspect.getattr_static(owner, method), classmethod | staticmethod)
    return found if bound else found[1:]


def _complete(call: str, missing: Sequence[str]) -> str:
    if missing:
        raise Misfit(f"an audit knows no value for {', '.join(missing)}", call)
    return call


def binds(function: Any, budget: Iterable[str]) -> bool:
    """Return whether the function can be called as f(x, …, rng=rng) with every part of the budget as a keyword."""
    if inspect.isclass(function) or not callable(function):
        return False
    signature = signature_of(function)
    if signature is None:
        return True
    keywords = (*budget, "rng")
    if isinstance(function, partial) and set(keywords) & set(function.keywords):
        return False
    try:
        signature.bind("x", **dict.fromkeys(keywords))
    except TypeError:
        return False
    return True


def plain_call(function: Any, budget: Iterable[str]) -> str | None:
    """Return the call f(x, …, rng=rng) with every keyword of the budget, if the function's signature allows it.

    The call need not pass the bounds of the columns to the function.
    """
    for keywords in (tuple(budget), tuple(name for name in budget if name != "bounds")):
        if binds(function, keywords):
            return f"f(x, {', '.join(f'{name}={name}' for name in (*keywords, 'rng'))})"
    return None


@dataclass(frozen=True)
class _Try:
    """An expression that may call the function correctly. `forms` says how the expression passes the arguments."""

    call: str
    forms: _Forms


def candidates(function: Any, budget: Iterable[str]) -> list[str]:
    """Return expressions that may call the function correctly, the most likely first. The first expression is
    `plain_call` if the signature allows it.

    Raises
    ------
    Misfit : no expression was found that may call the function correctly.
    """
    return list(dict.fromkeys(tried.call for tried in _tries(function, budget)))


def _tries(function: Any, budget: Iterable[str]) -> list[_Try]:
    box, words = "bounds" in budget, tuple(name for name in budget if name in BUDGET)
    direct = plain_call(function, budget)
    forms = [
        _Forms(data, random, words, box)
        for data in DATA_FORMS
        if not data.startswith("pandas") or importlib.util.find_spec("pandas")
        for random in range(len(RANDOM_FORMS["seed"]))
    ]
    plain = [] if direct is None else [_Try(direct, forms[0])]
    try:
        found = [_Try(_expression(function, form, chained), form) for form in forms for chained in (True, False)]
    except Misfit:
        if plain:
            return plain
        raise
    return list({tried.call: tried for tried in reversed([*plain, *found])}.values())[::-1]


def uses_budget(function: Any, call: str | None) -> bool:
    """Return whether a call passes epsilon, delta or rho to the function."""
    if call is None and callable(function) and signature_of(function) is None:
        return True
    if call is None and any(binds(function, [name]) for name in BUDGET):
        return True
    words = [call] if call is not None else [c for name in BUDGET for c in _candidates_or_none(function, [name])[:1]]
    return any(compiled(word)[1] & set(BUDGET) for word in words)


def _candidates_or_none(function: Any, budget: Iterable[str]) -> list[str]:
    try:
        return candidates(function, budget)
    except Misfit as misfit:  # a missing argument is reported later
        return [call.replace("…", "None") for call in misfit.calls if "f(" in call]


def found_call(
    function: Any,
    data_sets: Sequence[Matrix],
    budget: Mapping[str, Any],
    shape: Callable[[Matrix], tuple[int, ...]] | None,
    draw: Callable[[Callable[..., Any], Matrix, int], Any] | None = None,
) -> str:
    """Return the expression that calls the function and selects the output from the returned value.

    Parameters
    ----------
    data_sets : the expression is tried on the first data set that gives an output.
    shape : a function that maps x to the shape of an output; None for a (d, d) matrix.
    draw : evaluates an expression with the generator of a given number; raises TimeoutError if this takes too long.

    Raises
    ------
    InvalidInput : no expression fits the signature of the function.
    CannotRun : an expression fits, but its call raises an exception.
    WrongOutput : no expression gives an output of a known kind, or the output does not change with the seed. The
        messages suggest expressions.
    """
    try:
        tries = _tries(function, budget)
    except Misfit as misfit:
        raise InvalidInput(_advice(function, str(misfit), misfit.calls, budget)) from None
    attempt = draw or (lambda call, x, number: call(x, rng=np.random.default_rng(number), **budget))
    trial = _Trial(function, attempt, shape or (lambda x: (x.shape[1],) * 2))
    first: tuple[str, BaseException] | None = None
    still: list[str] = []
    for tried in tries:
        for x in data_sets:
            try:
                readings = trial.readings(tried, x)
                for reading in readings:
                    if (reading == tried.call and trial.is_function) or trial.moves(reading, x):
                        return trial.whole(reading, x)
                still += [reading for reading in readings if reading not in still]
                break
            except TimeoutError:
                return tried.call
            except Misfit as misfit:
                raise WrongOutput(_advice(function, str(misfit), misfit.calls or (f"{tried.call}…",), budget)) from None
            except (Exception, SystemExit) as error:
                first = first or (tried.call, error)
        # if the result of the method is no output, an attribute of the object may be an output
        if still and tried.call not in still:
            break
    if still:
        reason = f"{' and '.join(still)} gave the same value for every seed, so it may not be the released output"
        raise WrongOutput(_advice(function, reason, [*still, *trial.others], budget))
    assert first is not None
    call, raised = first
    reason = f"called as {call} it raised {type(raised).__name__}: {text_of(raised)}"
    raise CannotRun(_advice(function, reason, [call], budget)) from raised


class _Trial:
    """Try candidate expressions on public example rows.

    `is_function` is false for a class, and for an object with `fit`. For these the audit may have to find a method that
    returns the output. `others` are expressions for methods that were found but not tried.
    """

    def __init__(
        self, function: Any, draw: Callable[[Callable[..., Any], Matrix, int], Any], shape: Callable[..., Any]
    ) -> None:
        self.function, self.draw, self.shape = function, draw, shape
        self.is_function = not (inspect.isclass(function) or hasattr(function, "fit"))
        self.others: list[str] = []

    def output(self, call: str, x: Matrix, number: int = 0) -> Any:
        """Return the value of the expression when it draws from the generator with this number."""
        output = self.draw(Wrapped(self.function, call), x.copy(), number)
        if output is None:
            raise TypeError("it returned None")
        return output

    def readings(self, tried: _Try, x: Matrix) -> list[str]:
        """Return expressions that select the output from the returned value, the most plausible first.

        Raises
        ------
        Misfit : no part of the value could be the output, or several parts could be the output and no name decides
        between them.
        """
        output, shape = self.output(tried.call, x), self.shape(x)
        with put_back():  # the state of the process is restored because reading an output may run code of the target
            if (not isinstance(output, list | tuple | dict) and shape_of(output) is not None) or (
                shape_of(output) == shape
            ):
                return [tried.call]  # `require_answer` later checks the shape of an array
            parts = parts_of(output)
            fitting = [part for part, value in parts.items() if shape_of(value) == shape]
            telling = [part for name in OUTPUTS for part in (f".{name}", f"[{name!r}]") if part in fitting]
            methods = self.methods(tried, output)
        found = [f"{tried.call}{part}" for part in telling]
        for call in methods:
            with suppress(Exception):
                found += [call] if shape_of(self.output(call, x)) == shape else []
        found.sort(key=lambda call: not any(f".{name}(" in call for name in RELEASING))
        if found or len(fitting) == 1:
            return found or [tried.call + fitting[0]]
        if not fitting and shape_of(output) is not None:
            return [tried.call]
        where = f"it returned {described(output)}"
        if fitting:
            several = f"several parts have the shape {shape} of an output: {', '.join(fitting)}"
            raise Misfit(f"{where}; {several}", *(tried.call + part for part in fitting))
        calls = [*methods, *offers(output, tried.call, x.shape[1])]
        raise Misfit(f"{where}; no array of real numbers in the value has the shape {shape} of an output", *calls)

    def methods(self, tried: _Try, output: Any) -> list[str]:
        """Return expressions that call a method of a fitted object.

        The called methods need no data, and their names suggest that they release an output.
        """
        found = []
        for name in () if self.is_function or isinstance(output, list | tuple | dict) else dir(output):
            with suppress(Exception, SystemExit):
                method = None if name.startswith("_") else getattr(output, name)
                if not (inspect.ismethod(method) and method.__self__ is output):
                    continue
                arguments, missing = _arguments(_parameters(method), tried.forms, False)
                call = f"{tried.call}.{name}({arguments})"
                if not missing and name in METHODS:
                    found.append((METHODS.index(name), call))
                elif not missing and name not in LEARNING and not name.startswith(("get_", "set_")):
                    self.others.append(call)
        return [call for _, call in sorted(found)]

    def moves(self, call: str, x: Matrix) -> bool:
        """Return whether the value of an expression changes with the seed."""
        if self.differ(call, x):
            return True
        try:
            return self.differ(call, np.repeat(x, MORE, axis=0))
        except TimeoutError:
            return False

    def differ(self, call: str, x: Matrix) -> bool:
        """Return whether the outputs of a call differ between generators."""
        first = self.output(call, x)
        return any(not _equal(first, self.output(call, x, number)) for number in range(1, TRIES))

    def whole(self, call: str, x: Matrix) -> str:
        """Return the expression; if all its values are one triangle of a matrix, put it into a call of `symmetric`."""
        y = np.asarray(self.output(call, x))
        strict = y.shape == self.shape(x) and is_triangle(y) and bool(np.count_nonzero(y - np.diag(np.diag(y))))
        if strict and all(is_triangle(np.asarray(self.output(call, x, number))) for number in range(1, TRIES)):
            return f"symmetric({call})"
        return call


def _equal(first: Any, second: Any) -> bool:
    return shape_of(first) == shape_of(second) and np.array_equal(np.asarray(first), np.asarray(second), equal_nan=True)


def _advice(function: Any, reason: str, calls: Sequence[str], budget: Iterable[str]) -> str:
    """Return why a function cannot be called, with suggestions of expressions and lines of code that call it."""
    name, call = name_of(function), calls[0]
    signature = signature_of(function)
    stated = f"{name}{signature if signature is not None else '(…)'}"
    own = re.sub(r"\bf\b", name if name.isidentifier() else name.rpartition(".")[2], call)
    body = re.sub(r"=seed\b|\bseed(?=[,)])", lambda m: m[0].replace("seed", "int(rng.integers(2**32))"), own)
    offered = " or ".join(f"--call {quoted(one)}" for one in calls[:OFFERED])
    return (
        f"{stated} does not fit an audit: {reason}.\n"
        f"Say how the function is called, by {offered} or, in Python, by wrap({name}, {quoted(call)}). "
        "Another way is to audit the function in these two lines:\n"
        f"    def audited(x, *, {', '.join(budget)}, rng):\n"
        f"        return {body}"
    )
