"""Keeps an attempt's lease while its worker shows progress, and tells the worker to stop."""

import logging
import os
import socket
import threading
import time
import uuid
from types import TracebackType

from django.conf import settings
from django.db import Error as DatabaseFault
from django.db import connection

from swarmui.execution import stopping
from swarmui.services import leases
from verifier.lifecycle import StopReason
from verifier.limits import HEARTBEAT_S, LEASE_S, SELF_FENCE_S, STEP_DEADLINE_S

logger = logging.getLogger(__name__)

_live: "set[LeaseKeeper]" = set()
_live_lock = threading.Lock()


def new_owner() -> str:
    """A name no other claim has: host, process and a random part."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


def stop_all() -> None:
    """This process is going down: every worker in it stops and gives its lease back."""
    with _live_lock:
        keepers = list(_live)
    for keeper in keepers:
        keeper.stop(StopReason.LEASE_LOST)


class LeaseKeeper:
    """The `Control` of a running attempt; a context manager around its work.

    The heartbeat is sent only while the worker's own last sign of progress is younger than the
    step deadline: a thread alone would keep a hung worker alive for ever.
    """

    def __init__(self, claim: leases.Claim) -> None:
        self._claim = claim
        self._ends_at = time.monotonic() + claim.wall_clock_s
        self._progress_at = self._renewed_at = time.monotonic()
        self._note = ""
        self._reason: StopReason | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lease", daemon=True)

    def __enter__(self) -> "LeaseKeeper":
        with _live_lock:
            _live.add(self)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with _live_lock:
            _live.discard(self)
        self._over.set()
        self._thread.join(timeout=5)
        if self._reason is StopReason.LEASE_LOST:
            self._give_back()

    def stop(self, reason: StopReason) -> None:
        """Tells the worker to stop; the first reason stands."""
        self._reason = self._reason or reason

    def stop_reason(self) -> StopReason | None:
        if self._reason is None and stopping.is_time_up():
            self._reason = StopReason.LEASE_LOST
        if self._reason is None and self.remaining_s() <= 0:
            self._reason = StopReason.TIMEOUT
        return self._reason

    def progress(self, note: str) -> None:
        self._note, self._progress_at = note, time.monotonic()

    def remaining_s(self) -> float:
        return max(0.0, self._ends_at - time.monotonic())

    def _give_back(self) -> None:
        try:
            leases.release(self._claim)
        except DatabaseFault as fault:  # then it runs out by itself
            logger.warning("attempt %s: lease not given back: %s", self._claim.attempt.pk, fault)

    def _beat(self) -> None:
        try:
            while not self._over.wait(settings.LEASE_S * HEARTBEAT_S / LEASE_S):
                if time.monotonic() - self._progress_at > STEP_DEADLINE_S:
                    continue
                if not self._is_renewed():
                    self.stop(StopReason.LEASE_LOST)
                    return
        finally:
            connection.close()

    def _is_renewed(self) -> bool:
        """Whether the lease is ours. While the database cannot be asked it is, for a while: whoever
        went on for longer would work on after somebody else had begun."""
        asked_at = time.monotonic()
        try:
            renewed = leases.heartbeat(self._claim, self._note)
        except DatabaseFault as fault:
            logger.warning("attempt %s: no heartbeat: %s", self._claim.attempt.pk, fault)
            connection.close()
            return asked_at - self._renewed_at < settings.LEASE_S * SELF_FENCE_S / LEASE_S
        self._renewed_at = asked_at
        return renewed
