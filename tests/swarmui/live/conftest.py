"""Every test of this folder also watches its event loop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest

SLOW_S = 0.25
TOOK = re.compile(r"took (\d+\.\d+) seconds")


@pytest.fixture(autouse=True)
async def loop_is_never_held_up(caplog: pytest.LogCaptureFixture) -> AsyncIterator[None]:
    """No callback may keep an event loop for more than a quarter of a second."""
    loop = asyncio.get_running_loop()
    loop.set_debug(True)  # a loop in debug mode logs the callbacks that take long
    loop.slow_callback_duration = SLOW_S
    yield
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    messages = [record.getMessage() for record in records if record.name == "asyncio"]
    slow = [m for m in messages if (took := TOOK.search(m)) and float(took[1]) > SLOW_S]
    assert not slow, "the event loop was held up: " + "; ".join(slow)
