"""Every test of this folder also watches its event loops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

BUSY_S = 0.25  # of the loop's own processor time: what others on the machine do is not its fault
STUCK_S = 5.0  # of anybody's time: it waited for something inside a callback


@pytest.fixture(autouse=True)
def loop_is_never_held_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No callback may keep an event loop busy for more than a quarter of a second."""
    held_up: list[str] = []
    run = asyncio.Handle._run

    def watched(handle: asyncio.Handle) -> None:
        began, began_busy = time.monotonic(), time.thread_time()
        run(handle)
        busy, took = time.thread_time() - began_busy, time.monotonic() - began
        if busy > BUSY_S or took > STUCK_S:
            held_up.append(f"{handle!r}: {busy:.2f} s busy, {took:.2f} s in all")

    monkeypatch.setattr(asyncio.Handle, "_run", watched)
    yield
    assert not held_up, "the event loop was held up: " + "; ".join(held_up)
