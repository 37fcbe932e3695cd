"""Changes to an invented run: many nodes end at once, for benches that need many changes."""

import uuid
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from swarmui.management.seeding.invent import ACTOR
from swarmui.management.seeding.store import BATCH, chained
from swarmui.models import Attempt, LedgerEvent, Node, Run
from verifier.ledger import Event, NodeEvent, Subject
from verifier.lifecycle import AttemptState, NodeStatus
from verifier.retry import ChosenBecause

ATTEMPT_ENDS = ("state", "outcome", "owner", "lease_until", "returned_at", "ended_at")
NODE_ENDS = ("status", "chosen_attempt", "chosen_because", "changed_seq", "ended_at")


def end_open_nodes(run_id: uuid.UUID, most: int) -> int:
    """Ends up to `most` invented nodes that still run, as one transaction with one event each;
    returns the run's `seq` afterwards."""
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id, origin=ACTOR)
        open_attempts = list(
            Attempt.objects.select_related("node")
            .filter(node__run=run, state=AttemptState.RUNNING)
            .order_by("node__spawn_seq")[:most]
        )
        now = timezone.now()
        events = [
            _result(attempt, run.seq + number, now)
            for number, attempt in enumerate(open_attempts, 1)
        ]
        chain = list(chained(str(run.pk), run.chain_head, events))
        for attempt, event in zip(open_attempts, events, strict=True):
            _end(attempt, event)
        Attempt.objects.bulk_update(open_attempts, ATTEMPT_ENDS, BATCH)
        Node.objects.bulk_update([attempt.node for attempt in open_attempts], NODE_ENDS, BATCH)
        LedgerEvent.objects.bulk_create(chain, BATCH)
        if chain:
            run.seq, run.chain_head = chain[-1].seq, chain[-1].hash
            run.save(update_fields=["seq", "chain_head"])
    return run.seq


def _result(attempt: Attempt, seq: int, now: datetime) -> Event:
    return Event(
        seq=seq,
        subject=Subject.SWARM_NODE,
        subject_id=str(attempt.node_id),
        event=NodeEvent.RESULT,
        attempt=attempt.number,
        payload={
            "status": NodeStatus.OK,
            "outcome": NodeStatus.OK,
            "reason": "",
            "chosen_attempt": attempt.number,
            "chosen_because": ChosenBecause.ONLY_ATTEMPT,
        },
        actor=ACTOR,
        at=now,
    )


def _end(attempt: Attempt, event: Event) -> None:
    node = attempt.node
    attempt.state, attempt.outcome = AttemptState.ENDED, NodeStatus.OK
    attempt.owner, attempt.lease_until = "", None
    attempt.returned_at = attempt.ended_at = node.ended_at = event.at
    node.status, node.changed_seq = NodeStatus.OK, event.seq
    node.chosen_attempt, node.chosen_because = attempt.number, ChosenBecause.ONLY_ATTEMPT
