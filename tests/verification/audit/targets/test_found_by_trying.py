"""Test how the audit finds the released output of an object by trying its attributes and methods. A release must
change with the seed and have the shape of an output.
"""

import asyncio
import functools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.verification import wrap
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.called import called
from covassay.verification.audit.engine.contract import require_answer
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.calling import CannotRun, symmetric
from covassay.verification.audit.targets.target import Target, load
from covassay.verification.cli.main import run


def noise(d: int, seed: Any) -> Matrix:
    half = np.random.default_rng(seed).laplace(size=(d, d))
    return half + half.T


class Learner:
    """An estimator that stores the second moment without noise, and adds noise in the method `release`."""

    def __init__(self, epsilon: float, random_state: Any = None) -> None:
        self.seed = random_state

    def partial_fit(self, X: Matrix) -> "Learner | None":
        self.S = X.T @ X / len(X)
        return self

    def release(self) -> Matrix:
        return np.asarray(self.S + noise(len(self.S), self.seed))


class Mute(Learner):
    def partial_fit(self, X: Matrix) -> None:
        super().partial_fit(X)

    def log(self, message: str, **options: Any) -> None:
        raise AssertionError("no data")


class ReleasesWithGenerator(Learner):
    def __init__(self, epsilon: float) -> None:
        super().__init__(epsilon)

    def release(self, rng: Any) -> Matrix:  # type: ignore[override]
        return np.asarray(self.S + noise(len(self.S), rng))


class Telling(Learner):
    """An estimator with an attribute that has a plausible name but no noise, and a method
    that returns a noisy output.
    """

    def fit(self, X: Matrix) -> "Telling":
        self.covariance_ = X.T @ X / len(X)
        self.S = self.covariance_
        return self


class SecondName(Telling):
    """An estimator with two attributes that have plausible names. The attribute `covariance_` has no noise, and the
    release is the attribute `output_`.
    """

    release = None  # type: ignore[assignment]

    def fit(self, X: Matrix) -> "SecondName":
        super().fit(X)
        self.output_ = self.covariance_ + noise(len(self.S), self.seed)
        return self


class Subsampled(Learner):
    """An estimator with an attribute that has a plausible name and changes with the seed, but is not the release."""

    def partial_fit(self, X: Matrix) -> "Subsampled":
        kept = np.random.default_rng(self.seed).random(len(X)) < 0.5
        self.covariance_ = X[kept].T @ X[kept] / len(X)
        self.S = self.covariance_
        return self


class Lazy(Learner):
    """An estimator with three properties. The property `accuracy` raises an error when it is read. The property `fatal`
    ends the program when it is read. The property `covariance_` draws new noise when it is read, and returns the
    released matrix.
    """

    def fit(self, X: Matrix) -> "Lazy":
        self.partial_fit(X)
        return self

    release = None  # type: ignore[assignment]

    @property
    def accuracy(self) -> float:
        raise RuntimeError("not known")

    @property
    def fatal(self) -> float:
        raise SystemExit(3)

    @property
    def covariance_(self) -> Matrix:
        return np.asarray(self.S + noise(len(self.S), self.seed))


FOUND: dict[str, tuple[Any, str]] = {
    "partial_fit and release": (Learner, "f(epsilon=epsilon, random_state=seed).partial_fit(x).release()"),
    "partial_fit that returns nothing": (
        Mute,
        "[made := f(epsilon=epsilon, random_state=seed), made.partial_fit(x)][0].release()",
    ),
    "release that takes the generator": (ReleasesWithGenerator, "f(epsilon=epsilon).partial_fit(x).release(rng=rng)"),
    "a telling part that moves, beside release": (
        Subsampled,
        "f(epsilon=epsilon, random_state=seed).partial_fit(x).release()",
    ),
    "a telling part without noise": (Telling, "f(epsilon=epsilon, random_state=seed).fit(x).release()"),
    "the second telling part": (SecondName, "f(epsilon=epsilon, random_state=seed).fit(x).output_"),
    "properties": (Lazy, "f(epsilon=epsilon, random_state=seed).fit(x).covariance_"),
}


def setting(source: Any = None) -> Setting:
    return Setting(source or Target("", print), {"epsilon": 1.0}, SECOND_MOMENT, 0)


def found(function: Any) -> Target:
    return load(called(function, setting(), None))


