"""How a test tells a running command to stop."""

import threading
import time
from collections.abc import Callable

from verifier.lifecycle import StopReason


class ScriptedControl:
    """Stops for `reason` as soon as `when()` is true; never without one."""

    def __init__(
        self,
        reason: StopReason | None = None,
        when: Callable[[], bool] = lambda: True,
        seconds: float = 60.0,
    ) -> None:
        self._reason = reason
        self._when = when
        self._ends = time.monotonic() + seconds
        self._lock = threading.Lock()
        self.notes: list[str] = []

    def stop_reason(self) -> StopReason | None:
        return self._reason if self._reason is not None and self._when() else None

    def progress(self, note: str) -> None:
        with self._lock:
            self.notes.append(note)

    def remaining_s(self) -> float:
        return max(0.0, self._ends - time.monotonic())
