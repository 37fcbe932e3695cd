"""Runs for the pages to show: made by the services that make real ones, ended by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from swarmui.models import (
    Attempt,
    Membership,
    Node,
    Receipt,
    Run,
    ScorerResult,
    TrajectoryEntry,
)
from swarmui.services.nodes import Change, Place, spawn_node, transition_node
from verifier.ledger import NodeEvent
from verifier.lifecycle import TERMINAL, AttemptState, NodeKind, NodeStatus, WorkerKind
from verifier.receipt import Receipt as ReceiptBody
from verifier.receipt import SideEffects, Tokens

ACTOR = "test"


def person_with(role: str, name: str) -> Any:
    """A person of that role."""
    user = get_user_model().objects.create_user(name)
    Membership.objects.create(user=user, role=role)
    return user


@dataclass(frozen=True)
class Told:
    """What one invented attempt left behind."""

    outcome: NodeStatus | None = NodeStatus.OK
    brief: str = "Do the work."
    output: Any = None
    notes: str = ""
    error: str = ""
    effects: SideEffects | None = field(default_factory=SideEffects)
    gates: tuple[dict[str, Any], ...] = ()
    steps: tuple[dict[str, Any], ...] = ()
    files: tuple[str, ...] | None = None
    seconds: int = 30


class Grove:
    """One run whose tree a test grows."""

    def __init__(self, goal: str = "Write the release notes", *, owner: Any = None) -> None:
        self.run = Run.objects.create(
            goal=goal,
            spec={"goal": goal},
            owner=owner,
            origin=ACTOR,
            workspace_mode="copy",
            created_at=timezone.now(),
        )
        with transaction.atomic():
            place = Place(NodeKind.ROOT, 0, "root", goal, {}, topic="delegate")
            self.root = spawn_node(self.run, place, ACTOR)
            transition_node(self.root, NodeStatus.WAITING, NodeEvent.START, ACTOR)

    @property
    def path(self) -> str:
        return f"/runs/{self.run.pk}/"

    @property
    def seq(self) -> int:
        return Run.objects.values_list("seq", flat=True).get(pk=self.run.pk)

    def add(self, role: str, topic: str = "", *, parent: Node | None = None, **place: Any) -> Node:
        """A queued node below `parent`, else below the root."""
        above = parent or self.root
        with transaction.atomic():
            return spawn_node(
                self.run,
                Place(
                    NodeKind.AGENT if above is self.root else NodeKind.SUBAGENT,
                    above.depth + 1,
                    role,
                    place.pop("task_brief", "Do the work."),
                    {},
                    topic=topic,
                    parent=above,
                    **place,
                ),
                ACTOR,
            )

    def move(self, node: Node, status: NodeStatus, **change: Any) -> None:
        """The node at another status, by the one door there is."""
        event = NodeEvent.RESULT if status in TERMINAL else NodeEvent.START
        if status == NodeStatus.QUEUED:
            event = NodeEvent.RETRY
        with transaction.atomic():
            transition_node(node, status, event, ACTOR, Change(**change))

    def grown(self, role: str, topic: str, status: NodeStatus, **change: Any) -> Node:
        """A node that stands at `status`."""
        node = self.add(role, topic)
        if status != NodeStatus.QUEUED:
            self.move(node, status, **change)
        return node

    def attempt(self, node: Node, number: int, told: Told) -> Attempt:
        """An attempt with everything in it; one that is over unless its outcome is None."""
        started = timezone.now() - timedelta(seconds=told.seconds)
        is_over = told.outcome is not None
        attempt = Attempt.objects.create(
            node=node,
            number=number,
            state=AttemptState.ENDED if is_over else AttemptState.RUNNING,
            outcome=told.outcome,
            owner="" if is_over else "worker",
            lease_until=None if is_over else timezone.now() + timedelta(minutes=5),
            worker_kind=WorkerKind.MODEL,
            model="recorded:model.yaml",
            brief=told.brief,
            output=told.output,
            notes=told.notes,
            error=told.error,
            files_touched=None if told.files is None else len(told.files),
            files_named=None if told.files is None else list(told.files),
            queued_at=started,
            started_at=started,
            ended_at=timezone.now() if is_over else None,
        )
        self._leavings(attempt, told, started)
        return attempt

    def _leavings(self, attempt: Attempt, told: Told, started: datetime) -> None:
        if told.outcome is not None:
            body = ReceiptBody(
                nodeId=str(attempt.node_id),
                kind=NodeKind(attempt.node.kind),
                status=told.outcome,
                sideEffects=told.effects,
                filesTouched=None if told.files is None else len(told.files),
                tokens=Tokens(used=None, cap=None),
                durationMs=told.seconds * 1000,
                unavailable=() if told.effects else ("sideEffects: no counters",),
            )
            Receipt.objects.create(attempt=attempt, body=body.model_dump(mode="json"))
        blank = {"spec": {}, "observed": None, "reason": None, "retryable": True, "duration_ms": 2}
        for index, gate in enumerate(told.gates):
            ScorerResult.objects.create(attempt=attempt, index=index, **{**blank, **gate})
        for index, step in enumerate(told.steps, 1):
            TrajectoryEntry.objects.create(attempt=attempt, index=index, at=started, **step)


def recovered(grove: Grove) -> Node:
    """A node that missed its contract once and met it at the second attempt."""
    node = grove.add("writing", "docs")
    grove.attempt(
        node,
        1,
        Told(
            outcome=NodeStatus.CONTRACT_FAILED,
            brief="First brief",
            output="not json",
            gates=(
                {"kind": "json", "outcome": "failed", "reason": "missing required keys: body"},
                {"kind": "tool_outage", "outcome": "not_evaluated"},
            ),
        ),
    )
    grove.attempt(
        node,
        2,
        Told(
            brief="Second brief, with the failures before it",
            output={"title": "2.4", "body": "…"},
            effects=SideEffects(toolCalls=2, filesChanged=2, byName={"filesystem__write_file": 2}),
            files=("notes.md", "more.md"),
            gates=({"kind": "json", "outcome": "passed"},),
            steps=({"kind": "proposal", "tool": "filesystem__write_file", "payload": {"a": 1}},),
        ),
    )
    grove.move(
        node,
        NodeStatus.OK,
        attempt=2,
        outcome=NodeStatus.OK,
        chosen_attempt=2,
        chosen_because="retry_passed",
        tokens=21_030,
    )
    return node
