"""Settings for pytest that apply to all tests."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import mpmath
import pytest
from hypothesis import settings

from tests.shares import in_share

# The matrices in the tests are small, so one thread is fastest. The BLAS reads this variable when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Processes that a test starts must be able to import the targets called `mutant:NAME`.
REGISTERED = Path(__file__).parent / "negative_controls" / "registered"
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(Path(__file__).parents[1]), str(REGISTERED), os.environ.get("PYTHONPATH")))
)
# Property tests draw the same examples in every run, and they have no time limit because a machine may be slow.
settings.register_profile("covassay", deadline=None, derandomize=True)
settings.load_profile("covassay")


@pytest.fixture(autouse=True)
def _working_precision_is_left_as_it_was() -> Iterator[None]:
    before = mpmath.mp.prec, mpmath.iv.prec
    yield
    assert (mpmath.mp.prec, mpmath.iv.prec) == before


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share", metavar="K/N", help="run only the Kth of N shares of the slow tests, assigned by a hash of the name"
    )
    parser.addoption(
        "--share-seed", metavar="TEXT", default="", help="assign the shares anew, by a hash of this text and the name"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share, seed = config.getoption("--share"), config.getoption("--share-seed")
    if share:
        kept = [item for item in items if item.get_closest_marker("slow") is None or in_share(item.nodeid, share, seed)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that need diffprivlib or OpenDP if one is missing, unless COVASSAY_REQUIRE_PEERS is set."""
    missing = any(find_spec(package) is None for package in ("diffprivlib", "opendp"))
    if item.get_closest_marker("peers") and missing and not os.environ.get("COVASSAY_REQUIRE_PEERS"):
        pytest.skip("needs the extra peers")
