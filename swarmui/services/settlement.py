"""How an attempt ends and what follows from it: another attempt, another node, or the node's end.

The rules are `verifier.retry`'s; here they are applied to rows, inside the caller's transaction.
"""

from django.utils import timezone

from swarmui.dispatch import dispatch
from swarmui.models import Attempt, LedgerEvent, Node, Receipt, ScorerResult
from swarmui.services import budgets
from swarmui.services.delegations import branch_ended
from swarmui.services.evidence import (
    contender_of,
    contract_facts,
    history_of,
    marks_on,
    retries_left,
    tokens_of,
)
from swarmui.services.leases import queue_attempt
from swarmui.services.nodes import Change, Place, spawn_node, transition_node
from verifier.brief import first_brief, retry_brief
from verifier.framing import db_json, db_text
from verifier.ledger import NodeEvent
from verifier.lifecycle import AttemptState, NodeKind, NodeStatus, WorkerKind
from verifier.limits import REASON_CHARS
from verifier.marks import Mark
from verifier.outcome import FailureKind, WorkerOutcome
from verifier.receipt import Receipt as ReceiptBody
from verifier.receipt import Tokens
from verifier.retry import (
    STATUS_OF_FAILURE,
    RetryAction,
    after_failure,
    choose_among,
    contract_retry_refusal,
)
from verifier.scorers import GateReport
from verifier.work import model_name


def settle_gates(
    attempt: Attempt, report: GateReport, conflicts: tuple[str, ...], actor: str
) -> None:
    """Ends an attempt whose worker returned, by what its gates say."""
    node = attempt.node
    _store_results(attempt, report)
    if report.passed:
        end_attempt(attempt, NodeStatus.OK)
        marks = (Mark.WORKSPACE_CONFLICT,) if conflicts else ()
        end_node(node, NodeEvent.RESULT, actor, attempt, extra_marks=marks)
        return
    end_attempt(attempt, NodeStatus.CONTRACT_FAILED)
    reason = _failures_in_words(report)
    refusal = contract_retry_refusal(contract_facts(attempt, report))
    if refusal is None:
        number = attempt.number + 1
        of = attempt.number + retries_left(attempt)
        brief = retry_brief(node.task_brief, report.failures, number, of)
        _queue_again(attempt, brief, NodeStatus.CONTRACT_FAILED, reason, actor)
        return
    end_node(node, NodeEvent.RESULT, actor, attempt, f"{reason} (not tried again: {refusal})")


def settle_failure(attempt: Attempt, failure: FailureKind, actor: str) -> None:
    """Ends an attempt whose worker did not return, by the retry table."""
    node = attempt.node
    status = STATUS_OF_FAILURE[failure]
    reason = db_text(attempt.error, REASON_CHARS) or status.value
    history = history_of(attempt)
    end_attempt(attempt, status)
    match after_failure(failure, history):
        case RetryAction.SAME_NODE:
            _queue_again(attempt, attempt.brief, status, reason, actor)
        case RetryAction.BACKUP_MODEL:
            _queue_again(attempt, attempt.brief, status, reason, actor, backup=True)
        case RetryAction.NEW_NODE:
            _replace(attempt, reason, actor)
        case RetryAction.NONE:
            end_node(node, NodeEvent.RESULT, actor, attempt, reason)


def end_attempt(attempt: Attempt, outcome: NodeStatus) -> None:
    """The attempt is over: lease cleared, receipt's status set. `conclude` follows."""
    attempt.state = AttemptState.ENDED
    attempt.outcome = outcome
    attempt.owner, attempt.lease_until = "", None
    attempt.ended_at = timezone.now()
    attempt.save()
    receipt = Receipt.objects.filter(pk=attempt.pk).first()
    if receipt is not None:
        receipt.body = {**receipt.body, "status": outcome.value}
        receipt.save(update_fields=["body"])


def end_node(
    node: Node,
    event: NodeEvent,
    actor: str,
    last: Attempt,
    reason: str = "",
    extra_marks: tuple[Mark, ...] = (),
) -> None:
    """The node is over: the attempt that stands is chosen, and its status is the node's."""
    attempts = list(node.attempts.select_related("receipt").order_by("number"))
    number, rule = choose_among([contender_of(one) for one in attempts])
    chosen = next(one for one in attempts if one.number == number)
    change = Change(
        attempt=last.number,
        outcome=NodeStatus(str(last.outcome)),
        reason=reason,
        tokens=tokens_of(attempts),
        marks=(*marks_on(chosen), *extra_marks),
        chosen_attempt=number,
        chosen_because=rule,
    )
    conclude(last, transition_node(node, NodeStatus(str(chosen.outcome)), event, actor, change))
    branch_ended(node)


