"""Test that the commands of maintainers have a help text and are hidden from users."""

import pytest

from covassay.verification.cli.main import COMMANDS as OF_USERS
from covassay.verification.maintain.__main__ import COMMANDS, PROGRAM


@pytest.mark.parametrize("name", COMMANDS)
def test_every_program_has_a_module_and_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        PROGRAM.run([name, "--help"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -P -m covassay.verification.maintain {name}")


def test_users_see_nine_commands() -> None:
    assert set(OF_USERS) == {
        "audit", "release", "recommend", "law", "mechanisms", "claims", "vectors", "adapters", "experiments"
    }  # fmt: skip
    assert not set(OF_USERS) & set(COMMANDS)


@pytest.mark.parametrize("arguments", [["controls", "--jobs", "0"], ["null-audits", "--audits", "0"],
                                       ["bits", "--samples", "1"], ["peers", "--draws", "1"], ["nothing"]])  # fmt: skip
def test_bad_arguments_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert PROGRAM.run(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
