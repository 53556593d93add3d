"""Test the options of an audit. Every entry point must have the declared options, and the replay command must repeat
the given options.
"""

import inspect
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, ApproximateDP, PureDP
from covassay.verification import audit, check, parametrize_with_checks
from covassay.verification.audit.engine.user_data import UserData
from covassay.verification.audit.engine.user_pair import as_pair
from covassay.verification.audit.options import OLD, OPTIONS, AuditOptions, replay_command, settings_schema
from covassay.verification.audit.targets.bounds import as_box
from covassay.verification.audit.targets.target import Target, TargetReference
from covassay.verification.cli.main import parse, run

NAMED = TargetReference("covassay:gauss-cov", ".")
FIRST, SECOND = np.array([[0.6, 0.8], [1.0, 0.0]]), np.array([[0.6, 0.8], [0.0, 1.0]])


def draws(x: Any, *, epsilon: float, rng: np.random.Generator, bounds: Any = None) -> Any:
    return x.T @ x + rng.laplace(size=(x.shape[1],) * 2)


# THE ENTRY POINTS IN PYTHON


def differences(entry: Callable[..., Any]) -> Iterator[str]:
    """Yield the differences between the declared options and the signature or docstring of an entry point."""
    _, *given, last = inspect.signature(entry).parameters.values()
    declared = [option for option in OPTIONS if option.python]
    if last.kind is not inspect.Parameter.VAR_KEYWORD or [one.name for one in given] != [o.name for o in declared]:
        yield "names"
    text = " ".join((entry.__doc__ or "").split())
    for one, option in zip(given, declared, strict=False):
        default = None if option.default == {} else option.default
        if one.default != default:
            yield f"default of {option.name}"
        if one.annotation != (option.kind.type | None if default is None else option.kind.type):
            yield f"type of {option.name}"
        if (one.kind is inspect.Parameter.KEYWORD_ONLY) is (option.name == "mechanism"):
            yield f"place of {option.name}"
        if f" {option.name} : {option.help}. " not in text:
            yield f"text of {option.name}"


def test_audit_is_a_function_with_the_declared_options() -> None:
    assert inspect.isfunction(audit)
    assert list(differences(audit)) == []


def test_a_signature_that_differs_is_seen() -> None:
    def other(
        target: str, mechanism: str | None = None, *, epsilon: int | None = None, delta: float | None = 0.0, **more: Any
    ) -> None: ...

    found = set(differences(other))
    assert {"names", "type of epsilon", "default of delta", "text of mechanism"} <= found
    assert "default of epsilon" not in found


def test_check_has_the_signature_of_audit() -> None:
    """The test fails if `audit` and `check` do not have the same options."""
    assert inspect.signature(check) == inspect.signature(audit)


@pytest.fixture
def entries(covassay_audit: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    def decorated(target: Any, *arguments: Any, **options: Any) -> Any:
        return parametrize_with_checks([target], *arguments, **options)

    return {"audit": audit, "check": check, "decorator": decorated, "fixture": covassay_audit}


@pytest.mark.parametrize("entry", ["audit", "check", "decorator", "fixture"])
@pytest.mark.parametrize("old", OLD)
def test_an_old_spelling_fails_with_the_new_one(entries: dict[str, Any], entry: str, old: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        entries[entry](draws, epsilon=1.0, **{old: 1})
    assert str(raised.value) == f"{old}: this option has another name now; write {OLD[old][0]}"
    assert any(f"{option.name}=" in OLD[old][0] for option in OPTIONS)


@pytest.mark.parametrize("old", [name for name, (_, now) in OLD.items() if now])
def test_an_old_option_of_the_command_fails_with_the_new_one(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "covassay:bingham", f"--{old}", "value"]) == 2
    assert capsys.readouterr().err == f"covassay: --{old}: this option has another name now; write {OLD[old][1]}\n"


@pytest.mark.parametrize(
    ("claim", "told"),
    [(PureDP(2.0), "epsilon=2.0"), (ZCDP(0.5), "rho=0.5"), (ApproximateDP(1.0, 1e-6), "epsilon=1.0, delta=1e-06")],
)
@pytest.mark.parametrize("entry", ["audit", "check", "decorator", "fixture"])
def test_a_budget_in_the_place_of_the_mechanism_is_told_its_name(
    entries: dict[str, Any], entry: str, claim: Any, told: str
) -> None:
    with pytest.raises(InvalidInput, match=f"must be a name; write the budget by its name, {told}$"):
        entries[entry](draws, claim)


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(InvalidInput, match="sample: did you mean samples"):
        audit(draws, sample=100)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"samples": 2.5}, r"samples = 2\.5: must be a whole number"),
        ({"samples": True}, "samples = True: must be a whole number"),
        ({"seed": "3"}, "seed = '3': must be a whole number"),
        ({"jobs": 0}, "jobs = 0: must be at least 1"),
        ({"epsilon": "1"}, "epsilon = '1': must be a number"),
        ({"scope": "both"}, "scope = 'both': must be real or bits"),
        ({"released": "scalar"}, "released = 'scalar': must be one of matrix, "),
        ({"options": ["a=b"]}, "must be a dictionary of names and values"),
        ({"unseeded": 1}, "unseeded = 1: must be True or False"),
        ({"mechanism": 3}, "mechanism = 3: must be the name of a mechanism"),
        ({"data": 3}, "data = 3: must be the name of a data set or of a file"),
        ({"equivariant": True}, "equivariant: the option needs rows in a box; give bounds as well"),
    ],
)
def test_a_wrong_value_is_named_with_its_rule(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AuditOptions(**given)


# BOUNDS


def test_bounds_are_pairs_or_minima_and_maxima() -> None:
    box = Box.of([(0.0, 1.0), (-5.0, 5.0), (2.0, 3.0)])
    for given in (box, box.bounds, np.array(box.bounds), ([0, -5, 2], [1, 5, 3]), "0:1,-5:5,2:3"):
        assert as_box(given) == box
    assert as_box([(0, 1)]) == as_box(([0], [1])) == Box.of([(0.0, 1.0)])


def test_two_by_two_bounds_are_two_pairs() -> None:
    """The test fails if the pairs of bounds of two columns are read as the two minima and the two maxima."""
    assert as_box([(0, 1), (2, 3)]) == Box.of([(0.0, 1.0), (2.0, 3.0)])
    with pytest.raises(InvalidInput, match="bounds of two columns are read as two pairs"):
        as_box(([0, 0], [1, 1]))


@pytest.mark.parametrize("given", [(0, 1), 3, [[0, 1, 2]], "0:1:2", [("a", "b")]])
def test_other_bounds_are_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="bounds"):
        as_box(given)


