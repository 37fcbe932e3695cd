"""The only writer of the ledger."""

import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from swarmui.live.notify import wake_run
from swarmui.models import LedgerEvent, Run
from verifier.ledger import Event, chain_hash


def append(
    run_id: uuid.UUID,
    *,
    subject: str,
    subject_id: uuid.UUID,
    event: str,
    payload: Mapping[str, Any],
    actor: str,
    attempt: int | None = None,
) -> LedgerEvent:
    """Appends one event to a run's stream, inside the caller's transaction.

    The run's row is locked until that transaction ends: `seq` has no gap, and commits become
    visible in its order, so that a reader who asks "after N" never misses a late one. Take node
    locks before this one. Viewers are woken after commit.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a ledger event and what it tells of belong in one transaction")
    run = Run.objects.select_for_update(no_key=True).only("seq", "chain_head").get(pk=run_id)
    fact = Event(
        seq=run.seq + 1,
        subject=subject,
        subject_id=str(subject_id),
        event=event,
        attempt=attempt,
        payload=dict(payload),
        actor=actor,
        at=timezone.now(),
    )
    row = LedgerEvent.objects.create(
        run_id=run_id,
        seq=fact.seq,
        subject=subject,
        subject_id=subject_id,
        event=event,
        attempt=attempt,
        payload=fact.payload,
        actor=actor,
        at=fact.at,
        prev_hash=run.chain_head,
        hash=chain_hash(run.chain_head, str(run_id), fact),
    )
    Run.objects.filter(pk=run_id).update(seq=row.seq, chain_head=row.hash)
    transaction.on_commit(partial(wake_run, run_id, row.seq), robust=True)
    return row
