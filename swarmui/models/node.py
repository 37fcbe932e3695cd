"""A node of a run's tree, and the delegation that fans a goal out to branches."""

from enum import StrEnum

from django.db import models

from swarmui.models.fields import new_id, one_of, word_column
from swarmui.models.run import Run
from verifier.lifecycle import TERMINAL, NodeKind, NodeStatus
from verifier.limits import MAX_BRANCHES
from verifier.work import NodeWork


class DelegationState(StrEnum):
    """Open until its last branch has ended."""

    OPEN = "open"
    CLOSED = "closed"


class Delegation(models.Model):
    """One fan-out of a node's goal to at most eight branches."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="delegations")
    parent = models.ForeignKey("Node", on_delete=models.PROTECT, related_name="delegations")
    state = word_column(DelegationState, default=DelegationState.OPEN)
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [one_of("state", DelegationState, "delegation_state_is_known")]

    def __str__(self) -> str:
        return f"delegation {self.id}"


class Node(models.Model):
    """`status` is written by `services.nodes.transition_node` alone. `changed_seq` is the `seq`
    of the last event about this node: the cursor by which pages read what is new. `tokens` is
    null while unknown."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="nodes")
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    retry_of = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="replaced_by"
    )
    delegation = models.ForeignKey(
        Delegation, null=True, on_delete=models.PROTECT, related_name="branches"
    )
    kind = word_column(NodeKind)
    depth = models.PositiveSmallIntegerField()
    branch = models.PositiveSmallIntegerField(null=True)
    role = models.CharField(max_length=80)
    topic = models.CharField(max_length=80, blank=True)
    subtopic = models.CharField(max_length=80, blank=True)
    title = models.CharField(max_length=200, blank=True)
    task_brief = models.TextField()
    work = models.JSONField()
    status = word_column(NodeStatus, default=NodeStatus.QUEUED)
    reason = models.CharField(max_length=600, blank=True)
    marks = models.JSONField(default=list)
    tokens = models.PositiveBigIntegerField(null=True)
    chosen_attempt = models.PositiveSmallIntegerField(null=True)
    chosen_because = models.CharField(max_length=40, blank=True)
    spawn_seq = models.PositiveBigIntegerField(default=0)
    changed_seq = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            one_of("status", NodeStatus, "node_status_is_known"),
            one_of("kind", NodeKind, "node_kind_is_known"),
            models.CheckConstraint(
                condition=models.Q(ended_at__isnull=False, status__in=sorted(TERMINAL))
                | (models.Q(ended_at__isnull=True) & ~models.Q(status__in=sorted(TERMINAL))),
                name="node_ended_exactly_when_terminal",
            ),
            models.CheckConstraint(
                condition=models.Q(branch__isnull=True) | models.Q(branch__lt=MAX_BRANCHES),
                name="node_branch_in_range",
            ),
            models.UniqueConstraint(
                fields=["run"], condition=models.Q(parent__isnull=True), name="run_has_one_root"
            ),
            models.UniqueConstraint(
                fields=["delegation", "branch"],
                condition=models.Q(retry_of__isnull=True, delegation__isnull=False),
                name="delegation_branch_once",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "changed_seq"], name="node_by_change"),
            models.Index(fields=["run", "spawn_seq"], name="node_by_spawn"),
            models.Index(fields=["status", "run"], name="node_by_status"),
        ]

    def __str__(self) -> str:
        return f"node {self.id}"

    @property
    def orders(self) -> NodeWork:
        """What the node has to do, parsed. A node that only delegates has none."""
        return NodeWork.model_validate(self.work)
