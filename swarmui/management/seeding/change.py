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
        _end(open_attempts, events, now)
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


def _end(attempts: list[Attempt], events: list[Event], now: datetime) -> None:
    ended, nodes = [attempt.pk for attempt in attempts], [attempt.node for attempt in attempts]
    Attempt.objects.filter(pk__in=ended).update(
        state=AttemptState.ENDED,
        outcome=NodeStatus.OK,
        owner="",
        lease_until=None,
        returned_at=now,
        ended_at=now,
    )
    Node.objects.filter(attempts__in=ended).update(
        status=NodeStatus.OK, chosen_because=ChosenBecause.ONLY_ATTEMPT, ended_at=now
    )
    for attempt, event in zip(attempts, events, strict=True):
        attempt.node.changed_seq, attempt.node.chosen_attempt = event.seq, attempt.number
    Node.objects.bulk_update(nodes, ["changed_seq", "chosen_attempt"], BATCH)
