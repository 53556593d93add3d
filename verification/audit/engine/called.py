"""Make a target from a function with another signature, by an expression that calls the function."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.engine.contract import DIMENSIONS, ROWS, plain_rows
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.bounds import needs_bounds
from covassay.verification.audit.targets.calling import CannotRun, Wrapped
from covassay.verification.audit.targets.fitting import WrongOutput, found_call, plain_call
from covassay.verification.audit.targets.process_state import put_back, random_states_put_back
from covassay.verification.audit.targets.process_target import START_VARIABLE, batch_of, start_limit, why_late
from covassay.verification.audit.targets.target import (
    Failure,
    Target,
    TargetReference,
    TargetSource,
    as_called,
    as_source,
    load,
    ran_out_of_time,
    text_of,
    within,
)
from covassay.verification.audit.targets.target import call as call_target
from covassay.verification.statistics.streams import stream

# three columns come first, because the parts of an output then differ most clearly in shape
ORDER = sorted(DIMENSIONS, key=lambda d: d != 3)


def called(source: TargetSource | Callable[..., Any] | str, setting: Setting, call: str | None) -> TargetSource:
    """Return the target for a source, such as a function or a name.

    If the function has another signature, the audit calls it by the expression `call`, or by an expression that is
    found by trial.

    Raises
    ------
    InvalidInput : the call does not fit, or no call is found.
    CannotRun : every call that fits raises an exception, or gives no output.
    """
    found = as_source(source)
    if isinstance(found, TargetReference) and not found.is_function:
        return replace(found, call=call, batch=_batch(replace(found, call=call), setting))
    if isinstance(source, Target):
        return found
    if call is None and isinstance(found, TargetReference) and found.call is not None:
        return found
    drawn = load(found).draw
    if call is None and isinstance(drawn, Wrapped) and drawn.call is not None:
        return found
    function = drawn.function if isinstance(drawn, Wrapped) else drawn
    if not (callable(function) or hasattr(function, "fit")):
        raise InvalidInput(f"target = {function!r}: must be a function, or an object with the method fit")
    if call is None and setting.box is None and needs_bounds(load(found)):
        return found  # the target needs bounds, for which the audit asks the user later
    plain = plain_call(function, setting.budget)
    if call is None:
        try:
            with random_states_put_back():
                call = _tried(function, setting)
        except WrongOutput:
            raise
        except CannotRun:
            if not plain:
                raise
        if call in (None, plain) and function is drawn:
            return found
    if isinstance(found, TargetReference):
        return replace(found, call=call)
    return as_called(found.name, function, call)


def _batch(source: TargetReference, setting: Setting) -> int:
    """Ask a target process how many draws it makes for one request, and return its answer. Return 0 if the target is
    not a process, or if the process fails.

    Raises
    ------
    CannotRun : the process gave no reply in time.
    """
    target = load(source)
    if not source.command:
        return 0
    x, rng = plain_rows(setting, ROWS), np.random.default_rng(stream(setting.seed, "contract", "batch"))
    ask = partial(batch_of, source.command, source.directory)
    most, _ = call_target(replace(target, draw=ask), x, setting.budget, rng, setting.seconds)
    if not isinstance(most, Failure):
        return int(most)
    if most.kind == "time-out":
        late = why_late(source.command, source.directory, x, setting.seconds, **setting.budget)
        limits = f"{START_VARIABLE} and --time-limit"
        waited = f"no reply in {start_limit() + setting.seconds:g} s from its start ({limits})"
        raise CannotRun(f"{source.spec}: {late or waited}")
    return 0


def _tried(function: Any, setting: Setting) -> str:
    def draw(target: Callable[..., Any], x: Matrix, number: int) -> Any:
        rng = np.random.default_rng(stream(setting.seed, "contract", "call", number))
        start = time.perf_counter()
        try:
            with put_back():
                return within(setting.seconds, partial(target, x, rng=rng, **setting.budget))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if ran_out_of_time(error, time.perf_counter() - start, setting.seconds):
                raise TimeoutError from None
            if isinstance(error, Exception):
                raise
            raise RuntimeError(f"{type(error).__name__}: {text_of(error)}") from None

    data_sets = [plain_rows(setting, ROWS, d) for d in (ORDER if setting.box is None else ORDER[:1])]
    return found_call(function, data_sets, setting.budget, setting.shape, draw)
