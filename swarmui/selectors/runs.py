"""Lists of runs, and what is counted over a run's nodes."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from swarmui.models import Node, Run
from verifier.lifecycle import FAILED, TERMINAL, NodeStatus, run_status

PAGE = 50
MAX_PAGE = 200


@dataclass(frozen=True)
class RunFilter:
    """`status`: of the run. `failed`: runs that hold a node ended with this status.
    `after`: the id of the last run of the page before."""

    status: NodeStatus | None = None
    failed: NodeStatus | None = None
    q: str = ""
    after: uuid.UUID | None = None
    limit: int = PAGE


def run_list(wanted: RunFilter) -> tuple[list[dict[str, Any]], uuid.UUID | None]:
    """Runs, newest first, and the cursor of the next page (None: this is the last)."""
    limit = max(1, min(wanted.limit, MAX_PAGE))
    runs = list(_filtered(wanted).select_related("owner").order_by("-id")[: limit + 1])
    page = runs[:limit]
    counts = status_counts([run.pk for run in page])
    roots = {root.run_id: root for root in Node.objects.filter(run__in=page, parent=None)}
    rows = [run_summary(run, roots[run.pk], counts.get(run.pk, {})) for run in page]
    return rows, page[-1].pk if len(runs) > limit else None


def newer_than(run_id: uuid.UUID, wanted: RunFilter) -> int:
    """How many runs of the filter have come since `run_id`."""
    return (
        _filtered(RunFilter(wanted.status, wanted.failed, wanted.q)).filter(pk__gt=run_id).count()
    )


def _filtered(wanted: RunFilter) -> QuerySet[Run]:
    runs = Run.objects.all()
    if wanted.status is not None:
        runs = _with_status(runs, wanted.status)
    if wanted.failed is not None:
        failing = Node.objects.filter(status=wanted.failed).values("run")
        runs = runs.filter(pk__in=failing)
    if wanted.q:
        runs = runs.filter(Q(goal__icontains=wanted.q) | Q(pk__in=_ids_like(wanted.q)))
    if wanted.after is not None:
        runs = runs.filter(pk__lt=wanted.after)
    return runs


def _with_status(runs: QuerySet[Run], status: NodeStatus) -> QuerySet[Run]:
    """Runs of this status, by the rule of `verifier.lifecycle.run_status`."""
    own = Q(nodes__parent=None, nodes__status=status)
    if status not in (NodeStatus.RUNNING, NodeStatus.WAITING):
        return runs.filter(own)
    moving = Node.objects.filter(
        run=OuterRef("pk"), status__in=(NodeStatus.RUNNING, NodeStatus.QUEUED)
    )
    if status == NodeStatus.WAITING:
        return runs.filter(own).exclude(Exists(moving))
    at_work = Q(nodes__parent=None, nodes__status=NodeStatus.WAITING) & Q(Exists(moving))
    return runs.filter(own | at_work)


def _ids_like(text: str) -> list[uuid.UUID]:
    try:
        return [uuid.UUID(text)]
    except ValueError:
        return []


def status_counts(run_ids: list[uuid.UUID]) -> dict[uuid.UUID, dict[str, int]]:
    """Per run, how many nodes stand at each status."""
    counts: dict[uuid.UUID, dict[str, int]] = {}
    rows = (
        Node.objects.filter(run_id__in=run_ids)
        .values_list("run_id", "status")
        .annotate(number=Count("pk"))
        .order_by()
    )
    for run_id, status, number in rows:
        counts.setdefault(run_id, {})[status] = number
    return counts


def run_summary(run: Run, root: Node, counts: dict[str, int]) -> dict[str, Any]:
    """A run as lists show it."""
    return {
        "id": str(run.pk),
        "goal": run.goal,
        "status": run_status(NodeStatus(root.status), map(NodeStatus, counts)),
        "seq": run.seq,
        "not_verified": True,
        "gate": None,
        "counts": counts,
        "node_count": sum(counts.values()),
        "failed": sum(number for status, number in counts.items() if status in FAILED),
        "budget": budget_of(run),
        "origin": run.origin,
        "owner": run.owner.get_username() if run.owner else None,
        "created_at": run.created_at,
        "started_at": root.started_at,
        "ended_at": root.ended_at,
    }


def budget_of(run: Run) -> dict[str, Any]:
    """What the run may spend, has promised and has spent. `spent` is null while some attempt's
    usage is unknown and nothing at all is known."""
    return {
        "usd": {
            "cap": _usd(run.usd_cap_micro),
            "reserved": 0,
            "spent": _known(_usd(run.usd_spent_micro), run.unpriced_attempts),
            "unpriced_attempts": run.unpriced_attempts,
        },
        "tokens": {
            "cap": run.token_cap,
            "reserved": run.tokens_reserved,
            "spent": _known(run.tokens_spent, run.unmetered_attempts),
            "unmetered_attempts": run.unmetered_attempts,
        },
    }


def _usd(micro: int | None) -> float | None:
    return None if micro is None else micro / 1_000_000


def _known(value: Any, unknown_parts: int) -> Any:
    return None if unknown_parts and not value else value


def is_over(run_id: uuid.UUID) -> bool:
    """Whether every node of the run has ended."""
    nodes = Node.objects.filter(run_id=run_id)
    return not nodes.exclude(status__in=sorted(TERMINAL)).exists()
