"""The options of an audit, and the command that runs it again."""

import shlex
from dataclasses import dataclass, field
from typing import Any

from covassay.reference.box_sensitivity import ADJACENCIES
from covassay.reference.domain import Box, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.user_data import UserData
from covassay.verification.audit.engine.user_pair import UserPair
from covassay.verification.audit.targets.target import TIME_LIMIT, TargetReference, TargetSource, require_seconds
from covassay.verification.statistics.multiplicity import require_false_alarm

FALSE_ALARM = 1e-9
SAMPLES = 2000
SCOPES = "real", "bits"  # whether the verdict of the run is about real arithmetic alone, or about the bits as well
FEWEST_SAMPLES = 100  # fewer draws could show only the grossest violations


@dataclass(frozen=True)
class AuditSettings:
    """How to audit: everything beside the target and its claim that decides what an audit draws and reports.

    `checkpoint` and `dimension` are those of a streaming audit (`streaming`).

    Raises
    ------
    InvalidInput : a number breaks its rule.
    """

    claimed: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    released: str | None = None
    samples: int = SAMPLES
    seed: int = 0
    false_alarm: float = FALSE_ALARM
    seconds: float = TIME_LIMIT
    user_data: UserData | None = None
    user_pair: UserPair | None = None
    box: Box | None = None
    adjacency: str | None = None
    equivariant: bool = False
    stop_early: bool = False
    scope: str = "real"
    checkpoint: str = ""
    dimension: int | None = None

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise InvalidInput(f"scope = {self.scope!r}: must be {' or '.join(SCOPES)}")
        if self.adjacency not in (None, *ADJACENCIES):
            raise InvalidInput(f"adjacency = {self.adjacency!r}: must be {' or '.join(ADJACENCIES)}")
        if self.box is None and self.equivariant:
            raise InvalidInput("equivariant: only for rows in a box; give bounds")
        if self.box is not None and self.user_data is not None:
            raise InvalidInput("data and bounds: a data set of your own is scaled into the unit ball; leave one out")
        require_false_alarm(self.false_alarm)
        require_seconds(self.seconds)
        if self.samples < FEWEST_SAMPLES:
            raise InvalidInput(f"samples = {self.samples!r}: must be at least {FEWEST_SAMPLES}")

    @property
    def own_rows(self) -> Matrix | None:
        """The user's data set, if there is one."""
        return None if self.user_data is None else self.user_data.x


def _digits(value: float) -> str:
    """A number in as few digits as give it back exactly."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def replay_command(source: TargetSource, guarantee: Guarantee, settings: AuditSettings) -> str:
    """The command that runs an audit again, draw for draw.

    A function that has no name of the form module:function cannot be named in a command: then it is a Python call.
    """
    name = source.spec if isinstance(source, TargetReference) else source.name
    if ":" not in name or (settings.user_pair is not None and not settings.user_pair.source):
        return _replay_call(name, guarantee, settings, source)
    words: list[Any] = ["covassay", "audit", name]
    if isinstance(source, TargetReference) and source.call:
        words += ["--call", source.call]
    if settings.claimed:
        words += ["--as", settings.claimed]
    for key, value in guarantee.keywords().items():
        words += [f"--{key}", _digits(value)]
    for key, choice in settings.options.items():
        words += ["--set", f"{key}={choice}"]
    if settings.released:
        words += ["--released", settings.released]
    if settings.user_data is not None:
        words += ["--data", settings.user_data.name]
    if settings.user_pair is not None:
        words += ["--pair", settings.user_pair.source]
    if settings.box is not None:
        words.append(f"--bounds={settings.box}")  # with "=", because a list may begin with a minus sign
    if settings.adjacency is not None:
        words += ["--adjacency", settings.adjacency]
    if settings.equivariant:
        words.append("--equivariant")
    if settings.scope != "real":
        words += ["--scope", settings.scope]
    words += ["--samples", settings.samples, "--seed", settings.seed]
    words += ["--false-alarm", _digits(settings.false_alarm), "--time-limit", _digits(settings.seconds)]
    if settings.checkpoint:
        words += ["--checkpoint", settings.checkpoint]
    if settings.dimension is not None:
        words += ["--dimension", settings.dimension]
    if not source.seeded and isinstance(source, TargetReference):
        words.append("--unseeded")
    return shlex.join(str(word) for word in words)


def _replay_call(name: str, guarantee: Guarantee, settings: AuditSettings, source: TargetSource) -> str:
    given = {
        "claimed": settings.claimed,
        "options": settings.options,
        "released": settings.released,
        "samples": settings.samples,
        "seed": settings.seed,
        "false_alarm": settings.false_alarm,
        "seconds": settings.seconds,
        "bounds": settings.box and settings.box.bounds,
        "adjacency": settings.adjacency,
        "equivariant": settings.equivariant,
        "scope": settings.scope if settings.scope != "real" else None,
        "call": source.call if isinstance(source, TargetReference) else getattr(source.draw, "call", None),
        "checkpoint_file": settings.checkpoint,
        "dimension": settings.dimension,
    }
    words = [
        repr(name) if ":" in name else name,
        repr(guarantee),
        *(f"{key}={value!r}" for key, value in given.items() if value),
    ]
    if settings.user_data is not None:
        words.append(f"user_data=load_user_data({settings.user_data.name!r})")
    if settings.user_pair is not None:
        file = settings.user_pair.source
        words.append(f"pair=load_pair({file!r})" if file else "pair=(x, y)")
    if not source.seeded:
        words.append("seeded=False")
    return f"{'stream_audit' if settings.checkpoint else 'audit'}({', '.join(words)})"