# THE COMMAND


def read(command: str) -> AuditOptions:
    """Return the options that a command line contains."""
    return AuditOptions.of_words(vars(parse(shlex.split(command)[1:])), whole=False)


GIVEN: list[dict[str, Any]] = [
    {},
    {"mechanism": "gauss-cov", "options": {"ensemble": "goe"}, "seed": 5},
    {"samples": 100, "false_alarm": 1e-6, "time_limit": 0.1, "epsilon": 1.23456789},
    {"bounds": [(-1, 1), (0, 1e-3)], "equivariant": True, "adjacency": "add-remove", "released": "vector"},
    {"call": "-f(x, eps=epsilon)[0]", "unseeded": True, "scope": "bits"},
    {"checkpoint": "my run.db", "delta": 1e-7},
    {"jobs": 3, "stop_early": True},
]


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: " ".join(given) or "none")
def test_a_command_says_again_what_was_given(given: dict[str, Any]) -> None:
    """The test fails if the replay command leaves out an option."""
    options = AuditOptions(**given)
    source = TargetReference("module:f", ".", seeded=not options.unseeded, call=options.call)
    command = replay_command(source, PureDP(options.epsilon or 1.0), options)
    again = read(command)
    assert again.plain() == options.stated(source, PureDP(options.epsilon or 1.0)).plain()
    unsaid = {option.name for option in OPTIONS if option.replayed and option.flag not in command}
    assert unsaid == {
        option.name
        for option in OPTIONS
        if option.replayed and option.name not in ("seed", "epsilon") and getattr(again, option.name) == option.default
    }


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: " ".join(given) or "none")
def test_a_call_says_again_what_was_given(given: dict[str, Any]) -> None:
    """The test fails if the replay call in Python leaves out an option."""
    given = {name: value for name, value in given.items() if name not in ("call", "unseeded")}
    options, source = AuditOptions(**given), Target("draws", draws)
    call = replay_command(source, ZCDP(0.5), options)
    said = eval(call, {"audit": lambda f, **keywords: (f, keywords), "draws": draws})
    assert said[0] is draws
    assert AuditOptions(**said[1]).plain() == options.stated(source, ZCDP(0.5)).plain()


def test_data_and_a_pair_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "pair.npz", x=FIRST, y=SECOND)
    pair = as_pair(FIRST, SECOND, str(tmp_path / "pair.npz"))
    command = replay_command(NAMED, ZCDP(0.5), AuditOptions(data=UserData("wine", FIRST), pair=pair))
    assert command == f"covassay audit covassay:gauss-cov --rho 0.5 --data wine --pair {tmp_path}/pair.npz --seed 0"
    assert read(command).plain()["data"] == "wine"
    arrays = replay_command(NAMED, ZCDP(0.5), AuditOptions(pair=as_pair(FIRST, SECOND)))
    assert arrays == "audit('covassay:gauss-cov', rho=0.5, pair=(x, y), seed=0)"


def test_the_help_has_every_option_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["audit", "--help"])
    printed = "".join(capsys.readouterr().out.split())
    for option in OPTIONS:
        assert ("".join(option.help.split()) in printed) is option.command, option.name
    assert not any(f"--{old}" in printed for old in ("as", "set", "calibration"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--samples", "1e6"], "samples = 1e6: must be a whole number"),
        (["--epsilon", "one"], "epsilon = one: must be a number"),
        (["--time-limit", "nan"], "time_limit = nan: must be a number of seconds above 0"),
        (["--released", "scalar"], "released = 'scalar': must be one of matrix"),
        (["--options", "calibration"], "options = calibration: must be NAME=VALUE"),
        (["--backend", "spark"], "backend = 'spark': must be one of loky, dask, ray"),
        (["--bounds", "0:1:2"], "bounds = 0:1:2: must be LOW:HIGH"),
    ],
)
def test_a_wrong_word_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "covassay:bingham", *words]) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)


def test_the_settings_of_a_report_have_a_schema() -> None:
    assert set(settings_schema()["properties"]) == set(AuditOptions().plain())
    assert not {"jobs", "backend", "progress", "stop_early"} & set(AuditOptions().plain())
