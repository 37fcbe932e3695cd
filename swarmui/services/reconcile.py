"""Orphans: attempts whose owner let the lease run out, or outlived the hard deadline.

The lease has withdrawn the owner's right to write, so nothing is guessed from age. Any number of
reapers may run at once; doing it twice changes nothing.
"""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from swarmui.dispatch import dispatch
from swarmui.models import Attempt, TrajectoryEntry
from swarmui.models import Receipt as ReceiptRow
from swarmui.services import settlement
from verifier.boundary.recount import counters_of
from verifier.ledger import NodeEvent
from verifier.lifecycle import LEASED, AttemptState, NodeStatus, WorkerKind
from verifier.limits import MAX_STARTS
from verifier.outcome import FailureKind, WorkerOutcome
from verifier.retry import leaves_no_effect, orphan_fate
from verifier.scorers import GateReport, ScorerOutcome, ScorerResult

ACTOR = "reaper"
BATCH = 50
DEADLINE_GRACE = timedelta(seconds=30)  # its owner ends it at the deadline; this is for a hung one
NO_LEASE = "its worker let the lease run out"
TOLD_TO_STOP = "its worker was told to stop"


def reap() -> int:
    """Settles every orphan found now. Returns how many."""
    settled = 0
    while ids := list(_orphans().values_list("pk", flat=True)[:BATCH]):
        done = sum(1 for attempt_id in ids if _settle_one(attempt_id))
        settled += done
        if not done:
            break
    return settled


def _orphans() -> QuerySet[Attempt]:
    return (
        Attempt.objects.filter(state__in=LEASED)
        .filter(Q(lease_until__lte=Now()) | Q(hard_deadline__lte=Now() - DEADLINE_GRACE))
        .order_by("lease_until")
    )


def _settle_one(attempt_id: uuid.UUID) -> bool:
    with transaction.atomic():
        attempt = (
            _orphans()
            .select_for_update(skip_locked=True, no_key=True, of=("self",))
            .select_related("node", "node__run")
            .filter(pk=attempt_id)
            .first()
        )
        if attempt is None:
            return False
        attempt.fence += 1
        if attempt.state == AttemptState.SCORING:
            _give_back_gates(attempt)
        else:
            _settle_work(attempt)
    return True


def _give_back_gates(attempt: Attempt) -> None:
    """A gate run may be repeated: it only reads. Repeated in vain, it is a broken check."""
    attempt.state = AttemptState.RETURNED
    attempt.owner, attempt.lease_until = "", None
    attempt.save()
    if attempt.gate_starts < MAX_STARTS:
        dispatch("score_attempt", attempt.pk)
        return
    reason = f"the gates were begun {attempt.gate_starts} times and never finished"
    settlement.settle_gates(attempt, _broken_gates(reason), (), ACTOR)


def _broken_gates(reason: str) -> GateReport:
    broken = ScorerResult(
        index=0,
        kind="gates",
        spec={},
        outcome=ScorerOutcome.FAILED,
        observed=None,
        reason=reason,
        retryable=False,
        broke=True,
        duration_ms=0,
    )
    return GateReport((broken,))


def _settle_work(attempt: Attempt) -> None:
    tools = set(
        TrajectoryEntry.objects.filter(attempt=attempt).values_list("tool", flat=True).distinct()
    )
    _write_receipt(attempt)
    if attempt.lease_until is not None and _is_past_deadline(attempt):
        attempt.error = "it ran past its hard deadline and did not stop"
        settlement.settle_failure(attempt, FailureKind.TIMEOUT, ACTOR)
        return
    deaths = attempt.node.attempts.filter(started_at__isnull=False, gave_back=False).count()
    fate = orphan_fate(deaths, leaves_no_effect(tools))
    why = TOLD_TO_STOP if attempt.gave_back else NO_LEASE
    if fate == "requeue":
        attempt.error = why
        settlement.end_attempt(attempt, NodeStatus.LOST)
        settlement.requeue(attempt, NodeStatus.LOST, why, ACTOR)
        return
    if fate == "lost":
        attempt.error = f"{why}, {deaths} times"
        status = NodeStatus.LOST
    else:
        attempt.error = f"{why}; it may have had effects, so it is not begun again"
        status = NodeStatus.CANCELLED
    settlement.end_attempt(attempt, status)
    settlement.end_node(attempt.node, NodeEvent.RECONCILE, ACTOR, attempt, attempt.error)


def _is_past_deadline(attempt: Attempt) -> bool:
    return Attempt.objects.filter(pk=attempt.pk, hard_deadline__lte=Now() - DEADLINE_GRACE).exists()


def _write_receipt(attempt: Attempt) -> None:
    """What is known of an attempt that was cut off: the counts its trajectory proves."""
    if ReceiptRow.objects.filter(pk=attempt.pk).exists():
        return
    if attempt.worker_kind == WorkerKind.COMMAND:
        outcome = WorkerOutcome(unavailable=("sideEffects: a program exposes no tool counters",))
    else:
        rows = TrajectoryEntry.objects.filter(attempt=attempt).order_by("index")
        outcome = WorkerOutcome(
            side_effects=counters_of((row.kind, row.tool, row.payload) for row in rows),
            unavailable=("tokens: the attempt was cut off before it reported any",),
        )
    settlement.write_receipt(attempt, outcome)
