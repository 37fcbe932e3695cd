"""Trajectory entries: written before control returns to the worker."""

import uuid
from itertools import count

from django.db import transaction
from django.utils import timezone

from swarmui.models import TrajectoryEntry
from swarmui.services.leases import Claim, held
from swarmui.services.outages import write_through
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
        tries = count()
        write_through(lambda: self._append(entry, is_first_try=next(tries) == 0))
        self._next += 1

    def _append(self, entry: Entry, *, is_first_try: bool) -> None:
        place = {"attempt_id": self._claim.attempt.pk, "index": self._next}
        with transaction.atomic():
            if held(self._claim) is None:
                raise LeaseLost(f"attempt {self._claim.attempt.pk} was taken over")
            # Only the owner writes here: what is there already is this entry, from a commit whose
            # answer was lost.
            if is_first_try or not TrajectoryEntry.objects.filter(**place).exists():
                TrajectoryEntry.objects.create(
                    **place,
                    kind=entry.kind,
                    tool=entry.tool or "",
                    call_id=entry.call_id or "",
                    payload=db_json(entry.payload),
                    at=timezone.now(),
                )


def entries_of(attempt_id: uuid.UUID) -> list[TrajectoryEntry]:
    """An attempt's entries in order."""
    return list(TrajectoryEntry.objects.filter(attempt_id=attempt_id).order_by("index"))
