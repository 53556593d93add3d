"""Test the search through the returned object for parts that depend on the data but not on the seed."""

from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import unit_rows
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import PureDP
from covassay.verification.audit.engine.finding import Look, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.expected import as_called_for
from covassay.verification.audit.knowledge.shared.profile import black_box
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.question import Subject
from covassay.verification.audit.questions.contract.other_parts_of_what_is_returned import COPY, COUNT, MOVED, QUESTION
from covassay.verification.audit.targets.calling import Wrapped, whole_call
from covassay.verification.audit.targets.target import load


class Fitted:
    """An estimator that stores private data as attributes, as fitted estimators may do."""

    kept: tuple[str, ...] = ()

    def __init__(self, epsilon: float, random_state: int) -> None:
        self.epsilon, self.random_state = epsilon, random_state

    def fit(self, X: Any) -> Any:
        rows, rng = unit_rows(X), np.random.default_rng(self.random_state)
        n, d = rows.shape
        noise = rng.laplace(size=(d, d))
        self.covariance_ = rows.T @ rows / n + 2 * d / (n * self.epsilon) * (np.triu(noise) + np.triu(noise, 1).T)
        self.n_features_in_, self.n_samples_, self.bounds_ = d, n, (0.0, 1.0)
        # the choice is noisy, but a few seeds may give the same choice
        self.choice_ = int(np.argmax(np.diag(self.covariance_)))
        everything = {"X_": X, "_mean": rows.mean(axis=0), "parts": [{"norm": float(np.linalg.norm(rows))}]}
        vars(self).update({name: everything[name] for name in self.kept})
        return self

    @property
    def precision_(self) -> Any:
        return np.linalg.pinv(self.covariance_)


class KeepsRows(Fitted):
    kept = "X_", "_mean"


class KeepsANorm(Fitted):
    kept = ("parts",)


def found(target: Any, call: str | None = None, public: str | None = None, adjacency: str = "replace-one") -> Any:
    claim, options = PureDP(1.0), AuditOptions(call=call, public=public)
    made = load(as_called_for(target, claim, options))
    setting = Setting(made, claim.keywords(), SECOND_MOMENT, 0)
    subject = Subject(setting, claim, black_box(SECOND_MOMENT), None, adjacency, options)
    assert not QUESTION.applies(subject)
    (finding,) = QUESTION.asked(subject, Look())
    assert finding.status is (Status.NOTED if finding.facts else Status.NOT_REFUTED)
    return {part.part: part.holds for part in finding.facts.parts} if finding.facts else {}


def test_a_fitted_object_may_keep_what_the_release_gives_and_what_is_public() -> None:
    assert found(Fitted) == {}


def test_rows_and_what_is_computed_from_them_are_named() -> None:
    assert found(KeepsRows) == {"X_": COPY, "_mean": MOVED}


@pytest.mark.thorough
def test_parts_of_parts_are_found_and_can_be_declared() -> None:
    assert found(KeepsANorm) == {"parts[0]['norm']": MOVED}
    assert found(KeepsANorm, "fit(f(epsilon, seed), x).covariance_") == {"parts[0]['norm']": MOVED}
    assert found(KeepsANorm, public="parts") == {}
    assert found(KeepsRows, public="_mean") == {"X_": COPY}


def test_the_number_of_rows_is_private_where_one_may_be_missing() -> None:
    assert found(Fitted, adjacency="add-remove") == {"n_samples_": COUNT}


def test_the_whole_of_a_call_is_found_in_every_form() -> None:
    assert whole_call("symmetric(f(x, epsilon)[1])") == "f(x, epsilon)"
    assert whole_call("fit(f(epsilon), x).get()") == "fit(f(epsilon), x)"
    made = "[(made := f(epsilon)), made.update(x)]"
    assert whole_call(f"{made}[0]") == made
    assert whole_call("f.release(x)") == "[(made := f), made.release(x)]"
    assert Wrapped(np.asarray, whole_call("f(x)")).call == "f(x)"
