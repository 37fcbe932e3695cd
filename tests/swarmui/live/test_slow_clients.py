"""What a client that never reads costs everybody else: next to nothing, and not for long.

With the real server and real connections; limits are shortened so that the test is.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from swarmui.live import consumers, protocol
from tests.swarmui.live.fake_site import Site
from tests.swarmui.live.serving import Serving, serving
from tests.waiting import wait_until_async

PAD = "x" * 2_000
NODES = 40  # a frame of about 80 KB at each change of all
NON_READERS = 5


class HeavySite(Site):
    """A run whose every change is a large frame."""

    def __init__(self) -> None:
        super().__init__()
        rows = self.run.rows_after
        self.run.rows_after = lambda seq: [  # type: ignore[method-assign]
            [*row, PAD] for row in rows(seq)
        ]

    def change_all(self) -> None:
        for number in range(NODES):
            self.run.commit(f"n{number}")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> HeavySite:
    monkeypatch.setattr(consumers, "SEND_TIMEOUT_S", 1.0)
    monkeypatch.setattr(protocol, "ABORT_AFTER_S", 0.5)
    return HeavySite()


@pytest.fixture
async def server(site: HeavySite) -> AsyncIterator[Serving]:
    async with serving(site.application) as server:
        yield server


def url(server: Serving) -> str:
    return f"ws://{server.address}/?after=0"


async def never_read(address: str) -> asyncio.StreamWriter:
    """Shakes hands like a browser, and never reads a byte after that."""
    host, port = address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(
        f"GET /ws/runs/x/?after=0 HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    await writer.drain()
    assert b"101" in await reader.readline()
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    return writer


async def test_whoever_never_reads_is_let_go_and_nobody_else_notices(
    site: HeavySite, server: Serving
) -> None:
    before = memory()
    stuck = [await never_read(server.address) for _ in range(NON_READERS)]
    async with websockets.connect(url(server), max_size=None) as browser:
        reading = asyncio.create_task(read_to(browser, site))
        begun = time.monotonic()
        while viewers(site) > 1:
            assert time.monotonic() - begun < 20, f"{viewers(site)} viewers are still there"
            site.change_all()
            await asyncio.sleep(0.02)
        await wait_until_async(lambda: server.connections == 1, what="aborted connections")
        site.run.terminal = True
        seq, gaps = await asyncio.wait_for(reading, 10)
    assert (seq, gaps) == (site.run.seq, 0)
    assert memory() - before < 50_000_000
    for writer in stuck:
        writer.close()


async def read_to(browser: Any, site: HeavySite) -> tuple[int, int]:
    """Read until the run is over; the seq reached and the number of gaps seen."""
    seq, gaps = 0, 0
    async for text in browser:
        frame = json.loads(text)
        if frame["type"] == "rows":
            gaps += frame["from"] != seq
            seq = frame["to"]
        if site.run.terminal and seq == site.run.seq:
            break
    return seq, gaps


def viewers(site: HeavySite) -> int:
    return sum(len(run.viewers) for run in site.heart.hub._runs.values())


def memory() -> int:
    """Resident bytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def test_a_large_message_ends_the_socket_before_it_is_read(server: Serving) -> None:
    async with websockets.connect(url(server)) as browser:
        await browser.send("x" * 65_536)
        assert await close_code(browser) == 1009


async def test_a_talker_is_cut_off(server: Serving) -> None:
    async with websockets.connect(url(server)) as browser:
        for _ in range(30):
            await browser.send("hello")
        assert await close_code(browser) == 4429


async def close_code(browser: Any) -> int:
    """Read on until the server closes."""
    async with asyncio.timeout(10):
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await browser.recv()
    assert browser.close_code is not None
    return int(browser.close_code)


async def test_a_server_that_stops_tells_its_pages(site: HeavySite) -> None:
    """Code 1012, service restart: the page knows that it should come back."""
    async with serving(site.application) as server:
        browser = await websockets.connect(url(server))
        await browser.recv()
    assert await close_code(browser) == 1012
    assert viewers(site) == 0
