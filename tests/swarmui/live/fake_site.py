"""A socket's surroundings: a site with one run in memory, and the browser at the other end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from swarmui.live.consumers import RunConsumer
from swarmui.live.heart import Heart, Timing
from swarmui.live.hub import Head
from swarmui.live.layers import LoopBoundLayer
from tests.swarmui.live.fake_runs import FakeReader, FakeRun

RUN_ID = uuid4()
FAST = Timing(tick=0.01, poll=0.05, recheck=0.05, retry=0.02)


@dataclass
class FakeUser:
    pk: int = 1
    is_authenticated: bool = True


@dataclass
class FakeSession:
    session_key: str | None = "key"


@dataclass
class Browser:
    """The other end of the socket, as the server's ``receive`` and ``send``."""

    sent: list[dict[str, Any]] = field(default_factory=list)
    inbox: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    on_send: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        self.inbox.put_nowait({"type": "websocket.connect"})

    async def receive(self) -> dict[str, Any]:
        return await self.inbox.get()

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.send" and self.on_send is not None:
            await self.on_send()
        self.sent.append(message)

    def say(self, text: str) -> None:
        self.inbox.put_nowait({"type": "websocket.receive", "text": text})

    def frames(self) -> list[dict[str, Any]]:
        return [json.loads(m["text"]) for m in self.sent if m["type"] == "websocket.send"]

    @property
    def close_code(self) -> int | None:
        last = self.sent[-1]
        return last["code"] if last["type"] == "websocket.close" else None


class Site:
    """A consumer on a heart of its own, with a run in memory."""

    def __init__(self) -> None:
        self.run = FakeRun()
        self.run.commit("root")
        self.reader = FakeReader({RUN_ID: self.run})
        self.layer = LoopBoundLayer()
        self.heart = Heart(self.reader, self.layer, FAST)
        self.consumer = RunConsumer(admit=self.admit, heart=lambda: self.heart)
        self.may_see = True

    async def admit(self, user: Any, run_id: UUID) -> Head | None:
        run = self.reader.runs.get(run_id) if self.may_see else None
        return Head(run.seq, run.status, terminal=run.terminal) if run else None

    async def serve(
        self,
        browser: Browser,
        query: bytes = b"after=0",
        user: FakeUser | None = None,
        run_id: UUID = RUN_ID,
        session: FakeSession | None = None,
    ) -> None:
        scope = {
            "query_string": query,
            "user": user or FakeUser(),
            "session": session or FakeSession(),
            "url_route": {"kwargs": {"run_id": run_id}},
        }
        async with asyncio.timeout(10):
            await self.consumer(scope, browser.receive, browser.send)

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        """An ASGI application that takes whoever comes for the same signed-in person."""
        scope |= {"user": FakeUser(), "session": FakeSession()}
        scope["url_route"] = {"kwargs": {"run_id": RUN_ID}}
        await self.consumer(scope, receive, send)
