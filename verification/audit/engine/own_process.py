"""Run the draws that threads request in child processes. In a child process, a draw runs on the main thread, which a
time limit can interrupt. If a draw ends the child process, the audit's own process survives.

The workers of Dask are daemon processes, and `multiprocessing` does not allow a daemon process to start a child
process. Every child process is therefore started as a separate Python program, without `multiprocessing`. Calls and
results are sent through a pipe, pickled as in loky. A child process ends when the pipe is closed, and therefore when
the process that started it ends.
"""

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from typing import Any

from joblib.externals.loky.backend.reduction import dumps

from covassay.verification.audit.targets.calling import CannotRun

ENDED = "a child process that runs the target ended before its draws were made"
# these child processes wait for a call; a thread takes a waiting process, or starts another
_idle: list["OwnProcess"] = []
_lock = threading.Lock()


class OwnProcess:
    """A child process that makes one call after another."""

    def __init__(self) -> None:
        self._connection, other = Pipe()
        command = [sys.executable, "-P", "-m", __name__, str(other.fileno())]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[other.fileno()])
        other.close()
        self._connection.send_bytes(dumps(sys.path))

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Make a call in the child, and return whether the function raised an exception, and what it raised or
        returned.
        """
        self._connection.send_bytes(dumps((function, arguments)))
        return pickle.loads(self._connection.recv_bytes())

    def end(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.kill()
        self._process.wait()


def in_own_process(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call the function in a child process, which is kept for later calls, and return its result.

    Raises
    ------
    CannotRun : the child ended before its result was complete. An exception that the function raises is raised again.
    """
    with _lock:
        child = _idle.pop() if _idle else None
    child = child or OwnProcess()
    try:
        raised, result = child.call(function, arguments)
    except BaseException as error:
        # end the child after an interruption too, because otherwise the next call could receive the answer to this call
        child.end()
        if isinstance(error, EOFError | ConnectionError):
            raise CannotRun(ENDED) from error
        raise
    with _lock:
        _idle.append(child)
    if raised:
        raise result
    return result


@atexit.register
def _end_all() -> None:
    with _lock:
        while _idle:
            _idle.pop().end()


def _serve(connection: Connection) -> None:
    """Make the calls that come over the pipe until it is closed. Standard output of the calls goes to standard
    error.
    """
    os.dup2(2, 1)
    with contextlib.suppress(EOFError, ConnectionError):
        sys.path[:] = pickle.loads(connection.recv_bytes())
        while True:
            function, arguments = pickle.loads(connection.recv_bytes())
            try:
                answer = False, function(*arguments)
            except Exception as error:
                answer = True, error
            connection.send_bytes(dumps(answer))


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
