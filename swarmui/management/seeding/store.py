"""Writes an invented run: a few bulk inserts, with a whole hash chain; rows folded from events."""

import uuid
from collections.abc import Iterable, Sequence

from django.db import transaction

from swarmui.management.seeding.attempts import (
    attempt_row,
    brief_of,
    orders_of,
    receipt_row,
    scorer_rows,
)
from swarmui.management.seeding.invent import ACTOR, Invention
from swarmui.management.seeding.lifetimes import Draft
from swarmui.management.seeding.words import GOAL
from swarmui.models import Attempt, Delegation, LedgerEvent, Node, Receipt, Run, ScorerResult
from swarmui.models.node import DelegationState
from verifier.ledger import (
    GENESIS,
    DelegationEvent,
    Event,
    FoldedNode,
    NodeEvent,
    Subject,
    chain_hash,
    replay,
)

BATCH = 1_000
Stored = Sequence[tuple[Draft, FoldedNode]]


def store(invention: Invention) -> Run:
    """One transaction: the run with everything in it."""
    tree = replay(invention.events)
    run = Run(
        goal=GOAL,
        spec={"goal": GOAL, "branches": []},
        origin=ACTOR,
        workspace_mode="copy",
        created_at=invention.started,
    )
    chain = list(chained(str(run.pk), GENESIS, invention.events))
    run.seq, run.chain_head = len(chain), chain[-1].hash if chain else GENESIS
    run.tokens_spent = sum(node.tokens or 0 for node in tree.nodes.values())
    stored = [(draft, tree.nodes[key]) for key, draft in invention.drafts.items()]
    with transaction.atomic():
        run.save(force_insert=True)
        Delegation.objects.bulk_create(_delegations(run, invention.events), BATCH)
        Node.objects.bulk_create(_nodes(run, stored, invention.events), BATCH)
        LedgerEvent.objects.bulk_create(chain, BATCH)
        _store_attempts(stored)
    return run


def chained(run_id: str, head: str, events: Iterable[Event]) -> Iterable[LedgerEvent]:
    """The events as rows, each bound to the one before it."""
    for event in events:
        own = chain_hash(head, run_id, event)
        yield LedgerEvent(
            run_id=uuid.UUID(run_id),
            seq=event.seq,
            subject=event.subject,
            subject_id=uuid.UUID(event.subject_id),
            event=event.event,
            attempt=event.attempt,
            payload=dict(event.payload),
            actor=event.actor,
            at=event.at,
            prev_hash=head,
            hash=own,
        )
        head = own


def _delegations(run: Run, events: Sequence[Event]) -> list[Delegation]:
    rows: dict[str, Delegation] = {}
    for event in events:
        if event.subject != Subject.DELEGATION:
            continue
        if event.event == DelegationEvent.OPEN:
            rows[event.subject_id] = Delegation(
                id=uuid.UUID(event.subject_id),
                run=run,
                parent_id=uuid.UUID(str(event.payload["parent"])),
                created_at=event.at,
            )
        else:
            rows[event.subject_id].state = DelegationState.CLOSED
            rows[event.subject_id].closed_at = event.at
    return list(rows.values())


def _nodes(run: Run, stored: Stored, events: Sequence[Event]) -> list[Node]:
    spawns = {event.subject_id: event for event in events if event.event == NodeEvent.SPAWN}
    rows = []
    for draft, folded in stored:
        last = events[folded.status_seq - 1]
        starts = [one.started for one in folded.attempts.values() if one.started]
        rows.append(
            Node(
                id=draft.id,
                run=run,
                parent_id=None if draft.parent is None else draft.parent.id,
                retry_of_id=None if draft.retry_of is None else draft.retry_of.id,
                delegation_id=draft.delegation,
                kind=draft.kind,
                depth=draft.depth,
                branch=draft.branch,
                role=draft.role,
                topic=draft.topic,
                subtopic=draft.subtopic,
                title=draft.title,
                task_brief=brief_of(draft),
                work=orders_of(draft),
                status=folded.status,
                reason=folded.reason,
                marks=list(folded.marks),
                tokens=folded.tokens,
                chosen_attempt=folded.chosen_attempt,
                chosen_because=folded.chosen_because,
                spawn_seq=spawns[folded.id].seq,
                changed_seq=folded.status_seq,
                created_at=spawns[folded.id].at,
                started_at=min(starts, default=None),
                ended_at=last.at if folded.is_terminal else None,
            )
        )
    return rows


def _store_attempts(stored: Stored) -> None:
    attempts: list[Attempt] = []
    receipts: list[Receipt] = []
    results: list[ScorerResult] = []
    for draft, folded in stored:
        for number in sorted(folded.attempts):
            attempt = attempt_row(draft, folded, number)
            attempts.append(attempt)
            if attempt.outcome is not None:
                receipts.append(receipt_row(draft, folded, attempt))
                results.extend(scorer_rows(attempt))
    Attempt.objects.bulk_create(attempts, BATCH)
    Receipt.objects.bulk_create(receipts, BATCH)
    ScorerResult.objects.bulk_create(results, BATCH)