@pytest.mark.parametrize("name", FOUND)
def test_what_is_released_is_found(name: str) -> None:
    """The test fails if the audit finds the wrong output, or a call that ignores the seed."""
    function, call = FOUND[name]
    target = found(function)
    assert target.draw.call == call  # type: ignore[attr-defined]
    first, again, other = (target.draw(np.eye(3), epsilon=1.0, rng=np.random.default_rng(i)) for i in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


class NoNoise:
    def __init__(self, epsilon: float) -> None:
        pass

    def fit(self, X: Matrix) -> "NoNoise":
        self.covariance_ = X.T @ X / len(X)
        return self

    def noisy(self) -> Matrix:
        return np.asarray(self.covariance_ + noise(len(self.covariance_), None))


class Cached(Learner):
    """An estimator whose instances all return the first release."""

    kept: Any = None

    def release(self) -> Matrix:
        if Cached.kept is None:
            Cached.kept = super().release()
        return np.asarray(Cached.kept)


class Several(Learner):
    """An estimator with two attributes in the shape of an output, whose names do not tell which is the release."""

    release = None  # type: ignore[assignment]

    def partial_fit(self, X: Matrix) -> "Several":
        self.S = X.T @ X / len(X)
        self.noise_drawn = noise(len(self.S), self.seed)
        return self


class Ways:
    """An object with two methods that take data. The names of the methods do not tell which method the audit should
    call.
    """

    def __init__(self, epsilon: float) -> None:
        pass

    def first(self, X: Matrix) -> Matrix:
        return X

    def second(self, X: Matrix) -> Matrix:
        return X


async def coroutine(X: Matrix, eps: float, seed: int) -> Matrix:
    return noise(X.shape[1], seed)


async def coroutine_of_an_audit(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return noise(x.shape[1], rng)


def generator(X: Matrix, eps: float, seed: int) -> Iterator[Matrix]:
    yield noise(X.shape[1], seed)


def frame(X: Matrix, eps: float, seed: int) -> Any:
    import pandas

    return pandas.DataFrame(noise(X.shape[1], seed), columns=list("abcdefg"[: X.shape[1]]))


def named_frame(X: Matrix, eps: float, seed: int) -> Any:
    import pandas

    return pandas.DataFrame({"name": ["a"] * 3, "value": [0.0] * 3})


STILL: dict[str, tuple[Any, str, str]] = {
    "no noise": (NoNoise, "gave the same value for every seed", "'f(epsilon=epsilon).fit(x).noisy()'"),
    "cached": (Cached, "gave the same value for every seed", ".partial_fit(x).release()"),
    "several parts": (Several, "several parts have the shape (3, 3)", ".noise_drawn'"),
    "a constant part of a dictionary": (
        lambda X, eps: {"cov": X.T @ X},
        "gave the same value for every seed",
        "--call \"f(x, eps=epsilon)['cov']\"",
    ),
    "a mean in a dictionary": (
        lambda X, eps, seed: {"eps": eps, "mean": X.mean(0)},
        "it returned dict with 'eps': float of shape (), 'mean': ndarray of shape (3,)",
        "--call \"f(x, eps=epsilon, seed=seed)['mean']\"",
    ),
    "a tuple of words": (lambda X, eps: ("a", "b"), "tuple with 0: str, 1: str; no array", "f(x, eps=epsilon)"),
    "an empty tuple": (lambda X, eps: (), "", ""),
    "complex numbers": (
        lambda x, *, epsilon, rng: noise(x.shape[1], rng) + 0j,
        "ndarray of shape (3, 3) with entries of type complex128",
        "--call 'numpy.real(f(x, epsilon=epsilon, rng=rng))'",
    ),
    "a sparse matrix": (
        lambda x, *, epsilon, rng: sparse.csr_array(noise(x.shape[1], rng)),
        "it returned csr_array",
        "--call 'f(x, epsilon=epsilon, rng=rng).toarray()'",
    ),
    "a flat matrix": (
        lambda x, *, epsilon, rng: noise(x.shape[1], rng).ravel(),
        "ndarray of shape (25,)",
        "--call 'numpy.reshape(f(x, epsilon=epsilon, rng=rng), (x.shape[1], x.shape[1]))'",
    ),
    "coroutine": (coroutine, "it returned coroutine", "asyncio.run(f(x, eps=epsilon, seed=seed))"),
    "coroutine of an audit": (coroutine_of_an_audit, "coroutine", "asyncio.run(f(x, epsilon=epsilon, rng=rng))"),
    "generator": (generator, "it returned generator", "next(f(x, eps=epsilon, seed=seed))"),
    "a function": (lambda X, eps: lambda y: y.T @ y, "it returned function", "f(x, eps=epsilon)(x)"),
    "a table with words": (named_frame, "it returned DataFrame", "f(x, eps=epsilon, seed=seed)"),
}  # fmt: skip


@pytest.mark.parametrize("name", STILL)
def test_what_may_not_be_released_is_not_accused(name: str) -> None:
    function, reason, offered = STILL[name]
    with warnings.catch_warnings(record=True) as warned, pytest.raises(CannotRun) as raised:
        require_answer(setting(called(function, setting(), None)))
    assert warned == []  # a coroutine that is not awaited would cause a warning
    assert reason in str(raised.value)
    assert offered in str(raised.value)


def test_every_method_that_may_take_the_data_is_offered() -> None:
    with pytest.raises(
        InvalidInput, match=r"--call 'f\(epsilon=epsilon\).first\(x\)' or --call 'f\(epsilon=epsilon\).second"
    ):
        found(Ways)


def test_an_expression_that_was_offered_does() -> None:
    """The test fails if a call that an error message suggests does not work."""
    for function, call in (
        (coroutine, "asyncio.run(f(x, eps=epsilon, seed=seed))"),
        (generator, "next(f(x, eps=epsilon, seed=seed))"),
        (NoNoise, "f(epsilon=epsilon).fit(x).noisy()"),
    ):
        require_answer(setting(called(function, setting(), call)))
    assert found(frame).draw.call == "f(x, eps=epsilon, seed=seed)"  # type: ignore[attr-defined]


def test_who_says_how_it_is_called_is_held_to_it() -> None:
    """The test fails if the audit does not use the call that the user has stated. The stated output has no noise, so
    it must be refuted.
    """
    report = audit(NoNoise, epsilon=1.0, samples=100, call="f(epsilon=epsilon).fit(x).covariance_", stop_early=True)
    assert report.verdict.value == "REFUTED"


def test_an_output_that_is_often_the_same_is_tried_on_more_rows() -> None:
    class Projects:
        def __init__(self, epsilon: float, random_state: int) -> None:
            self.seed = random_state

        def fit(self, X: Matrix) -> "Projects":
            self.covariance_ = X.T @ X / len(X) + noise(X.shape[1], self.seed) * (len(X) > 100)
            return self

    assert found(Projects).draw.call.endswith(".covariance_")  # type: ignore[attr-defined]


# TRIANGLES


def triangular(X: Matrix, eps: float, seed: int, half: Any = np.triu) -> Matrix:
    return np.asarray(half(noise(X.shape[1], seed)))


@pytest.mark.parametrize("half", [np.triu, np.tril])
def test_a_triangle_in_place_of_a_matrix_is_made_whole(half: Any) -> None:
    target = found(functools.partial(triangular, half=half))
    assert target.draw.call == "symmetric(f(x, eps=epsilon, seed=seed))"  # type: ignore[attr-defined]
    y = target.draw(np.eye(3), epsilon=1.0, rng=np.random.default_rng(0))
    assert np.array_equal(y, y.T)
    assert np.count_nonzero(y) == 9


def test_a_matrix_that_is_now_and_then_a_triangle_is_left_alone() -> None:
    def now_and_then(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        y = noise(x.shape[1], rng)
        return np.triu(y) if rng.random() < 0.5 else y

    assert found(now_and_then).draw is now_and_then
    for diagonal in (np.diag, lambda v: np.diag(v) * 0):
        assert (
            getattr(found(lambda x, *, epsilon, rng, d=diagonal: d(rng.laplace(size=x.shape[1]))).draw, "call", "")
            == ""
        )


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_matrix_of_a_triangle(d: int) -> None:
    """The test fails if the entries of a triangle are put into the wrong places of the matrix."""
    whole = noise(d, 0)
    for triangle in (np.triu(whole), np.tril(whole), whole[np.triu_indices(d)], list(whole[np.triu_indices(d)])):
        assert np.array_equal(symmetric(triangle), whole)
    assert np.array_equal(symmetric(whole[np.tril_indices(d)], lower=True), whole)
    # R and the operator vech list the entries column by column.
    column_by_column = np.concatenate([whole[j:, j] for j in range(d)])
    assert np.array_equal(symmetric(column_by_column), whole)


@pytest.mark.parametrize("wrong", [np.ones((2, 2)), np.ones(4), np.ones((2, 3)), 1.0, [], np.ones((1, 1, 1))])
def test_what_is_no_triangle_is_no_matrix(wrong: Any) -> None:
    with pytest.raises(ValueError, match="must be a triangle"):
        symmetric(wrong)


def test_a_flat_triangle_under_the_name_of_a_mechanism_is_told_both_orders() -> None:
    def flat(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        return np.asarray(noise(x.shape[1], rng)[np.triu_indices(x.shape[1])])

    with pytest.raises(CannotRun) as raised:
        audit(flat, epsilon=1.0, mechanism="nuclear-laplace", samples=100)
    call = "f(x, epsilon=epsilon, rng=rng)"
    assert f"--call 'symmetric({call})' or --call 'symmetric({call}, lower=True)'" in str(raised.value)
    require_answer(setting(called(flat, setting(), f"symmetric({call})")))
    assert wrap(flat, "symmetric(f(x, epsilon=1, rng=rng))")(np.eye(3), rng=np.random.default_rng(0)).shape == (3, 3)


def test_a_class_without_noise_in_its_only_part_ends_with_exit_status_3(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "still_parts.py").write_text(
        "class Sums:\n    def __init__(self, eps): pass\n    def partial_fit(self, X): self.S = X.T @ X; return self\n"
    )
    monkeypatch.chdir(tmp_path)
    assert run(["audit", "still_parts:Sums", "--epsilon", "1", "--jobs", "1", "--json"]) == 3
    captured = capsys.readouterr()
    assert '"verdict": "INCONCLUSIVE"' in captured.out
    assert "--call 'f(eps=epsilon).partial_fit(x).S'" in captured.err


def test_asyncio_is_there_for_the_expression() -> None:
    assert asyncio.run(coroutine(np.eye(2), 1.0, 0)).shape == (2, 2)
