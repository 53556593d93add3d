"""Define the facts of findings, such as counts and bounds, with one dataclass for each kind of finding. Reports print
the facts of a finding, and later steps of the audit use them.

The JSON form of facts and its schema follow from the fields. If a field is None, the JSON form leaves it out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.store import storable
from covassay.verification.statistics.tests import POWER

Failures = dict[str, int]  # the number of draws without an output, for each way in which they ended
Side = Literal["first", "second"]


def says(text: str, **rules: Any) -> dict[str, Any]:
    """Return the metadata of a field, which are its description and further keywords of JSON Schema."""
    return {"description": text, **rules}


SHARE = {"minimum": 0, "maximum": 1}
COUNT = {"minimum": 0}
# a field with this metadata key becomes null in JSON if its value is None, while other fields are left out
NULLABLE = "nullable"
NOT_IN_JSON = "not in JSON"  # a field with this metadata key is used only inside the audit, and no report contains it


@dataclass(frozen=True)
class Facts:
    """The facts that support one finding, such as counts of draws and bounds on a loss."""

    def __init_subclass__(cls) -> None:
        storable(cls)

    def allowed_by(self, guarantee: Guarantee) -> bool:
        """Return whether these facts show no more loss than this guarantee allows. The result is False if the facts
        contain no statement about the loss.
        """
        return False


@dataclass(frozen=True)
class LawTest(Facts):
    """The facts of a test of the distribution of the outputs, on one data set or on several."""

    statistic: float = field(metadata=says("The value of the test statistic."))
    effect: str = field(
        metadata=says(
            "What `detectable` measures, such as a distance between distribution functions, a relative error of the "
            "noise scale, or an error in a probability."
        )
    )
    detectable: float = field(
        metadata=says("The smallest effect that the test of the law refutes with the stated power.", **COUNT)
    )
    power: float = field(
        default=POWER,
        metadata=says("The probability with which the test of the law refutes the effect `detectable`.", **SHARE),
    )
    estimates: str = field(
        default="",
        metadata=says("Sentences with confidence intervals from the draws of the test; empty if there are none."),
    )
    failures: Failures = field(
        default_factory=dict,
        metadata=says("The numbers of draws without an output, keyed by the way in which they ended."),
    )
    values: int | None = field(
        default=None, metadata=says("The number of values with which the tail of the law is tested.", **COUNT)
    )
    furthest: float | None = field(
        default=None, metadata=says("The smallest tail probability, under the law, of a drawn value.", **SHARE)
    )
    reach: str | None = field(
        default=None,
        metadata=says("A description of the rare branches of the target that the audit would have detected."),
    )


@dataclass(frozen=True)
class InReach:
    """The losses that a test can detect with an event whose probability on one data set is `probability`."""

    probability: float = field(
        metadata=says("The share of the draws of the first side that lie in the event.", **SHARE)
    )
    loss: float = field(metadata=says("The smallest ε or ρ that the test refutes with 99 % power."))
    small_loss: float = field(metadata=says("A loss 10 % above the claim."))
    times_the_samples: float = field(
        metadata=says("The factor by which the number of draws must grow to detect `small_loss`.")
    )


@dataclass(frozen=True)
class CurvePoint:
    """One point of a trade-off curve; each of its intervals is a lower bound, an estimate and an upper bound."""

    threshold: float = field(metadata=says("The threshold of the statistic."))
    false_positive: tuple[float, float, float] = field(
        metadata=says("The probability of the event on the data set in the denominator of the ratio.")
    )
    false_negative: tuple[float, float, float] = field(
        metadata=says("The probability of the event's complement on the data set in the numerator of the ratio.")
    )
    claimed: float = field(
        metadata=says(
            "The smallest false-negative probability that the claim allows at the estimated false-positive "
            "probability.", **SHARE,
        )
    )  # fmt: skip


@dataclass(frozen=True)
class TradeOff:
    """The trade-off curve of a pair of neighbours, false negatives against false positives, as claimed and as
    observed.
    """

    confidence: float = field(
        metadata=says("The confidence with which the intervals at all points of the curve hold together.", **SHARE)
    )
    gaussian_lower_bound: float = field(
        metadata=says("A lower bound on the μ of Gaussian differential privacy, with the stated confidence.")
    )
    points: tuple[CurvePoint, ...] = field(
        metadata=says("The points of the curve, one for every threshold, in the order of the thresholds.")
    )


@dataclass(frozen=True)
class DifferingRow:
    """A row in which two neighbouring data sets differ."""

    row: int = field(metadata=says("The position of the row, counted from 1.", minimum=1))
    first: tuple[float, ...] | None = field(
        metadata=says("The row of the first data set; null if the first data set does not have it.", **{NULLABLE: True})
    )
    second: tuple[float, ...] | None = field(
        metadata=says(
            "The row of the second data set; null if the second data set does not have it.", **{NULLABLE: True}
        )
    )


@dataclass(frozen=True)
class Neighbours:
    """Two neighbouring data sets, described by their size and the rows in which they differ."""

    n: int = field(
        metadata=says("The number of rows; the second data set has one less if a row is missing there.", minimum=1)
    )
    d: int = field(metadata=says("The number of columns of each data set.", minimum=1))
    differing_rows: tuple[DifferingRow, ...] = field(metadata=says("The rows in which the two data sets differ."))


@dataclass(frozen=True)
class TestedEvent(Facts):
    """A tested event, with its counts on two neighbouring data sets. Pairs of numbers are in the order of `sides`."""

    event: str = field(metadata=says("The tested event, as a condition on the output."))
    counts: tuple[int, int] = field(metadata=says("The number of times that the event occurred on each data set."))
    draws: tuple[int, int] = field(metadata=says("The number of draws on each of the two data sets."))
    loss_lower_bound: float = field(
        metadata=says("A lower bound on the log ratio of the two probabilities of the event.")
    )
    confidence: float = field(metadata=says("The confidence of that bound.", **SHARE))
    sides: tuple[Side, Side] = field(
        metadata=says(
            "The data set in the numerator of the ratio of probabilities, and the data set in the denominator."
        )
    )
    data_sets: Neighbours = field(
        metadata=says("The size of the two neighbouring data sets, and the rows in which they differ.")
    )
    failures: tuple[Failures, Failures] = field(metadata=says("How draws failed on either data set."))
    largest_loss: float | None = field(
        default=None,
        metadata=says(
            "The largest claimed ε or ρ that the draws of the test could have refuted if an event had occurred in "
            "every draw on one data set and in no draw on the other.",
            **COUNT,
        ),
    )
    in_reach: InReach | None = field(
        default=None,
        metadata=says(
            "The loss that the test would have detected on an event as likely as the tested one; absent if the "
            "tested event was too rare."
        ),
    )
    trade_off: TradeOff | None = field(
        default=None,
        metadata=says("The trade-off curve of the pair of data sets; only the pair with the smallest p-value has one."),
    )
    estimated_loss: float | None = field(
        default=None,
        metadata=says(
            "An estimate (no bound) of the loss on the two data sets if the entries of an output have independent "
            "Laplace noise."
        ),
    )
    p_of_two_steps: float | None = field(
        default=None,
        metadata=says(
            "This number measures the evidence against the claim for adding or removing a row. The claim implies a "
            "guarantee for replacing a row. A small value of `p_of_two_steps` means that the draws contradict that "
            "guarantee. The number is no p-value, because it comes from a betting test that was chosen on the same "
            "draws.",
            **SHARE,
        ),
    )  # fmt: skip
    shown: dict[str, float] | None = field(
        default=None,
        metadata=says(
            "Lower bounds on the privacy parameters, proven by low-order bits: on ε at the claimed δ, on δ at the "
            "claimed ε, or on ρ."
        ),
    )
    level: float | None = field(
        default=None,
        metadata=says("The probability with which the test of low-order bits may prove a wrong loss.", **SHARE),
    )


@dataclass(frozen=True)
class OutOfTime(Facts):
    """The finding that no event was tested, because draws of the target ran into the time limit repeatedly."""

    failures: tuple[Failures, Failures] = field(metadata=says("How draws failed on either data set."))


@dataclass(frozen=True)
class RunningTime(Facts):
    """The time of one draw as a function of the dimension."""

    seconds: dict[str, float] = field(
        metadata=says("The seconds that one draw took, keyed by the dimension, such as d=2.")
    )
    failures: dict[str, str] = field(metadata=says("How a draw failed, by dimension."))


@dataclass(frozen=True)
class OwnData(Facts):
    """The numbers of outputs and failures in a few draws on a data set of the user."""

    n: int = field(metadata=says("The number of rows of the data set.", **COUNT))
    d: int = field(metadata=says("The number of columns of the data set.", **COUNT))
    outputs: int = field(metadata=says("How many draws gave an output.", **COUNT))
    failures: Failures = field(metadata=says("How the other draws ended, counted."))


@dataclass(frozen=True)
class Bits(Facts):
    """The result of the test of low-order bits over all pairs of neighbouring data sets."""

    verdict: Literal["REFUTED", "NOT REFUTED", "INCONCLUSIVE"] = field(
        metadata=says("The verdict on low-order bits, without the other findings of the audit.")
    )
    loss: str = field(metadata=says("The loss that was proven, in words; empty if no loss was proven."))
    reach: str = field(
        metadata=says(
            "Events that the check would detect with 99 % probability; empty if the check found an event, or could "
            "detect none."
        )
    )
    draws: int = field(metadata=says("How many draws were made.", **COUNT))


@dataclass(frozen=True)
class Explanation(Facts):
    """A sentence that may explain what other questions of the audit found."""

    sentence: str = field(metadata=says("The explanation."))


# JSON


def as_data(value: Any) -> Any:
    """Return the facts as plain data for JSON. A field whose value is None is left out, unless its metadata say that it
    becomes null. A number that is infinite or NaN becomes a string.
    """
    if is_dataclass(value):
        named = [(f, getattr(value, f.name)) for f in fields(value) if NOT_IN_JSON not in f.metadata]
        return {f.name: as_data(item) for f, item in named if NULLABLE in f.metadata or item is not None}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): as_data(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_data(item) for item in value]
    return value


REAL = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type that a field of facts may have."""
    origin, inside = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _of_dataclass(kind)
    if origin in (Union, UnionType):
        return schema_of(next(item for item in inside if item is not NoneType))
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is tuple and inside[-1] is Ellipsis:
        return {"type": "array", "items": schema_of(inside[0])}
    if origin is tuple:
        return {"type": "array", "prefixItems": [schema_of(i) for i in inside], "minItems": len(inside), "items": False}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inside[1])}
    plain: dict[Any, dict[str, Any]] = {
        int: {"type": "integer"}, float: REAL, str: {"type": "string"}, bool: {"type": "boolean"},
    }  # fmt: skip
    return plain[kind]


def _of_dataclass(kind: Any) -> dict[str, Any]:
    types = get_type_hints(kind)
    properties: dict[str, Any] = {}
    needed = []
    for f in fields(kind):
        if NOT_IN_JSON in f.metadata:
            continue
        optional = NoneType in get_args(types[f.name])
        found = schema_of(types[f.name])
        nullable = NULLABLE in f.metadata
        if nullable:
            found = {"anyOf": [found, {"type": "null"}]}
        if nullable or not optional:
            needed.append(f.name)
        properties[f.name] = {**found, **{key: rule for key, rule in f.metadata.items() if key != NULLABLE}}
    text = " ".join((kind.__doc__ or "").split())
    return {
        "description": text, "type": "object", "additionalProperties": False, "required": needed,
        "properties": properties,
    }  # fmt: skip
