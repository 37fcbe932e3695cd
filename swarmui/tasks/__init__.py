"""Celery tasks: an id in, one call. Each may run twice at any point."""

import importlib
import uuid
from typing import Any

from celery.signals import worker_init, worker_ready

from swarmui.celery import app
from swarmui.execution import stopping


def load_models(**_: Any) -> None:
    """Before the pool forks: its processes share the model libraries, and none has to load them
    while its first attempt's lease runs."""
    importlib.import_module("swarmui.adapters.models.loop")


# This module itself is loaded before the fork, so what `stopping` says reaches all of the pool.
worker_init.connect(load_models)
worker_ready.connect(stopping.listen)


@app.task(name="swarmui.execute_attempt")
def execute_attempt(attempt_id: str) -> None:
    """Runs a queued attempt's worker."""
    from swarmui.execution.work import execute_attempt as execute  # noqa: PLC0415

    execute(uuid.UUID(attempt_id))


@app.task(name="swarmui.score_attempt")
def score_attempt(attempt_id: str) -> None:
    """Runs a returned attempt's gates."""
    from swarmui.execution.gates import score_attempt as score  # noqa: PLC0415

    score(uuid.UUID(attempt_id))


@app.task(name="swarmui.close_delegation")
def close_delegation(delegation_id: str) -> None:
    """Closes a delegation whose branches have ended."""
    from swarmui.services.delegations import close_delegation as close  # noqa: PLC0415

    close(uuid.UUID(delegation_id))


@app.task(name="swarmui.sweep")
def sweep() -> None:
    """Finds due work and orphans."""
    from swarmui.execution.sweep import tick  # noqa: PLC0415

    tick()
