"""A fan-out closes once, when its last branch has ended. No chord, no result backend: a count
under the run's lock, and a compare-and-set."""

import uuid

from django.db import transaction
from django.utils import timezone

from swarmui.dispatch import dispatch, keep_promise
from swarmui.models import Delegation, Node
from swarmui.models.node import DelegationState
from swarmui.services import ledger
from swarmui.services.nodes import Change, transition_node
from verifier.ledger import DelegationEvent, NodeEvent, Subject
from verifier.lifecycle import SUCCEEDED, TERMINAL, NodeStatus, delegation_status

ACTOR = "delegation"


def branch_ended(node: Node) -> None:
    """Call it in the transaction that ended a branch, after its ledger event: the run's lock is
    held then, so the last of several branches ending at once sees all the others."""
    if node.delegation_id is None or open_branches(node.delegation_id):
        return
    dispatch("close_delegation", node.delegation_id)


def open_branches(delegation_id: uuid.UUID) -> bool:
    """Whether a branch of the delegation is still on its way."""
    return (
        Node.objects.filter(delegation_id=delegation_id)
        .exclude(status__in=sorted(TERMINAL))
        .exists()
    )


def close_delegation(delegation_id: uuid.UUID) -> bool:
    """Closes a delegation whose branches have all ended, and ends its parent. False: someone
    else did, or a branch is still on its way."""
    with transaction.atomic():
        keep_promise("close_delegation", delegation_id)
        if open_branches(delegation_id):
            return False
        closed = Delegation.objects.filter(pk=delegation_id, state=DelegationState.OPEN).update(
            state=DelegationState.CLOSED, closed_at=timezone.now()
        )
        if not closed:
            return False
        delegation = Delegation.objects.select_related("parent").get(pk=delegation_id)
        status, reason = _verdict(delegation_id)
        if delegation.parent.status not in TERMINAL:
            change = Change(reason=reason)
            transition_node(delegation.parent, status, NodeEvent.RESULT, ACTOR, change)
        ledger.append(
            delegation.run_id,
            subject=Subject.DELEGATION,
            subject_id=delegation_id,
            event=DelegationEvent.CLOSE,
            payload={"status": status, "reason": reason},
            actor=ACTOR,
        )
        branch_ended(delegation.parent)
    return True


def _verdict(delegation_id: uuid.UUID) -> tuple[NodeStatus, str]:
    """A branch that was replaced is judged by its replacement."""
    ends = [
        NodeStatus(status)
        for status in Node.objects.filter(
            delegation_id=delegation_id, replaced_by__isnull=True
        ).values_list("status", flat=True)
    ]
    missed = sum(1 for end in ends if end not in SUCCEEDED)
    reason = f"{missed} of {len(ends)} branches did not end well" if missed else ""
    return delegation_status(ends), reason
