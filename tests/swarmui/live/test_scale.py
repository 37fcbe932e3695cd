"""Far behind, and many at once: figures on two busy cores, with room for slow ones."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import connection
from django.utils import timezone

from swarmui.live import heart
from swarmui.live.routing import websocket_application
from swarmui.models import Node, Run
from tests.swarmui.live.fake_site import FAST
from tests.swarmui.live.serving import Serving, serving
from tests.swarmui.live.stored_runs import make_run, make_user, sign_in
from tests.swarmui.live.test_sockets import connect, rows_upto, run_path
from verifier.lifecycle import NodeKind

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = 200
STORM_S = 10


@pytest.fixture(autouse=True)
def loop_is_never_held_up() -> None:
    """Not watched here: two hundred clients on the server's own loop are what holds it up."""


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heart, "Timing", lambda: FAST)


@pytest.fixture
async def session_key() -> str:
    return await sync_to_async(lambda: sign_in(make_user()))()


@pytest.fixture
async def server() -> AsyncIterator[Serving]:
    get_channel_layer().bind(asyncio.get_running_loop())
    async with serving(websocket_application()) as server:
        yield server


def make_long_run(nodes: int, seq: int) -> Run:
    """A run at ``seq`` whose nodes changed at evenly spread events."""
    run = make_run(1)
    root = Node.objects.get(run=run)
    now = timezone.now()
    Node.objects.bulk_create(
        Node(
            run=run, parent=root, kind=NodeKind.AGENT, depth=1, role=f"r{number}", task_brief="b",
            work={}, created_at=now, spawn_seq=number + 2, changed_seq=seq - nodes + number + 1,
        )
        for number in range(nodes)
    )  # fmt: skip
    Run.objects.filter(pk=run.pk).update(seq=seq)
    return run


async def test_a_page_ten_thousand_events_behind_is_current_within_two_seconds(
    server: Serving, session_key: str
) -> None:
    run = await sync_to_async(make_long_run)(1_900, 10_001)
    begun = time.monotonic()
    async with connect(server, run_path(run.pk, after=1), session_key, max_size=None) as browser:
        frames = await rows_upto(browser, 10_001)
        assert time.monotonic() - begun < 2
    assert [(frame["from"], frame["to"], len(frame["rows"])) for frame in frames] == [
        (1, 10_001, 1_900)
    ]


async def test_a_page_too_far_behind_is_sent_to_fetch_the_tree(
    server: Serving, session_key: str
) -> None:
    run = await sync_to_async(make_long_run)(2_100, 10_001)
    async with connect(server, run_path(run.pk, after=1), session_key) as browser:
        async with asyncio.timeout(5):
            while json.loads(await browser.recv())["type"] != "resync":
                pass


async def storm(server: Serving, session_key: str, run_id: object) -> list[Any]:
    """All pages at once, each with a cursor of its own; open sockets with every row."""

    async def come_back(number: int) -> Any:
        browser = await connect(server, run_path(run_id, after=number), session_key)
        await rows_upto(browser, PAGES + 1)
        return browser

    return await asyncio.gather(*(come_back(number) for number in range(PAGES)))


async def test_two_hundred_pages_come_back_after_a_restart(session_key: str) -> None:
    run = await sync_to_async(make_long_run)(PAGES, PAGES + 1)
    get_channel_layer().bind(asyncio.get_running_loop())
    for _restart in range(2):
        async with serving(websocket_application()) as server:
            begun = time.monotonic()
            browsers = await storm(server, session_key, run.pk)
            assert time.monotonic() - begun < STORM_S
            assert await sync_to_async(connections)() <= 8
        for browser in browsers:
            await browser.wait_closed()
            assert browser.close_code == 1012


def connections() -> int:
    """Open connections to this database; on SQLite there is nothing to count."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        counted: int = cursor.fetchone()[0]
    return counted