def conclude(attempt: Attempt, event: LedgerEvent | None) -> None:
    """The attempt ended when its event says so: rows and ledger tell the same time. Its budget is
    settled here, after the node's move: the run is always locked last."""
    if event is None:
        raise LookupError(f"node {attempt.node_id} moved while its attempt was still running")
    attempt.ended_at = event.at
    attempt.save(update_fields=["ended_at"])
    budgets.settle(attempt)


def write_receipt(attempt: Attempt, outcome: WorkerOutcome) -> None:
    """The attempt's receipt, as measured; its status follows when the attempt ends."""
    started = attempt.started_at
    duration = None if started is None else int((timezone.now() - started).total_seconds() * 1000)
    body = ReceiptBody(
        nodeId=str(attempt.node_id),
        kind=NodeKind(attempt.node.kind),
        status=NodeStatus.RUNNING,
        sideEffects=outcome.side_effects,
        filesTouched=attempt.files_touched,
        tokens=Tokens(used=outcome.tokens_used, cap=attempt.token_cap),
        durationMs=duration,
        unavailable=outcome.unavailable,
    )
    Receipt.objects.create(attempt=attempt, body=body.model_dump(mode="json"))


def _queue_again(
    attempt: Attempt,
    brief: str,
    outcome: NodeStatus,
    reason: str,
    actor: str,
    backup: bool = False,
) -> None:
    node = attempt.node
    uses_backup = backup or attempt.uses_backup
    change = Change(
        attempt=attempt.number,
        outcome=outcome,
        reason=reason,
        tokens=tokens_of(list(node.attempts.all())),
    )
    conclude(attempt, transition_node(node, NodeStatus.QUEUED, NodeEvent.RETRY, actor, change))
    work = node.orders
    again = queue_attempt(
        node,
        attempt,
        brief,
        worker_kind=attempt.worker_kind,
        uses_backup=uses_backup,
        model=model_name(work, uses_backup) if work.worker_kind == WorkerKind.MODEL else "",
    )
    dispatch("execute_attempt", again.pk)


def requeue(attempt: Attempt, outcome: NodeStatus, reason: str, actor: str) -> None:
    """Another attempt with the same brief, for one that was cut off."""
    _queue_again(attempt, attempt.brief, outcome, reason, actor)


def _replace(attempt: Attempt, reason: str, actor: str) -> None:
    """The crashed node ends; another one takes its place and points to it."""
    node = attempt.node
    names = set(Place.__dataclass_fields__) - {"retry_of"}
    place = Place(retry_of=node, **{name: getattr(node, name) for name in names})
    change = Change(
        attempt=attempt.number,
        outcome=NodeStatus.TOOL_ERROR,
        reason=reason,
        tokens=tokens_of(list(node.attempts.all())),
        marks=marks_on(attempt),
        chosen_attempt=attempt.number,
        chosen_because="last_attempt" if attempt.number > 1 else "only_attempt",
    )
    conclude(attempt, transition_node(node, NodeStatus.TOOL_ERROR, NodeEvent.RESULT, actor, change))
    replacement = spawn_node(node.run, place, actor)
    again = queue_attempt(
        replacement,
        None,
        first_brief(node.task_brief),
        worker_kind=attempt.worker_kind,
        model=model_name(node.orders) if attempt.worker_kind == WorkerKind.MODEL else "",
    )
    dispatch("execute_attempt", again.pk)


def _store_results(attempt: Attempt, report: GateReport) -> None:
    ScorerResult.objects.bulk_create(
        ScorerResult(
            attempt=attempt,
            index=result.index,
            kind=result.kind,
            spec=db_json(result.spec),
            outcome=result.outcome,
            observed=None if result.observed is None else db_text(result.observed, 2_000),
            reason=None if result.reason is None else db_text(result.reason, 2_000),
            retryable=result.retryable,
            broke=result.broke,
            duration_ms=result.duration_ms,
        )
        for result in report.results
    )


def _failures_in_words(report: GateReport) -> str:
    failures = [f"{result.kind}: {result.reason}" for result in report.failures]
    return "; ".join(failures) or "the time for the gates was used up"
