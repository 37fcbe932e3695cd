"""What the rules are told about an attempt and its node: facts read from rows, no decision."""

from swarmui.models import Attempt, Node, Run
from swarmui.services import budgets
from verifier.lifecycle import TERMINAL, NodeStatus, WorkerKind
from verifier.limits import DELEGATION_REPLACEMENTS
from verifier.marks import Mark, marks_of
from verifier.outcome import Deliverable
from verifier.receipt import SideEffects
from verifier.retry import Contender, ContractRetryFacts, History
from verifier.scorers import GateReport
from verifier.verdicts import ScorerOutcome


def tokens_of(attempts: list[Attempt]) -> int | None:
    """What all attempts used together; None while none reported anything."""
    known = [one.tokens_used for one in attempts if one.tokens_used is not None]
    return sum(known) if known else None


def history_of(attempt: Attempt) -> History:
    """For the retry table, of an attempt whose worker did not return."""
    node = attempt.node
    earlier = [one for one in node.attempts.all() if one.number < attempt.number]
    work = node.orders
    return History(
        same_model_retries=sum(1 for one in earlier if one.outcome == NodeStatus.PROVIDER_ERROR),
        backup_used=attempt.uses_backup,
        backup_differs=work.backup_model is not None and work.backup_model != work.model,
        replacements=_replacements(node),
    )


def _replacements(node: Node) -> int:
    """How many nodes this one stands in for. A root has no one to take its place."""
    if node.parent_id is None:
        return DELEGATION_REPLACEMENTS
    return 0 if node.retry_of_id is None else 1


def contract_facts(attempt: Attempt, report: GateReport) -> ContractRetryFacts:
    """For the rule on contract retries, of an attempt that missed its contract."""
    node = attempt.node
    parent = node.parent
    return ContractRetryFacts(
        any_retryable=any(result.retryable for result in report.failures),
        retries_used=_contract_failures(attempt) - 1,
        retries_allowed=node.orders.contract_retries,
        tokens_left=_tokens_left(attempt),
        seconds_left=budgets.seconds_left(node),
        parent_alive=parent is None or parent.status not in TERMINAL,
    )


def _tokens_left(attempt: Attempt) -> int | None:
    """What another attempt could use: the node's own rest, within the run's. The attempt's own
    reservation is still standing, and what it did not use will be free."""
    if attempt.worker_kind == WorkerKind.COMMAND:
        return None
    own = budgets.node_tokens_left(attempt.node)
    left = budgets.tokens_left(Run.objects.get(pk=attempt.node.run_id))
    if left is None:
        return own
    return min(own, left + (attempt.token_cap or 0) - (attempt.tokens_used or 0))


def _contract_failures(attempt: Attempt) -> int:
    return attempt.node.attempts.filter(outcome=NodeStatus.CONTRACT_FAILED).count()


def retries_left(attempt: Attempt) -> int:
    """How many contract retries the node still has, this attempt's miss counted."""
    allowed = attempt.node.orders.contract_retries
    return allowed - (_contract_failures(attempt) - 1)


def contender_of(attempt: Attempt) -> Contender:
    """For the choice between attempts."""
    failed = None
    if attempt.outcome == NodeStatus.OK:
        failed = 0
    elif attempt.outcome == NodeStatus.CONTRACT_FAILED:
        failed = max(1, attempt.scorer_results.filter(outcome=ScorerOutcome.FAILED).count())
    return Contender(attempt.number, failed, side_effects_of(attempt))


def side_effects_of(attempt: Attempt) -> SideEffects | None:
    """The attempt's counts from its receipt; None when unknown."""
    receipt = getattr(attempt, "receipt", None)
    body = receipt.body.get("sideEffects") if receipt is not None else None
    return None if body is None else SideEffects.model_validate(body)


def marks_on(attempt: Attempt) -> tuple[Mark, ...]:
    """The marks that the attempt's record calls for."""
    return marks_of(
        Deliverable(output=attempt.output, notes=attempt.notes or None),
        side_effects_of(attempt),
        files_touched=attempt.files_touched,
        isolated=attempt.isolated,
    )
