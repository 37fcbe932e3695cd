"""One execution of a node, and what it left: receipt, gate results, trajectory."""

from django.db import models
from django.db.models import F, Q

from swarmui.models.fields import new_id, one_of, word_column
from swarmui.models.node import Node
from verifier.boundary.trajectory import EntryKind
from verifier.lifecycle import LEASED, TERMINAL, AttemptState, NodeStatus, WorkerKind
from verifier.verdicts import ScorerOutcome


class Attempt(models.Model):
    """A lease (`owner`, `lease_until` on the database's clock) says who may write; `fence` grows
    at every claim and takeover and must be named by every write of the owner. `files_touched` is
    null when not measured; `files_named` are the first of them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    state = word_column(AttemptState, default=AttemptState.QUEUED)
    outcome = word_column(NodeStatus, null=True)
    worker_kind = word_column(WorkerKind)
    model = models.CharField(max_length=300, blank=True)
    uses_backup = models.BooleanField(default=False)
    family = models.CharField(max_length=80, blank=True)
    brief = models.TextField()
    output = models.JSONField(null=True)
    notes = models.TextField(blank=True)
    error = models.TextField(blank=True)
    stop_reason = models.CharField(max_length=80, blank=True)
    isolated = models.BooleanField(null=True)
    files_touched = models.PositiveIntegerField(null=True)
    files_named = models.JSONField(null=True)
    owner = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True)
    fence = models.PositiveIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True)
    heartbeat_note = models.CharField(max_length=200, blank=True)
    hard_deadline = models.DateTimeField(null=True)
    gave_back = models.BooleanField(default=False)
    gate_starts = models.PositiveSmallIntegerField(default=0)
    token_cap = models.PositiveBigIntegerField(null=True)
    tokens_used = models.PositiveBigIntegerField(null=True)
    cost_micro_usd = models.PositiveBigIntegerField(null=True)
    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    returned_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            one_of("state", AttemptState, "attempt_state_is_known"),
            models.UniqueConstraint(fields=["node", "number"], name="attempt_number_once"),
            models.UniqueConstraint(
                fields=["node"],
                condition=~Q(state=AttemptState.ENDED),
                name="node_has_one_live_attempt",
            ),
            models.CheckConstraint(
                condition=Q(state__in=sorted(LEASED), lease_until__isnull=False, owner__gt="")
                | (~Q(state__in=sorted(LEASED)) & Q(lease_until__isnull=True)),
                name="attempt_leased_exactly_when_owned",
            ),
            models.CheckConstraint(
                condition=Q(state=AttemptState.ENDED, outcome__in=sorted(TERMINAL))
                | (~Q(state=AttemptState.ENDED) & Q(outcome__isnull=True)),
                name="attempt_outcome_exactly_when_ended",
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_until"],
                condition=Q(lease_until__isnull=False),
                name="attempt_leases",
            ),
        ]
        ordering = [F("node_id").asc(), F("number").asc()]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.node_id}"


class Receipt(models.Model):
    """What the attempt's tool calls did: the published JSON of `verifier.receipt.Receipt`."""

    attempt = models.OneToOneField(
        Attempt, primary_key=True, on_delete=models.PROTECT, related_name="receipt"
    )
    body = models.JSONField()

    def __str__(self) -> str:
        return f"receipt of {self.attempt_id}"


class ScorerResult(models.Model):
    """One gate's answer. `broke`: the check itself failed, which is not the same as a miss."""

    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="scorer_results")
    index = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=40)
    spec = models.JSONField()
    outcome = word_column(ScorerOutcome)
    observed = models.TextField(null=True)
    reason = models.TextField(null=True)
    retryable = models.BooleanField()
    broke = models.BooleanField(default=False)
    duration_ms = models.PositiveIntegerField()

    class Meta:
        constraints = [
            one_of("outcome", ScorerOutcome, "scorer_outcome_is_known"),
            models.UniqueConstraint(fields=["attempt", "index"], name="scorer_result_once"),
        ]
        ordering = ["attempt_id", "index"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.attempt_id}: {self.outcome}"


class TrajectoryEntry(models.Model):
    """What crossed the attempt's tool boundary, in order; written before control returned."""

    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="trajectory")
    index = models.PositiveIntegerField()
    kind = word_column(EntryKind)
    tool = models.CharField(max_length=120, blank=True)
    call_id = models.CharField(max_length=80, blank=True)
    payload = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            one_of("kind", EntryKind, "trajectory_kind_is_known"),
            models.UniqueConstraint(fields=["attempt", "index"], name="trajectory_index_once"),
        ]
        ordering = ["attempt_id", "index"]

    def __str__(self) -> str:
        return f"{self.kind} {self.index} of {self.attempt_id}"
