"""Declare the options of an audit, each once, and the command that runs an audit again.

The fields of `AuditOptions` determine the help of `covassay audit`, the keywords in Python, the command in a report,
and the JSON Schema of a report's settings.
"""

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from covassay.reference.domain import ADJACENCIES, Box, Matrix
from covassay.reference.domain.requirements import require_count
from covassay.reference.errors import InvalidInput, guess
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit import option_kinds as kinds
from covassay.verification.audit.engine.output_kind import OUTPUTS
from covassay.verification.audit.engine.user_data import DATA_SETS, UserData
from covassay.verification.audit.engine.user_pair import UserPair
from covassay.verification.audit.engine.workers import BACKENDS
from covassay.verification.audit.option_kinds import Kind
from covassay.verification.audit.targets.target import TIME_LIMIT, TargetReference, TargetSource, require_seconds
from covassay.verification.statistics.multiplicity import require_false_alarm
from covassay.verification.statistics.streams import Progress, no_progress

FALSE_ALARM = 1e-9
SAMPLES = 2000
# says whether the verdict of the run is about real arithmetic alone, or also about the low-order bits
SCOPES = "real", "bits"
FEWEST_SAMPLES = 100  # with fewer draws, an audit could find only very large violations

# earlier spellings of options, with the present spelling in Python, and on the command line if the option existed there
OLD = {
    "as": ("mechanism=…", "--mechanism …"),
    "calibration": ('options={"calibration": …}', "--options calibration=…"),
    "checkpoint_file": ("checkpoint=…", ""),
    "claim": ("epsilon=…, delta=… or rho=…", ""),
    "claimed": ("mechanism=…", ""),
    "dimension": ("checkpoint=… alone; draws are then made on all data sets", "--checkpoint FILE alone"),
    "domain": ("bounds=… alone; bounds say that all rows lie in a box", ""),
    "guarantee": ("epsilon=…, delta=… or rho=…", ""),
    "seconds": ("time_limit=…", ""),
    "seeded": ("unseeded=True in place of seeded=False", ""),
    "set": ("options={…}", "--options NAME=VALUE"),
    "user_data": ("data=…", ""),
}


@dataclass(frozen=True, eq=False)
class Option:
    """An option with its name, default, kind and help text, which also says whether it exists in Python and on the
    command line.

    `replayed` says that the command in a report includes the option, because it affects the draws or the report.
    """

    name: str
    default: Any
    kind: Kind
    help: str
    command: bool
    python: bool
    replayed: bool

    @property
    def flag(self) -> str:
        """Return the name of the option on a command line."""
        return f"--{self.name.replace('_', '-')}"

    def read(self, word: Any, *, whole: bool = True) -> Any:
        """Read the value of the option from a word of the command line; a file that the word names is read only if
        `whole` is true.
        """
        return self._found(self.kind.named if self.kind.named and not whole else self.kind.read, word, str(word))

    def take(self, given: Any) -> Any:
        """Convert an argument in Python to the value of the option."""
        return given if given is self.default is None else self._found(self.kind.take, given, repr(given))

    def _found(self, step: Any, given: Any, shown: str) -> Any:
        try:
            return step(given)
        except InvalidInput:
            raise
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"{self.name} = {shown}: must be {self.kind.rule}") from None

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the option's plain value."""
        kind = dict(self.kind.schema)
        shape = kind if self.default is not None else {"anyOf": [kind, {"type": "null"}]}
        return {"description": f"{self.help[0].upper()}{self.help[1:]}.", **shape}


def _option(
    default: Any, kind: Kind, text: str, *, command: bool = True, python: bool = True, replayed: bool = True
) -> Any:
    """Declare an option as a field of a dataclass."""
    said = {"kind": kind, "help": text, "command": command, "python": python, "replayed": replayed}
    return field(default_factory=dict, metadata=said) if default == {} else field(default=default, metadata=said)


