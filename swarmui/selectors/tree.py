"""The live tree as compact rows, from the stored rows or folded from the ledger at any seq."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from swarmui.models import Attempt, LedgerEvent, Node, Run
from verifier.ledger import FoldedNode, Tree, replay

COLUMNS = (
    "id",
    "parent",
    "retry_of",
    "kind",
    "depth",
    "branch",
    "role",
    "title",
    "status",
    "reason",
    "tokens",
    "attempts",
    "marks",
    "spawned",
)
Row = list[Any]
_NODE_FIELDS = (
    "id",
    "parent_id",
    "retry_of_id",
    "kind",
    "depth",
    "branch",
    "role",
    "title",
    "status",
    "reason",
    "tokens",
    "chosen_attempt",
    "marks",
    "created_at",
)


def skeleton(run_id: uuid.UUID) -> dict[str, Any]:
    """The whole tree now: `{seq, columns, rows}`, parents before children. `seq` is read first,
    so that rows may be newer than it says, never older."""
    seq = Run.objects.values_list("seq", flat=True).get(pk=run_id)
    return {"seq": seq, "columns": list(COLUMNS), "rows": _rows(run_id, 0)}


def rows_after(run_id: uuid.UUID, after: int) -> dict[str, Any]:
    """The rows of nodes that changed after seq `after`, and the seq they are true for."""
    seq = Run.objects.values_list("seq", flat=True).get(pk=run_id)
    rows = _rows(run_id, after) if seq > after else []
    return {"seq": seq, "columns": list(COLUMNS), "rows": rows}


def skeleton_at(run_id: uuid.UUID, at: int) -> dict[str, Any]:
    """The tree as it was when the run stood at seq `at`, folded from the ledger."""
    tree = folded(run_id, at)
    rows = [row_of_folded(node) for node in tree.nodes.values()]
    return {"seq": tree.seq, "columns": list(COLUMNS), "rows": rows}


def folded(run_id: uuid.UUID, at: int | None = None) -> Tree:
    """The run's ledger, folded up to and including seq `at`."""
    events = LedgerEvent.objects.filter(run_id=run_id).order_by("seq")
    if at is not None:
        events = events.filter(seq__lte=at)
    return replay(event.fact() for event in events.iterator(chunk_size=2_000))


def _rows(run_id: uuid.UUID, after: int) -> list[Row]:
    nodes = Node.objects.filter(run_id=run_id, changed_seq__gt=after).order_by("spawn_seq")
    attempts = Attempt.objects.filter(node__run_id=run_id, node__changed_seq__gt=after)
    segments = _segments(attempts)
    return [_row(values, segments) for values in nodes.values_list(*_NODE_FIELDS)]


Segment = tuple[int, datetime | None, datetime | None, str | None]


def _segments(attempts: Iterable[Attempt]) -> dict[uuid.UUID, list[Segment]]:
    by_node: dict[uuid.UUID, list[Segment]] = defaultdict(list)
    fields = ("node_id", "number", "started_at", "ended_at", "outcome")
    rows = attempts.order_by("node_id", "number").values_list(*fields)  # type: ignore[attr-defined]
    for node_id, number, started, ended, outcome in rows:
        if started is not None or ended is not None:
            by_node[node_id].append((number, started, ended, outcome))
    return by_node


def _row(values: Sequence[Any], segments: dict[uuid.UUID, list[Segment]]) -> Row:
    pk, parent, retry_of, *facts, chosen, marks, created = values
    attempts = _attempts(segments.get(pk, ()), chosen)
    return [str(pk), _text(parent), _text(retry_of), *facts, attempts, marks, _ms(created)]


def row_of_folded(node: FoldedNode) -> Row:
    """A folded node as the same row that the stored node gives."""
    segments = [
        (one.number, one.started, one.ended, one.outcome)
        for one in sorted(node.attempts.values(), key=lambda one: one.number)
    ]
    return [
        node.id,
        node.parent,
        node.retry_of,
        node.kind,
        node.depth,
        node.branch,
        node.role,
        node.title,
        node.status,
        node.reason,
        node.tokens,
        _attempts(segments, node.chosen_attempt),
        list(node.marks),
        _ms(node.spawned),
    ]


def _attempts(segments: Iterable[Segment], chosen: int | None) -> list[list[Any]]:
    return [
        [number, _ms(started), _ms(ended), outcome, int(number == chosen)]
        for number, started, ended, outcome in segments
    ]


def _text(value: uuid.UUID | None) -> str | None:
    return None if value is None else str(value)


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
