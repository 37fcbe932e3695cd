"""Nodes: how one comes into being and the one door through which its status changes."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from swarmui.models import Delegation, LedgerEvent, Node, Run
from swarmui.services import ledger
from verifier.errors import IllegalMove
from verifier.framing import one_line
from verifier.ledger import NodeEvent, Subject
from verifier.lifecycle import TERMINAL, NodeKind, NodeStatus, can_move
from verifier.limits import REASON_CHARS

TITLE_CHARS = 160


@dataclass(frozen=True)
class Place:
    """Where a new node stands and what it is told."""

    kind: NodeKind
    depth: int
    role: str
    task_brief: str
    work: dict[str, Any]
    topic: str = ""
    subtopic: str = ""
    branch: int | None = None
    parent: Node | None = None
    retry_of: Node | None = None
    delegation: Delegation | None = None


def spawn_node(run: Run, place: Place, actor: str) -> Node:
    """Creates a queued node and its `spawn` event."""
    node = Node(
        run=run,
        title=_title(place),
        **{name: getattr(place, name) for name in Place.__dataclass_fields__},
    )
    event = ledger.append(
        run.pk,
        subject=Subject.SWARM_NODE,
        subject_id=node.pk,
        event=NodeEvent.SPAWN,
        actor=actor,
        payload={
            "status": NodeStatus.QUEUED,
            "parent": _id(node.parent_id),
            "retry_of": _id(node.retry_of_id),
            "kind": node.kind,
            "depth": node.depth,
            "branch": node.branch,
            "role": node.role,
            "title": node.title,
        },
    )
    node.created_at = event.at
    node.spawn_seq = node.changed_seq = event.seq
    node.save(force_insert=True)
    return node


def _title(place: Place) -> str:
    named = " / ".join(part for part in (place.topic, place.subtopic) if part)
    return one_line(named or place.task_brief, TITLE_CHARS)


def _id(value: uuid.UUID | None) -> str | None:
    return None if value is None else str(value)


@dataclass(frozen=True)
class Change:
    """What a move says beside the new status; None leaves a value as it is. `outcome` is how the
    attempt named by `attempt` ended, which may differ from the node's status."""

    attempt: int | None = None
    outcome: NodeStatus | None = None
    reason: str = ""
    tokens: int | None = None
    marks: tuple[str, ...] | None = None
    chosen_attempt: int | None = None
    chosen_because: str | None = None

    def columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"reason": one_line(self.reason, REASON_CHARS)}
        for name in ("tokens", "chosen_attempt", "chosen_because"):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        if self.marks is not None:
            columns["marks"] = list(self.marks)
        return columns


def transition_node(
    node: Node, after: NodeStatus, event: NodeEvent, actor: str, change: Change = Change()
) -> LedgerEvent | None:
    """Moves a node from the status it was read with to `after`, with its ledger event.

    The only writer of `Node.status`. Compare-and-set: None, and nothing is written, when someone
    else has moved it since. Raises `IllegalMove` for a move the table does not have. `node` is
    brought up to date. Call it inside a transaction, before any lock on the run.
    """
    before = NodeStatus(node.status)
    if not can_move(before, after):
        raise IllegalMove(f"node {node.pk}: {before} → {after} is not in the table of moves")
    columns = change.columns()
    stamp = timezone.now()
    if after in TERMINAL:
        columns["ended_at"] = stamp
    if not Node.objects.filter(pk=node.pk, status=before).update(status=after, **columns):
        return None
    payload = {"status": after, **columns}
    payload.pop("ended_at", None)
    if change.outcome is not None:
        payload["outcome"] = change.outcome
    row = ledger.append(
        node.run_id,
        subject=Subject.SWARM_NODE,
        subject_id=node.pk,
        event=event,
        attempt=change.attempt,
        payload=payload,
        actor=actor,
    )
    times: dict[str, Any] = {"changed_seq": row.seq}
    if after in TERMINAL:
        times["ended_at"] = row.at
    if event == NodeEvent.START and node.started_at is None:
        times["started_at"] = row.at
    Node.objects.filter(pk=node.pk).update(**times)
    for name, value in {"status": after, **columns, **times}.items():
        setattr(node, name, value)
    return row
