"""Invents a run: a tree of drafts, its ledger, cut where exactly the wished nodes exist."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from swarmui.management.seeding.lifetimes import Draft, endings, fan_out, join, live
from swarmui.management.seeding.words import ROLES, TOPICS
from swarmui.models.fields import new_id
from verifier.ledger import DelegationEvent, Event, NodeEvent, Subject
from verifier.lifecycle import NodeKind, NodeStatus, WorkerKind, delegation_status
from verifier.limits import MAX_BRANCHES

ACTOR = "seed"
WAVE_GAP_S = 9.0


@dataclass(frozen=True)
class Invention:
    """A run's nodes by id, in order of spawn, and its events, `seq` 1 to n."""

    started: datetime
    drafts: dict[str, Draft]
    events: list[Event]


@dataclass(frozen=True)
class _Happening:
    at: float
    order: int  # of what happens at the same moment, and before what depends on it
    subject: Subject
    subject_id: str
    event: str
    attempt: int | None
    payload: Mapping[str, object]


class Inventor:
    """Makes waves of branches below one root until there are enough nodes."""

    def __init__(self, seed: int, open_share: float) -> None:
        self._rng = random.Random(seed)
        self._endings = endings(self._rng)
        self._open_share = open_share
        self._order = count()
        self._happenings: list[_Happening] = []
        self.drafts: list[Draft] = []

    def grow(self, nodes: int) -> None:
        root = self._draft(Draft(new_id(), 0.0, NodeKind.ROOT, 0, "root", "delegate", ""))
        fan_out(root, 0.1)
        self._tell(root)
        # A surplus: the cut takes away what is spawned too late.
        for wave in count():
            if len(self.drafts) > nodes + 2 * MAX_BRANCHES:
                return
            self._delegate(root, 0.2 + wave * WAVE_GAP_S, MAX_BRANCHES, can_spread=True)

    def _delegate(self, parent: Draft, at: float, width: int, *, can_spread: bool) -> list[Draft]:
        delegation = new_id()
        opened = {"parent": str(parent.id), "branches": width}
        self._happen(at, Subject.DELEGATION, str(delegation), DelegationEvent.OPEN, None, opened)
        branches: list[Draft] = []
        for branch in range(width):
            topic = self._rng.choice(list(TOPICS))
            draft = self._draft(
                Draft(
                    id=new_id(),
                    spawned=at + 0.02 * (branch + 1),
                    kind=NodeKind.AGENT if parent.depth == 0 else NodeKind.SUBAGENT,
                    depth=parent.depth + 1,
                    role=self._rng.choice(ROLES),
                    topic=topic,
                    subtopic=self._rng.choice(TOPICS[topic]),
                    worker=WorkerKind.COMMAND if self._rng.random() < 0.1 else WorkerKind.MODEL,
                    parent=parent,
                    delegation=delegation,
                    branch=branch,
                )
            )
            branches.append(self._settle(draft, can_spread))
        self._close(str(delegation), branches)
        return branches

    def _settle(self, draft: Draft, can_spread: bool) -> Draft:
        """Lets a branch work or delegate; returns the node that stands for it in the end."""
        if can_spread and self._rng.random() < 0.6:
            start = draft.spawned + self._rng.uniform(0.5, 2.0)
            fan_out(draft, start)
            self._tell(draft)
            width = self._rng.randrange(2, MAX_BRANCHES + 1)
            below = self._delegate(draft, start + 0.1, width, can_spread=False)
            if join(draft, below, delegation_status(branch.status for branch in below)) is not None:
                self._tell(draft, since=1)
            return draft
        stays_open = self._rng.random() < self._open_share
        live(draft, next(self._endings), self._rng, stays_open=stays_open)
        self._tell(draft)
        if draft.status is NodeStatus.TOOL_ERROR and draft.end is not None:
            return self._replace(draft, draft.end)
        return draft

    def _replace(self, crashed: Draft, at: float) -> Draft:
        standing_in = self._draft(
            Draft(
                id=new_id(), spawned=at, kind=crashed.kind, depth=crashed.depth,
                role=crashed.role, topic=crashed.topic, subtopic=crashed.subtopic,
                worker=crashed.worker, parent=crashed.parent, retry_of=crashed,
                delegation=crashed.delegation, branch=crashed.branch,
            )
        )  # fmt: skip
        live(standing_in, NodeStatus.OK, self._rng, stays_open=False)
        self._tell(standing_in)
        return standing_in

    def _close(self, delegation: str, branches: list[Draft]) -> None:
        ends = [branch.end for branch in branches]
        if None in ends:
            return
        at = max(end for end in ends if end is not None)
        status = delegation_status(branch.status for branch in branches)
        payload = {"status": status, "reason": ""}
        self._happen(at, Subject.DELEGATION, delegation, DelegationEvent.CLOSE, None, payload)

    def _draft(self, draft: Draft) -> Draft:
        self.drafts.append(draft)
        spawn: dict[str, object] = {
            "status": NodeStatus.QUEUED,
            "parent": None if draft.parent is None else str(draft.parent.id),
            "retry_of": None if draft.retry_of is None else str(draft.retry_of.id),
            "kind": draft.kind,
            "depth": draft.depth,
            "branch": draft.branch,
            "role": draft.role,
            "title": draft.title,
        }
        self._happen(draft.spawned, Subject.SWARM_NODE, str(draft.id), NodeEvent.SPAWN, None, spawn)
        return draft

    def _tell(self, draft: Draft, since: int = 0) -> None:
        for at, event, attempt, payload in draft.events[since:]:
            self._happen(at, Subject.SWARM_NODE, str(draft.id), event, attempt, payload)

    def _happen(
        self,
        at: float,
        subject: Subject,
        subject_id: str,
        event: str,
        attempt: int | None,
        payload: Mapping[str, object],
    ) -> None:
        self._happenings.append(
            _Happening(at, next(self._order), subject, subject_id, event, attempt, payload)
        )

    def until(self, last: float) -> Iterator[_Happening]:
        """What happened up to that second, in order."""
        ordered = sorted(self._happenings, key=lambda happening: (happening.at, happening.order))
        return (happening for happening in ordered if happening.at <= last)


def invent(nodes: int, now: datetime, *, seed: int = 1, open_share: float = 0.0) -> Invention:
    """A run with exactly `nodes` nodes whose last event is at `now`. The same seed tells the same
    story, with other ids. `open_share` of the workers have begun and not ended."""
    inventor = Inventor(seed, open_share)
    inventor.grow(nodes)
    drafts = sorted(inventor.drafts, key=lambda draft: draft.spawned)[:nodes]
    last = drafts[-1].spawned
    kept = {str(draft.id): draft for draft in drafts}
    subjects = {*kept, *(str(draft.delegation) for draft in drafts)}
    started = now - timedelta(seconds=last)
    told = (h for h in inventor.until(last) if h.subject_id in subjects)
    events = [
        Event(
            seq=seq,
            subject=happening.subject,
            subject_id=happening.subject_id,
            event=happening.event,
            attempt=happening.attempt,
            payload=happening.payload,
            actor=ACTOR,
            at=started + timedelta(seconds=round(happening.at, 6)),
        )
        for seq, happening in enumerate(told, 1)
    ]
    return Invention(started, kept, events)
