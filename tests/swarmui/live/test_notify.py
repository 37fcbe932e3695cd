"""Wake-ups: from any thread, never in the way, never an error for the caller."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.layers import ChannelLayerManager
from django.test import override_settings

from swarmui.live import notify
from swarmui.live.layers import LoopBoundLayer
from swarmui.live.messages import WAKE_GROUP, parse_wake
from tests.swarmui.live.production_layer import channel_layers_for
from tests.waiting import wait_until, wait_until_async

RUN_ID = uuid4()


class RecordingLayer:
    """A layer that notes what it was given, and can be slow or broken."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int]] = []
        self.threads: set[str] = set()
        self.gate: threading.Event | None = None
        self.error: Exception | None = None

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        assert group == WAKE_GROUP
        if self.gate is not None:
            await asyncio.to_thread(self.gate.wait, 10)
        self.threads.add(threading.current_thread().name)
        if self.error is not None:
            raise self.error
        self.sent.append((message["run"], message["seq"]))


def test_a_wake_up_reaches_the_layer() -> None:
    layer = RecordingLayer()
    notify.Postman(layer).post(str(RUN_ID), 7)
    wait_until(lambda: layer.sent == [(str(RUN_ID), 7)])


def test_all_wake_ups_leave_from_one_thread() -> None:
    layer = RecordingLayer()
    postman = notify.Postman(layer)
    threads = [threading.Thread(target=postman.post, args=(f"r{n}", n)) for n in range(20)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(layer.sent) == 20)
    assert layer.threads == {"swarmui-notify"}


def test_wake_ups_of_one_run_fold_into_the_newest_while_one_is_under_way() -> None:
    layer = RecordingLayer()
    layer.gate = threading.Event()
    postman = notify.Postman(layer)
    for seq in [1, 5, 3, 9, 8]:
        postman.post("r", seq)
    postman.post("other", 2)
    layer.gate.set()
    wait_until(lambda: ("r", 9) in layer.sent and ("other", 2) in layer.sent)
    assert len(layer.sent) <= 3


def test_a_layer_that_hangs_does_not_hold_the_caller() -> None:
    layer = RecordingLayer()
    layer.gate = threading.Event()
    postman = notify.Postman(layer)
    begun = time.monotonic()
    for seq in range(1000):
        postman.post("r", seq)
    assert time.monotonic() - begun < 1
    layer.gate.set()


def test_what_waits_for_a_broker_that_is_away_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "MAX_WAITING_RUNS", 10)
    layer = RecordingLayer()
    layer.gate = threading.Event()
    postman = notify.Postman(layer)
    for number in range(100):
        postman.post(f"r{number}", 1)
    assert len(postman._waiting) <= 10
    layer.gate.set()


def test_a_broker_that_is_away_is_logged_once_and_then_forgotten(
    caplog: pytest.LogCaptureFixture,
) -> None:
    layer = RecordingLayer()
    layer.error = ConnectionError("refused")
    postman = notify.Postman(layer)
    with caplog.at_level(logging.WARNING, logger="swarmui.live.notify"):
        for number in range(5):
            postman.post(f"r{number}", 1)
        wait_until(lambda: not postman._delivering and not postman._waiting)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    layer.error = None
    postman.post("later", 1)
    wait_until(lambda: layer.sent == [("later", 1)])


def test_a_missing_layer_is_logged_and_never_raised(caplog: pytest.LogCaptureFixture) -> None:
    with override_settings(CHANNEL_LAYERS={}):
        notify.wake_run(RUN_ID, 1)
    assert "could not queue the wake-up" in caplog.text


async def test_on_the_embedded_layer_it_hops_to_the_server_loop() -> None:
    layer = LoopBoundLayer()
    layer.bind(asyncio.get_running_loop())
    channel = await layer.new_channel()
    await layer.group_add(WAKE_GROUP, channel)
    postman = notify.Postman(layer)
    await asyncio.to_thread(postman.post, str(RUN_ID), 3)
    hint = parse_wake(await asyncio.wait_for(layer.receive(channel), 5))
    assert hint is not None
    assert (hint.run_id, hint.seq) == (RUN_ID, 3)


