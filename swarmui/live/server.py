"""uvicorn as this product runs it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import uvicorn

from swarmui.live.messages import MAX_INBOUND_BYTES
from swarmui.live.protocol import BoundedWebSocketProtocol

GRACE_S = 2  # for requests under way when the server is told to stop


class Server(uvicorn.Server):
    """uvicorn with its signal handling taken out: it would re-raise the signal on leaving, and
    end the process before workers are told to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server_config(application: Any) -> uvicorn.Config:
    """How uvicorn serves ``application``: small inbound messages, no compression, no own log."""
    return uvicorn.Config(
        application,
        interface="asgi3",
        ws=BoundedWebSocketProtocol,
        ws_max_size=MAX_INBOUND_BYTES,
        ws_max_queue=8,
        ws_per_message_deflate=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
    )
