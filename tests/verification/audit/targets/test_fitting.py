"""Test how the audit calls functions with common signatures. If the audit cannot tell how to call a function, its error
message suggests two lines of code that work.
"""

import functools
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Box, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.verification import wrap
from covassay.verification.audit.engine.called import called
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.expected import claim_of
from covassay.verification.audit.options import AuditOptions, replay_command
from covassay.verification.audit.targets.calling import CannotRun, compiled, name_of
from covassay.verification.audit.targets.target import Target, TargetReference, as_source, load

X = np.eye(3)


def noisy(x: Any, eps: float, rng: Any) -> Matrix:
    """Release a noisy second moment. The generator is a numpy Generator or RandomState."""
    return np.asarray(x.T @ x / len(x) + rng.laplace(size=(x.shape[1],) * 2) / eps)


def state(X, eps, random_state=None):
    return noisy(X, eps, np.random.RandomState(random_state))


def old_state(X, eps, random_state):
    assert isinstance(random_state, np.random.RandomState)
    return noisy(X, eps, random_state)


def generator_state(X, eps, random_state):
    assert isinstance(random_state, np.random.Generator)
    return noisy(X, eps, random_state)


def integer(data, epsilon, *, seed):
    assert isinstance(seed, int)
    return noisy(data, epsilon, np.random.default_rng(seed))


def frame(df, eps):
    return noisy(df.iloc[:, :].to_numpy(), eps, np.random.default_rng())


def rows(rows, eps, rng):
    assert isinstance(rows, list)
    return noisy(np.array(rows), eps, rng).tolist()


def in_tuple(x, *, epsilon, rng):
    return noisy(x, epsilon, rng), {"spent": epsilon}


def in_dict(eps, X, rng=None):
    return {"cov": noisy(X, eps, np.random.default_rng(rng)), "n": len(X)}


def by_place(X, eps, /, seed=0):
    return noisy(X, eps, np.random.default_rng(seed))


def by_name(*, X, privacy_budget, generator):
    return noisy(X, privacy_budget, generator)


def sizes(X, eps, n, d, data_norm=None, verbose=False):
    assert (n, d, data_norm, verbose) == (len(X), X.shape[1], 1.0, False)
    return noisy(X, eps, np.random.default_rng())


class Estimator:
    """An estimator in the style of scikit-learn."""

    def __init__(self, epsilon=1.0, random_state=None):
        self.epsilon, self.random_state = epsilon, random_state

    def get_params(self, deep=True):
        return vars(self)

    def set_params(self, **given):
        vars(self).update(given)
        return self

    def fit(self, X, y=None):
        self.covariance_ = noisy(X, self.epsilon, np.random.RandomState(self.random_state))
        self.precision_ = self.covariance_
        return self


class Silent:
    """An estimator whose `fit` takes a seed and returns None."""

    def __init__(self, eps):
        self.eps = eps

    def fit(self, X, seed):
        self.second_moment = noisy(X, self.eps, np.random.default_rng(seed))


class Releaser:
    def __init__(self, eps):
        self.eps = eps

    def release(self, X, rng):
        return noisy(X, self.eps, rng)


class Operation:
    """An object that the audit must find out how to call. The name and the parameters of the method `execute` show
    this.
    """

    def __init__(self, eps):
        self.eps = eps

    def execute(self, *, vectors, rng):
        return noisy(vectors, self.eps, rng)

    def interval(self, *, confidence=0.95):
        return confidence / self.eps


class Twice:
    """An object with two methods that could both take the data."""

    def first(self, *, column, eps, delta):
        return column

    def second(self, column, eps):
        return column


class Called:
    def __init__(self, eps):
        self.eps = eps

    def __call__(self, X, gen):
        return noisy(X, self.eps, gen)


def closure(eps: float) -> Callable[..., Matrix]:
    return lambda X, rng: noisy(X, eps, rng)


