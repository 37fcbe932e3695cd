"""What a page does with the frames it is sent: the other half of the cursor protocol."""

from __future__ import annotations

import json
from typing import Any

from swarmui.live.viewer import Viewer
from tests.swarmui.live.fake_runs import FakeRun


class FakePage:
    """Holds a model of one run, and complains when a frame does not follow from the last one."""

    def __init__(self, run: FakeRun, viewer: Viewer) -> None:
        self.run = run
        self.viewer = viewer
        self.seq = viewer.cursor
        self.nodes: dict[str, int] = run.at(self.seq)
        self.kinds: list[str] = []
        self.reached = viewer.cursor

    def take(self) -> bool:
        """Take the waiting frame, if there is one, and apply it."""
        frame = self.viewer.take()
        if frame is not None:
            self._apply(json.loads(frame))
        return frame is not None

    def _apply(self, frame: dict[str, Any]) -> None:
        self.kinds.append(frame["type"])
        assert frame["type"] != "rows" or frame["from"] < frame["to"], "rows that bring nothing"
        if frame["type"] == "resync":
            self.seq = self.run.seq
            self.nodes = self.run.at(self.seq)
        elif frame["type"] == "rows" and frame["to"] > self.seq:
            assert frame["from"] <= self.seq, f"rows from {frame['from']} miss some of {self.seq}"
            for node, changed in frame["rows"]:
                assert changed >= self.nodes.get(node, 0), "a row went back in time"
                self.nodes[node] = changed
            self.seq = frame["to"]
