"""A run and a node as documents: the one shape that API, command line, export and pages share."""

import uuid
from typing import Any

from django.db.models import Prefetch, QuerySet

from swarmui.models import Attempt, LedgerEvent, Node, Run, ScorerResult
from swarmui.selectors.runs import run_summary, status_counts
from verifier.lifecycle import NodeStatus
from verifier.marks import Mark
from verifier.mismatch import receipt_mismatch
from verifier.outcome import Deliverable
from verifier.receipt import SideEffects
from verifier.verdicts import ScorerOutcome

EVENTS = 200
ENTRIES = 1_000  # of one attempt's trajectory


def run_document(run_id: uuid.UUID, include_nodes: bool = True) -> dict[str, Any]:
    """The run document. Raises `Run.DoesNotExist`."""
    run = Run.objects.select_related("owner").get(pk=run_id)
    root = Node.objects.get(run=run, parent=None)
    document = {
        **run_summary(run, root, status_counts([run.pk]).get(run.pk, {})),
        "constitution": None,
        "claims": [],
        "workspace": {"mode": run.workspace_mode, "source": run.workspace_source or None},
        "reason": root.reason,
    }
    if include_nodes:
        nodes = _with_attempts().filter(run=run).order_by("spawn_seq")
        document["nodes"] = [_node_part(node) for node in nodes]
    return document


def node_document(node_id: uuid.UUID) -> dict[str, Any]:
    """One node with everything about it. Raises `Node.DoesNotExist`."""
    node = _with_attempts().get(pk=node_id)
    document = _node_part(node, trajectory=True)
    document["events"] = [
        _event(event)
        for event in LedgerEvent.objects.filter(subject_id=node.pk).order_by("seq")[:EVENTS]
    ]
    made_by = next(
        (e for e in reversed(document["events"]) if e["payload"].get("status") == node.status), None
    )
    document["status_seq"] = made_by["seq"] if made_by else None
    return document


def _with_attempts() -> QuerySet[Node]:
    results = Prefetch("scorer_results", ScorerResult.objects.order_by("index"))
    attempts = (
        Attempt.objects.select_related("receipt").prefetch_related(results).order_by("number")
    )
    return Node.objects.select_related("replaced_by").prefetch_related(
        Prefetch("attempts", attempts)
    )


def _node_part(node: Node, trajectory: bool = False) -> dict[str, Any]:
    replaced_by = getattr(node, "replaced_by", None)
    work = node.orders if node.work else None
    return {
        "id": str(node.pk),
        "run": str(node.run_id),
        "parent": _text(node.parent_id),
        "retry_of": _text(node.retry_of_id),
        "replaced_by": _text(replaced_by.pk if replaced_by else None),
        "kind": node.kind,
        "depth": node.depth,
        "branch": node.branch,
        "role": node.role,
        "topic": node.topic,
        "subtopic": node.subtopic,
        "title": node.title,
        "task_brief": node.task_brief,
        "status": node.status,
        "reason": node.reason,
        "marks": node.marks,
        "chosen_attempt": node.chosen_attempt,
        "chosen_because": node.chosen_because or None,
        "tokens": node.tokens,
        "worker": work.worker.model_dump(mode="json") if work else None,
        "tools": list(work.tools) if work else [],
        "expected_output": (
            work.expected_output.model_dump(mode="json", by_alias=True, exclude_none=True)
            if work
            else None
        ),
        "gates": [spec.model_dump(mode="json") for spec in work.scorers] if work else [],
        "created_at": node.created_at,
        "started_at": node.started_at,
        "ended_at": node.ended_at,
        "attempts": [_attempt(node, one, trajectory) for one in node.attempts.all()],
    }


