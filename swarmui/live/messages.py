"""What crosses the socket and the channel layer: frames, close codes, the wake-up message."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from uuid import UUID

import orjson

WAKE_GROUP = "swarmui.wakeups"
WAKE_TYPE = "wake"

MAX_INBOUND_BYTES = 4096
MAX_INBOUND_PER_SECOND = 10

MAX_CURSOR = 2**63 - 1

RESYNC_FRAME = '{"type":"resync"}'


class CloseCode(IntEnum):
    """Why the server ended a socket; 4xxx mirror the HTTP status a request would have got."""

    TOO_BIG = 1009
    TOO_SLOW = 4008
    BAD_CURSOR = 4400
    SIGN_IN = 4401
    NOT_FOUND = 4404
    TOO_MANY_MESSAGES = 4429


@dataclass(frozen=True)
class Wake:
    """A hint that run ``run_id`` has reached ``seq``. It carries no state and may be lost."""

    run_id: UUID
    seq: int


def wake_message(run_id: UUID | str, seq: int) -> dict[str, Any]:
    return {"type": WAKE_TYPE, "run": str(run_id), "seq": seq}


def parse_wake(message: object) -> Wake | None:
    """The wake-up in a channel-layer message, or None for anything else: hints are never trusted.

    Whoever can publish on the broker can put anything here; the worst a wake-up may cause is one
    read that finds nothing new.
    """
    if not isinstance(message, dict) or message.get("type") != WAKE_TYPE:
        return None
    run, seq = message.get("run"), message.get("seq")
    if not isinstance(run, str) or type(seq) is not int or not 0 <= seq <= MAX_CURSOR:
        return None
    try:
        return Wake(UUID(run), seq)
    except ValueError:
        return None


def encode_rows(rows: list[Any]) -> str:
    """The rows of one read as JSON text, encoded once for every viewer that gets them."""
    return orjson.dumps(rows).decode()


def rows_frame(since: int, upto: int, encoded_rows: str) -> str:
    """Upserts that bring a page from seq ``since`` to ``upto``."""
    return f'{{"type":"rows","from":{since},"to":{upto},"rows":{encoded_rows}}}'


def progress_frame(seq: int, run_status: str, *, terminal: bool, now_ms: int | None = None) -> str:
    """Where the run stands, and a keep-alive: a page that hears none for long is stale."""
    body = {
        "type": "progress",
        "seq": seq,
        "run_status": run_status,
        "terminal": terminal,
        "now_ms": time.time_ns() // 1_000_000 if now_ms is None else now_ms,
    }
    return orjson.dumps(body).decode()
