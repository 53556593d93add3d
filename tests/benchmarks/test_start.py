"""Measure how long `covassay --help` takes, as a ratio to an interpreter that does nothing."""

import subprocess
import sys
import time

import pytest

REPEATS = 10


def seconds(code: str) -> float:
    """Return the shortest time of several runs of a fresh interpreter."""
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-P", "-c", code], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - start)
    return min(taken)


@pytest.mark.slow
def test_help_takes_longer_than_an_empty_program() -> None:
    helped = "from covassay.verification.cli.main import run\ntry:\n    run(['--help'])\nexcept SystemExit:\n    pass"
    ratio = seconds(helped) / seconds("pass")
    print(f"covassay --help takes {ratio:.1f} times as long as python -c pass")
    assert ratio > 1
