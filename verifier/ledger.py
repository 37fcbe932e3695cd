"""The append-only record of a run: its events, their hash chain, and the fold to a tree.

`replay` is pure and iterative. Any order of delivery, duplicates, a spawn that comes late and a
result without a spawn give the same tree; what is odd is named in `problems`.
Source: seed 001 §3, domain §5.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from verifier.lifecycle import TERMINAL, NodeStatus

SCHEMA_VERSION = 1
GENESIS = "0" * 64


class Subject(StrEnum):
    """What an event is about."""

    SWARM_NODE = "swarm_node"
    DELEGATION = "delegation"


class NodeEvent(StrEnum):
    """A node's transitions."""

    SPAWN = "spawn"  # it exists, queued
    START = "start"  # an attempt of it began, or it began to wait
    RETRY = "retry"  # an attempt ended and another one is queued on the same node
    RESULT = "result"  # it reached a terminal status
    CANCEL = "cancel"  # it was cancelled
    RECONCILE = "reconcile"  # it was found without an owner and ended


class DelegationEvent(StrEnum):
    """A fan-out opened, and closed when its last branch ended."""

    OPEN = "open"
    CLOSE = "close"


ENDINGS = frozenset({NodeEvent.RESULT, NodeEvent.CANCEL, NodeEvent.RECONCILE})


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the ledger. `payload` holds no floats: two databases must read back the same."""

    seq: int
    subject: str
    subject_id: str
    event: str
    attempt: int | None
    payload: Mapping[str, Any]
    actor: str
    at: datetime


def canonical(event: Event) -> bytes:
    """The bytes an event's hash is over; the same for equal events, whatever the key order."""
    fields = {
        "seq": event.seq,
        "subject": event.subject,
        "subject_id": event.subject_id,
        "event": event.event,
        "attempt": event.attempt,
        "payload": event.payload,
        "actor": event.actor,
        "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "v": SCHEMA_VERSION,
    }
    return json.dumps(
        fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def chain_hash(previous: str, run_id: str, event: Event) -> str:
    """The hash (hex) that binds an event to everything before it in its run."""
    return hashlib.sha256(f"{previous}{run_id}".encode() + canonical(event)).hexdigest()


@dataclass(frozen=True, slots=True)
class Link:
    """An event as it is stored: with the hash before it and its own."""

    event: Event
    prev_hash: str
    hash: str


def chain_faults(run_id: str, links: Iterable[Link]) -> list[str]:
    """What is wrong with a run's chain, in order of `seq`; empty when it is whole."""
    faults: list[str] = []
    previous, expected = GENESIS, 1
    for link in links:
        seq = link.event.seq
        if seq != expected:
            faults.append(f"seq {seq}: expected seq {expected}, a row is missing or doubled")
        if link.prev_hash != previous:
            faults.append(f"seq {seq}: does not follow on the row before it")
        if chain_hash(link.prev_hash, run_id, link.event) != link.hash:
            faults.append(f"seq {seq}: the row was changed after it was written")
        previous, expected = link.hash, seq + 1
    return faults


@dataclass(slots=True)
class FoldedAttempt:
    """One attempt as the events tell it. `outcome` is None until it ended."""

    number: int
    started: datetime | None = None
    ended: datetime | None = None
    outcome: str | None = None


@dataclass(slots=True)
class FoldedNode:
    """One node as the events tell it."""

    id: str
    parent: str | None = None
    retry_of: str | None = None
    kind: str | None = None
    depth: int | None = None
    branch: int | None = None
    role: str = ""
    title: str = ""
    status: str = NodeStatus.QUEUED
    reason: str = ""
    tokens: int | None = None
    attempts: dict[int, FoldedAttempt] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    chosen_attempt: int | None = None
    chosen_because: str = ""
    spawned: datetime | None = None
    status_seq: int = 0
    is_spawned: bool = False

    @property
    def is_terminal(self) -> bool:
        return self.status in TERMINAL


@dataclass(frozen=True, slots=True)
class Tree:
    """The fold of a run: nodes in order of first mention, `seq` of the last event seen."""

    nodes: dict[str, FoldedNode]
    seq: int
    problems: tuple[str, ...]

    @property
    def in_flight(self) -> list[FoldedNode]:
        """Nodes that were spawned and never ended."""
        return [node for node in self.nodes.values() if not node.is_terminal]


def replay(events: Iterable[Event], at: int | None = None) -> Tree:
    """Folds a run's events, those with `seq` ≤ `at` when given, into its tree."""
    by_seq = {event.seq: event for event in events if at is None or event.seq <= at}
    nodes: dict[str, FoldedNode] = {}
    problems: list[str] = []
    ordered = [by_seq[seq] for seq in sorted(by_seq)]
    for event in ordered:
        if event.subject == Subject.SWARM_NODE:
            node = nodes.setdefault(event.subject_id, FoldedNode(id=event.subject_id))
            problem = _apply(node, event)
            if problem:
                problems.append(f"seq {event.seq}: {problem}")
    problems.extend(_without_spawn(nodes))
    return Tree(nodes, ordered[-1].seq if ordered else 0, tuple(problems))


def _without_spawn(nodes: Mapping[str, FoldedNode]) -> Sequence[str]:
    return [f"node {node.id}: has events but no spawn" for node in nodes.values()
            if not node.is_spawned]  # fmt: skip


def _apply(node: FoldedNode, event: Event) -> str | None:
    if event.event == NodeEvent.SPAWN:
        return _apply_spawn(node, event)
    if event.event not in frozenset(NodeEvent):
        return f"unknown event {event.event!r}"
    if node.is_terminal:
        return f"{event.event} after the node ended as {node.status}"
    _apply_attempt(node, event)
    payload = event.payload
    node.status = str(payload.get("status", node.status))
    node.reason = str(payload.get("reason", ""))
    node.status_seq = event.seq
    if "tokens" in payload:
        node.tokens = payload["tokens"]
    node.marks = tuple(payload.get("marks", node.marks))
    node.chosen_attempt = payload.get("chosen_attempt", node.chosen_attempt)
    node.chosen_because = payload.get("chosen_because", node.chosen_because)
    return None


def _apply_spawn(node: FoldedNode, event: Event) -> str | None:
    if node.is_spawned:
        return "spawned twice"
    payload = event.payload
    node.is_spawned = True
    node.parent = payload.get("parent")
    node.retry_of = payload.get("retry_of")
    node.kind = payload.get("kind")
    node.depth = payload.get("depth")
    node.branch = payload.get("branch")
    node.role = payload.get("role", "")
    node.title = payload.get("title", "")
    node.spawned = event.at
    node.status_seq = node.status_seq or event.seq
    return None


def _apply_attempt(node: FoldedNode, event: Event) -> None:
    if event.attempt is None:
        return
    attempt = node.attempts.setdefault(event.attempt, FoldedAttempt(event.attempt))
    if event.event == NodeEvent.START:
        attempt.started = event.at
    else:
        attempt.ended = event.at
        attempt.outcome = event.payload.get("outcome")