@dataclass(frozen=True)
class AuditOptions:
    """The options of an audit, which are everything except the target.

    Raises
    ------
    InvalidInput : an option breaks its rule, or two exclude each other.
    """

    mechanism: str | None = _option(
        None,
        replace(kinds.TEXT, rule="the name of a mechanism", metavar="MECHANISM"),
        "the mechanism that the target claims to be (covassay mechanisms lists them); by default the one that the "
        "target states, and if it states none, only the contract and the privacy are tested",
    )
    epsilon: float | None = _option(None, kinds.NUMBER, "the claimed ε (default: 1 for pure and approximate DP)")
    delta: float | None = _option(None, kinds.NUMBER, "the claimed δ (default: 1e-6 for approximate DP)")
    rho: float | None = _option(None, kinds.NUMBER, "the claimed ρ of zCDP (default: 0.5)")
    options: Mapping[str, Any] = _option(
        {},
        kinds.CHOICES,
        "choices and parameters of the mechanism (covassay mechanisms NAME lists them), such as calibration=tight; on "
        "the command line one for each --options, in Python a dictionary",
    )
    released: str | None = _option(
        None, kinds.choice(*OUTPUTS), "the kind of output, if no mechanism is named (default: found by trying)"
    )
    call: str | None = _option(
        None,
        replace(kinds.TEXT, metavar="EXPR"),
        "how the function is called, such as 'f(x, eps=epsilon, random_state=seed)[0]'",
    )
    public: str | None = _option(
        None,
        replace(kinds.TEXT, metavar="NAMES"),
        "parts of the returned value that are documented as public, such as 'n_clipped_,bounds_', so that they may "
        "depend on the data without noise",
    )
    data: UserData | None = _option(
        None,
        kinds.DATA,
        "a data set of your own, on which the target is tried as well: a .csv, .npy or .parquet file, or "
        + ", ".join(DATA_SETS),
    )
    pair: UserPair | None = _option(
        None,
        kinds.PAIR,
        "a pair of neighbouring data sets of your own, which is tested as well: a .npz or .json file with x and y, or "
        "in Python (x, y)",
    )
    bounds: Box | None = _option(
        None,
        kinds.BOUNDS,
        "public bounds of the columns: LOW:HIGH,LOW:HIGH,… or a .toml or .json file; in Python also a pair (low, high) "
        "for every column, or (minima, maxima), where a two-by-two array is read as two pairs",
    )
    equivariant: bool = _option(
        False, kinds.FLAG, "with bounds: the target promises to treat all columns alike, up to scale"
    )
    adjacency: str | None = _option(
        None,
        kinds.choice(*ADJACENCIES),
        "which data sets are neighbours (default: what the mechanism says, or replace-one)",
    )
    scope: str | None = _option(
        None,
        kinds.choice(*SCOPES),
        "real: the verdict is about real arithmetic alone, and faults of low-order bits are only reported. bits: the "
        "verdict is also about low-order bits, for which more draws are made (default: bits for mechanisms that "
        "release integers, unless the audit is quick; real for all others)",
    )
    quick: bool = _option(
        False,
        kinds.FLAG,
        "run only the checks that need few draws. These checks test the contract, test the data path (for a named "
        "mechanism that adds noise to a query), and compute the exact loss from recorded draws. The audit is "
        "inconclusive if these checks decide nothing",
    )
    samples: int = _option(SAMPLES, kinds.WHOLE, "number of draws on each data set; some checks use a multiple of it")
    seed: int = _option(0, kinds.WHOLE, "the seed of all randomness of the audit")
    unseeded: bool = _option(
        False, kinds.FLAG, "the target draws from the operating system, so equal generators need not give equal outputs"
    )
    jobs: int | None = _option(
        None,
        kinds.WHOLE,
        "number of parallel workers, on which the results do not depend (default on the command line: one for every "
        "processor; in Python: what joblib.parallel_config says, or 1)",
        replayed=False,
    )
    backend: str = _option(
        BACKENDS[0],
        kinds.choice(*BACKENDS),
        "the library that starts the workers, with equal results: loky, or dask or ray with the extra covassay[scale]",
        python=False,
        replayed=False,
    )
    checkpoint: str | None = _option(
        None, kinds.FILE, "a file in which the draws are stored; if a run is interrupted, the same command continues it"
    )
    false_alarm: float = _option(
        FALSE_ALARM, kinds.NUMBER, "the largest probability that a target which keeps its promises is refuted"
    )
    time_limit: float = _option(TIME_LIMIT, kinds.NUMBER, "seconds that one draw may take")
    stop_early: bool = _option(
        False,
        kinds.FLAG,
        "leave out checks after an overwhelming refutation, and those that only add notes; the verdict is the same",
        command=False,
        replayed=False,
    )
    progress: Progress = _option(
        no_progress,
        kinds.WATCH,
        "a function that is called with the label of a check and the number of draws, while draws are made",
        command=False,
        replayed=False,
    )

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, PureDP | ApproximateDP | ZCDP):
            raise InvalidInput(
                f"mechanism = {self.mechanism!r}: must be a name; write the budget by its "
                f"name, {', '.join(f'{name}={value!r}' for name, value in self.mechanism.keywords().items())}"
            )
        for option in OPTIONS:
            object.__setattr__(self, option.name, option.take(getattr(self, option.name)))
        require_count("samples", self.samples, FEWEST_SAMPLES)
        require_count("seed", self.seed, 0)
        if self.jobs is not None:
            require_count("jobs", self.jobs, 1)
        require_false_alarm(self.false_alarm)
        require_seconds(self.time_limit)
        if self.bounds is None and self.equivariant:
            raise InvalidInput("equivariant: the option needs rows in a box; give bounds as well")
        if self.bounds is not None and self.data is not None:
            raise InvalidInput("data and bounds: your own data are scaled into the unit ball; give no bounds")
        if self.quick and self.checkpoint is not None:
            raise InvalidInput("quick and checkpoint: a quick audit stores nothing; give only one of the two")
        if self.quick and self.scope == SCOPES[1]:
            raise InvalidInput(
                f"quick and scope = {self.scope}: a quick audit does not test low-order bits; give only one of the two"
            )

    @property
    def public_parts(self) -> tuple[str, ...]:
        """Return the names of the parts of the target's output that are documented as public."""
        return tuple(name.strip().lstrip(".") for name in (self.public or "").split(",") if name.strip())

    @classmethod
    def of_words(cls, words: Mapping[str, Any], *, whole: bool = True) -> Self:
        """Read the options from the words of a command line; files that the words name are read only if `whole` is
        true.
        """
        said = {option: words[option.name] for option in OPTIONS if option.command}
        return cls(**{option.name: option.read(word, whole=whole) for option, word in said.items() if word is not None})

    @property
    def own_rows(self) -> Matrix | None:
        """Return the user's data set, if the options name one."""
        return None if self.data is None else self.data.x

    def stated(self, source: TargetSource, guarantee: Guarantee) -> "AuditOptions":
        """Return these options, completed by the claim and the call expression, so that they reproduce the audit."""
        call = source.call if isinstance(source, TargetReference) else getattr(source.draw, "call", None)
        budget: dict[str, Any] = {"epsilon": None, "delta": None, "rho": None, **guarantee.keywords()}
        return replace(self, **budget, call=call, unseeded=not source.seeded)

    def plain(self) -> dict[str, Any]:
        """Return the options that affect the draws or the report, as plain data."""
        values = {option: getattr(self, option.name) for option in OPTIONS if option.replayed}
        return {option.name: value if value is None else option.kind.plain(value) for option, value in values.items()}


