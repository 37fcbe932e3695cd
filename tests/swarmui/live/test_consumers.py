"""The socket's own manners: its cursor, its limits, its ends."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from swarmui.live import consumers
from swarmui.live.consumers import parse_cursor
from swarmui.live.messages import CloseCode
from tests.swarmui.live.fake_site import Browser, FakeSession, FakeUser, Site
from tests.waiting import wait_until_async


@pytest.mark.parametrize(
    ("query", "cursor"),
    [
        (b"", 0),
        (b"after=0", 0),
        (b"after=41", 41),
        (b"x=1&after=41", 41),
        (b"after=9223372036854775807", 2**63 - 1),
        (b"after=9223372036854775808", None),  # one more than a database holds
        (b"after=99999999999999999999999999", None),
        (b"after=", None),
        (b"after=-1", None),
        (b"after=+1", None),
        (b"after=%201", None),
        (b"after=1_000", None),  # int() takes these four
        (b"after=1.0", None),
        (b"after=1e3", None),
        (b"after=\xd9\xa1", None),
        (b"after=%D9%A1", None),  # an Arabic-Indic one
        (b"after=%00", None),
        (b"after=1&after=2", None),
        (b"after=1;drop", None),
        (b"&".join(b"a=1" for _ in range(20)), None),
    ],
)
def test_the_cursor_is_one_plain_number(query: bytes, cursor: int | None) -> None:
    assert parse_cursor(query) == cursor


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def browser() -> Browser:
    return Browser()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"query": b"after=x"}, 4400),
        ({"user": FakeUser(is_authenticated=False)}, 4401),
        ({"session": FakeSession(None)}, 4401),  # a user without a session cannot be rechecked
        ({"run_id": uuid4()}, 4404),
    ],
)
async def test_a_refusal_opens_the_socket_to_tell_its_code(
    site: Site, browser: Browser, arguments: dict[str, Any], code: int
) -> None:
    await site.serve(browser, **arguments)
    assert [message["type"] for message in browser.sent] == ["websocket.accept", "websocket.close"]
    assert browser.close_code == code
    assert not site.heart.hub.has_viewers


async def test_a_run_one_may_not_see_is_a_run_that_is_not_there(
    site: Site, browser: Browser
) -> None:
    site.may_see = False
    await site.serve(browser)
    assert browser.close_code == 4404


async def test_rows_come_by_wake_up_and_by_poll(site: Site, browser: Browser) -> None:
    serving = asyncio.create_task(site.serve(browser))
    await wait_until_async(lambda: any(f["type"] == "rows" for f in browser.frames()))
    site.run.commit("a")  # no wake-up at all
    await wait_until_async(lambda: rows_upto(browser) == 2)
    browser.inbox.put_nowait({"type": "websocket.disconnect", "code": 1001})
    await serving
    assert browser.close_code is None, "there is nobody left to close"
    assert not site.heart.hub.has_viewers


def rows_upto(browser: Browser) -> int:
    return max((f["to"] for f in browser.frames() if f["type"] == "rows"), default=0)


async def test_a_page_that_does_not_take_a_frame_in_time_is_closed_as_too_slow(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "SEND_TIMEOUT_S", 0.05)
    browser.on_send = lambda: asyncio.sleep(60)
    await site.serve(browser)
    assert browser.close_code == CloseCode.TOO_SLOW


async def test_closing_a_page_that_reads_nothing_ends_all_the_same(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "SEND_TIMEOUT_S", 0.05)
    monkeypatch.setattr(consumers, "CLOSE_TIMEOUT_S", 0.05)
    stuck = asyncio.Event()

    async def send(message: Any) -> None:
        if message["type"] != "websocket.accept":
            await stuck.wait()

    browser.send = send  # type: ignore[method-assign]
    await site.serve(browser)
    assert not site.heart.hub.has_viewers


async def test_a_message_over_four_kilobytes_closes(site: Site, browser: Browser) -> None:
    browser.say("é" * 2049)
    await site.serve(browser)
    assert browser.close_code == CloseCode.TOO_BIG


async def test_more_than_ten_messages_a_second_close(site: Site, browser: Browser) -> None:
    for _ in range(11):
        browser.say("hello")
    await site.serve(browser)
    assert browser.close_code == CloseCode.TOO_MANY_MESSAGES


async def test_ten_messages_a_second_are_read_and_change_nothing(
    site: Site, browser: Browser
) -> None:
    for text in ['{"type":"cancel"}', '{"type":"wake","seq":99}', "x" * 4096, "{", ""] * 2:
        browser.say(text)
    before = (site.run.seq, list(site.run.history))
    serving = asyncio.create_task(site.serve(browser))
    await wait_until_async(lambda: rows_upto(browser) == 1)
    assert not serving.done()
    assert (site.run.seq, site.run.history) == before
    browser.inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
    await serving


async def test_a_session_that_ends_closes_its_socket(site: Site, browser: Browser) -> None:
    serving = asyncio.create_task(site.serve(browser))
    await wait_until_async(lambda: site.heart.hub.has_viewers)
    viewers = [v for run in site.heart.hub._runs.values() for v in run.viewers]
    site.reader.ended = {viewers[0].entry: CloseCode.SIGN_IN}
    await serving
    assert browser.close_code == CloseCode.SIGN_IN


async def test_a_connection_that_breaks_under_a_send_ends_quietly(
    site: Site, browser: Browser
) -> None:
    async def broken() -> None:
        raise OSError("gone")

    browser.on_send = broken
    await site.serve(browser)
    assert browser.close_code is None
    assert not site.heart.hub.has_viewers


async def test_a_database_that_is_away_for_a_while_costs_no_row(
    site: Site, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    serving = asyncio.create_task(site.serve(browser))
    await wait_until_async(lambda: rows_upto(browser) == 1)
    site.reader.broken = True
    site.run.commit("a")
    await wait_until_async(lambda: "live poll failed" in caplog.text)
    site.reader.broken = False
    await wait_until_async(lambda: rows_upto(browser) == 2)
    browser.inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
    await serving


async def test_a_process_without_viewers_does_nothing(site: Site, browser: Browser) -> None:
    serving = asyncio.create_task(site.serve(browser))
    await wait_until_async(lambda: rows_upto(browser) == 1)
    tasks = list(site.heart._tasks)
    browser.inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
    await serving
    await asyncio.gather(*tasks, return_exceptions=True)
    assert site.heart._tasks == []
    assert site.layer.groups == {}


async def test_viewers_that_come_back_after_the_last_one_left_are_served(site: Site) -> None:
    for _ in range(3):
        browser = Browser()
        serving = asyncio.create_task(site.serve(browser))
        await wait_until_async(lambda: rows_upto(browser) == 1)  # noqa: B023
        browser.inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await serving
