"""Celery's worker and the sweep as threads of this process.

The same tasks by the same path as in production; only the broker is a queue in memory. It forgets
everything when the process ends: the database is the truth, and the sweep finds due work again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections

from swarmui.celery import app
from swarmui.dispatch import worker_is_here
from swarmui.execution import keeper, sweep
from swarmui.services import leases
from verifier.limits import SWEEP_S

logger = logging.getLogger(__name__)

CONCURRENCY = 8  # one thread per branch of a delegation
READY_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0


class WorkerThread:
    """Celery's worker with a pool of threads, built and run in a thread of its own.

    Built in the thread of a running event loop, Celery's Django fix-up would refuse.
    """

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._controller: Any = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)

    def start(self) -> None:
        """Returns when tasks are taken; RuntimeError when they are not within 20 seconds."""
        self._thread.start()
        if not self._ready.wait(READY_TIMEOUT_S) or self._failure is not None:
            raise RuntimeError("the worker thread did not start") from self._failure
        worker_is_here.set()

    def stop(self, within_s: float = STOP_TIMEOUT_S) -> bool:
        """Take no more work, end the attempts under way, give their leases back.

        False when a worker did not stop in time; its lease then runs out by itself.
        """
        worker_is_here.clear()
        if self._controller is None:
            return True
        ends = time.monotonic() + within_s
        stopping = threading.Thread(target=self._stop_controller, name="worker-stop", daemon=True)
        stopping.start()
        while stopping.is_alive() and time.monotonic() < ends:
            keeper.stop_all()  # again and again: an attempt may have begun a moment ago
            stopping.join(0.1)
        return not stopping.is_alive()

    def _run(self) -> None:
        from celery.worker import WorkController

        try:
            self._controller = WorkController(
                app=app,
                pool="threads",
                concurrency=CONCURRENCY,
                hostname="embedded@localhost",
                without_heartbeat=True,
                without_mingle=True,
                without_gossip=True,
                loglevel="WARNING",
                ready_callback=lambda _consumer: self._ready.set(),
            )
            self._controller.start()
        except BaseException as failure:
            self._failure = failure
            logger.exception("the worker thread ended")
            raise
        finally:
            self._ready.set()

    def _stop_controller(self) -> None:
        self._controller.stop()


class SweepThread:
    """Calls the sweep each second: at the start for all that was left, then for what is due."""

    def __init__(self, *, at_start: bool) -> None:
        self._over = threading.Event()
        self._at_start = at_start
        self._thread = threading.Thread(target=self._run, name="sweep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(STOP_TIMEOUT_S)

    def _run(self) -> None:
        at_start = self._at_start
        while True:
            if self._sweep(at_start=at_start):
                at_start = False
            if self._over.wait(SWEEP_S):
                return

    def _sweep(self, *, at_start: bool) -> bool:
        try:
            sweep.tick(at_start)
        except Exception:
            logger.exception("the sweep failed; trying again in %s s", SWEEP_S)
            return False
        finally:
            connections.close_all()
        return True


@contextmanager
def in_process_worker(*, finds_old_work: bool = False) -> Iterator[None]:
    """A worker and a sweep in this process for as long as the block lasts.

    ``finds_old_work``: take up at once whatever was queued before, not only when it is overdue;
    right for the one process that holds the home.
    """
    if finds_old_work and connections["default"].vendor == "sqlite":
        # The lock on the home says that whoever held a lease here is dead; nobody need wait for it.
        leases.release_all()
        connections.close_all()
    worker, sweeper = WorkerThread(), SweepThread(at_start=finds_old_work)
    worker.start()
    sweeper.start()
    try:
        yield
    finally:
        sweeper.stop()
        if not worker.stop():
            logger.warning("a worker did not stop in time; its lease runs out by itself")
