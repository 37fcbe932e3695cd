"""Rows of invented attempts, told by the folded events."""

from datetime import timedelta
from typing import Any

from swarmui.management.seeding.lifetimes import Draft
from swarmui.management.seeding.words import CLAIMED_WORK, GOAL, OUTPUTS, REASONS, TASKS
from swarmui.models import Attempt, Receipt, ScorerResult
from swarmui.services.leases import INVENTED
from verifier.ledger import FoldedNode
from verifier.lifecycle import AttemptState, NodeStatus, WorkerKind
from verifier.marks import Mark
from verifier.receipt import Receipt as ReceiptBody
from verifier.receipt import SideEffects, Tokens, ToolCounters
from verifier.verdicts import ScorerOutcome

MODEL = "recorded:invented"
TOKEN_CAP = 80_000
#: Nobody works on invented attempts: a lease that never runs out keeps the reaper off them.
FAR_AWAY = timedelta(days=36_500)
GATES: tuple[dict[str, Any], ...] = (
    {"kind": "non_empty"},
    {"kind": "json", "requiredKeys": ["title", "body"]},
)


def brief_of(draft: Draft) -> str:
    """What the node was told."""
    if draft.parent is None:
        return GOAL
    return _about(draft, TASKS[draft.id.int % len(TASKS)])


def orders_of(draft: Draft) -> dict[str, Any]:
    """The node's work as it is stored; nothing for a node that only delegates."""
    if draft.delegates:
        return {}
    is_program = draft.worker is WorkerKind.COMMAND
    argv = ["python", "-m", "unittest", f"tests.{_slug(draft).replace('-', '_')}"]
    return {
        "worker": {"kind": "command", "argv": argv} if is_program else {"kind": "model"},
        "model": None if is_program else MODEL,
        "tools": ["filesystem"],
        "scorers": [dict(gate) for gate in GATES],
        "expected_output": {"shape": "text"},
        "tokens": TOKEN_CAP,
        "wall_clock_s": 3_600,
        "contract_retries": 1,
        "attended": True,
    }


def attempt_row(draft: Draft, folded: FoldedNode, number: int) -> Attempt:
    """One attempt: ended as its events say, or still held by a lease."""
    told = folded.attempts[number]
    assert told.started is not None, "an invented attempt begins before it ends"
    is_running = told.outcome is None
    is_chosen = number == folded.chosen_attempt
    returned = told.outcome in {NodeStatus.OK, NodeStatus.CONTRACT_FAILED}
    return Attempt(
        node_id=draft.id,
        number=number,
        state=AttemptState.RUNNING if is_running else AttemptState.ENDED,
        outcome=told.outcome,  # type: ignore[misc]  # the column may be null
        worker_kind=draft.worker,
        model="" if draft.worker is WorkerKind.COMMAND else MODEL,
        brief=brief_of(draft),
        output=_output(draft, folded) if returned else None,
        error="" if returned or is_running else REASONS.get(NodeStatus(str(told.outcome)), ""),
        isolated=True if draft.worker is WorkerKind.COMMAND else None,
        owner=INVENTED if is_running else "",
        lease_until=told.started + FAR_AWAY if is_running else None,
        heartbeat_at=told.started,
        hard_deadline=told.started + FAR_AWAY,
        fence=1,
        token_cap=TOKEN_CAP,
        tokens_used=folded.tokens if is_chosen else None,
        queued_at=told.started,
        started_at=told.started,
        returned_at=told.ended,
        ended_at=told.ended,
    )


def receipt_row(draft: Draft, folded: FoldedNode, attempt: Attempt) -> Receipt:
    """What the attempt's calls did; unknown for a program."""
    effects = None if draft.worker is WorkerKind.COMMAND else _effects(draft, folded)
    started, ended = attempt.started_at, attempt.ended_at
    took = int((ended - started).total_seconds() * 1000) if started and ended else None
    body = ReceiptBody(
        nodeId=str(draft.id),
        kind=draft.kind,
        status=NodeStatus(str(attempt.outcome)),
        sideEffects=effects,
        filesTouched=None if effects is None else effects.filesChanged,
        tokens=Tokens(used=attempt.tokens_used, cap=TOKEN_CAP),
        durationMs=took,
        unavailable=()
        if effects is not None
        else ("sideEffects: a program exposes no tool counters",),
    )
    return Receipt(attempt=attempt, body=body.model_dump(mode="json"))


def scorer_rows(attempt: Attempt) -> list[ScorerResult]:
    """Gate answers of an attempt whose worker returned."""
    if attempt.outcome not in {NodeStatus.OK, NodeStatus.CONTRACT_FAILED}:
        return []
    missed = attempt.outcome == NodeStatus.CONTRACT_FAILED
    answers = ((True, "1 line"), (not missed, None if missed else "title, body"))
    return [
        ScorerResult(
            attempt=attempt,
            index=index,
            kind=gate["kind"],
            spec=dict(gate),
            outcome=ScorerOutcome.PASSED if passed else ScorerOutcome.FAILED,
            observed=observed,
            reason=None if passed else "missing required keys: body",
            retryable=True,
            duration_ms=1,
        )
        for index, (gate, (passed, observed)) in enumerate(zip(GATES, answers, strict=True))
    ]


def _effects(draft: Draft, folded: FoldedNode) -> SideEffects:
    counters = ToolCounters()
    for _ in range(1 + draft.id.int % 6):
        counters.succeeded("filesystem__read_file")
    if Mark.RECEIPT_MISMATCH not in folded.marks and draft.id.int % 3:
        counters.succeeded("filesystem__write_file")
    if folded.status == NodeStatus.TOOL_ERROR:
        counters.error()
    return counters.snapshot()


def _output(draft: Draft, folded: FoldedNode) -> str:
    if Mark.RECEIPT_MISMATCH in folded.marks:
        return _about(draft, CLAIMED_WORK)
    return _about(draft, OUTPUTS[draft.id.int % len(OUTPUTS)])


def _about(draft: Draft, text: str) -> str:
    return text.format(subject=draft.subtopic or draft.topic, slug=_slug(draft))


def _slug(draft: Draft) -> str:
    return (draft.subtopic or draft.topic).lower().replace(" ", "-")
