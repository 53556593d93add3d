"""Test pairs of neighbouring data sets that the user supplies. Valid pairs are used in the audit, and an invalid pair
is rejected with an error message of one line. The seeds are fixed, and each correct target is refuted with probability
at most 1e-9.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.engine.user_pair import NAME, as_pair, given_pair, load_pair, pair_to_test
from covassay.verification.audit.expected import with_pair
from covassay.verification.audit.knowledge.shared.profile import black_box

X = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 0.5], [0.6, 0.8]])
Y = np.array([[0.6, 0.8], [0.0, 1.0], [0.0, 0.5], [0.6, 0.8]])


def entrywise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add Laplace noise to every entry of the second moment, whose ℓ1 sensitivity is at most √2 d/n."""
    rows = unit_rows(x)
    n, d = rows.shape
    return second_moment(rows) + 2**0.5 * d / (n * epsilon) * rng.laplace(size=(d, d))


def special(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add the noise of `entrywise`, divided by 100 if the second row is (0.25, 0.25)."""
    y, noisy = second_moment(unit_rows(x)), entrywise(x, epsilon=epsilon, rng=rng)
    return y + (noisy - y) / 100 if len(x) > 1 and (x[1] == 0.25).all() else noisy


def test_the_rows_may_stand_in_any_order() -> None:
    """The test fails if two data sets are rejected as neighbours because their rows are in different orders."""
    order = [2, 0, 3, 1]
    pair = as_pair(X, Y[order])
    assert pair.moved
    assert np.array_equal(pair.first, X)
    assert np.array_equal(pair.second, Y)
    assert not as_pair(X, Y).moved


def test_repeated_rows_are_counted() -> None:
    """The test fails if the comparison of two data sets ignores how often each row occurs. Neighbours may differ in
    one row only.
    """
    a, b, c = np.eye(3)
    assert (as_pair([a, a, b], [a, b, b]).first != as_pair([a, a, b], [a, b, b]).second).any(axis=1).sum() == 1
    with pytest.raises(InvalidInput, match="differ in 2 rows"):
        as_pair([a, a, a, b], [b, b, b, a])
    with pytest.raises(InvalidInput, match="differ in 2 rows"):
        as_pair([a, b, c], [a, a, a])


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (X, X, "same rows"),
        (X, X[::-1], "same rows"),
        (X, X[:2], "x has 4 and y has 2 rows"),
        (X, X[:3] + 1, "x has 4 and y has 3 rows: one of two neighbours has one row more"),
        (X, np.ones((4, 3)), "2 columns and y has 3"),
        (X, X + 1, "differ in 4 rows"),
        (np.ones(3), Y, "x must be a table"),
        (np.empty((0, 2)), np.empty((0, 2)), "x must be a table"),
        (X, np.where(X == 1, np.nan, X), "y must be a table .* not finite"),
        (X, X.astype(str), "y must be a table"),
        (X, X.astype(complex), "y must be a table"),
        ([[1, 2], [3]], Y, "x must be a table"),
        ([[10**400, 0.0]], [[1.0, 0.0]], "x must be a table"),
    ],
)
def test_what_is_no_pair_is_refused_in_one_line(x: Any, y: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        as_pair(x, y)
    assert "\n" not in str(refused.value)


def test_the_adjacency_of_the_claim_decides_which_pairs_are_neighbours() -> None:
    fewer = as_pair(X, X[[3, 0, 1]])
    assert fewer.adjacency == "add-remove"
    assert pair_to_test(fewer, SECOND_MOMENT, "ball", 1, "add-remove").name == NAME
    for pair, adjacency in ((fewer, "replace-one"), (as_pair(X, Y), "add-remove")):
        with pytest.raises(InvalidInput, match=f"rows: .* \\({adjacency}\\)"):
            pair_to_test(pair, SECOND_MOMENT, "ball", 1, adjacency)


@pytest.mark.parametrize("pair", [X, (X,), (X, Y, X), "x, y", 3])
def test_a_pair_is_two_tables(pair: Any) -> None:
    with pytest.raises(InvalidInput, match="pair"):
        given_pair(pair)


def test_a_pair_is_read_from_either_kind_of_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", x=X, y=Y)
    (tmp_path / "p.json").write_text(json.dumps({"x": X.tolist(), "y": Y.tolist()}), encoding="utf-8")
    for name in ("p.npz", "p.json"):
        pair = load_pair(str(tmp_path / name))
        assert np.array_equal(pair.first, X)
        assert np.array_equal(pair.second, Y)
        assert pair.source == str(tmp_path / name)


BROKEN: dict[str, bytes] = {
    "nothing.npz": b"",
    "text.npz": b"x, y",
    "half.npz": b"PK\x03\x04 and no more",
    "half.json": b'{"x": [[1, 2]',
    "list.json": b"[1, 2]",
    "latin.json": b"\xff\xfe",
    "names.json": b'{"a": [[1]], "b": [[2]]}',
    "one.json": b'{"x": [[1.0]]}',
    "infinite.json": b'{"x": [[1e999]], "y": [[0]]}',
    "pair.csv": b"1,2",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_without_a_pair_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(InvalidInput, match="pair = ") as refused:
        load_pair(str(tmp_path / name))
    assert "\n" not in str(refused.value)


def test_an_archive_of_objects_is_not_loaded(tmp_path: Path) -> None:
    """The test fails if an archive with pickled objects is loaded, because pickled objects can run code."""
    np.savez(tmp_path / "p.npz", x=np.array([{}], dtype=object), y=Y)
    with pytest.raises(InvalidInput, match="archive of arrays"):
        load_pair(str(tmp_path / "p.npz"))


def test_what_a_reader_should_know_of_the_rows_is_said() -> None:
    long = as_pair(X, np.vstack([X[:3], [[3.0, 4.0]]]))
    assert any("norm above 1" in remark for remark in pair_to_test(long, SECOND_MOMENT, "ball", 1).remarks)
    assert any("outside [0, 1]" in remark for remark in pair_to_test(long, SECOND_MOMENT, "cube", 1).remarks)
    assert not pair_to_test(long, SECOND_MOMENT, "space", 1).remarks
    with pytest.raises(InvalidInput, match="needs at least 2"):
        pair_to_test(as_pair([[1.0]], [[0.0]]), OUTPUTS["coefficients"], "ball", 1)


@pytest.mark.slow
def test_a_pair_shows_what_no_other_pair_shows() -> None:
    """The test fails if an audit ignores the pair of data sets that the user supplies. The target adds too little noise
    only if the second row has one special value, and none of the audit's own pairs contains a row of this value. The
    test also fails if a correct target is refuted.
    """
    x, y = X.copy(), X.copy()
    x[1] = 0.25
    samples = 200  # with 100 draws, no event could refute the claim, so that the verdict would be "inconclusive"
    assert audit(special, epsilon=1.0, samples=samples).verdict is Verdict.NOT_REFUTED
    report = audit(special, epsilon=1.0, samples=samples, pair=(x, y))
    assert NAME in {check.scenario for check in report.refuted}
    # the check of recorded draws may find the same pair, so that two checks may test it
    assert all(np.array_equal(check.data, (x, y)) for check in report.refuted)
    assert "pair=(x, y)" in report.replay
    assert audit(entrywise, epsilon=1.0, samples=samples, pair=(x, y)).verdict is Verdict.NOT_REFUTED


def test_the_pair_follows_the_adjacency_of_the_claim() -> None:
    x = np.diag([0.5, 0.6, 0.7])
    known, given = black_box(SECOND_MOMENT), as_pair(x, x[:2])
    assert with_pair(known, given, "add-remove").pairs(frozenset())[0].name == NAME
    with pytest.raises(InvalidInput, match="replace-one"):
        with_pair(known, given, "replace-one")