FOUND: dict[str, tuple[Any, str]] = {
    "random_state, a number": (state, "f(x, eps=epsilon, random_state=seed)"),
    "random_state, numpy's old one": (old_state, "f(x, eps=epsilon, random_state=numpy.random.RandomState(seed))"),
    "random_state, a generator": (generator_state, "f(x, eps=epsilon, random_state=rng)"),
    "seed": (integer, "f(x, epsilon=epsilon, seed=seed)"),
    "a data frame, no seed": (frame, "f(pandas.DataFrame(x), eps=epsilon)"),
    "a list of rows": (rows, "f(x.tolist(), eps=epsilon, rng=rng)"),
    "output in a tuple": (in_tuple, "f(x, epsilon=epsilon, rng=rng)[0]"),
    "output in a dictionary": (in_dict, "f(eps=epsilon, X=x, rng=rng)['cov']"),
    "by place": (by_place, "f(x, epsilon, seed=seed)"),
    "by name": (by_name, "f(X=x, privacy_budget=epsilon, generator=rng)"),
    "sizes and norm": (sizes, "f(x, eps=epsilon, n=len(x), d=x.shape[1], data_norm=1.0)"),
    "class with fit": (Estimator, "f(epsilon=epsilon, random_state=seed).fit(x).covariance_"),
    "object with fit": (Estimator(0.5, 7), "copy.deepcopy(f).set_params(random_state=seed).fit(x).covariance_"),
    "fit that returns nothing": (Silent, "fit(f(eps=epsilon), x, seed=seed).second_moment"),
    "class with release": (Releaser, "f(eps=epsilon).release(x, rng=rng)"),
    "method": (Releaser(1.0).release, "f(x, rng=rng)"),
    "class with execute": (Operation, "f(eps=epsilon).execute(vectors=x, rng=rng)"),
    "class that is called": (Called, "f(eps=epsilon)(x, gen=rng)"),
    "closure": (closure(1.0), "f(x, rng=rng)"),
    "partial": (functools.partial(state, eps=1.0), "f(x, random_state=seed)"),
}


def setting(**budget: Any) -> Setting:
    return Setting(Target("", print), budget or {"epsilon": 1.0}, SECOND_MOMENT, 0)


def found(function: Any, **budget: Any) -> Target:
    return load(called(function, setting(**budget), None))


@pytest.mark.parametrize("name", FOUND)
def test_a_function_comes_as_it_is(name: str) -> None:
    """The test fails if the audit passes wrong arguments to a function, or does not set its seed."""
    function, call = FOUND[name]
    target = found(function)
    assert getattr(target.draw, "call", None) == call
    assert target.seeded == ("seed" in call or "rng" in call)
    assert target.notes[0].startswith(f"called as {call}")
    first, second, other = (target.draw(X, epsilon=1.0, rng=np.random.default_rng(i)) for i in (1, 1, 2))
    assert np.array_equal(first, second) == target.seeded
    assert not np.array_equal(first, other)


def test_a_function_with_the_signature_of_an_audit_is_left_alone() -> None:
    def release(x, *, epsilon, rng):
        return noisy(x, epsilon, rng)

    assert found(release).draw is release
    assert found(release).notes == ()


def test_a_function_that_takes_other_names_for_delta_and_rho() -> None:
    assert found(lambda data, eps, target_delta: data.T @ data, epsilon=1.0, delta=1e-6).draw.call == (  # type: ignore[attr-defined]
        "f(x, eps=epsilon, target_delta=delta)"
    )
    assert found(lambda data, total_budget: data.T @ data, rho=0.5).draw.call == "f(x, total_budget=rho)"  # type: ignore[attr-defined]


def test_bounds_are_given_where_there_is_a_box() -> None:
    box = Box.of([(0, 1), (0, 100)])
    asked = Setting(Target("", print), {"epsilon": 1.0, "bounds": box.bounds}, SECOND_MOMENT, 0, box=box)
    target = load(called(lambda X, eps, data_bounds: X.T @ X * len(data_bounds), asked, None))
    assert target.draw.call == "f(x, eps=epsilon, data_bounds=bounds)"  # type: ignore[attr-defined]
    target = load(called(lambda X, eps, norm=None: norm * X.T @ X, asked, None))
    x = np.array([[1.0, 0.0]])
    given = target.draw(x, epsilon=1.0, bounds=box.bounds, rng=np.random.default_rng(0))
    assert given[0, 0] == pytest.approx(np.sqrt(1 + 100**2))


