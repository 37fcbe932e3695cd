"""Sockets from end to end: real server, real session, real database, real wake-ups."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
import websockets
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore

from swarmui.live import heart
from swarmui.live.layers import LoopBoundLayer
from swarmui.live.routing import websocket_application
from swarmui.models import Node
from tests.swarmui.live.fake_site import FAST
from tests.swarmui.live.serving import Serving, serving
from tests.swarmui.live.stored_runs import end_run, make_run, make_user, sign_in, touch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Serving]:
    monkeypatch.setattr(heart, "Timing", lambda: FAST)
    layer = get_channel_layer()
    assert isinstance(layer, LoopBoundLayer)
    layer.bind(asyncio.get_running_loop())
    async with serving(websocket_application()) as server:
        yield server


@pytest.fixture
async def session_key() -> str:
    return await sync_to_async(lambda: sign_in(make_user()))()


def connect(
    server: Serving,
    path: str,
    session_key: str | None,
    *,
    max_size: int | None = 2**20,
    **headers: str,
) -> Any:
    sent = {"Origin": f"http://{server.address}", **headers}
    if session_key is not None:
        sent["Cookie"] = f"{settings.SESSION_COOKIE_NAME}={session_key}"
    return websockets.connect(
        f"ws://{server.address}{path}", additional_headers=sent, max_size=max_size
    )


def run_path(run_id: object, after: object = 0) -> str:
    return f"/ws/runs/{run_id}/?after={after}"


async def rows_upto(browser: Any, seq: int) -> list[dict[str, Any]]:
    """All rows frames until ``seq`` is reached."""
    frames: list[dict[str, Any]] = []
    async with asyncio.timeout(10):
        while not frames or frames[-1]["to"] < seq:
            frame = json.loads(await browser.recv())
            if frame["type"] == "rows":
                frames.append(frame)
    return frames


async def close_code(browser: Any) -> int | None:
    async with asyncio.timeout(10):
        await browser.wait_closed()
    return browser.close_code  # type: ignore[no-any-return]


async def test_a_signed_in_person_follows_a_run(server: Serving, session_key: str) -> None:
    run = await sync_to_async(make_run)(3)
    async with connect(server, run_path(run.pk), session_key) as browser:
        first = await rows_upto(browser, 3)
        assert len(first[0]["rows"]) == 3
        root = await Node.objects.aget(run=run, parent=None)
        begun = time.monotonic()
        await sync_to_async(touch)(root, reason="moved")
        (second,) = await rows_upto(browser, 4)
        assert time.monotonic() - begun < 1
    assert (second["from"], second["to"]) == (3, 4)
    assert [row[0] for row in second["rows"]] == [str(root.pk)]


async def test_a_page_that_comes_back_gets_only_what_it_missed(
    server: Serving, session_key: str
) -> None:
    run = await sync_to_async(make_run)(3)
    async with connect(server, run_path(run.pk, after=2), session_key) as browser:
        (frame,) = await rows_upto(browser, 3)
    assert (frame["from"], len(frame["rows"])) == (2, 1)


async def test_a_run_that_ends_says_so(server: Serving, session_key: str) -> None:
    run = await sync_to_async(make_run)(1)
    async with connect(server, run_path(run.pk, after=1), session_key) as browser:
        await sync_to_async(end_run)(run)
        async with asyncio.timeout(10):
            while True:
                frame = json.loads(await browser.recv())
                if frame["type"] == "progress" and frame["terminal"]:
                    break
    assert (frame["run_status"], frame["seq"]) == ("ok", 2)


async def test_without_signing_in_nothing_is_told(server: Serving) -> None:
    run = await sync_to_async(make_run)(1)
    async with connect(server, run_path(run.pk), None) as browser:
        assert await close_code(browser) == 4401
    async with connect(server, run_path(uuid4()), "not-a-session") as browser:
        assert await close_code(browser) == 4401


async def test_a_run_that_is_not_there_is_not_found(server: Serving, session_key: str) -> None:
    async with connect(server, run_path(uuid4()), session_key) as browser:
        assert await close_code(browser) == 4404


async def test_a_cursor_that_is_none_is_refused(server: Serving, session_key: str) -> None:
    run = await sync_to_async(make_run)(1)
    async with connect(server, run_path(run.pk, after="x"), session_key) as browser:
        assert await close_code(browser) == 4400


async def test_signing_out_closes_the_open_socket(server: Serving, session_key: str) -> None:
    run = await sync_to_async(make_run)(1)
    async with connect(server, run_path(run.pk), session_key) as browser:
        await rows_upto(browser, 1)
        await sync_to_async(lambda: SessionStore(session_key).flush())()
        code = await close_code_after_frames(browser)
    assert code == 4401


async def close_code_after_frames(browser: Any) -> int | None:
    async with asyncio.timeout(10):
        try:
            while True:
                await browser.recv()
        except websockets.ConnectionClosed:
            return browser.close_code  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", ["/ws/", "/ws/runs/not-a-uuid/", "/ws/runs/", "/", "/ws/other/1/"])
async def test_other_paths_are_refused_without_an_error(
    server: Serving, session_key: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(websockets.InvalidStatus) as refused:
        await connect(server, path, session_key)
    assert refused.value.response.status_code == 403
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_another_sites_page_is_refused_before_the_socket_opens(
    server: Serving, session_key: str
) -> None:
    run = await sync_to_async(make_run)(1)
    for origin in ["http://evil.test", "http://127.0.0.1:1", "null", f"https://{server.address}"]:
        with pytest.raises(websockets.InvalidStatus) as refused:
            await connect(server, run_path(run.pk), session_key, Origin=origin)
        assert refused.value.response.status_code == 403


async def test_fifty_pages_on_one_run_each_get_every_row(server: Serving, session_key: str) -> None:
    run = await sync_to_async(make_run)(3)
    root = await Node.objects.aget(run=run, parent=None)
    browsers = [await connect(server, run_path(run.pk), session_key) for _ in range(50)]
    following = [asyncio.create_task(rows_upto(browser, 33)) for browser in browsers]
    for number in range(30):
        await sync_to_async(touch)(root, reason=f"{number}")
    for frames in await asyncio.gather(*following):
        steps = [(frame["from"], frame["to"]) for frame in frames]
        assert steps[0][0] == 0
        assert all(before[1] == after[0] for before, after in pairwise(steps))
        assert frames[-1]["rows"][-1][9] == "29"
    for browser in browsers:
        await browser.close()
