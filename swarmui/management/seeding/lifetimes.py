"""The invented life of one node: when it starts, retries and ends, as ledger events."""

import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from swarmui.management.seeding.words import REASONS
from verifier.ledger import NodeEvent
from verifier.lifecycle import FAILED, SUCCEEDED, NodeKind, NodeStatus, WorkerKind
from verifier.marks import Mark
from verifier.retry import ChosenBecause

#: How often an end is drawn. A contract failure that is mended on its second attempt ends `ok`.
WEIGHTS: dict[NodeStatus, int] = {
    NodeStatus.OK: 84,
    NodeStatus.CONTRACT_FAILED: 4,
    NodeStatus.TOOL_ERROR: 3,
    NodeStatus.CANCELLED: 2,
    NodeStatus.CACHE_HIT: 2,
    NodeStatus.TIMEOUT: 1,
    NodeStatus.BUDGET: 1,
    NodeStatus.PROVIDER_ERROR: 1,
    NodeStatus.DENIED: 1,
    NodeStatus.CONCURRENCY_LIMIT: 1,
    NodeStatus.LOST: 1,
}
#: These end before a worker took them.
NEVER_STARTED = frozenset({NodeStatus.DENIED, NodeStatus.CONCURRENCY_LIMIT, NodeStatus.CACHE_HIT})


@dataclass
class Draft:
    """A node before it is stored. Times are seconds since the run's start; `end` None: it has
    none yet. `events` are (time, event, attempt, payload), the spawn left out."""

    id: uuid.UUID
    spawned: float
    kind: NodeKind
    depth: int
    role: str
    topic: str
    subtopic: str
    worker: WorkerKind = WorkerKind.MODEL
    parent: "Draft | None" = None
    retry_of: "Draft | None" = None
    delegation: uuid.UUID | None = None
    branch: int | None = None
    delegates: bool = False
    end: float | None = None
    status: NodeStatus = NodeStatus.QUEUED
    events: list[tuple[float, NodeEvent, int | None, dict[str, Any]]] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.topic} / {self.subtopic}" if self.subtopic else self.topic


def endings(rng: random.Random) -> Iterator[NodeStatus]:
    """Each end once, in a shuffled order, then as the weights have it; never exhausted."""
    every = list(WEIGHTS)
    rng.shuffle(every)
    yield from every
    while True:
        yield from rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()), k=100)


def live(draft: Draft, status: NodeStatus, rng: random.Random, *, stays_open: bool) -> None:
    """Gives a node without children its attempts and its end (none when it stays open)."""
    at = draft.spawned + rng.uniform(0.4, 5.0)
    if status in NEVER_STARTED and not stays_open:
        _finish(draft, at, status, None, {})
        return
    misses = _misses(status, rng)
    for number in range(1, misses + 1):
        at = _start(draft, at, number) + _work_time(rng)
        miss = NodeStatus.LOST if status is NodeStatus.LOST else NodeStatus.CONTRACT_FAILED
        payload = {"status": NodeStatus.QUEUED, "reason": REASONS[miss], "outcome": miss}
        draft.events.append((at, NodeEvent.RETRY, number, payload))
        at += rng.uniform(0.2, 1.5)
    number = misses + 1
    at = _start(draft, at, number)
    if stays_open:
        return
    rule = ChosenBecause.RETRY_PASSED if misses else ChosenBecause.ONLY_ATTEMPT
    extra: dict[str, Any] = {
        "outcome": status,
        "tokens": None if draft.worker is WorkerKind.COMMAND else rng.randrange(900, 29_000),
        "marks": list(_marks(draft, status, rng)),
        "chosen_attempt": number,
        "chosen_because": rule if status in SUCCEEDED else ChosenBecause.LAST_ATTEMPT,
    }
    _finish(draft, at + _work_time(rng), status, number, extra)


def _misses(status: NodeStatus, rng: random.Random) -> int:
    if status is NodeStatus.LOST:
        return 2
    if status is NodeStatus.CONTRACT_FAILED:
        return 1
    return 1 if status is NodeStatus.OK and rng.random() < 0.08 else 0


def _start(draft: Draft, at: float, number: int) -> float:
    payload = {"status": NodeStatus.RUNNING, "reason": ""}
    draft.events.append((at, NodeEvent.START, number, payload))
    return at


def _work_time(rng: random.Random) -> float:
    return min(rng.lognormvariate(2.2, 0.7), 240.0)


def _marks(draft: Draft, status: NodeStatus, rng: random.Random) -> tuple[Mark, ...]:
    if draft.worker is WorkerKind.COMMAND:
        return (Mark.EVIDENCE_UNKNOWN,)
    if status is NodeStatus.OK and rng.random() < 0.03:
        return (Mark.RECEIPT_MISMATCH,)
    return ()


def _finish(
    draft: Draft, at: float, status: NodeStatus, attempt: int | None, extra: dict[str, Any]
) -> None:
    event = NodeEvent.CANCEL if status is NodeStatus.CANCELLED else NodeEvent.RESULT
    if status is NodeStatus.LOST:
        event = NodeEvent.RECONCILE
    payload = {"status": status, "reason": REASONS.get(status, ""), **extra}
    draft.events.append((at, event, attempt, {k: v for k, v in payload.items() if v is not None}))
    draft.end, draft.status = at, status


def fan_out(parent: Draft, at: float) -> None:
    """A node that only delegates begins to wait."""
    payload = {"status": NodeStatus.WAITING, "reason": ""}
    parent.delegates = True
    parent.events.append((at, NodeEvent.START, None, payload))


def join(parent: Draft, branches: Sequence[Draft], verdict: NodeStatus) -> float | None:
    """Ends a waiting node with its last branch; None while one of them is open."""
    ends = [branch.end for branch in branches]
    if any(end is None for end in ends):
        return None
    at = max(end for end in ends if end is not None)
    missed = sum(branch.status in FAILED for branch in branches)
    reason = f"{missed} of {len(branches)} branches did not end well" if missed else ""
    parent.events.append((at, NodeEvent.RESULT, None, {"status": verdict, "reason": reason}))
    parent.end, parent.status = at, verdict
    return at
