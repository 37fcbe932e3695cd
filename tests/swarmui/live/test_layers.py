"""The in-memory layer that belongs to one loop and may be used from any thread."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from swarmui.live.layers import LoopBoundLayer


@pytest.fixture
async def layer() -> LoopBoundLayer:
    layer = LoopBoundLayer()
    layer.bind(asyncio.get_running_loop())
    return layer


async def receive_numbers(layer: LoopBoundLayer, channel: str, count: int) -> list[int]:
    async with asyncio.timeout(10):
        return [(await layer.receive(channel))["n"] for _ in range(count)]


async def test_eight_threads_with_loops_of_their_own_lose_nothing(layer: LoopBoundLayer) -> None:
    channel = await layer.new_channel()
    await layer.group_add("g", channel)

    def send_from_a_thread(first: int) -> None:
        async def send_all() -> None:
            for number in range(first, 500, 8):
                await layer.group_send("g", {"type": "x", "n": number})

        asyncio.run(send_all())

    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(8) as pool:
        sending = [loop.run_in_executor(pool, send_from_a_thread, first) for first in range(8)]
        got = await receive_numbers(layer, channel, 500)
        await asyncio.gather(*sending)
    assert sorted(got) == list(range(500))
    for first in range(8):
        own = [number for number in got if number % 8 == first]
        assert own == sorted(own), "messages of one thread arrived out of order"


async def test_a_burst_before_anybody_reads_is_kept(layer: LoopBoundLayer) -> None:
    channel = await layer.new_channel()
    await layer.group_add("g", channel)
    for number in range(500):
        await layer.group_send("g", {"type": "x", "n": number})
    assert await receive_numbers(layer, channel, 500) == list(range(500))


async def test_whoever_left_the_group_hears_nothing(layer: LoopBoundLayer) -> None:
    channel = await layer.new_channel()
    await layer.group_add("g", channel)
    await layer.group_discard("g", channel)
    await layer.group_send("g", {"type": "x", "n": 1})
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(layer.receive(channel), 0.1)


def test_a_layer_whose_loop_has_closed_has_no_home() -> None:
    layer = LoopBoundLayer()
    assert layer.home is None
    loop = asyncio.new_event_loop()
    layer.bind(loop)
    assert layer.home is loop
    loop.close()
    assert layer.home is None


def test_binding_again_forgets_the_listeners_of_the_old_loop() -> None:
    """Their queues belong to a loop that nobody runs any more."""
    layer = LoopBoundLayer()

    async def listen() -> None:
        layer.bind(asyncio.get_running_loop())
        await layer.group_add("g", await layer.new_channel())

    asyncio.run(listen())
    layer.bind(asyncio.new_event_loop())
    assert layer.groups == {}


async def test_a_failure_at_home_is_raised_where_the_call_came_from(
    layer: LoopBoundLayer,
) -> None:
    failures: list[BaseException] = []

    def send_from_a_thread() -> None:
        try:
            asyncio.run(layer.group_send("not a valid group name!", {"type": "x"}))
        except TypeError as failure:
            failures.append(failure)

    thread = threading.Thread(target=send_from_a_thread)
    thread.start()
    await asyncio.to_thread(thread.join, 5)
    assert len(failures) == 1
