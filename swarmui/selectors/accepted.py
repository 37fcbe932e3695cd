"""A run as it was accepted: what its start is answered with, the first time and every time.

A caller that repeats its start, because it did not hear the answer, gets the same answer; what
the run did since then is asked of the run itself.
"""

from typing import Any

from django.db.models import Count, Max

from swarmui.models import Node, Run
from swarmui.selectors.runs import run_summary
from verifier.lifecycle import NodeStatus


def accepted_document(run: Run) -> dict[str, Any]:
    """The run document at the last event of the transaction that started the run.

    Built of what never changes afterwards: the nodes spawned with the run and its caps.
    """
    root = Node.objects.get(run=run, parent=None)
    planted = Node.objects.filter(run=run, retry_of=None, parent__in=[root]).aggregate(
        number=Count("pk"), seq=Max("spawn_seq")
    )
    first = Run.objects.select_related("owner").get(pk=run.pk)
    first.seq = planted["seq"] or root.spawn_seq
    first.tokens_reserved = first.tokens_spent = first.usd_spent_micro = 0
    first.unpriced_attempts = first.unmetered_attempts = 0
    delegated = planted["number"] > 0
    root.status = NodeStatus.WAITING if delegated else NodeStatus.QUEUED
    root.started_at = root.started_at if delegated else None
    root.ended_at = None
    counts = {str(NodeStatus.WAITING): 1, str(NodeStatus.QUEUED): planted["number"]}
    return run_summary(first, root, counts if delegated else {str(NodeStatus.QUEUED): 1})
