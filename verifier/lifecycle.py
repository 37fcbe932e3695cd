"""The life of a node and of an attempt: statuses, the table of moves, what counts as an end.

Source: seed 001 "Status reference", domain §2. The database repeats these as constraints.
"""

from collections.abc import Iterable
from enum import StrEnum


class NodeKind(StrEnum):
    """An actor's place in the tree."""

    ROOT = "root"
    AGENT = "agent"
    SUBAGENT = "subagent"
    VERIFIER = "verifier"


class WorkerKind(StrEnum):
    """Who does a node's work: an agent loop on a model, or a program."""

    MODEL = "model"
    COMMAND = "command"


class NodeStatus(StrEnum):
    """Where a node stands. Terminal ones are final."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    OK = "ok"
    CACHE_HIT = "cache_hit"
    CONTRACT_FAILED = "contract_failed"
    TOOL_ERROR = "tool_error"
    PROVIDER_ERROR = "provider_error"
    BUDGET = "budget"
    TIMEOUT = "timeout"
    DENIED = "denied"
    CONCURRENCY_LIMIT = "concurrency_limit"
    CANCELLED = "cancelled"
    LOST = "lost"


class AttemptState(StrEnum):
    """Where one execution of a node stands.

    `running` and `scoring` are owned by a lease; `returned` waits for its gates.
    """

    QUEUED = "queued"
    RUNNING = "running"
    RETURNED = "returned"
    SCORING = "scoring"
    ENDED = "ended"


class StopReason(StrEnum):
    """Why a running attempt has to stop now."""

    CANCELLED = "cancelled"
    LEASE_LOST = "lease_lost"
    TIMEOUT = "timeout"


SUCCEEDED = frozenset({NodeStatus.OK, NodeStatus.CACHE_HIT})
TERMINAL = frozenset(NodeStatus) - {NodeStatus.QUEUED, NodeStatus.RUNNING, NodeStatus.WAITING}
FAILED = TERMINAL - SUCCEEDED
LEASED = frozenset({AttemptState.RUNNING, AttemptState.SCORING})

_ENDS = TERMINAL
TRANSITIONS: dict[NodeStatus, frozenset[NodeStatus]] = {
    # a worker took it · a delegation began to wait for its branches · it ended before it began
    NodeStatus.QUEUED: frozenset({NodeStatus.RUNNING, NodeStatus.WAITING}) | _ENDS,
    # another attempt is queued · it suspends itself · it ended
    NodeStatus.RUNNING: frozenset({NodeStatus.QUEUED, NodeStatus.WAITING}) | _ENDS,
    # what it waited for has come: it goes on, or it ends
    NodeStatus.WAITING: frozenset({NodeStatus.QUEUED, NodeStatus.RUNNING}) | _ENDS,
    **{status: frozenset[NodeStatus]() for status in _ENDS},
}

# Which of several ends speaks for the whole: the first that occurs.
WORST_FIRST = (
    NodeStatus.LOST,
    NodeStatus.TOOL_ERROR,
    NodeStatus.PROVIDER_ERROR,
    NodeStatus.DENIED,
    NodeStatus.TIMEOUT,
    NodeStatus.BUDGET,
    NodeStatus.CONCURRENCY_LIMIT,
    NodeStatus.CONTRACT_FAILED,
    NodeStatus.CANCELLED,
    NodeStatus.OK,
    NodeStatus.CACHE_HIT,
)


def can_move(before: NodeStatus, after: NodeStatus) -> bool:
    """Whether the table of moves allows `before` → `after`."""
    return after in TRANSITIONS[before]


def worst_of(statuses: Iterable[NodeStatus]) -> NodeStatus | None:
    """The terminal status that speaks for a group of ended nodes; None for an empty group."""
    seen = set(statuses)
    return next((status for status in WORST_FIRST if status in seen), None)


def delegation_status(branches: Iterable[NodeStatus]) -> NodeStatus:
    """How a node ends whose whole work was to fan out: `ok` only when every branch ended well.

    A failed branch discards no sibling's result, but it is never shown as a pass of the whole.
    """
    worst = worst_of(branches)
    return NodeStatus.OK if worst is None or worst in SUCCEEDED else worst


def run_status(root: NodeStatus, others: Iterable[NodeStatus]) -> NodeStatus:
    """A run's status: its root's, but for a root that waits while nodes below it are at work or
    about to be. So a run that is `waiting` waits for a person."""
    if root is not NodeStatus.WAITING:
        return root
    moving = {NodeStatus.RUNNING, NodeStatus.QUEUED}
    return NodeStatus.RUNNING if moving & set(others) else root
