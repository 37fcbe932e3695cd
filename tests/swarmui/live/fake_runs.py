"""A database of runs in memory, behind the port through which the hub reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from swarmui.live.hub import Batch, Head
from swarmui.live.messages import CloseCode
from swarmui.live.viewer import Pass


@dataclass
class FakeRun:
    """Nodes by name, each with the seq that changed it last; every version is kept."""

    seq: int = 0
    status: str = "running"
    terminal: bool = False
    history: list[str] = field(default_factory=list)  # the node that event `seq - 1` changed

    def commit(self, node: str) -> None:
        self.seq += 1
        self.history.append(node)

    def at(self, seq: int) -> dict[str, int]:
        """Node → the seq of its last change, as of ``seq``, in spawn order."""
        return {node: number for number, node in enumerate(self.history[:seq], start=1)}

    def rows_after(self, seq: int) -> list[list[Any]]:
        return [[node, changed] for node, changed in self.at(self.seq).items() if changed > seq]


class FakeReader:
    """Counts its visits; ``meanwhile`` runs in the middle of each read, as other writers do."""

    def __init__(self, runs: Mapping[UUID, FakeRun], most_rows: int = 2000) -> None:
        self.runs = runs
        self.most_rows = most_rows
        self.visits: list[tuple[UUID, tuple[int, ...]]] = []
        self.broken = False
        self.ended: dict[Pass, CloseCode] = {}
        self.meanwhile: Callable[[], None] = lambda: None

    async def heads(self, run_ids: Sequence[UUID]) -> dict[UUID, Head]:
        self._fail_if_broken()
        found = {run_id: self.runs[run_id] for run_id in run_ids if run_id in self.runs}
        return {
            run_id: Head(run.seq, run.status, terminal=run.terminal)
            for run_id, run in found.items()
        }

    async def batches(self, run_id: UUID, cursors: Sequence[int]) -> list[Batch]:
        self.visits.append((run_id, tuple(cursors)))
        self._fail_if_broken()
        run = self.runs[run_id]
        batches = []
        for cursor in cursors:
            seq, rows = run.seq, run.rows_after(cursor)
            batches.append(Batch(seq, rows if len(rows) <= self.most_rows else None))
            self.meanwhile()
        return batches

    async def withdrawn(self, entries: Sequence[Pass]) -> dict[Pass, CloseCode]:
        self._fail_if_broken()
        return {entry: self.ended[entry] for entry in entries if entry in self.ended}

    def _fail_if_broken(self) -> None:
        if self.broken:
            raise ConnectionError("the database is away")
