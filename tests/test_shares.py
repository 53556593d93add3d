"""Test how the slow tests are divided into shares, of which CI runs one."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shares import in_share

ROOT = Path(__file__).parents[1]
FILE = "tests/reference/release/test_large_tables.py"
NAMES = [f"tests/test_x.py::test_{i}" for i in range(128)]
SEEDS = [hashlib.sha1(str(i).encode()).hexdigest() for i in range(200)]


@pytest.mark.parametrize("seed", ["", SEEDS[0]])
def test_every_test_is_in_exactly_one_share(seed: str) -> None:
    for name in NAMES:
        assert sum(in_share(name, f"{k}/8", seed) for k in range(1, 9)) == 1


def test_a_choice_is_made_again_anywhere() -> None:
    """The test fails if a choice depends on the process or the machine, or if the rule is changed."""
    assert [i for i, name in enumerate(NAMES) if in_share(name, "1/32")] == [25, 105]
    assert [i for i, name in enumerate(NAMES) if in_share(name, "1/32", SEEDS[0])] == [122]


def test_every_test_is_run_with_some_seed() -> None:
    """The test fails if, for one of the 128 names, no seed assigns the name to the chosen share. If every seed chose
    one of the 8 shares at random, all 200 seeds would miss a given name with probability (7/8)^200. The test would then
    fail, because of any of the 128 names, with probability below 1e-9.
    """
    never = [name for name in NAMES if not any(in_share(name, "1/8", seed) for seed in SEEDS)]
    assert never == []


def collected(*options: str) -> set[str]:
    """Return the names of the thorough and the slow tests of a file that pytest collects with these options."""
    quiet = ["-q", "--collect-only", "-p", "no:cacheprovider", "-m", "thorough or slow"]
    command = [sys.executable, "-m", "pytest", *quiet, *options, FILE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", ["", SEEDS[0]])
def test_the_options_choose_among_slow_tests_and_keep_all_others(seed: str) -> None:
    everything, others = collected(), collected("-m", "thorough and not slow")
    options = ["--share-seed", seed] if seed else []
    chosen = collected("--share", "2/3", *options)
    assert set() < others < chosen < everything
    assert chosen - others == {name for name in everything - others if in_share(name, "2/3", seed)}
