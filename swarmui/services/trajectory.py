"""Trajectory entries: written before control returns to the worker."""

import uuid

from django.db import transaction
from django.utils import timezone

from swarmui.models import TrajectoryEntry
from swarmui.services.leases import Claim, held
from verifier.boundary.trajectory import TrajectoryEntry as Entry
from verifier.framing import db_json


class LeaseLost(Exception):
    """The attempt belongs to someone else now: nothing more may be written for it."""


class Recorder:
    """Appends one attempt's entries in order. Raises `LeaseLost` once the lease is gone."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._next = 0

    def __call__(self, entry: Entry) -> None:
        with transaction.atomic():
            if held(self._claim) is None:
                raise LeaseLost(f"attempt {self._claim.attempt.pk} was taken over")
            TrajectoryEntry.objects.create(
                attempt_id=self._claim.attempt.pk,
                index=self._next,
                kind=entry.kind,
                tool=entry.tool or "",
                call_id=entry.call_id or "",
                payload=db_json(entry.payload),
                at=timezone.now(),
            )
        self._next += 1


def entries_of(attempt_id: uuid.UUID) -> list[TrajectoryEntry]:
    """An attempt's entries in order."""
    return list(TrajectoryEntry.objects.filter(attempt_id=attempt_id).order_by("index"))
