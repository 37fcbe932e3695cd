"""uvicorn's WebSocket protocol, made to let go of a peer that reads nothing.

Closing an ordinary transport waits until everything written has been read; a peer that never
reads keeps socket, buffer and task for ever. uvicorn loads this class by ``--ws
swarmui.live.protocol:BoundedWebSocketProtocol``.
"""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

ABORT_AFTER_S = 3.0


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """Aborts a connection whose application has ended and whose data is not taken in time."""

    async def run_asgi(self) -> None:
        await super().run_asgi()
        if self.transport.get_write_buffer_size() > 0:
            self.loop.call_later(ABORT_AFTER_S, self.transport.abort)
