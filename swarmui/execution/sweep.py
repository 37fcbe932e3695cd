"""The database decides: what is due is a query, the broker only wakes workers.

Runs every second, in any number of processes at once; doing it twice changes nothing but the
number of wake-ups.
"""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from swarmui.dispatch import poke, publish, waiting_messages
from swarmui.models import Attempt, Delegation, Node, Outbox
from swarmui.models.node import DelegationState
from swarmui.services.reconcile import reap
from verifier.lifecycle import TERMINAL, AttemptState
from verifier.limits import SWEEP_S, UNCLAIMED_AFTER_S

BATCH = 500
TASK_OF_STATE = {AttemptState.QUEUED: "execute_attempt", AttemptState.RETURNED: "score_attempt"}


def tick(at_start: bool = False) -> None:
    """Settles orphans, publishes what was promised and not sent, wakes workers for due work.

    `at_start`: whatever was promised before is due now; the queue it stood in is gone.
    """
    reap()
    publish_outbox(timedelta(seconds=0 if at_start else 2 * SWEEP_S))
    wake_due(timedelta(seconds=0 if at_start else UNCLAIMED_AFTER_S))
    wake_delegations()


def publish_outbox(older_than: timedelta) -> None:
    """Publishes promises whose own process did not get to it."""
    for row in Outbox.objects.filter(created_at__lte=Now() - older_than)[:BATCH]:
        if not publish(row.task, row.argument):
            return


def wake_due(older_than: timedelta) -> None:
    """Wakes workers for attempts that nobody has claimed for a while. A long queue is no reason
    to make it longer: what already waits there counts."""
    cutoff = Now() - older_than
    due = Attempt.objects.filter(
        Q(poked_at__isnull=True) | Q(poked_at__lte=cutoff),
        state__in=TASK_OF_STATE,
        queued_at__lte=cutoff,
    )
    unclaimed = list(due.values_list("pk", "state")[:BATCH])
    room = BATCH - (waiting_messages() or 0) if unclaimed else 0
    for pk, state in unclaimed[: max(0, room)]:
        if not poke(TASK_OF_STATE[AttemptState(state)], pk):
            return
        Attempt.objects.filter(pk=pk).update(poked_at=Now())


def wake_delegations() -> None:
    """Wakes the closing of delegations whose last branch ended unnoticed."""
    on_their_way = Node.objects.filter(delegation=OuterRef("pk")).exclude(
        status__in=sorted(TERMINAL)
    )
    idle = Delegation.objects.filter(
        ~Exists(on_their_way),
        state=DelegationState.OPEN,
        branches__ended_at__lte=Now() - timedelta(seconds=2 * SWEEP_S),
    ).distinct()
    for pk in list(idle.values_list("pk", flat=True)[:BATCH]):
        poke("close_delegation", pk)
