"""What is tried again, how often and where; and which of two attempts stands.

Pure tables. Source: seed 001 §2 and "Status reference", domain §2, §4.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from verifier.lifecycle import NodeStatus
from verifier.limits import (
    DELEGATION_REPLACEMENTS,
    MAX_STARTS,
    MIN_SECONDS_FOR_RETRY,
    MIN_TOKENS_TO_START,
)
from verifier.outcome import FailureKind
from verifier.receipt import COMMAND_TOOLS, FILE_CHANGE_TOOLS, SideEffects, shows_no_effect

PROGRAM = "program"  # the name under which a command worker's own program is recorded
EFFECT_TOOLS = FILE_CHANGE_TOOLS | COMMAND_TOOLS | {PROGRAM}

STATUS_OF_FAILURE: dict[FailureKind, NodeStatus] = {
    FailureKind.TOOL_ERROR: NodeStatus.TOOL_ERROR,
    FailureKind.PROVIDER_ERROR: NodeStatus.PROVIDER_ERROR,
    FailureKind.QUOTA_EXHAUSTED: NodeStatus.PROVIDER_ERROR,
    FailureKind.BUDGET: NodeStatus.BUDGET,
    FailureKind.TIMEOUT: NodeStatus.TIMEOUT,
    FailureKind.CANCELLED: NodeStatus.CANCELLED,
    FailureKind.DENIED: NodeStatus.DENIED,
}


class RetryAction(StrEnum):
    """What follows a failure."""

    NONE = "none"
    SAME_NODE = "same_node"  # a new attempt on this node, same model
    BACKUP_MODEL = "backup_model"  # a new attempt on this node, the topic's backup model
    NEW_NODE = "new_node"  # a new node that points to this one


@dataclass(frozen=True)
class History:
    """What was tried already on a node. `replacements`: how many nodes this one stands in for."""

    same_model_retries: int = 0
    backup_used: bool = False
    backup_differs: bool = False
    replacements: int = 0


def after_failure(failure: FailureKind, history: History) -> RetryAction:
    """The retry table for a worker that did not return."""
    match failure:
        case FailureKind.TOOL_ERROR if history.replacements < DELEGATION_REPLACEMENTS:
            return RetryAction.NEW_NODE
        case FailureKind.PROVIDER_ERROR if (
            history.same_model_retries == 0 and not history.backup_used
        ):
            return RetryAction.SAME_NODE
        case FailureKind.PROVIDER_ERROR | FailureKind.QUOTA_EXHAUSTED if (
            history.backup_differs and not history.backup_used
        ):
            return RetryAction.BACKUP_MODEL
        case _:
            return RetryAction.NONE


@dataclass(frozen=True)
class ContractRetryFacts:
    """`tokens_left` None: no cap. `retries_used`: contract retries already made on the node."""

    any_retryable: bool
    retries_used: int
    retries_allowed: int
    tokens_left: int | None
    seconds_left: float
    parent_alive: bool


def contract_retry_refusal(facts: ContractRetryFacts) -> str | None:
    """Why a missed contract is not tried again; None: try again."""
    if facts.retries_used >= facts.retries_allowed:
        return f"{facts.retries_used} of {facts.retries_allowed} contract retries used"
    if not facts.any_retryable:
        return "no failure is one that a retry could mend"
    if not facts.parent_alive:
        return "the parent has ended"
    if facts.tokens_left is not None and facts.tokens_left < MIN_TOKENS_TO_START:
        return f"{facts.tokens_left} tokens left, {MIN_TOKENS_TO_START} needed"
    if facts.seconds_left < MIN_SECONDS_FOR_RETRY:
        return f"{int(facts.seconds_left)} s left, {MIN_SECONDS_FOR_RETRY} needed"
    return None


class ChosenBecause(StrEnum):
    """The rule that chose the attempt that stands."""

    ONLY_ATTEMPT = "only_attempt"
    LAST_ATTEMPT = "last_attempt"
    RETRY_PASSED = "retry_passed"
    RETRY_TOUCHED_WORKSPACE = "retry_touched_workspace"
    RETRY_EFFECTS_UNKNOWN = "retry_effects_unknown"
    RETRY_NO_WORSE = "retry_no_worse"
    EARLIER_FAILED_FEWER = "earlier_failed_fewer"
    RETRY_CRASHED = "retry_crashed"


@dataclass(frozen=True)
class Contender:
    """One attempt as the choice sees it. `failed_scorers` None: the worker did not return."""

    number: int
    failed_scorers: int | None
    side_effects: SideEffects | None


def choose_attempt(earlier: Contender, retry: Contender) -> tuple[int, ChosenBecause]:
    """Which attempt is the node's result after a contract retry.

    The earlier one is kept only if the retry did worse *and* provably touched nothing: what a
    retry wrote is what is on disk now. Unknown effects prove nothing.
    """
    if retry.failed_scorers == 0:
        return retry.number, ChosenBecause.RETRY_PASSED
    if retry.side_effects is None:
        return retry.number, ChosenBecause.RETRY_EFFECTS_UNKNOWN
    if not shows_no_effect(retry.side_effects):
        return retry.number, ChosenBecause.RETRY_TOUCHED_WORKSPACE
    if retry.failed_scorers is None:
        return earlier.number, ChosenBecause.RETRY_CRASHED
    if earlier.failed_scorers is not None and retry.failed_scorers > earlier.failed_scorers:
        return earlier.number, ChosenBecause.EARLIER_FAILED_FEWER
    return retry.number, ChosenBecause.RETRY_NO_WORSE


def choose_among(contenders: Sequence[Contender]) -> tuple[int, ChosenBecause]:
    """The attempt that stands of all a node had, in order of their numbers (at least one).

    Attempts whose worker never returned compete only as the last one: they have no result.
    """
    last = contenders[-1]
    returned = [one for one in contenders if one.failed_scorers is not None or one is last]
    if len(returned) == 1:
        rule = ChosenBecause.ONLY_ATTEMPT if len(contenders) == 1 else ChosenBecause.LAST_ATTEMPT
        return last.number, rule
    best, rule = returned[0], ChosenBecause.ONLY_ATTEMPT
    for retry in returned[1:]:
        number, rule = choose_attempt(best, retry)
        best = retry if number == retry.number else best
    return best.number, rule


OrphanFate = Literal["requeue", "lost", "cancel"]


def orphan_fate(starts: int, no_side_effects: bool) -> OrphanFate:
    """What becomes of a node whose worker lost its lease in the middle of the work.

    Policy `if_no_side_effects`: it is dispatched again only if its trajectory shows that no file
    was changed and no command run, and at most `MAX_STARTS` times in all.
    """
    if starts >= MAX_STARTS:
        return "lost"
    return "requeue" if no_side_effects else "cancel"


def leaves_no_effect(proposed_tools: Iterable[str]) -> bool:
    """Whether an attempt cut in the middle can have changed nothing: it proposed neither a tool
    that changes files nor a command. What was proposed and not answered may have happened."""
    return EFFECT_TOOLS.isdisjoint(proposed_tools)