def _attempt(node: Node, attempt: Attempt, trajectory: bool) -> dict[str, Any]:
    receipt = getattr(attempt, "receipt", None)
    document = {
        "id": str(attempt.pk),
        "number": attempt.number,
        "state": attempt.state,
        "outcome": attempt.outcome,
        "worker": attempt.worker_kind,
        "model": attempt.model or None,
        "family": attempt.family or None,
        "isolated": attempt.isolated,
        "brief": attempt.brief,
        "output": attempt.output,
        "notes": attempt.notes or None,
        "error": attempt.error or None,
        "stop_reason": attempt.stop_reason or None,
        "receipt": receipt.body if receipt else None,
        "files_touched": attempt.files_touched,
        "files_named": attempt.files_named,
        "mismatch": _mismatch(node, attempt, receipt),
        "scorers": scorers_of(attempt),
        "tokens": attempt.tokens_used,
        "cost_usd": None if attempt.cost_micro_usd is None else attempt.cost_micro_usd / 1_000_000,
        "heartbeat_note": attempt.heartbeat_note or None,
        "heartbeat_at": attempt.heartbeat_at,
        "queued_at": attempt.queued_at,
        "started_at": attempt.started_at,
        "returned_at": attempt.returned_at,
        "ended_at": attempt.ended_at,
    }
    if trajectory:
        document["trajectory"] = [
            {
                "index": entry.index,
                "kind": entry.kind,
                "tool": entry.tool or None,
                "call_id": entry.call_id or None,
                "payload": entry.payload,
                "at": entry.at,
            }
            for entry in attempt.trajectory.order_by("index")[:ENTRIES]
        ]
        document["trajectory_total"] = attempt.trajectory.count()
    return document


def scorers_of(attempt: Attempt) -> dict[str, Any] | None:
    """What the gates said; None while they have not answered: not the same as a pass."""
    results = list(attempt.scorer_results.all())
    if not results:
        return None
    failures = [one for one in results if one.outcome == ScorerOutcome.FAILED]
    skipped = [one for one in results if one.outcome == ScorerOutcome.NOT_EVALUATED]
    return {
        "passed": attempt.outcome == NodeStatus.OK,
        "ran": len(results) - len(skipped),
        "failures": [
            {"scorer": one.kind, "reason": one.reason, "retryable": one.retryable}
            for one in failures
        ],
        "notEvaluated": [{"scorer": one.kind, "reason": one.reason} for one in skipped],
        "results": [
            {
                "index": one.index,
                "kind": one.kind,
                "spec": one.spec,
                "outcome": one.outcome,
                "observed": one.observed,
                "reason": one.reason,
                "retryable": one.retryable,
                "broke": one.broke,
                "durationMs": one.duration_ms,
            }
            for one in results
        ],
    }


def _mismatch(node: Node, attempt: Attempt, receipt: Any) -> str | None:
    """The sentence behind a `receipt_mismatch` mark."""
    if Mark.RECEIPT_MISMATCH not in node.marks or attempt.number != node.chosen_attempt:
        return None
    counts = receipt.body["sideEffects"] if receipt else None
    return receipt_mismatch(
        Deliverable(output=attempt.output, notes=attempt.notes or None),
        None if counts is None else SideEffects.model_validate(counts),
        receipt.body["filesTouched"] if receipt else None,
    )


def events_after(run_id: uuid.UUID, after: int, limit: int = EVENTS) -> dict[str, Any]:
    """A run's ledger after a seq, oldest first."""
    rows = LedgerEvent.objects.filter(run_id=run_id, seq__gt=after).order_by("seq")[:limit]
    seq = Run.objects.values_list("seq", flat=True).get(pk=run_id)
    return {"seq": seq, "events": [_event(event) for event in rows]}


def _event(event: LedgerEvent) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "subject": event.subject,
        "subject_id": str(event.subject_id),
        "event": event.event,
        "attempt": event.attempt,
        "payload": event.payload,
        "actor": event.actor,
        "at": event.at,
        "hash": event.hash,
    }


def _text(value: uuid.UUID | None) -> str | None:
    return None if value is None else str(value)