MISFITS: dict[str, tuple[Any, str, str]] = {
    "an unknown parameter": (
        lambda X, eps, n_bins: X,
        "an audit knows no value for n_bins",
        "return <lambda>(x, eps=epsilon, n_bins=…)",
    ),
    "a budget that is not claimed": (
        lambda X, eps, delta: X,
        "knows no value for delta (the claim has only epsilon: give --epsilon and --delta)",
        "--call 'f(x, eps=epsilon, delta=…)'",
    ),
    "a budget that is not claimed, by default": (
        lambda X, eps, delta=1e-6: X,
        "knows no value for delta (the claim has only epsilon: give --epsilon and --delta)",
        "return <lambda>(x, eps=epsilon, delta=…)",
    ),
    "bounds that would be read off the data": (
        lambda X, eps, bounds=None: X.T @ X,
        "knows no value for bounds (bounds of the data, which must be public: give --bounds)",
        "return <lambda>(x, eps=epsilon, bounds=…)",
    ),
    "several methods": (
        Twice,
        "several methods take data (first, second)",
        "--call 'f().first(column=x, eps=epsilon, delta=…)' or --call 'f().second(x, eps=epsilon)'",
    ),
    "no data": (lambda eps: eps, "knows no value for a parameter for the data", "return <lambda>(x, eps=epsilon)"),
    "a method without its object": (Releaser.release, "it is a method of a class", "release(…, x, …)"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_function_that_does_not_fit_is_shown_two_lines_that_would(name: str) -> None:
    function, reason, lines = MISFITS[name]
    with pytest.raises(InvalidInput) as raised:
        found(function)
    assert reason in str(raised.value)
    assert lines in str(raised.value)
    assert str(raised.value).count("\n") == 3


WRONG: dict[str, tuple[Any, str, str]] = {
    "several outputs": (
        lambda X, eps: (X.T @ X, X.T @ X),
        "several parts have the shape (3, 3) of an output: [0], [1]",
        "return <lambda>(x, eps=epsilon)[0]",
    ),
    "no output": (
        lambda X, eps: {"n": len(X)},
        "no array of real numbers in the value has the shape (3, 3)",
        "def audited(x, *, epsilon, rng)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_gives_no_output_cannot_be_run_and_is_shown_what_came_back(name: str) -> None:
    function, reason, lines = WRONG[name]
    with pytest.raises(CannotRun) as raised:
        found(function)
    assert reason in str(raised.value)
    assert lines in str(raised.value)
    assert str(raised.value).count("\n") == 3


def test_the_two_lines_can_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the code that an error message suggests does not work."""

    def needs(X, eps, seed, n_bins):
        return noisy(X, eps, np.random.default_rng(seed + n_bins))

    with pytest.raises(InvalidInput) as raised:
        found(needs)
    lines = str(raised.value).partition("two lines:\n")[2].replace("…", "3")
    names: dict[str, Any] = {"needs": needs}
    exec(re.sub("^    ", "", lines, flags=re.MULTILINE), names)
    assert found(names["audited"]).draw is names["audited"]
    with pytest.raises(CannotRun, match=r"called as f\(x, eps=epsilon\) it raised KeyError: 'row 17'"):
        found(lambda X, eps: {}["row 17"])
    with pytest.raises(InvalidInput, match="must be a function, or an object with the method fit"):
        found(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("f(x, ", "must be one Python expression"),
        ("g(x)", "must use f"),
        ("f(y)", "must use x"),
        ("f(x, nosuchmodule.seed)", "nosuchmodule is neither one of f, x, epsilon"),
        ("y = f(x)", "must be one Python expression"),
    ],
)
def test_a_call_that_is_wrong_is_told(call: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        wrap(state, call)


def test_a_call_may_name_modules_and_names_of_its_own() -> None:
    call = "(lambda y: f(y, scipy.special.expit(rng.random())))([r for r in x])"
    assert compiled(call)[1] == {"f", "x", "rng"}
    # the output is 1/(1 + 1/e) = 0.731…
    assert 0.5 < wrap(lambda rows, p: p, call)(X, rng=np.random.default_rng(0)) < 0.74


def test_wrap_finds_the_call_when_it_is_used_and_survives_pickling() -> None:
    for function in (wrap(state), pickle.loads(pickle.dumps(wrap(state, "f(x, epsilon, seed)")))):
        first, second = (function(X, epsilon=1.0, rng=np.random.default_rng(3)) for _ in range(2))
        assert np.array_equal(first, second)
    assert found(wrap(state)).draw.call == "f(x, eps=epsilon, random_state=seed)"  # type: ignore[attr-defined]


def test_a_module_may_hold_what_wrap_returns(tmp_path: Path) -> None:
    """The test fails if a function that is already wrapped is wrapped again."""
    (tmp_path / "holds_wrapped.py").write_text(
        "from covassay.verification import wrap\n"
        "def plain(x, *, epsilon, rng): return x.T @ x\n"
        "def other(X, eps): return X.T @ X\n"
        "def two(X, eps): return X.T @ X, X.T @ X\n"
        "a, b, c = wrap(plain), wrap(other), wrap(two, 'f(x, epsilon)[1]')\n"
    )
    calls = {"a": "f(x, epsilon=epsilon, rng=rng)", "b": "f(x, eps=epsilon)", "c": "f(x, epsilon)[1]"}
    for name, call in calls.items():
        target = load(called(TargetReference(f"holds_wrapped:{name}", str(tmp_path)), setting(), None))
        assert target.draw.call == call  # type: ignore[attr-defined]
        assert target.draw(X, epsilon=1.0, rng=np.random.default_rng(0)).tolist() == X.tolist()
    again = called(TargetReference("holds_wrapped:c", str(tmp_path)), setting(), "f(x, 2)[0]")
    assert load(again).draw.call == "f(x, 2)[0]"  # type: ignore[attr-defined]


def test_the_name_of_a_target_is_that_of_the_function_in_it() -> None:
    assert [name_of(f) for f in (state, functools.partial(state, eps=1), Estimator(), wrap(state))] == [
        "state",
        "state",
        "Estimator",
        "state",
    ]


def test_what_takes_no_budget_needs_a_stated_claim() -> None:
    takers = [state, Estimator, Releaser, functools.partial(sizes, verbose=True), lambda X, rho: X]
    for function in takers:
        assert claim_of(function).keywords() == {"epsilon": 1.0}
    for function in (closure(1.0), Estimator(2.0), functools.partial(state, eps=1.0), np.cov, wrap(state, "f(x, 2)")):
        with pytest.raises(InvalidInput, match="takes no budget"):
            claim_of(function)
        assert claim_of(function, AuditOptions(epsilon=2.0)).keywords() == {"epsilon": 2.0}


def test_the_replay_says_how_the_function_is_called() -> None:
    reference = TargetReference("m:f", "/", call="f(x, eps=epsilon)")
    guarantee = claim_of(state, AuditOptions(epsilon=1.0))
    assert "audit m:f --epsilon 1 --call 'f(x, eps=epsilon)'" in replay_command(reference, guarantee, AuditOptions())
    told = replay_command(as_source(wrap(state, "f(x, epsilon)")), guarantee, AuditOptions())
    assert told == "audit(state, epsilon=1.0, call='f(x, epsilon)', seed=0, unseeded=True)"


def test_only_functions_are_called_by_an_expression() -> None:
    for spec in ("exec:true", "covassay:nuclear-laplace"):
        with pytest.raises(InvalidInput, match="only for a target module:function"):
            load(called(spec, setting(), "f(x)"))
