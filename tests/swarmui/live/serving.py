"""The real web server, with the product's own settings for it, on the test's event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from swarmui.live.server import Server, server_config
from tests.waiting import wait_until_async


@dataclass
class Serving:
    """``address`` is ``host:port``."""

    address: str
    server: Server

    @property
    def connections(self) -> int:
        return len(self.server.server_state.connections)


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[Serving]:
    """A server that runs ``application`` until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(server_config(application))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    await wait_until_async(lambda: server.started, what="the server to listen")
    try:
        yield Serving(f"127.0.0.1:{listener.getsockname()[1]}", server)
    finally:
        server.should_exit = True
        await running
