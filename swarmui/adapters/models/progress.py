"""What the loop's thread tells the watching thread: notes, usage, and the end."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from verifier.outcome import Deliverable, FailureKind


@dataclass
class LoopReport:
    """Written by the loop's thread, read by the caller's; single assignments, so no lock but the
    one that decides which end counts.

    `tokens_used` and `cost_micro_usd` are None while unknown; `is_waiting` while a request is
    unanswered; `record_fault` is what the executor's recorder raised.
    """

    note: str = "loading the model library"
    deliverable: Deliverable | None = None
    failure: FailureKind | None = None
    error: str | None = None
    tokens_used: int | None = None
    cost_micro_usd: int | None = None
    tokens_at_least: int = 0
    requests: int = 0
    unmeasured: int = 0
    is_counted: bool = False
    is_waiting: bool = False
    stop_reason: str | None = None
    family: str | None = None
    record_fault: Exception | None = None
    ended: threading.Event = field(default_factory=threading.Event)
    _cancel: Callable[[], None] | None = None
    _cancelled: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def succeed(self, deliverable: Deliverable) -> None:
        """The agent gave its final answer."""
        with self._lock:
            if not self.ended.is_set():
                self.deliverable = deliverable
                self.ended.set()

    def fail(self, failure: FailureKind, error: str) -> None:
        """The loop ended without an answer."""
        with self._lock:
            if not self.ended.is_set():
                self.failure, self.error = failure, error
                self.ended.set()

    def on_cancel(self, cancel: Callable[[], None]) -> None:
        """How the loop is told to stop; told at once when that was asked for already."""
        with self._lock:
            self._cancel = cancel
            already = self._cancelled
        if already:
            cancel()

    def cancel(self) -> None:
        """Asks the loop to stop; does nothing to one that has ended."""
        with self._lock:
            self._cancelled = True
            cancel = self._cancel
        if cancel is not None:
            cancel()

    def usage_gaps(self) -> tuple[str, ...]:
        """Why tokens are unknown, in the receipt's words."""
        if not self.is_counted:
            return ("tokens: a model request was left behind unanswered",)
        if not self.unmeasured:
            return ()
        return (
            f"tokens: no usage known for {self.unmeasured} of {self.requests} requests, "
            f"the others used {self.tokens_at_least:,}",
        )
