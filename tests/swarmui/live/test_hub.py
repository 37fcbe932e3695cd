"""The hub's rules, against a database in memory."""

from __future__ import annotations

import json
from uuid import UUID, uuid4

import pytest

from swarmui.live.hub import Head, Hub
from swarmui.live.messages import CloseCode, Wake
from swarmui.live.viewer import Pass, Viewer
from tests.swarmui.live.fake_page import FakePage
from tests.swarmui.live.fake_runs import FakeReader, FakeRun

RUN_ID = uuid4()


class Scene:
    """One run, its hub, and pages that watch it."""

    def __init__(self, most_rows: int = 2000) -> None:
        self.run = FakeRun()
        self.reader = FakeReader({RUN_ID: self.run}, most_rows)
        self.hub = Hub(self.reader)

    def page(self, cursor: int = 0, session: str = "s") -> FakePage:
        viewer = Viewer(Pass(session, 1, RUN_ID), cursor)
        page = FakePage(self.run, viewer)
        self.hub.join(viewer, Head(self.run.seq, self.run.status, terminal=self.run.terminal))
        return page

    def commit(self, *nodes: str, wake: bool = True) -> None:
        for node in nodes:
            self.run.commit(node)
        if wake:
            self.hub.wake(Wake(RUN_ID, self.run.seq))


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_a_page_that_joins_hears_at_once_where_the_run_stands(scene: Scene) -> None:
    scene.run.commit("root")
    page = scene.page(cursor=1)
    frame = json.loads(page.viewer.take() or "{}")
    assert frame | {"now_ms": 0} == {
        "type": "progress",
        "seq": 1,
        "run_status": "running",
        "terminal": False,
        "now_ms": 0,
    }


async def test_a_page_behind_is_sent_what_it_lacks_without_any_wake_up(scene: Scene) -> None:
    scene.commit("root", "a", "b", wake=False)
    page = scene.page(cursor=1)
    await scene.hub.tick()
    assert page.take()
    assert (page.kinds, page.nodes) == (["rows"], {"root": 1, "a": 2, "b": 3})


async def test_fifty_pages_and_a_hundred_events_cost_one_read_in_a_tick(scene: Scene) -> None:
    pages = [scene.page() for _ in range(50)]
    for number in range(100):
        scene.commit(f"n{number % 7}")
    await scene.hub.tick()
    assert scene.reader.visits == [(RUN_ID, (0,))]
    assert all(page.take() and page.seq == 100 for page in pages)


async def test_pages_at_many_cursors_cost_two_queries_in_one_visit(scene: Scene) -> None:
    scene.commit(*(f"n{number}" for number in range(40)), wake=False)
    pages = [scene.page(cursor) for cursor in range(40)]
    await scene.hub.tick()
    assert scene.reader.visits == [(RUN_ID, (0, 39))]
    assert all(page.take() and page.nodes == scene.run.at(40) for page in pages)


async def test_a_tick_without_news_reads_nothing(scene: Scene) -> None:
    scene.page()
    await scene.hub.tick()
    assert not scene.hub.has_work
    assert scene.reader.visits == []


async def test_events_that_change_no_node_still_move_the_cursor(scene: Scene) -> None:
    page = scene.page()
    scene.run.seq, scene.run.history = 3, ["root", "root", "root"]
    scene.run.rows_after = lambda seq: []  # type: ignore[method-assign]
    scene.hub.wake(Wake(RUN_ID, 3))
    await scene.hub.tick()
    assert page.take()
    assert page.seq == 3


async def test_the_poll_finds_what_a_lost_wake_up_did_not_tell(scene: Scene) -> None:
    page = scene.page()
    scene.commit("root", wake=False)
    await scene.hub.tick()
    assert scene.reader.visits == []
    await scene.hub.poll()
    await scene.hub.tick()
    assert page.take()
    assert page.nodes == {"root": 1}


async def test_the_poll_is_a_keep_alive_with_status_and_end(scene: Scene) -> None:
    page = scene.page()
    page.take()
    scene.run.status, scene.run.terminal = "ok", True
    await scene.hub.poll()
    frame = json.loads(page.viewer.take() or "{}")
    assert (frame["run_status"], frame["terminal"]) == ("ok", True)


async def test_a_run_that_is_no_longer_there_closes_its_pages(scene: Scene) -> None:
    page = scene.page()
    scene.reader.runs = {}
    await scene.hub.poll()
    assert page.viewer.closing is CloseCode.NOT_FOUND


async def test_progress_never_pushes_waiting_rows_out(scene: Scene) -> None:
    page = scene.page()
    scene.commit("root")
    await scene.hub.tick()
    await scene.hub.poll()
    assert page.take()
    assert page.kinds == ["rows"]


