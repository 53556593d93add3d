"""Test that `covassay --help` loads no numerical library, so that it answers quickly, and that every command has a
module and a help text.
"""

import importlib
import subprocess
import sys

import pytest

from covassay.verification.cli.main import COMMANDS, run

HEAVY = ("numpy", "scipy", "sympy", "mpmath", "pandas", "joblib", "rich")


def loaded_after(arguments: list[str]) -> set[str]:
    """Return the large libraries that a new interpreter has loaded after a command."""
    code = (
        "import sys\nfrom covassay.verification.cli.main import run\n"
        f"try:\n    run({arguments!r})\nexcept SystemExit:\n    pass\n"
        f"print('LOADED', *(m for m in {HEAVY!r} if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split("LOADED")[1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["unknown"]], ids=["help", "version", "mistake"])
def test_help_loads_no_numerical_library(arguments: list[str]) -> None:
    """The test fails if `covassay --help` imports a numerical library, which would make it slow."""
    assert loaded_after(arguments) == set()


@pytest.mark.thorough
def test_what_takes_long_to_load_is_loaded_where_it_is_used() -> None:
    code = (
        "import sys\nfrom covassay.verification import check, parametrize_with_checks, wrap\n"
        "parametrize_with_checks([len], epsilon=1.0)\nimport covassay.verification.audit.run\n"
        "import covassay.verification.cli.audit\nimport covassay.verification.audit.questions as asked\n"
        "asked.questions()\n"
        "print(*(m for m in ('pandas', 'pyarrow', 'sympy', 'sklearn', 'scipy.stats') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_command_that_loads_one_is_seen() -> None:
    assert {"numpy", "scipy"} <= loaded_after(["mechanisms"])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_module_and_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(importlib.import_module(f"covassay.verification.cli.{name}").configure)
    with pytest.raises(SystemExit) as left:
        run([name, "--help"])
    assert left.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"usage: covassay {name}")


def test_the_top_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert all(f" {name} {text} " in printed for name, text in COMMANDS.items())
