"""The one thread in which an attempt's tools run.

The recorder behind the executor talks to the database, which must not happen on an event loop's
thread, and whose connection belongs to the thread that opened it: so one thread for all calls, and
a hook that runs in it at its end.
"""

import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
_Job = Callable[[], None]


class ToolThreadClosed(RuntimeError):
    """The attempt has ended: no tool is started any more."""


class ToolThread:
    """Runs calls one after the other, in the order they were handed in.

    A daemon: a tool that never returns must not keep the process from ending.
    """

    def __init__(self, on_exit: Callable[[], None]) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._on_exit = on_exit
        self._closed = False
        self._lock = threading.Lock()
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._work,), name="attempt-tools", daemon=True
        )
        self._thread.start()

    @property
    def ident(self) -> int | None:
        """The thread's identity, to tell it from the event loop's."""
        return self._thread.ident

    def submit(self, call: Callable[[], Result]) -> "Future[Result]":
        """Queues a call. Raises `ToolThreadClosed` once the attempt has ended."""
        future: Future[Result] = Future()

        def job() -> None:
            if self._closed or not future.set_running_or_notify_cancel():
                future.cancel()
                return
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits
                future.set_exception(error)

        with self._lock:
            if self._closed:
                raise ToolThreadClosed
            self._jobs.put(job)
        return future

    def close(self) -> None:
        """No further call is started; the one under way goes on to its end."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)

    def join(self, timeout_s: float) -> bool:
        """Waits for the call under way and the exit hook; whether they ended in time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                job()
        finally:
            try:
                self._on_exit()
            except Exception:
                logger.exception("the tool thread's exit hook failed")
