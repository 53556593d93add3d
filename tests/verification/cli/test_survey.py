"""Test releases from a survey in which the number of people is secret. One process and a cluster must release the same
integers if they use the same random bits.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.privacy import ZCDP, Guarantee, PureDP
from covassay.reference.release import ReleaseRequest, release_table
from covassay.verification.cli.main import run
from tests.conventions import Matrix

BOUNDS = {"age": (0, 100), "income": (0, 150_000), "hours": (0, 80)}
PEOPLE = 20_011  # this number is secret, so no released file may contain it
SEED = 28


def people(n: int = PEOPLE) -> Matrix:
    """Return random ages, incomes and hours of work, which are correlated and skewed, and partly outside of their
    bounds.
    """
    rng = np.random.default_rng(SEED)
    age = np.clip(rng.normal(45, 17, n), 16, 105).round()
    income = rng.lognormal(10.3 + 0.01 * (age - 45), 0.6).round(2)
    hours = np.clip(38 + 8 * rng.standard_normal(n) + income / 20_000, 0, 95).round(1)
    return np.column_stack([age, income, hours])


def clipped_covariance(x: Matrix) -> Matrix:
    low, high = np.array(list(BOUNDS.values()), dtype=float).T
    return np.cov(np.clip(x, low, high).T, bias=True)


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Matrix:
    """Make a folder with survey.csv and bounds.toml, and change to it."""
    monkeypatch.chdir(tmp_path)
    x = people()
    lines = [",".join(BOUNDS), *(",".join(map(repr, row)) for row in x.tolist())]
    Path("survey.csv").write_text("\n".join(lines) + "\n")
    Path("bounds.toml").write_text("".join(f"{name} = [{low}, {high}]\n" for name, (low, high) in BOUNDS.items()))
    return x


def within_what_is_stated(document: dict[str, Any], x: Matrix) -> bool:
    bound = np.array(document["provenance"]["error_bound"]["covariance"])
    return bool((np.abs(document["covariance"] - clipped_covariance(x)) <= bound).all())


@pytest.mark.thorough
@pytest.mark.parametrize("budget", ["--rho=0.5", "--epsilon=1"])
def test_the_covariance_of_a_survey_lies_within_the_stated_error(
    budget: str, survey: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test fails if the error of the released covariance exceeds the stated bound. The seed is fixed, and the
    stated probability of exceeding the bound is 0.001 for each file.
    """
    pytest.importorskip("flint")
    command = ["release", "survey.csv", "--bounds", "bounds.toml", budget, "--adjacency", "add-remove"]
    assert run([*command, "--seed", str(SEED), "--out", "survey.json"]) == 0
    document = json.loads(Path("survey.json").read_text())
    facts = document["provenance"]
    noisy = facts["rounded"]["integers"].pop("rows")
    assert str(PEOPLE) not in json.dumps(facts) + capsys.readouterr().err
    assert (facts["adjacency"], abs(document["rows"] - PEOPLE) < 200) == ("add-remove", True)
    assert noisy[0] != PEOPLE * 2**30
    assert within_what_is_stated(document, survey)
    bound = np.array(document["provenance"]["error_bound"]["covariance"])
    # the bound is small enough to be useful
    assert (bound < 0.6 * np.sqrt(np.outer(*2 * [np.diag(clipped_covariance(survey))]))).all()
    document["covariance"] = (np.array(document["covariance"]) + 2 * bound).tolist()
    assert not within_what_is_stated(document, survey)
    np.testing.assert_allclose(document["mean"], np.clip(survey, 0, [100, 150_000, 80]).mean(axis=0), rtol=0.01)


def integers(data: Any, budget: Guarantee, name: str | None = None, **frame: Any) -> dict[str, list[int]]:
    """Return the integers that are released from the data with a fixed seed."""
    request = ReleaseRequest(
        data=data, budget=budget, mechanism=name, options={"adjacency": "add-remove"}, rounded=True,
        seed=SEED, out=Path("out.json"), force=True, **frame,
    )  # fmt: skip
    released = release_table(request)
    kept = released.provenance["rounded" if name is None else "lattice"]
    return dict(kept["integers"])


@pytest.mark.slow
def test_a_cluster_of_two_workers_gives_the_same_bits_for_the_same_random_bits(survey: Matrix) -> None:
    """The test fails if the released sums depend on the number of workers. Two workers add up the rows of dask data. As
    a control, a release with another upper bound on the age must have other integers.
    """
    pytest.importorskip("flint")
    distributed, frames, arrays = (
        pytest.importorskip(name) for name in ("distributed", "dask.dataframe", "dask.array")
    )
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        frame = frames.read_csv("survey.csv", blocksize=50_000)
        assert frame.npartitions > 4
        for budget in (ZCDP(0.5), PureDP(1.0)):
            here = integers(Path("survey.csv"), budget, bounds=BOUNDS)
            assert integers(frame, budget, bounds=BOUNDS) == here
            assert integers(Path("survey.csv"), budget, bounds={**BOUNDS, "age": (0, 101)}) != here
        ball = {"name": "discrete-gaussian-covariance", "row_bound": 150_000.0}
        array = arrays.from_array(survey, chunks=(3000, 3))
        assert integers(array, ZCDP(0.5), **ball) == integers(survey, ZCDP(0.5), **ball)
