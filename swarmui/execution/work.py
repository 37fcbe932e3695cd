"""Executes one attempt: take the lease, let the worker work with no transaction open, hand over."""

import logging
import uuid
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.db import connections

from swarmui.adapters.command import CommandOrder, run_command_worker
from swarmui.adapters.tools.toolsets import build_tools, commands_isolated
from swarmui.adapters.workspace import WorkspaceDir, WorkspaceError
from swarmui.execution import gates, rooms, stopping
from swarmui.execution.keeper import LeaseKeeper, new_owner
from swarmui.models import Attempt
from swarmui.services import attempts, leases
from swarmui.services.budgets import seconds_left
from swarmui.services.trajectory import LeaseLost, Recorder
from verifier.boundary.executor import ToolExecutor
from verifier.boundary.trajectory import EntryKind, TrajectoryEntry
from verifier.lifecycle import WorkerKind
from verifier.outcome import FailureKind, WorkerOutcome
from verifier.receipt import ToolCounters
from verifier.retry import PROGRAM
from verifier.spec import CommandWorker
from verifier.work import NodeWork

logger = logging.getLogger(__name__)


def execute_attempt(attempt_id: uuid.UUID) -> None:
    """Runs a queued attempt to its return or failure. Someone else has it: leaves quietly."""
    waiting = Attempt.objects.select_related("node").filter(pk=attempt_id).first()
    if waiting is None or stopping.is_under_way():
        return
    work = waiting.node.orders
    claim = leases.claim_work(attempt_id, new_owner(), max(1.0, seconds_left(waiting.node)))
    if claim is None:
        return
    if claim.refusal is not None:
        attempts.record_failure(claim, _unaffordable(claim.refusal), None)
        return
    with LeaseKeeper(claim) as control:
        outcome, touched = _work(claim, work, control)
        if outcome.failure is FailureKind.LEASE_LOST:
            return
        if outcome.failure is not None:
            attempts.record_failure(claim, outcome, touched)
        elif touched or gates.are_needed(work, outcome.side_effects):
            # What is carried into the run's workspace is carried by the gates' task, which may be
            # done twice: a program may not.
            attempts.record_return(claim, outcome, touched)
        else:
            attempts.record_gates(claim, gates.NOTHING_TO_CHECK, returned=(outcome, touched))


def _work(
    claim: leases.Claim, work: NodeWork, control: LeaseKeeper
) -> tuple[WorkerOutcome, Sequence[str] | None]:
    attempt = claim.attempt
    try:
        room = rooms.prepare(attempt)
    except (WorkspaceError, OSError) as error:
        return _crashed(f"the workspace could not be prepared: {error}"), None
    try:
        outcome = _run_worker(claim, work, room, control)
    except LeaseLost:
        return WorkerOutcome(failure=FailureKind.LEASE_LOST), None
    except Exception as error:  # whatever a worker does, the attempt ends with a name
        logger.exception("attempt %s crashed", attempt.pk)
        outcome = _crashed(f"{type(error).__name__}: {error}")
    try:
        return outcome, rooms.touched(attempt)
    except (WorkspaceError, OSError) as error:
        logger.warning("attempt %s: files touched could not be told: %s", attempt.pk, error)
        return outcome, None


def _unaffordable(reason: str) -> WorkerOutcome:
    return WorkerOutcome(
        failure=FailureKind.BUDGET, error=reason, side_effects=ToolCounters().snapshot()
    )


def _crashed(error: str) -> WorkerOutcome:
    unavailable = ("sideEffects: the worker ended before it reported any",)
    return WorkerOutcome(failure=FailureKind.TOOL_ERROR, error=error, unavailable=unavailable)


def _run_worker(
    claim: leases.Claim, work: NodeWork, room: WorkspaceDir, control: LeaseKeeper
) -> WorkerOutcome:
    recorder = Recorder(claim)
    if work.worker_kind == WorkerKind.COMMAND:
        return _run_program(claim, work, room, control, recorder)
    return _run_model(claim, work, room, control, recorder)


def _run_program(
    claim: leases.Claim,
    work: NodeWork,
    room: WorkspaceDir,
    control: LeaseKeeper,
    recorder: Recorder,
) -> WorkerOutcome:
    worker = work.worker
    assert isinstance(worker, CommandWorker)
    recorder(
        TrajectoryEntry(
            kind=EntryKind.EXECUTION,
            call_id=None,
            tool=PROGRAM,
            payload={"argv": list(worker.argv), "isolation": worker.isolation},
        )
    )
    order = CommandOrder(
        argv=worker.argv,
        isolation=worker.isolation,
        env_names=worker.env,
        brief=claim.attempt.brief,
        workdir=room.root,
        allow_not_isolated=settings.ALLOW_NOT_ISOLATED,
    )
    return run_command_worker(order, control)


def _run_model(
    claim: leases.Claim,
    work: NodeWork,
    room: WorkspaceDir,
    control: LeaseKeeper,
    recorder: Recorder,
) -> WorkerOutcome:
    # The model libraries take seconds to import: only a process that runs a model pays.
    from swarmui.adapters.models.agent import AgentOrder, ScriptKey, run_agent  # noqa: PLC0415

    attempt, node = claim.attempt, claim.node
    tools = build_tools(
        work.tools, room, control=control, allow_not_isolated=settings.ALLOW_NOT_ISOLATED
    )
    model = work.backup_model if attempt.uses_backup else work.model
    assert model is not None
    assert attempt.token_cap is not None
    order = AgentOrder(
        model=model,
        brief=attempt.brief,
        role=node.role,
        expected_shape=work.expected_output.shape,
        token_cap=attempt.token_cap,
        key=ScriptKey(
            branch=node.branch,
            role=node.role,
            topic=node.topic,
            attempt=attempt.number,
            replacement=0 if node.retry_of_id is None else 1,
        ),
        recorded_root=Path(node.run.base_dir),
        delay_scale=settings.RECORDED_DELAY_SCALE,
    )
    counters = ToolCounters()
    executor = ToolExecutor(tools, recorder, counters, gates.SYSTEM_CLOCK)
    outcome = run_agent(order, tools, executor, control, on_thread_exit=connections.close_all)
    if outcome.side_effects is None or not outcome.side_effects.commandsRun:
        return outcome
    isolated = commands_isolated(work.tools, allow_not_isolated=settings.ALLOW_NOT_ISOLATED)
    return outcome.model_copy(update={"isolated": isolated})