OPTIONS = tuple(
    Option(one.name, {} if one.default is dataclasses.MISSING else one.default, **one.metadata)
    for one in dataclasses.fields(AuditOptions)
)


def require_keywords(names: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` if a keyword is not the name of an option that exists in Python.

    If a keyword is the spelling of an earlier version, the message has the present spelling.
    """
    known = [option.name for option in OPTIONS if option.python]
    for name in names:
        if name in OLD:
            raise InvalidInput(f"{name}: this option has another name now; write {OLD[name][0]}")
        if name not in known:
            raise InvalidInput(f"{name}: {guess(name, known)}must be one of {', '.join(known)}")


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema of `AuditOptions.plain`."""
    shapes = {option.name: option.schema for option in OPTIONS if option.replayed}
    return {
        "description": "The options of the audit in the form in which they must be given to run it again.",
        "type": "object",
        "additionalProperties": False,
        "required": list(shapes),
        "properties": shapes,
    }


def replay_command(source: TargetSource, guarantee: Guarantee, options: AuditOptions) -> str:
    """Return the command that repeats an audit draw for draw, with the claim, the seed, and all options that are not
    defaults.

    If the function has no name of the form module:function, the result is a Python call, because a command cannot name
    the function.
    """
    name = source.spec if isinstance(source, TargetReference) else source.name
    stated = options.stated(source, guarantee)
    values = {option: getattr(stated, option.name) for option in OPTIONS if option.replayed}
    said = {option: value for option, value in values.items() if value != option.default or option.name == "seed"}
    if ":" not in name or (stated.pair is not None and not stated.pair.source):
        given = [f"{option.name}={option.kind.code(value)}" for option, value in said.items()]
        return f"audit({', '.join([repr(name) if ':' in name else name, *given])})"
    words = ["covassay", "audit", name]
    for option, value in said.items():
        found = option.kind.words(value)
        for word in found:  # the form with "=" is needed if the value could be mistaken for an option
            words += [f"{option.flag}={word}"] if word.startswith("-") else [option.flag, word]
        if not found:
            words.append(option.flag)
    return shlex.join(words)