async def test_rows_push_waiting_progress_out(scene: Scene) -> None:
    page = scene.page()
    await scene.hub.poll()
    scene.commit("root")
    await scene.hub.tick()
    assert page.take()
    assert page.kinds == ["rows"]
    assert not page.take()


async def test_a_page_that_takes_nothing_costs_one_frame_and_one_read(scene: Scene) -> None:
    page = scene.page()
    for _ in range(500):
        scene.commit("n")
        await scene.hub.tick()
        await scene.hub.poll()
    assert len(scene.reader.visits) == 1
    assert page.take()
    await scene.hub.tick()
    assert page.take()
    assert page.seq == 500


async def test_a_slow_page_does_not_hold_a_fast_one_back(scene: Scene) -> None:
    slow, fast = scene.page(), scene.page()
    for number in range(1, 21):
        scene.commit("n")
        await scene.hub.tick()
        fast.take()
        assert fast.seq == number
    assert slow.viewer.cursor == 1


async def test_a_page_too_far_behind_is_told_to_fetch_the_tree() -> None:
    scene = Scene(most_rows=3)
    scene.commit("root", "a", "b", "c", wake=False)
    page = scene.page(cursor=0)
    await scene.hub.tick()
    assert page.take()
    assert (page.kinds, page.nodes) == (["resync"], scene.run.at(4))
    scene.commit("d")
    await scene.hub.tick()
    page.take()
    assert page.nodes == scene.run.at(5)


async def test_one_page_too_far_behind_does_not_resync_the_others() -> None:
    scene = Scene(most_rows=3)
    scene.commit("root", "a", "b", "c", "d", wake=False)
    pages = [scene.page(cursor) for cursor in (0, 2, 4)]
    for _ in range(3):
        await scene.hub.tick()
    for page in pages:
        page.take()
    assert [page.kinds for page in pages] == [["resync"], ["rows"], ["rows"]]
    assert all(page.nodes == scene.run.at(5) for page in pages)


async def test_a_cursor_from_the_future_is_told_to_fetch_the_tree(scene: Scene) -> None:
    scene.commit("root", wake=False)
    page = scene.page(cursor=99)
    assert page.take()
    assert page.kinds == ["resync"]
    scene.commit("a")
    await scene.hub.tick()
    page.take()
    assert page.nodes == {"root": 1, "a": 2}


async def test_a_wake_up_that_lies_costs_one_read(scene: Scene) -> None:
    scene.page()
    scene.hub.wake(Wake(RUN_ID, 10**12))
    for _ in range(5):
        await scene.hub.tick()
    assert len(scene.reader.visits) == 1


async def test_a_wake_up_of_a_run_nobody_watches_is_ignored(scene: Scene) -> None:
    scene.hub.wake(Wake(UUID(int=7), 5))
    assert not scene.hub.has_work


async def test_a_read_that_fails_is_tried_again(scene: Scene) -> None:
    page = scene.page()
    scene.commit("root")
    scene.reader.broken = True
    with pytest.raises(ConnectionError):
        await scene.hub.tick()
    scene.reader.broken = False
    assert scene.hub.has_work
    await scene.hub.tick()
    assert page.take()
    assert page.nodes == {"root": 1}


async def test_news_during_a_read_is_read_in_the_next_tick(scene: Scene) -> None:
    page = scene.page()
    scene.commit("root")
    scene.reader.meanwhile = lambda: scene.commit("late")
    await scene.hub.tick()
    scene.reader.meanwhile = lambda: None
    page.take()
    assert scene.hub.has_work
    await scene.hub.tick()
    page.take()
    assert page.nodes == {"root": 1, "late": 2}


async def test_whoever_leaves_during_a_read_is_sent_nothing(scene: Scene) -> None:
    page = scene.page()
    page.take()
    scene.commit("root")
    scene.reader.meanwhile = lambda: scene.hub.leave(page.viewer)
    await scene.hub.tick()
    assert not page.take()
    assert not scene.hub.has_viewers


async def test_a_session_that_ended_closes_its_own_pages_only(scene: Scene) -> None:
    mine, theirs = scene.page(session="mine"), scene.page(session="theirs")
    scene.reader.ended = {mine.viewer.entry: CloseCode.SIGN_IN}
    await scene.hub.recheck()
    assert (mine.viewer.closing, theirs.viewer.closing) == (CloseCode.SIGN_IN, None)


async def test_a_closed_page_gets_no_frame_any_more(scene: Scene) -> None:
    page = scene.page()
    scene.commit("root")
    await scene.hub.tick()
    page.viewer.close(CloseCode.SIGN_IN)
    scene.commit("a")
    await scene.hub.tick()
    await scene.hub.poll()
    assert page.viewer.take() is None
    assert await page.viewer.next_frame() is None
