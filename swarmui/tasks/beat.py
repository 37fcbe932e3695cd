"""The clock of production: it sweeps by itself, each second, instead of asking a worker to.

A message would wait behind the very work the sweep watches over: with every worker busy no orphan
would be settled, and with every worker hung nothing would ever be.
"""

from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from django.db import close_old_connections


class SweepingScheduler(Scheduler):  # type: ignore[misc]  # ships no types
    """Runs what is due in this process. Keeps no file: what is due is due every second."""

    def apply_async(
        self, entry: ScheduleEntry, producer: Any = None, advance: bool = True, **kwargs: Any
    ) -> None:
        """Runs one entry now. What it raises is logged by the caller, and it is due again."""
        entry = self.reserve(entry) if advance else entry
        close_old_connections()
        try:
            self.app.tasks[entry.task]()
        finally:
            close_old_connections()
