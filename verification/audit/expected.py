"""Find what an audit starts from: the claim of a target, the mechanism that the target claims to be, and what is known
of the law of its output.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.adjacency import REPLACE_ONE, with_adjacency
from covassay.verification.audit.engine.called import called
from covassay.verification.audit.engine.output_kind import OUTPUTS, USUAL, found_kind, stated
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.user_pair import UserPair, pair_to_test
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.shared.box import box_profile
from covassay.verification.audit.knowledge.shared.profile import Profile, black_box
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.targets.bounds import BOUNDS, needs_bounds, takes_bounds
from covassay.verification.audit.targets.calling import Wrapped
from covassay.verification.audit.targets.fitting import plain_call, uses_budget
from covassay.verification.audit.targets.process_state import random_states_put_back
from covassay.verification.audit.targets.public_parameters import notes_on, own_values, to_pass, with_keywords
from covassay.verification.audit.targets.scaled_columns import scaled_columns
from covassay.verification.audit.targets.target import Target, TargetReference, TargetSource, as_source, load
from covassay.verification.declared import stated_claim

_USUAL = AuditOptions()


def claim_of(source: TargetSource | Callable[..., Any] | str, options: AuditOptions = _USUAL) -> Guarantee:
    """Return the stated claim; if none is stated, return the target's usual claim or the mechanism's default claim.

    Only a target that takes its budget as an argument has a default claim.

    Raises
    ------
    InvalidInput : no claim is stated for a target that takes no budget (only its author knows the claim), or an option
        is given that this audit ignores.
    """
    found = as_source(source)
    target = load(found)
    _require_use(options, options.mechanism or target.mechanism)
    unstated = options.epsilon is None and options.delta is None and options.rho is None
    if unstated and options.mechanism is None and target.claim is not None:
        return target.claim
    own = not isinstance(source, Target) and (not isinstance(found, TargetReference) or found.is_function)
    if own and unstated:
        call = options.call or getattr(found, "call", None)
        function = target.draw
        if isinstance(function, Wrapped):
            call, function = call or function.call, function.function
        if not uses_budget(function, call):
            raise InvalidInput(f"{target.name} takes no budget: state the budget it claims (epsilon, delta or rho)")
    return stated_claim(options.mechanism or target.mechanism, options.epsilon, options.delta, options.rho)


def _require_use(options: AuditOptions, name: str | None) -> None:
    """Raise `InvalidInput` if an option was given that this audit ignores."""
    if name and options.released:
        raise InvalidInput(f"released = {options.released}: the output of {name} is known; leave the option out")
    if name is None and options.options:
        raise InvalidInput(
            f"options = {', '.join(options.options)}: options belong to a mechanism; name the mechanism that the "
            "target claims to be"
        )


def expected_of(
    target: Target, guarantee: Guarantee, options: AuditOptions
) -> tuple[str | None, dict[str, Any], Profile]:
    """Return the mechanism that the target claims to be, its complete options, and what the audit knows of the law of
    the output."""
    name = options.mechanism or target.mechanism
    bounded = name is not None and mechanism(name).domain == "box"
    if options.bounds is None and needs_bounds(target) and not bounded:
        raise InvalidInput(f"{target.name} takes the bounds of its columns: give bounds (--bounds)")
    if name is None:
        return None, {}, _black_box(target, options)
    if options.bounds is not None and not bounded:
        raise InvalidInput(
            f"bounds: the rows of {name} lie in the unit ball; to audit a target whose rows lie in a box, name no "
            "mechanism, or name a mechanism for bounded columns"
        )
    stated = dict(target.options) if name == target.mechanism else own_values(target.draw, mechanism(name))
    choices = mechanism(name).resolve({**stated, **options.options, **_adjacency(name, options)})
    if options.mechanism is None:
        _require_what_it_draws(target, mechanism(name).resolve(stated), choices)
    return name, choices, profile(name, guarantee, choices, options.samples, options.seed)


def _adjacency(name: str, options: AuditOptions) -> dict[str, str]:
    """Return the mechanism's option for the adjacency if the audit states an adjacency and the mechanism has such an
    option, and otherwise return nothing.
    """
    asked = options.adjacency
    if asked is None:
        return {}
    declared = mechanism(name)
    if "adjacency" in declared.choices:
        if options.options.get("adjacency", asked) != asked:
            raise InvalidInput(
                f"adjacency = {asked}: the options say {options.options['adjacency']}; give only one of the two"
            )
        return {"adjacency": asked}
    if asked != declared.adjacency:
        raise InvalidInput(
            f"adjacency = {asked}: the law of {name} is known for {declared.adjacency}; to audit a claim for another "
            "adjacency, name no mechanism"
        )
    return {}


def neighbours_of(name: str | None, choices: Mapping[str, Any], options: AuditOptions) -> str:
    """Return the adjacency of the claim."""
    return mechanism(name).adjacency_of(choices) if name else options.adjacency or REPLACE_ONE


def notes_of(target: Target, name: str | None) -> tuple[str, ...]:
    """Return notes on the public parameters of a target that does not state its mechanism itself."""
    return () if name is None or name == target.mechanism else notes_on(target.draw, mechanism(name))


def seen(source: TargetSource, expected: Profile, options: AuditOptions) -> TargetSource:
    """Return the target; for a mechanism for bounded columns, it is wrapped so that the columns are scaled."""
    return source if expected.view is None else scaled_columns(source, expected.view.see, options.bounds)


def _require_what_it_draws(target: Target, drawn: dict[str, Any], claimed: dict[str, Any]) -> None:
    """Raise `InvalidInput` if an option differs from the option that the target itself declares."""
    for key, value in claimed.items():
        usual = mechanism(str(target.mechanism)).parameters.get(key)
        if value != drawn.get(key, usual):
            raise InvalidInput(
                f"{key} = {value}: the target {target.name} declares {key} = {drawn.get(key, usual)}; to audit the "
                f"target against another claim, name the mechanism too (mechanism = {target.mechanism})"
            )


def as_stated_by(target: Target, options: AuditOptions) -> AuditOptions:
    """Return the options of the audit. If neither the audit nor the target names a mechanism, bounds and an adjacency
    that the options do not state are taken from the target's own claim.
    """
    if options.mechanism or target.mechanism:
        return options
    box = options.bounds or (Box.of(target.bounds) if target.bounds else None)
    return replace(options, bounds=box, adjacency=options.adjacency or target.adjacency)


def with_pair(expected: Profile, given: UserPair | None, adjacency: str, box: Box | None = None) -> Profile:
    """Return what the audit knows about the mechanism (its profile), with the user's pair before all other pairs.

    If the audit scales the columns, the user's pair is scaled too.
    """
    if given is None:
        return expected
    if expected.view is not None and box is not None:
        if given.first.shape[1] != box.dimension:
            raise InvalidInput(f"pair: has {given.first.shape[1]} columns, and the bounds are of {box.dimension}")
        first, second = ((x - box.centre) / box.half_widths for x in (given.first, given.second))
        given = replace(given, first=first, second=second)
    own = pair_to_test(given, expected.form.output, expected.domain, expected.form.smallest_dimension, adjacency)
    return replace(expected, pairs=lambda fitted: (own, *expected.pairs(fitted)))


def _black_box(target: Target, options: AuditOptions) -> Profile:
    """Return what the audit uses for a target that names no mechanism: the form of the output, and pairs of
    neighbouring data sets.
    """
    output = OUTPUTS[options.released or target.released or USUAL]
    box = options.bounds
    if box is not None and min(output.shape(box.dimension), default=1) == 0:
        raise InvalidInput(f"bounds of {box.dimension} column: too few for an output of the kind {output.kind}")
    known = black_box(output) if box is None else box_profile(output, box, takes_bounds(target))
    pairs = with_adjacency(known.pairs(frozenset()), options.adjacency or REPLACE_ONE, output)
    return replace(known, form=replace(known.form, symmetric=target.symmetric), pairs=lambda _: pairs)


def with_kind(
    origin: TargetSource, target: Target, budget: dict[str, Any], options: AuditOptions
) -> tuple[AuditOptions, tuple[str, ...]]:
    """Return the options, and a note on the kind of output if the kind was added to the options.

    If neither a mechanism nor a kind of output is stated, the kind is detected from outputs of the target. The detected
    kind is added to the options unless the output is a matrix.
    """
    if options.mechanism or target.mechanism or options.released or target.released:
        return options, ()
    if options.bounds is None and needs_bounds(target):
        return options, ()  # a later step of the audit asks the user for the bounds
    setting = Setting(origin, budget, OUTPUTS[USUAL], options.seed, seconds=options.time_limit, box=options.bounds)
    with random_states_put_back():
        kind = found_kind(setting)
    return (options, ()) if kind is None else (replace(options, released=kind), (stated(kind),))


def identity_of(source: TargetSource, target: Target, options: AuditOptions) -> dict[str, Any]:
    """Return the identity of a run, made of its target, options and packages; a run continues only from draws with an
    equal identity.

    Apart from its version, a change of the target is detected only in the file that defines its function or, if the
    target is a command, in the files whose names are words of the command.
    """
    settings = {name: value for name, value in options.plain().items() if name != "checkpoint"}
    return {
        "target": source.spec if isinstance(source, TargetReference) else source.name,
        "target version": target.version,
        "file of the target": _digest(source, target),
        **settings,
        **{package: version(package) for package in ("covassay", "numpy", "scipy")},
    }


def _digest(source: TargetSource, target: Target) -> str:
    """Return a digest of the file of a function, or of the files that a command names; return "" if there are no such
    files."""
    if isinstance(source, TargetReference) and source.command:
        files = [Path(source.directory, word) for word in source.command]
    else:
        code = getattr(getattr(target.draw, "function", target.draw), "__code__", None)
        files = [Path(code.co_filename)] if code is not None else []
    digest, found = hashlib.sha256(), [file for file in files if file.is_file()]
    for file in found:
        digest.update(file.read_bytes())
    return digest.hexdigest() if found else ""


def as_called_for(
    source: TargetSource | Callable[..., Any] | str, guarantee: Guarantee, options: AuditOptions
) -> TargetSource:
    """Return the target's source, completed by options that say how the target is called and where its random numbers
    come from.
    """
    if options.mechanism:
        mechanism(options.mechanism).require_budget(guarantee)
    output, found = OUTPUTS[options.released or USUAL], as_source(source)
    has_keywords = options.mechanism is not None and not (isinstance(found, TargetReference) and not found.is_function)
    if options.mechanism:
        claimed = mechanism(options.mechanism)
        own = own_values(load(found).draw, claimed) if has_keywords else {}
        output = claimed.output_of({**own, **options.options, **_adjacency(options.mechanism, options)})
    box = options.bounds
    budget: dict[str, Any] = dict(guarantee.keywords()) | ({BOUNDS: box.bounds} if box is not None else {})
    setting = Setting(Target("", print), budget, output, options.seed, seconds=options.time_limit, box=box)
    called_as = called(source, setting, options.call)
    if has_keywords:
        call = _with_public_parameters(load(called_as).draw, options, budget)
        called_as = called(source, setting, call) if call else called_as
    return replace(called_as, seeded=False) if options.unseeded else called_as


def _with_public_parameters(draw: Any, options: AuditOptions, budget: Mapping[str, Any]) -> str | None:
    """Return the expression of a call that also passes the public parameters of the claimed mechanism.

    The result is None if the call need not change.
    """
    claimed = mechanism(str(options.mechanism))
    stated = {**options.options, **_adjacency(claimed.name, options)}
    read = claimed.resolve(stated)
    passed = to_pass(draw, claimed, {name: read[name] for name in stated})
    call = draw.call if isinstance(draw, Wrapped) else plain_call(draw, budget)
    return with_keywords(call, passed) if call and passed else None
