"""Leases: who may write what an attempt does. All clocks here are the database's.

A lease is for liveness: when it has run out, the database has withdrawn the owner's right to
write. The fence is for safety: it grows at every claim and takeover, and every write names it.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from swarmui.dispatch import keep_promise
from swarmui.models import Attempt, Node
from swarmui.services import budgets
from swarmui.services.nodes import Change, transition_node
from verifier.framing import one_line
from verifier.ledger import NodeEvent
from verifier.lifecycle import LEASED, AttemptState, NodeStatus
from verifier.limits import STEP_DEADLINE_S

INVENTED = "seed"  # owns what was invented for a bench or a picture, and is worked on by nobody
NOTE_CHARS = 200  # what a worker says of itself, and so perhaps a model's words


@dataclass(frozen=True)
class Claim:
    """An attempt as its owner holds it. `wall_clock_s` is the time it may take in all; `refusal`
    says why it cannot be afforded."""

    attempt: Attempt
    node: Node
    owner: str
    fence: int
    wall_clock_s: float
    refusal: str | None = None


def claim_work(attempt_id: uuid.UUID, owner: str, wall_clock_s: float) -> Claim | None:
    """Takes a queued attempt and reserves its tokens. None: someone has it, or it is over; leave
    quietly. A claim that carries a `refusal` cannot be afforded and must be ended as `budget`."""
    with transaction.atomic():
        keep_promise("execute_attempt", attempt_id)
        if not _take(attempt_id, AttemptState.QUEUED, AttemptState.RUNNING, owner, wall_clock_s):
            return None
        attempt = _read(attempt_id)
        node = attempt.node
        row = transition_node(
            node, NodeStatus.RUNNING, NodeEvent.START, owner, Change(attempt=attempt.number)
        )
        if row is None:
            raise LookupError(f"node {node.pk} moved while its attempt was still queued")
        attempt.started_at = row.at
        attempt.save(update_fields=["started_at"])
        refusal = budgets.reserve(attempt)
    return Claim(attempt, node, owner, attempt.fence, float(wall_clock_s), refusal)


def claim_gates(attempt_id: uuid.UUID, owner: str) -> Claim | None:
    """Takes a returned attempt to run its gates."""
    with transaction.atomic():
        keep_promise("score_attempt", attempt_id)
        if not _take(
            attempt_id, AttemptState.RETURNED, AttemptState.SCORING, owner, STEP_DEADLINE_S
        ):
            return None
        Attempt.objects.filter(pk=attempt_id).update(gate_starts=F("gate_starts") + 1)
        attempt = _read(attempt_id)
    return Claim(attempt, attempt.node, owner, attempt.fence, float(STEP_DEADLINE_S))


def _take(
    attempt_id: uuid.UUID, before: AttemptState, after: AttemptState, owner: str, seconds: float
) -> bool:
    taken = Attempt.objects.filter(pk=attempt_id, state=before).update(
        state=after,
        owner=owner,
        fence=F("fence") + 1,
        lease_until=Now() + timedelta(seconds=settings.LEASE_S),
        heartbeat_at=Now(),
        hard_deadline=Now() + timedelta(seconds=seconds),
    )
    return taken == 1


def _read(attempt_id: uuid.UUID) -> Attempt:
    return Attempt.objects.select_related("node", "node__run").get(pk=attempt_id)


def heartbeat(claim: Claim, note: str = "") -> bool:
    """Renews the lease. False: it is lost; stop, kill what was started, write nothing."""
    return bool(
        _owned(claim).update(
            lease_until=Now() + timedelta(seconds=settings.LEASE_S),
            heartbeat_at=Now(),
            heartbeat_note=one_line(note, NOTE_CHARS),
        )
    )


def held(claim: Claim) -> Attempt | None:
    """The claim's attempt, locked, if the lease still holds: the first statement of every write
    of an owner. None: refused."""
    return _owned(claim).select_for_update(no_key=True).first()


def _owned(claim: Claim) -> QuerySet[Attempt]:
    return Attempt.objects.filter(
        pk=claim.attempt.pk, fence=claim.fence, state__in=LEASED, lease_until__gt=Now()
    )


def queue_attempt(node: Node, like: Attempt | None, brief: str, **columns: object) -> Attempt:
    """A new attempt of a node, queued. `like` is the one before it, if any."""
    attempt = Attempt(
        node=node,
        number=1 if like is None else like.number + 1,
        brief=brief,
        queued_at=timezone.now(),
        **columns,
    )
    attempt.save(force_insert=True)
    return attempt


def release(claim: Claim) -> None:
    """Gives a lease back before its time, by an owner that was told to stop: the reaper settles
    the attempt at its next look, and does not count it among the deaths."""
    _owned(claim).update(lease_until=Now(), gave_back=True)


def release_all() -> int:
    """Gives every lease back: for the one process that may work on this database, at its start,
    when it knows that every owner before it is dead. Returns how many."""
    leased = Attempt.objects.filter(state__in=LEASED).exclude(owner=INVENTED)
    return leased.update(lease_until=Now())
