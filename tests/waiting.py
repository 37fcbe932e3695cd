"""Waiting for something to become true, with an end.

Tests never sleep to get their order right: they say what they wait for, and how long at most.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

INTERVAL_S = 0.02


def wait_until(
    predicate: Callable[[], T], timeout: float = 10, *, what: str = "", interval: float = INTERVAL_S
) -> T:
    """The first truthy answer of `predicate`; AssertionError after `timeout` seconds.

    `what` names the awaited state in the message; without it the predicate's name stands there.
    """
    ends = time.monotonic() + timeout
    pause = threading.Event()
    while True:
        answer = predicate()
        if answer:
            return answer
        if time.monotonic() >= ends:
            raise AssertionError(_message(predicate, timeout, what, answer))
        pause.wait(interval)


async def wait_until_async(
    predicate: Callable[[], T | Awaitable[T]], timeout: float = 10, *, what: str = ""
) -> T:
    """As `wait_until`, for code on an event loop; the predicate may be a coroutine function."""
    ends = time.monotonic() + timeout
    while True:
        answer = predicate()
        if isinstance(answer, Awaitable):
            answer = await answer
        if answer:
            return answer
        if time.monotonic() >= ends:
            raise AssertionError(_message(predicate, timeout, what, answer))
        await asyncio.sleep(INTERVAL_S)


def _message(predicate: Callable[[], object], timeout: float, what: str, last: object) -> str:
    awaited = what or getattr(predicate, "__qualname__", repr(predicate))
    return f"waited {timeout:g} s for {awaited}; the last answer was {last!r}"