def test_without_a_server_in_this_process_nothing_is_kept() -> None:
    postman = notify.Postman(LoopBoundLayer())
    postman.post(str(RUN_ID), 1)
    assert (postman._waiting, postman._delivering) == ({}, False)


def test_a_server_loop_that_closed_a_moment_ago_is_no_error() -> None:
    layer = LoopBoundLayer()
    loop = asyncio.new_event_loop()
    layer.bind(loop)
    postman = notify.Postman(layer)
    loop.close()
    postman.post(str(RUN_ID), 1)
    assert postman._delivering is False


@pytest.fixture
def redis_layer(redis_url: str) -> Callable[[], Any]:
    """Makes production layers, from the very settings that production uses."""
    layers = channel_layers_for(redis_url)

    def make() -> Any:
        with override_settings(CHANNEL_LAYERS=layers):
            return ChannelLayerManager().make_backend("default")

    return make


FORKING = textwrap.dedent(
    """
    import os, signal, sys, time, uuid
    import django
    django.setup()
    from swarmui.live import notify
    notify.wake_run(uuid.UUID(int=1), 1)              # the parent's thread and connection exist
    parent = notify._office.postman()
    notify._office._lock.acquire()                    # and a fork may come at the worst moment
    child = os.fork()
    if child == 0:
        signal.alarm(20)                              # a child that waits for the lock must end
        notify.wake_run(uuid.UUID(int=2), 2)
        postman = notify._office.postman()
        assert postman is not parent
        ends = time.monotonic() + 5
        while postman._delivering and time.monotonic() < ends:
            time.sleep(0.01)
        os._exit(0 if not postman._delivering else 1)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))
    """
)


async def test_a_forked_worker_sends_wake_ups_of_its_own(
    redis_url: str, redis_layer: Callable[[], Any], tmp_path: Path
) -> None:
    layer = redis_layer()
    channel = await layer.new_channel()
    await layer.group_add(WAKE_GROUP, channel)
    environment = {**os.environ, "REDIS_URL": redis_url, "SWARMUI_HOME": str(tmp_path)}
    result = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", FORKING],
        env=environment,
        timeout=30,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    heard = set()
    async with asyncio.timeout(5):
        while UUID(int=2) not in heard:
            hint = parse_wake(await layer.receive(channel))
            assert hint is not None
            heard.add(hint.run_id)
    await layer.flush()


async def test_wake_ups_cross_redis_from_threads(redis_layer: Callable[[], Any]) -> None:
    layer = redis_layer()
    channel = await layer.new_channel()
    await layer.group_add(WAKE_GROUP, channel)
    postman = notify.Postman(redis_layer())
    runs = [uuid4() for _ in range(50)]
    await asyncio.gather(*(asyncio.to_thread(postman.post, str(run), 1) for run in runs))
    heard = set()
    async with asyncio.timeout(10):
        while len(heard) < 50:
            hint = parse_wake(await layer.receive(channel))
            assert hint is not None
            heard.add(hint.run_id)
    assert heard == set(runs)
    await layer.flush()


@pytest.mark.timeout(60)
async def test_an_idle_subscription_is_still_alive_after_fifteen_seconds(
    redis_layer: Callable[[], Any],
) -> None:
    """The client's default socket timeout ends an idle read after five."""
    layer = redis_layer()
    channel = await layer.new_channel()
    await layer.group_add(WAKE_GROUP, channel)
    idle_since = time.monotonic()
    await wait_until_async(lambda: time.monotonic() - idle_since > 15.5, timeout=30)
    begun = time.monotonic()
    notify.Postman(redis_layer()).post(str(RUN_ID), 4)
    hint = parse_wake(await asyncio.wait_for(layer.receive(channel), 2))
    assert hint is not None
    assert hint.seq == 4
    assert time.monotonic() - begun < 2
    await layer.flush()
