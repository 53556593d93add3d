"""Test that the exact sums of the parts of a table add up to those of the table, and give the same release."""

import importlib.util
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.accounting import OverBudget
from covassay.reference.domain import Box
from covassay.reference.domain.exact_data import ExactData, exact_data
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP
from covassay.reference.release import ReleaseRequest, Selection, exact_moments, release_table

X = np.random.default_rng(0).uniform([0, -5, 2], [10, 5, 3], (60, 3))
NAMES = ("a", "b", "c")
BOUNDS = {"a": (1, 9), "b": (-5, 5), "c": (2, 3)}
PANDAS = pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="needs pandas")
DASK = pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="needs dask")


def frame(x: Any = X) -> Any:
    import pandas

    return pandas.DataFrame(x, columns=list(NAMES))


def integers(data: Any, **request: Any) -> dict[str, list[int]]:
    """Return the integers of a rounded release with fixed random bits."""
    given: dict[str, Any] = {"budget": ZCDP(0.5), "seed": 3, "rounded": True, "out": Path("out.json"), "force": True}
    provenance = release_table(ReleaseRequest(data=data, **{**given, **request})).provenance
    return provenance.get("rounded", provenance.get("lattice"))["integers"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_sums_in_a_box_are_those_of_the_rounded_rows() -> None:
    """Test the sums of clipped and rounded rows against a computation with Python integers."""
    box = Box.of(list(BOUNDS.values()))
    u = np.clip((np.clip(X, box.low, box.high) - box.centre) / box.half_widths, -1, 1)
    q = [[int(value * 2**20) for value in row] for row in u.tolist()]
    found = exact_data(X, box=box, sums=True)
    assert found.gram == [[sum(r[i] * r[j] for r in q) for j in range(3)] for i in range(3)]
    assert found.sums == [sum(r[i] for r in q) for i in range(3)]
    assert abs(found.gram[0][0]) <= found.n * 4**20
    assert exact_data(X[:0], box=box, sums=True) == ExactData(0, [[0] * 3] * 3, [0] * 3, 20, box=box)


@PANDAS
def test_parts_of_every_kind_add_up_in_any_order() -> None:
    import pyarrow

    whole = exact_moments(frame(), bounds=BOUNDS)
    assert whole.columns == NAMES
    parts = [frame(X[:20]), frame(X[20:20]), pyarrow.table(frame(X[20:41])), frame(X[41:])]
    found = [exact_moments(part, bounds=BOUNDS) for part in parts]
    assert sum(found) == sum(reversed(found)) == pickle.loads(pickle.dumps(whole)) == whole
    mutant = [exact_moments(part, bounds=BOUNDS, input_bits=19) for part in parts]
    assert sum(mutant) != whole  # type: ignore[comparison-overlap]


def test_parts_that_do_not_belong_together_are_not_added() -> None:
    by_length, other = (exact_moments(X, row_bound=r) for r in (2.0, 3.0))
    names = {f"x{j}": pair for j, pair in enumerate(BOUNDS.values(), start=1)}
    in_box = exact_moments(X, bounds=names)
    for first, second, named in (
        (by_length, other, "row_bound = 2.0 and 3.0"),
        (in_box, exact_moments(X, bounds={**names, "x1": (0, 9)}), "box = "),
        (by_length, exact_moments(X, row_bound=2.0, input_bits=9), "input_bits = 20 and 9"),
        (by_length, exact_moments(X[:, :2], row_bound=2.0), "d = 3 and 2"),
        (exact_data(X, 2.0), by_length, "columns = "),
    ):
        with pytest.raises(InvalidInput, match=named):
            first + second
    # The total has sums of columns only if both objects have them.
    assert not (exact_data(X) + exact_data(X, sums=True)).sums
    with pytest.raises(TypeError):
        3 + in_box  # type: ignore[operator]
    for arguments in ({}, {"row_bound": 1.0, "bounds": names}):
        with pytest.raises(InvalidInput, match="give one of them"):
            exact_moments(X, **arguments)


@pytest.mark.parametrize("name", ["gauss-cov", "separate-cov", "discrete-gaussian-covariance"])
def test_a_release_from_sums_on_a_ball(name: str) -> None:
    """Test that a release from added sums equals the release from all rows."""
    total = exact_moments(X[:7], row_bound=4.0) + exact_moments(X[7:], row_bound=4.0)
    request = {"mechanism": name, "row_bound": 4.0}
    assert integers(total, **request) == integers(X, **request)
    for change, named in (
        ({"row_bound": 5.0}, "must be 4.0, the value with which the sums were made"),
        ({"row_bound": None, "scale_by_data": True}, "the data are exact sums"),
        ({"selection": Selection(columns=("x1",))}, "must be given where the exact sums are computed"),
        ({"rounded": False}, "the data are exact sums|no form in float64"),
    ):
        with pytest.raises(InvalidInput, match=named):
            integers(total, **{**request, **change})


@PANDAS
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_a_release_from_sums_of_bounded_columns(adjacency: str) -> None:
    """Test that a release from added sums equals the release from all rows."""
    total = exact_moments(frame(X[:7]), bounds=BOUNDS) + exact_moments(frame(X[7:]), bounds=BOUNDS)
    request: dict[str, Any] = {"bounds": BOUNDS, "options": {"adjacency": adjacency}}
    expected = integers(frame(), **request)
    assert integers(total, **request) == expected
    assert integers(frame(X[::-1]), **request) == expected
    assert integers(frame(X[1:]), **request) != expected


def test_data_that_are_no_files_have_the_name_that_the_caller_gives() -> None:
    request: dict[str, Any] = {"mechanism": "gauss-cov", "row_bound": 4.0, "account": Path("account.json")}
    given: dict[str, Any] = {"budget": ZCDP(0.5), "rounded": True, "total": ZCDP(0.5), **request}
    with pytest.raises(InvalidInput, match="the caller must name them"):
        release_table(ReleaseRequest(data=X, **given))
    release_table(ReleaseRequest(data=X, name="survey", out=Path("out.json"), **given))
    with pytest.raises(OverBudget):
        release_table(ReleaseRequest(data=exact_moments(X, row_bound=4.0), name="survey", **given))
    with pytest.raises(InvalidInput, match="account of survey, not of other"):
        release_table(ReleaseRequest(data=X, name="other", **given))


@pytest.mark.thorough
@DASK
@PANDAS
def test_partitions_of_dask_are_summed_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that dask sums its partitions where they are stored: no partition is sent to the client, and the release has
    the same bits as that of one table. Some data have an empty partition.
    """
    from dask import array, dataframe

    from covassay.reference.release.tables import partitions

    def pulled(*_: object) -> Any:
        raise AssertionError("a partition came to the client")

    monkeypatch.setattr(partitions.Partitioned, "passing", pulled)
    data = dataframe.from_pandas(frame(), npartitions=5)
    request: dict[str, Any] = {"bounds": BOUNDS}
    expected = integers(frame(), **request)
    assert integers(data, **request) == expected
    assert integers(dataframe.concat([data, data.partitions[0].loc[10**6 :]]), **request) == expected
    ball = {"mechanism": "gauss-cov", "row_bound": 4.0}
    assert integers(array.from_array(X, chunks=(7, 2)), **ball) == integers(X, **ball)
    request = {"budget": ZCDP(0.5), "seed": 3, **ball}
    for mechanism in ("gauss-cov", "gaussian", "projection-mechanism"):  # these mechanisms use sums in float64
        there = release_table(ReleaseRequest(data=data, **{**request, "mechanism": mechanism}))
        here = release_table(ReleaseRequest(data=frame(), **{**request, "mechanism": mechanism}))
        np.testing.assert_allclose(there.values, here.values, rtol=1e-12, atol=1e-12)
    # This mechanism forms pairs of consecutive rows, so that it needs the rows themselves, not only sums.
    with pytest.raises(AssertionError, match="came to the client"):
        release_table(ReleaseRequest(data=data, **{**request, "mechanism": "pme", "row_bound": None}))
