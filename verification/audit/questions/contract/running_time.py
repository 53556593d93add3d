"""Time one draw in higher and higher dimensions, on data with two strong directions. A slow target is only noted."""

import numpy as np

from covassay.verification.audit.engine.contract import dimensions_of
from covassay.verification.audit.engine.facts import RunningTime
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure, call
from covassay.verification.statistics.streams import stream

LADDER = (2, 5, 10, 20)  # a draw is timed in each of these dimensions
# if a draw takes less than FEW_SECONDS / MANY_TIMES, the time limit of the next draw is at most FEW_SECONDS
FEW_SECONDS, MANY_TIMES = 1.0, 100.0
STRONG_ROWS = (500, 300)  # the numbers of rows along the first and the second axis of the timed data


def running_time(setting: Setting) -> Finding:
    """Time one draw in higher and higher dimensions, on data with two strong directions. A slow target is only
    noted.
    """
    times: dict[str, float] = {}
    failures: dict[str, str] = {}
    limit = setting.seconds
    for d in dimensions_of(setting, LADDER):
        corners = np.eye(d)[:2] if setting.box is None else np.array([setting.box.low, setting.box.high])
        x = np.repeat(corners, STRONG_ROWS[: len(corners)], axis=0)
        rng = np.random.default_rng(stream(setting.seed, "contract", "time", d))
        output, elapsed = call(setting.target, x, setting.budget, rng, limit)
        limit = min(setting.seconds, FEW_SECONDS) if MANY_TIMES * elapsed < FEW_SECONDS else setting.seconds
        if not isinstance(output, Failure):
            times[f"d={d}"] = round(elapsed, 6)
            continue
        failures[f"d={d}"] = str(output)
        if output.kind == "time-out":
            break
    said = {d: f"{1000 * seconds:.1f} ms" for d, seconds in times.items()} | failures
    text = ", ".join(f"{d}: {what}" for d, what in said.items())
    status = Status.NOTED if failures else Status.NOT_REFUTED
    detail = f"one draw, n = {sum(STRONG_ROWS)}: {text}"
    return Finding("contract", "running time", status, detail, facts=RunningTime(times, failures))


QUESTION = Question(
    name="running time",
    kind="contract",
    asks="How does the time of a draw grow with the dimension?",
    blind_to="draws that take longer on other data than on the timed data",
    ask=lambda subject, look: [running_time(subject.setting)],
    gives=(RunningTime,),
)
