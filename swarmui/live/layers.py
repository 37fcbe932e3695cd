"""The channel layer of the one-process install: in memory, bound to the server's loop.

The stock in-memory layer belongs to whichever loop happens to touch it, so a send from a worker
thread is slow at best and lost at worst. This one has a home loop; every call from elsewhere hops
there with ``run_coroutine_threadsafe``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from channels.layers import InMemoryChannelLayer

P = ParamSpec("P")
T = TypeVar("T")

# The one listener, the hub, empties its queue at once; it only fills while the loop is busy.
CAPACITY = 10_000


class LoopBoundLayer(InMemoryChannelLayer):  # type: ignore[misc]
    """An in-memory channel layer usable from any thread and any loop, once bound.

    Unbound it behaves as the stock layer on the caller's own loop, which is what a command-line
    process without a server needs: nobody listens, nothing is kept.
    """

    def __init__(self, capacity: int = CAPACITY, **kwargs: Any) -> None:
        super().__init__(capacity=capacity, **kwargs)
        self._home: asyncio.AbstractEventLoop | None = None

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make ``loop`` the one on which all queues live; what an earlier loop held is dropped."""
        self._home = loop
        self.channels.clear()
        self.groups.clear()

    @property
    def home(self) -> asyncio.AbstractEventLoop | None:
        """The loop that owns the queues; None while there is no server, or when it has gone."""
        if self._home is None or self._home.is_closed():
            return None
        return self._home

    async def _at_home(
        self, call: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        home = self.home
        if home is None or home is asyncio.get_running_loop():
            return await call(*args, **kwargs)
        hop = asyncio.run_coroutine_threadsafe(call(*args, **kwargs), home)
        crossing: Awaitable[T] = asyncio.wrap_future(hop)
        return await crossing

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        await self._at_home(super().send, channel, message)

    async def receive(self, channel: str) -> dict[str, Any]:
        received: dict[str, Any] = await self._at_home(super().receive, channel)
        return received

    async def group_add(self, group: str, channel: str) -> None:
        await self._at_home(super().group_add, group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        await self._at_home(super().group_discard, group, channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._at_home(super().group_send, group, message)
