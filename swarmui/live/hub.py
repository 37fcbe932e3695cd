"""One hub per web process: it hears that runs moved, reads their rows once, serves every viewer.

A wake-up only says where to look. The hub also asks the database every two seconds, so a lost
wake-up costs seconds and never a row. Reads are coalesced to four a second and run; a viewer that
fell behind is caught up by reading again from its own cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from swarmui.live.messages import CloseCode, Wake, encode_rows
from swarmui.live.viewer import Pass, Viewer


@dataclass(frozen=True)
class Head:
    """Where a run stands: the seq of its last event, its status, whether that is final."""

    seq: int
    status: str
    terminal: bool


@dataclass(frozen=True)
class Batch:
    """The rows changed after a cursor, as of ``seq``; None when they are too many to send."""

    seq: int
    rows: list[Any] | None


class Reader(Protocol):
    """The hub's view of the database; each call is one visit."""

    async def heads(self, run_ids: Sequence[UUID]) -> Mapping[UUID, Head]: ...

    async def batches(self, run_id: UUID, cursors: Sequence[int]) -> Sequence[Batch]: ...

    async def withdrawn(self, entries: Sequence[Pass]) -> Mapping[Pass, CloseCode]:
        """Those whose session, user or permission has ended, with the code to close them by."""
        ...


@dataclass
class WatchedRun:
    run_id: UUID
    head: Head
    viewers: set[Viewer] = field(default_factory=set)
    latest: int = 0  # the highest seq heard of; only a hint until the database confirms it


class Hub:
    """What the viewers of this process watch, and the rules by which they are served.

    No timers and no tasks live here: ``swarmui.live.heart`` calls these methods in time.
    """

    def __init__(self, reader: Reader, on_work: Callable[[], None] = lambda: None) -> None:
        """``on_work`` is called whenever the next tick will have something to do."""
        self._reader = reader
        self._on_work = on_work
        self._runs: dict[UUID, WatchedRun] = {}
        self._dirty: set[UUID] = set()

    @property
    def has_viewers(self) -> bool:
        return bool(self._runs)

    @property
    def has_work(self) -> bool:
        return bool(self._dirty)

    def join(self, viewer: Viewer, head: Head) -> None:
        """Start to serve ``viewer``, whose run stood at ``head`` when it was let in."""
        run = self._runs.setdefault(viewer.run_id, WatchedRun(viewer.run_id, head))
        run.viewers.add(viewer)
        viewer.on_taken = self._on_taken
        if viewer.cursor > head.seq:  # a cursor of another life of this database
            viewer.put_resync(head.seq)
        else:
            viewer.put_progress(head.seq, head.status, terminal=head.terminal)
        self._heard(run, head.seq)

    def leave(self, viewer: Viewer) -> None:
        run = self._runs.get(viewer.run_id)
        if run is None:
            return
        run.viewers.discard(viewer)
        if not run.viewers:
            del self._runs[viewer.run_id]
            self._dirty.discard(viewer.run_id)

    def wake(self, hint: Wake) -> None:
        run = self._runs.get(hint.run_id)
        if run is not None:
            self._heard(run, hint.seq)

    async def tick(self) -> None:
        """Read and hand out what moved since the last tick: one read per run."""
        for run_id in list(self._dirty):
            run = self._runs.get(run_id)
            self._dirty.discard(run_id)
            if run is not None:
                await self._serve(run)

    async def poll(self) -> None:
        """Ask the database where every watched run stands, and tell the viewers."""
        watched = list(self._runs.values())
        if not watched:
            return
        heads = await self._reader.heads([run.run_id for run in watched])
        for run in watched:
            head = heads.get(run.run_id)
            if head is None:
                _close(run.viewers, CloseCode.NOT_FOUND)
                continue
            run.head = head
            for viewer in run.viewers:
                viewer.put_progress(head.seq, head.status, terminal=head.terminal)
            self._heard(run, head.seq)

    async def recheck(self) -> None:
        """Close the viewers whose authority to listen has ended since they came in."""
        viewers = [viewer for run in self._runs.values() for viewer in run.viewers]
        if not viewers:
            return
        withdrawn = await self._reader.withdrawn(list({viewer.entry for viewer in viewers}))
        for viewer in viewers:
            code = withdrawn.get(viewer.entry)
            if code is not None:
                viewer.close(code)

    def _mark(self, run: WatchedRun) -> None:
        self._dirty.add(run.run_id)
        self._on_work()

    def _heard(self, run: WatchedRun, seq: int) -> None:
        run.latest = max(run.latest, seq)
        if any(viewer.cursor < run.latest for viewer in run.viewers):
            self._mark(run)

    def _on_taken(self, viewer: Viewer) -> None:
        run = self._runs.get(viewer.run_id)
        if run is not None and viewer.cursor < run.latest:
            self._mark(run)

    async def _serve(self, run: WatchedRun) -> None:
        waiting = [v for v in run.viewers if v.is_free and v.cursor < run.latest]
        if not waiting:
            return
        heard = run.latest
        cursors = _cursors_to_read({viewer.cursor for viewer in waiting})
        try:
            batches = await self._reader.batches(run.run_id, cursors)
        except BaseException:
            self._mark(run)
            raise
        if run.latest == heard:  # the database has the last word: a hint may have been nonsense
            run.latest = max(batch.seq for batch in batches)
        by_cursor = dict(zip(cursors, batches, strict=True))
        for cursor, group in _groups(waiting, cursors).items():
            _deliver(by_cursor[cursor], cursor, (v for v in group if v in run.viewers))
        self._look_again(run)

    def _look_again(self, run: WatchedRun) -> None:
        """Whoever is still behind and free was passed over, or news came during the read."""
        if any(v.is_free and v.cursor < run.latest for v in run.viewers):
            self._mark(run)


def _cursors_to_read(cursors: set[int]) -> list[int]:
    """At most two: where most viewers stand, and the furthest behind for all the others.

    Rows are upserts of the present state, so a viewer may be given more than it lacks. After a
    restart two hundred pages come back with cursors of their own; they cost two queries, not
    two hundred.
    """
    ordered = sorted(cursors)
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered


def _groups(waiting: Iterable[Viewer], cursors: list[int]) -> dict[int, list[Viewer]]:
    groups: dict[int, list[Viewer]] = {cursor: [] for cursor in cursors}
    for viewer in waiting:
        read_from = cursors[-1] if viewer.cursor >= cursors[-1] else cursors[0]
        groups[read_from].append(viewer)
    return groups


def _deliver(batch: Batch, read_from: int, viewers: Iterable[Viewer]) -> None:
    encoded: str | None = None
    for viewer in viewers:
        if not viewer.is_free or batch.seq <= viewer.cursor:
            continue
        if batch.rows is None:
            # Too many from the furthest cursor says nothing of the others: they are read next.
            if viewer.cursor == read_from:
                viewer.put_resync(batch.seq)
            continue
        if encoded is None:
            encoded = encode_rows(batch.rows)
        viewer.put_rows(batch.seq, encoded)


def _close(viewers: Iterable[Viewer], code: CloseCode) -> None:
    for viewer in viewers:
        viewer.close(code)
