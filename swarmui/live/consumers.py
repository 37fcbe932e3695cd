"""The socket of a run page: a plain ASGI application with one reader and one writer.

It holds no state of the run, writes nothing, and touches no row: it hands frames from the hub to
the browser, and bounds what a browser can cost. Source: domain §5, seed 001 "Live tree".
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from swarmui.live.asgi_types import Message, Receive, Scope, Send
from swarmui.live.heart import Heart, heart_of_this_loop
from swarmui.live.hub import Head
from swarmui.live.messages import (
    MAX_CURSOR,
    MAX_INBOUND_BYTES,
    MAX_INBOUND_PER_SECOND,
    CloseCode,
)
from swarmui.live.reading import admit
from swarmui.live.viewer import Pass, Viewer

SEND_TIMEOUT_S = 5.0
CLOSE_TIMEOUT_S = 1.0


Admit = Callable[[Any, UUID], Awaitable[Head | None]]


@dataclass(frozen=True)
class RunConsumer:
    """``/ws/runs/<run_id>/?after=SEQ``: rows past ``SEQ``, then as they change."""

    admit: Admit = admit
    heart: Callable[[], Heart] = heart_of_this_loop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        # Accepted before refused: a browser is told the close code only of an open socket.
        await send({"type": "websocket.accept"})
        code = await self._follow(scope, receive, send)
        if code is not None:
            await _close(send, code)

    async def _follow(self, scope: Scope, receive: Receive, send: Send) -> CloseCode | None:
        """Serve until one side ends it; the code to close with, None when the browser left."""
        cursor = parse_cursor(scope["query_string"])
        if cursor is None:
            return CloseCode.BAD_CURSOR
        user, session = scope["user"], scope["session"]
        if not user.is_authenticated or not session.session_key:
            return CloseCode.SIGN_IN
        run_id: UUID = scope["url_route"]["kwargs"]["run_id"]
        head = await self.admit(user, run_id)
        if head is None:
            return CloseCode.NOT_FOUND
        viewer = Viewer(Pass(session.session_key, user.pk, run_id), cursor)
        heart = self.heart()
        heart.join(viewer, head)
        try:
            return await _first(_listen(receive), _deliver(viewer, send))
        finally:
            heart.leave(viewer)


async def _first(*sides: Awaitable[CloseCode | None]) -> CloseCode | None:
    """The answer of the side that ends first; the other is stopped."""
    tasks = [asyncio.ensure_future(side) for side in sides]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _deliver(viewer: Viewer, send: Send) -> CloseCode | None:
    """Send frame after frame. Whoever does not take one within five seconds is let go."""
    while (frame := await viewer.next_frame()) is not None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await send({"type": "websocket.send", "text": frame})
        except TimeoutError:
            return CloseCode.TOO_SLOW
        except OSError:  # the connection is gone
            return None
    return viewer.closing


async def _listen(receive: Receive) -> CloseCode | None:
    """Read what the browser says and heed none of it: a socket cannot change anything."""
    arrivals: deque[float] = deque(maxlen=MAX_INBOUND_PER_SECOND)
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return None
        if _size(message) > MAX_INBOUND_BYTES:
            return CloseCode.TOO_BIG
        now = time.monotonic()
        if len(arrivals) == MAX_INBOUND_PER_SECOND and now - arrivals[0] < 1:
            return CloseCode.TOO_MANY_MESSAGES
        arrivals.append(now)


def parse_cursor(query_string: bytes) -> int | None:
    """``after`` as a seq; 0 when absent; None when it is anything but one plain number."""
    try:
        given = parse_qs(
            query_string.decode("ascii"), keep_blank_values=True, max_num_fields=8
        ).get("after", ["0"])
    except ValueError:
        return None
    text = given[0]
    if len(given) != 1 or not text.isascii() or not text.isdigit() or len(text) > 19:
        return None
    return int(text) if int(text) <= MAX_CURSOR else None


def _size(message: Message) -> int:
    text = message.get("text")
    return len(text.encode()) if text is not None else len(message.get("bytes") or b"")


async def _close(send: Send, code: CloseCode) -> None:
    """Close with ``code``; a peer that reads nothing cannot hold this up."""
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await send({"type": "websocket.close", "code": int(code)})
