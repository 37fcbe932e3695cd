"""Wake-ups: "run X is at seq N", told after the commit to every web process.

A wake-up is a hint. Losing one costs the seconds until the hub's own poll, so nothing here may
block a caller for long, and nothing here may ever raise into one.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer

from swarmui.live.layers import LoopBoundLayer
from swarmui.live.messages import WAKE_GROUP, wake_message

logger = logging.getLogger(__name__)

SEND_TIMEOUT_S = 3.0
MAX_WAITING_RUNS = 10_000
WARN_EVERY_S = 30.0


def wake_run(run_id: UUID, seq: int) -> None:
    """Tell the web processes that run ``run_id`` has reached ``seq``.

    For synchronous code in any thread or process, after the commit. Returns at once; a wake-up
    that cannot be sent is logged and dropped.
    """
    try:
        _office.postman().post(str(run_id), seq)
    except Exception:
        logger.warning("could not queue the wake-up of run %s", run_id, exc_info=True)


class Postman:
    """Sends wake-ups from one persistent loop, one run's newest seq at a time.

    A loop and a connection per message (what ``async_to_sync`` does) costs thirteen times as much.
    While one delivery is under way, later wake-ups of the same run fold into one.
    """

    def __init__(self, layer: Any) -> None:
        self.layer = layer
        self._lock = threading.Lock()
        self._waiting: dict[str, int] = {}
        self._delivering = False
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._warned_at = float("-inf")

    def post(self, run_id: str, seq: int) -> None:
        with self._lock:
            if run_id not in self._waiting and len(self._waiting) >= MAX_WAITING_RUNS:
                return
            self._waiting[run_id] = max(seq, self._waiting.get(run_id, 0))
            if self._delivering:
                return
            loop = self._loop()
            if loop is None:
                self._waiting.clear()
                return
            self._delivering = True
        try:
            asyncio.run_coroutine_threadsafe(self._deliver(), loop)
        except RuntimeError:  # the loop was closed a moment ago: its listeners have gone with it
            with self._lock:
                self._delivering = False
                self._waiting.clear()

    def _loop(self) -> asyncio.AbstractEventLoop | None:
        if isinstance(self.layer, LoopBoundLayer):
            return self.layer.home
        if self._own_loop is None:
            self._own_loop = asyncio.new_event_loop()
            threading.Thread(
                target=self._own_loop.run_forever, name="swarmui-notify", daemon=True
            ).start()
        return self._own_loop

    async def _deliver(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._delivering = False
                    return
                batch, self._waiting = self._waiting, {}
            for run_id, seq in batch.items():
                await self._send(run_id, seq)

    async def _send(self, run_id: str, seq: int) -> None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await self.layer.group_send(WAKE_GROUP, wake_message(run_id, seq))
        except Exception:
            if self._may_warn():
                logger.warning("wake-up of run %s not sent", run_id, exc_info=True)

    def _may_warn(self) -> bool:
        """Once in a while: with the broker away, every event would say the same."""
        now = time.monotonic()
        due = now - self._warned_at >= WARN_EVERY_S
        if due:
            self._warned_at = now
        return due


class _Office:
    """This process's one postman, made on first use and anew when the layer changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._postman: Postman | None = None

    def postman(self) -> Postman:
        layer = get_channel_layer()
        if layer is None:
            raise RuntimeError("no channel layer is configured (CHANNEL_LAYERS)")
        with self._lock:
            if self._postman is None or self._postman.layer is not layer:
                self._postman = Postman(layer)
            return self._postman


_office = _Office()

# A forked child has neither the parent's thread nor a lock that anybody will release.
os.register_at_fork(after_in_child=_office.__init__)  # type: ignore[misc]
