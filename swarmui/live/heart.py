"""What keeps a hub going on its loop: the wake-up listener, the tick, the poll, the recheck."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from channels.layers import get_channel_layer

from swarmui.live.hub import Head, Hub, Reader
from swarmui.live.messages import WAKE_GROUP, parse_wake
from swarmui.live.reading import DatabaseReader
from swarmui.live.viewer import Viewer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Timing:
    """Seconds between the hub's actions."""

    tick: float = 0.25  # four reads a second and run, however fast events come
    poll: float = 2.0  # what a lost wake-up costs; also the keep-alive of every page (at most 5)
    recheck: float = 5.0  # how long a socket may outlive its session
    retry: float = 1.0  # after a failure: the database or the broker is away


class Heart:
    """Runs one hub while it has viewers; an idle process polls nothing and listens to nothing."""

    def __init__(self, reader: Reader, layer: Any, timing: Timing | None = None) -> None:
        self._work = asyncio.Event()
        self.hub = Hub(reader, on_work=self._work.set)
        self._layer = layer
        self._timing = timing or Timing()
        self._tasks: list[asyncio.Task[None]] = []

    def join(self, viewer: Viewer, head: Head) -> None:
        self.hub.join(viewer, head)
        if not self._tasks:
            self._start()

    def leave(self, viewer: Viewer) -> None:
        self.hub.leave(viewer)
        if not self.hub.has_viewers:
            self._stop()

    def _start(self) -> None:
        timing = self._timing
        self._tasks = [
            asyncio.create_task(self._forever("listen", self._listen)),
            asyncio.create_task(self._forever("tick", self._tick)),
            asyncio.create_task(self._forever("poll", self._every(timing.poll, self.hub.poll))),
            asyncio.create_task(
                self._forever("recheck", self._every(timing.recheck, self.hub.recheck))
            ),
        ]

    def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks = []

    async def _forever(self, name: str, step: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await step()
            except Exception:
                logger.exception("live %s failed; trying again", name)
                await asyncio.sleep(self._timing.retry)

    async def _listen(self) -> None:
        channel = await self._layer.new_channel()
        await self._layer.group_add(WAKE_GROUP, channel)
        try:
            while True:
                hint = parse_wake(await self._layer.receive(channel))
                if hint is not None:
                    self.hub.wake(hint)
        finally:
            with contextlib.suppress(Exception):
                await self._layer.group_discard(WAKE_GROUP, channel)

    async def _tick(self) -> None:
        await self._work.wait()
        self._work.clear()
        await self.hub.tick()
        await asyncio.sleep(self._timing.tick)

    def _every(
        self, seconds: float, action: Callable[[], Awaitable[None]]
    ) -> Callable[[], Awaitable[None]]:
        async def step() -> None:
            await asyncio.sleep(seconds)
            await action()

        return step


_hearts: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Heart] = weakref.WeakKeyDictionary()


def heart_of_this_loop() -> Heart:
    """The one heart of the running loop, that is, of this web process."""
    loop = asyncio.get_running_loop()
    heart = _hearts.get(loop)
    if heart is None:
        heart = _hearts[loop] = Heart(DatabaseReader(), get_channel_layer())
    return heart
