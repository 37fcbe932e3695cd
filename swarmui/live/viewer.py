"""One open page of one run: a cursor, and room for a single frame that waits to be sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from swarmui.live.messages import RESYNC_FRAME, CloseCode, progress_frame, rows_frame


@dataclass(frozen=True)
class Pass:
    """On whose authority a socket listens: checked at the door and again while it is open."""

    session_key: str
    user_id: int
    run_id: UUID


class Viewer:
    """The hub's side of a socket.

    The hub puts frames in, the socket takes them out. There is never more than one frame waiting:
    while rows wait, newer rows stay in the database and are read later from this viewer's own
    cursor, so a page that reads slowly costs the server nothing but one frame.
    """

    def __init__(self, entry: Pass, cursor: int) -> None:
        self.entry = entry
        self.cursor = cursor
        self.closing: CloseCode | None = None
        self.on_taken: Callable[[Viewer], None] = lambda _viewer: None
        self._frame: str | None = None
        self._frame_is_rows = False
        self._something = asyncio.Event()

    @property
    def run_id(self) -> UUID:
        return self.entry.run_id

    @property
    def is_free(self) -> bool:
        """Whether rows may be put in now; a waiting progress frame gives way to rows."""
        return self.closing is None and not (self._frame is not None and self._frame_is_rows)

    def put_rows(self, upto: int, encoded_rows: str) -> None:
        self._put(rows_frame(self.cursor, upto, encoded_rows), is_rows=True)
        self.cursor = upto

    def put_resync(self, upto: int) -> None:
        """Tell the page to fetch the whole tree; what it fetches is at least as new as ``upto``."""
        self._put(RESYNC_FRAME, is_rows=True)
        self.cursor = upto

    def put_progress(self, seq: int, run_status: str, *, terminal: bool) -> None:
        if self.is_free:
            self._put(progress_frame(seq, run_status, terminal=terminal), is_rows=False)

    def close(self, code: CloseCode) -> None:
        """End this viewer: the waiting frame is dropped, the socket closes with ``code``."""
        self.closing = code
        self._frame = None
        self._something.set()

    def take(self) -> str | None:
        """The waiting frame, which is then no longer waiting."""
        frame, self._frame = self._frame, None
        if self.closing is None:
            self._something.clear()
        if frame is not None:
            self.on_taken(self)
        return frame

    async def next_frame(self) -> str | None:
        """The next frame to send; None once this viewer is to be closed."""
        while self.closing is None:
            await self._something.wait()
            frame = self.take()
            if frame is not None:
                return frame
        return None

    def _put(self, frame: str, *, is_rows: bool) -> None:
        self._frame, self._frame_is_rows = frame, is_rows
        self._something.set()
