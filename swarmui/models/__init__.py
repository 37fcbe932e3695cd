"""Everything that is stored. One file per noun; rules live in `verifier`."""

from swarmui.models.attempt import Attempt, Receipt, ScorerResult, TrajectoryEntry
from swarmui.models.ledger import LedgerEvent, Outbox
from swarmui.models.node import Delegation, Node
from swarmui.models.people import ApiToken, Membership, Role, SignInLink
from swarmui.models.run import Run

__all__ = [
    "ApiToken",
    "Attempt",
    "Delegation",
    "LedgerEvent",
    "Membership",
    "Node",
    "Outbox",
    "Receipt",
    "Role",
    "Run",
    "ScorerResult",
    "SignInLink",
    "TrajectoryEntry",
]
