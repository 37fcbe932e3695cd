"""Whatever happens in whatever order, every page ends with every row."""

from __future__ import annotations

import contextlib
from collections.abc import Coroutine
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from swarmui.live.hub import Head, Hub
from swarmui.live.messages import Wake
from swarmui.live.viewer import Pass, Viewer
from tests.swarmui.live.fake_page import FakePage
from tests.swarmui.live.fake_runs import FakeReader, FakeRun
from tests.swarmui.live.test_hub import RUN_ID

NODES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6)
MOST_ROWS = 4  # small, so that pages are often too far behind


def finish(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine of the hub to its end; against the fake reader it never waits."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise AssertionError("the hub waited for something the fake reader did not give")


class Interleavings(RuleBasedStateMachine):
    """Commits; wake-ups lost, doubled, late, false; pages that come, go, read slowly or never."""

    def __init__(self) -> None:
        super().__init__()
        self.run = FakeRun()
        self.reader = FakeReader({RUN_ID: self.run}, MOST_ROWS)
        self.hub = Hub(self.reader)
        self.pages: list[FakePage] = []

    @rule(nodes=NODES)
    def commit(self, nodes: list[str]) -> None:
        for node in nodes:
            self.run.commit(node)

    @rule(back=st.integers(-3, 20))
    def wake(self, back: int) -> None:
        self.hub.wake(Wake(RUN_ID, max(0, self.run.seq - back)))

    @rule()
    def tick(self) -> None:
        finish(self.hub.tick())

    @rule(nodes=NODES, wakes=st.booleans(), takes=st.booleans(), leaves=st.booleans())
    def tick_while_others_act(
        self, nodes: list[str], wakes: bool, takes: bool, leaves: bool
    ) -> None:
        def meanwhile() -> None:
            self.commit(nodes)
            if wakes:
                self.wake(0)
            if takes:
                self.take(0)
            if leaves and len(self.pages) > 1:
                self.leave(0)

        self.reader.meanwhile = meanwhile
        finish(self.hub.tick())
        self.reader.meanwhile = lambda: None

    @rule()
    def tick_without_a_database(self) -> None:
        self.reader.broken = True
        with contextlib.suppress(ConnectionError):
            finish(self.hub.tick())
        self.reader.broken = False

    @rule()
    def poll(self) -> None:
        finish(self.hub.poll())

    @precondition(lambda self: len(self.pages) < 5)
    @rule(behind=st.integers(-2, 12), admitted=st.integers(0, 3))
    def join(self, behind: int, admitted: int) -> None:
        viewer = Viewer(Pass("s", 1, RUN_ID), max(0, self.run.seq - behind))
        page = FakePage(self.run, viewer)
        head = Head(self.run.seq, "running", terminal=False)
        for _ in range(admitted):  # the run moves on between the check at the door and the join
            self.run.commit("late")
        self.hub.join(viewer, head)
        page.reached = viewer.cursor  # a cursor from the future has been taken back
        self.pages.append(page)

    @precondition(lambda self: self.pages)
    @rule(which=st.integers(0, 4))
    def take(self, which: int) -> None:
        if self.pages:
            self.pages[which % len(self.pages)].take()

    @precondition(lambda self: self.pages)
    @rule(which=st.integers(0, 4))
    def leave(self, which: int) -> None:
        page = self.pages.pop(which % len(self.pages))
        self.hub.leave(page.viewer)

    @invariant()
    def cursors_only_move_forward(self) -> None:
        for page in self.pages:
            assert page.viewer.cursor >= page.reached
            page.reached = page.viewer.cursor

    def teardown(self) -> None:
        """When the noise ends, one poll is enough: everybody has everything."""
        finish(self.hub.poll())
        for _ in range(2 * len(self.pages) + 4):
            finish(self.hub.tick())
            for page in self.pages:
                page.take()
        for page in self.pages:
            assert page.nodes == self.run.at(self.run.seq), page.kinds
            assert list(page.nodes) == list(self.run.at(self.run.seq)) or "resync" in page.kinds
        assert not self.hub.has_work
        assert self.hub.has_viewers == bool(self.pages)


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
