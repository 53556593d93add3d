"""Definitions that several tests use: a false-alarm probability, seeds, types, and arguments of releases."""

import os
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from covassay.reference.mechanisms.registry import MECHANISMS, mechanism

# The constant bounds the probability that a statistical test with a random seed fails although the law is correct.
FALSE_ALARM = 1e-9
Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)  # a property test draws its data with these seeds
IN_CI = {"diffpriv_laplace", "diffprivlib", "eeprivacy", "opendp", "sklearn"}  # CI installs these packages


def needs(module: str) -> pytest.MarkDecorator:
    """Skip a test if a package of another project is not installed. If the environment variable COVASSAY_REQUIRE_PEERS
    is set and CI installs the package, the test is run even if the package is missing. A test whose package is missing
    then fails, because CI should have installed the package.
    """
    required = module in IN_CI and os.environ.get("COVASSAY_REQUIRE_PEERS")
    return pytest.mark.skipif(find_spec(module) is None and not required, reason=f"needs {module}")


def too_often_above(values: Vector, bound: float, beta: float) -> bool:
    """Return whether too many of the values exceed the bound, if each value exceeds it with probability β. Of n values,
    k are too many if P(Binomial(n, β) ≥ k) < 1e-9.
    """
    above = int((values > bound).sum())
    return bool(stats.binom.sf(above - 1, len(values), beta) < FALSE_ALARM)


def framed(*arguments: str) -> list[str]:
    """Return the arguments of `covassay release`, and add `--row-bound 1` if the mechanism needs a row bound and none
    is given.
    """
    said = {"--row-bound", "--bounds", "--scale-by-data-not-private"} & set(arguments)
    name = dict(pairwise(arguments)).get("--mechanism", "")
    on_a_ball = name in MECHANISMS and mechanism(name).domain == "ball"
    return [*arguments, "--row-bound", "1"] if on_a_ball and not said else [*arguments]
