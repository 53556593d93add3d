"""Make draws in this process or in workers of joblib (loky, Dask, Ray), with the same outputs everywhere.

The configuration of joblib decides which workers make the draws. The command `covassay audit --backend` starts workers
on this machine. A Python program uses `joblib.parallel_config`, for example with a Dask client of a cluster.

    with joblib.parallel_config(backend="dask"):
        audit(…)

A draw needs the main thread of its process, because a time limit can interrupt only this thread. A draw also needs a
process of its own, because it may change or end the process. The workers of loky and Ray are processes, each with a
main thread. Dask and joblib's "threading" run tasks in threads, each of which starts a process for its draws
(`own_process`). If a process or worker ends before its draws are complete, the audit stops with `CannotRun`, so that no
draw is lost silently.

The workers of loky are started only when a start saves time. Starting a worker takes about as long as this process took
to import this package and the target. With k workers, a start saves time if the remaining draws take more than k/(k −
1) times as long as the start. The time of the remaining draws is unknown. Starting a worker also takes processor time,
which is lost if few draws remain. The command `covassay audit` therefore starts the workers late: it makes draws in its
own process until these draws have taken `PATIENCE` · k/(k − 1) times as long as the start of a worker.
"""

import importlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

from covassay.reference.errors import InvalidInput
from covassay.verification.audit.engine.own_process import in_own_process
from covassay.verification.audit.targets.calling import CannotRun, text_of
from covassay.verification.audit.targets.deadline import BEGUN, supervised

BACKENDS = "loky", "dask", "ray"
NEEDS = {"dask": "distributed", "ray": "ray.util.joblib"}  # the extra `scale` of covassay installs these modules
PACKAGES = "dask", "distributed", "ray"
ENDED = "a worker process that drew from the target ended before its draws were made"
WAVE = 200  # tasks
# Before k workers start, this process draws alone for PATIENCE · k/(k − 1) times the time that starting a worker takes.
# With the factor 4, an audit whose draws take only a few seconds starts no worker.
PATIENCE = 4
_paying = 0.0  # once calls in this process have taken this many seconds, workers make the remaining calls
_spent = 0.0  # the seconds that calls in this process have taken
# the parallel object of the current `local_workers` block, or None outside of such a block
_kept: ContextVar[Parallel | None] = ContextVar("_kept", default=None)
_PROCESS = secrets.token_hex(8)  # a name for this process that is unique across machines


def run(jobs: int | None, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Call the function with each tuple of arguments, and return the results in their order.

    `jobs` is the number of workers; None leaves the number to joblib's configuration. A single call is made in this
    process, so that no worker needs to be started for it.

    Raises
    ------
    CannotRun : a worker ended, or the backend failed.
    """
    calls = iter(arguments)
    if supervised() and type(get_active_backend()[0]).__name__ == "LokyBackend":
        yield from _before_workers_pay(function, calls)
    first = list(islice(calls, 2))
    if len(first) < 2:
        yield from (function(*call) for call in first)
        return
    here = _PROCESS, threading.get_ident()
    tasks = (delayed(_called)(here, function, call) for call in chain(first, calls))
    try:
        yield from _in_order(jobs, tasks)
    except BrokenExecutor as error:
        raise CannotRun(ENDED) from error
    except (CannotRun, InvalidInput):
        raise
    except Exception as error:
        if _of_backend(error):
            raise CannotRun(f"{ENDED} ({type(error).__name__}: {text_of(error).splitlines()[0][:200]})") from error
        raise


def _before_workers_pay(function: Callable[..., Any], calls: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
    """Make calls in this process until all its calls have taken `_paying` seconds. After this time, workers make the
    remaining calls.

    A draw may kill the process that makes it. Draws are therefore made in this process only if another process
    supervises this process.
    """
    global _spent
    while _spent < _paying and (next_call := next(calls, None)) is not None:
        start = time.monotonic()
        result = function(*next_call)
        _spent += time.monotonic() - start
        yield result


def _in_order(jobs: int | None, tasks: Iterator[Any]) -> Iterator[Any]:
    backend = get_active_backend()[0]
    if type(backend).__name__ == "DaskDistributedBackend":
        _tell_of_lost_workers(backend)
    if getattr(backend, "supports_return_generator", False):
        yield from Parallel(n_jobs=jobs, return_as="generator")(tasks)
        return
    # Ray's backend returns all results in one list; the tasks are made in waves, so that each list is short
    with ExitStack() as stack:
        parallel = _kept.get() or stack.enter_context(Parallel(n_jobs=jobs))
        while wave := list(islice(tasks, WAVE)):
            yield from parallel(wave)


def _tell_of_lost_workers(backend: Any) -> None:
    """Tell joblib about a task whose worker was killed, because otherwise joblib's backend for Dask would wait
    forever.
    """
    name = "submit" if hasattr(backend, "submit") else "apply_async"
    submit = getattr(backend, name)
    if getattr(submit, "tells", False):
        return

    def telling(task: Any, callback: Callable[[Any], None] | None = None) -> Any:
        future = submit(task, callback)
        if callback is not None:
            future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
        return future

    vars(telling)["tells"] = True
    setattr(backend, name, telling)


def _called(here: tuple[str, int], function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread or here == (_PROCESS, threading.get_ident()) or os.name != "posix":
        return function(*arguments)
    return in_own_process(function, arguments)


def _of_backend(error: Exception) -> bool:
    """Return whether Dask or Ray raised this error because a worker or the cluster failed, and not because the function
    failed.
    """
    return type(error).__module__.partition(".")[0] in PACKAGES


@contextmanager
def local_workers(backend: str, jobs: int) -> Iterator[None]:
    """Start this many workers of this backend on this machine for joblib, for as long as the block runs.

    Raises
    ------
    InvalidInput : the backend is unknown or not installed.
    """
    global _paying
    _paying = PATIENCE * (time.monotonic() - BEGUN) * jobs / max(jobs - 1, 1)
    if backend not in BACKENDS:
        raise InvalidInput(f"backend = {backend!r}: must be {', '.join(BACKENDS)}")
    needed = NEEDS.get(backend)
    if needed is not None:
        try:
            importlib.import_module(needed)
        except ImportError as error:
            raise InvalidInput(
                f"backend = {backend}: {error}; it needs the extra scale: pip install 'covassay[scale]'"
            ) from None
    with ExitStack() as stack:
        if backend == "dask":
            _start_dask(stack, jobs)
        if backend == "ray":
            _start_ray(stack, jobs)
        stack.enter_context(parallel_config(backend=backend, n_jobs=jobs))
        if backend == "ray":
            token = _kept.set(stack.enter_context(Parallel(n_jobs=jobs)))
            stack.callback(_kept.reset, token)
        yield


def _start_dask(stack: ExitStack, jobs: int) -> None:
    import dask
    from distributed import Client, LocalCluster

    # without this setting, Ray would repeat a task that killed its worker until the draw happens not to kill the worker
    stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 0}))
    cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL")
    stack.enter_context(Client(stack.enter_context(cluster)))


def _start_ray(stack: ExitStack, jobs: int) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.util.joblib import register_ray

    ray.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False, logging_level="critical")
    stack.callback(ray.shutdown)
    register_ray()
