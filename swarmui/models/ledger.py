"""The ledger: append-only, by the database's own refusal; and the outbox of wake-ups."""

from django.db import models
from django.db.models import Q

from swarmui.models.run import Run
from verifier.ledger import ENDINGS, SCHEMA_VERSION, NodeEvent, Subject
from verifier.ledger import Event as LedgerFact


class LedgerEvent(models.Model):
    """One event. `seq` counts 1, 2, 3 … within the run; the hash is over the one before it."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="events")
    seq = models.PositiveBigIntegerField()
    subject = models.CharField(max_length=24)
    subject_id = models.UUIDField()
    event = models.CharField(max_length=24)
    attempt = models.PositiveSmallIntegerField(null=True)
    payload = models.JSONField()
    actor = models.CharField(max_length=120)
    at = models.DateTimeField()
    schema_version = models.PositiveSmallIntegerField(default=SCHEMA_VERSION)
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "seq"], name="ledger_seq_once"),
            models.UniqueConstraint(
                fields=["subject_id"],
                condition=Q(subject=Subject.SWARM_NODE, event__in=sorted(ENDINGS)),
                name="ledger_one_end_per_node",
            ),
            models.UniqueConstraint(
                fields=["subject_id"],
                condition=Q(subject=Subject.SWARM_NODE, event=NodeEvent.SPAWN),
                name="ledger_one_spawn_per_node",
            ),
            models.UniqueConstraint(
                fields=["subject_id", "attempt"],
                condition=Q(
                    subject=Subject.SWARM_NODE, event=NodeEvent.START, attempt__isnull=False
                ),
                name="ledger_one_start_per_attempt",
            ),
        ]
        indexes = [models.Index(fields=["subject_id", "seq"], name="ledger_by_subject")]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.seq} {self.event}"

    def fact(self) -> LedgerFact:
        """The event as the pure fold reads it."""
        return LedgerFact(
            seq=self.seq,
            subject=self.subject,
            subject_id=str(self.subject_id),
            event=self.event,
            attempt=self.attempt,
            payload=self.payload,
            actor=self.actor,
            at=self.at,
        )


class Outbox(models.Model):
    """A wake-up promised in a transaction: it stands until the work it is for has been claimed,
    and is sent again, ever more rarely, from `due_at` on."""

    id = models.BigAutoField(primary_key=True)
    task = models.CharField(max_length=80)
    argument = models.UUIDField()
    due_at = models.DateTimeField(db_index=True)
    sent = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "argument"], name="outbox_once")]

    def __str__(self) -> str:
        return f"{self.task} {self.argument}"
