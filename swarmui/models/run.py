"""A run: one goal, one tree of nodes, one ledger stream, one workspace, one budget."""

from django.conf import settings
from django.db import models

from swarmui.models.fields import new_id
from verifier.ledger import GENESIS


class Run(models.Model):
    """`seq` and `chain_head` belong to the last ledger event; both change only under this row's
    lock, in `services.ledger.append`. Amounts of money are micro-USD.
    `workspace_source` is absolute; `base_dir` is where relative `recorded:` files are looked up."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    goal = models.TextField()
    spec = models.JSONField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    origin = models.CharField(max_length=80)
    workspace_mode = models.CharField(max_length=16)
    workspace_source = models.TextField(blank=True)
    base_dir = models.TextField(blank=True)
    seq = models.PositiveBigIntegerField(default=0)
    chain_head = models.CharField(max_length=64, default=GENESIS)
    token_cap = models.PositiveBigIntegerField(null=True)
    tokens_reserved = models.PositiveBigIntegerField(default=0)
    tokens_spent = models.PositiveBigIntegerField(default=0)
    usd_cap_micro = models.PositiveBigIntegerField(null=True)
    usd_spent_micro = models.PositiveBigIntegerField(default=0)
    unpriced_attempts = models.PositiveIntegerField(default=0)
    unmetered_attempts = models.PositiveIntegerField(default=0)
    idempotency_key = models.CharField(max_length=200, null=True)
    body_hash = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["origin", "idempotency_key"],
                condition=models.Q(idempotency_key__isnull=False),
                name="run_one_per_idempotency_key",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.id}"
