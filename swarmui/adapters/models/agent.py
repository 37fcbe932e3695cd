"""The front door of model workers: one attempt's agent loop, started, watched and ended.

Light on purpose: the model library takes seconds to import and is loaded by `loop`, in the
attempt's own thread, when an attempt needs it.

Three threads: the caller's watches `control` (which may ask the database), one runs the event
loop, one runs the tools. So a model request that never answers can be left behind, and no tool and
no recorder ever runs on an event loop's thread.
"""

import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarmui.adapters.models.names import ModelChoice, ModelUnusable, NamedModel, choose_model
from swarmui.adapters.models.progress import LoopReport
from swarmui.adapters.models.tool_thread import ToolThread
from verifier.boundary.executor import ToolExecutor
from verifier.boundary.tool_adapter import Tool
from verifier.framing import db_json, db_text
from verifier.lifecycle import StopReason
from verifier.limits import NOTES_CHARS
from verifier.outcome import Deliverable, FailureKind, WorkerOutcome
from verifier.ports import Control

POLL_S = 0.05
DEFAULT_REQUEST_CAP = 50

STOPPED: dict[StopReason, tuple[FailureKind, str]] = {
    StopReason.CANCELLED: (FailureKind.CANCELLED, "cancelled while the agent was working"),
    StopReason.LEASE_LOST: (FailureKind.LEASE_LOST, "another worker has taken this attempt over"),
    StopReason.TIMEOUT: (FailureKind.TIMEOUT, "the hard deadline of the attempt has passed"),
}


@dataclass(frozen=True)
class ScriptKey:
    """What a recorded model chooses its script by.

    `attempt` counts from 1 on each node; `replacement` is 0 on the original node and 1 on the one
    that replaces it.
    """

    branch: int | None
    role: str
    topic: str
    attempt: int
    replacement: int


@dataclass(frozen=True)
class AgentOrder:
    """One attempt of a model worker.

    `brief` is sent as it is. `token_cap` counts input and output of all requests; `request_cap`
    bounds the turns, `request_retries` what the provider's client repeats by itself within one
    turn. `delay_scale` stretches a recorded model's pauses; 0 plays it without any.
    `stop_grace_s` is how long a stopped attempt is waited for before it is left behind.
    """

    model: str | NamedModel
    brief: str
    role: str
    expected_shape: str
    token_cap: int
    key: ScriptKey
    recorded_root: Path
    delay_scale: float = 1.0
    request_cap: int = DEFAULT_REQUEST_CAP
    request_retries: int = 2
    stop_grace_s: float = 5.0


@dataclass
class _Ending:
    """How the watched loop came to its end."""

    deliverable: Deliverable | None = None
    failure: FailureKind | None = None
    error: str | None = None


def run_agent(
    order: AgentOrder,
    tools: Sequence[Tool],
    executor: ToolExecutor,
    control: Control,
    on_thread_exit: Callable[[], None] = lambda: None,
) -> WorkerOutcome:
    """Works on `order` until the agent delivers, fails or is stopped.

    Raises what the executor's recorder raised, and nothing else: whatever model, provider or tool
    do is a value. Every tool call goes through `executor.call`, in one thread; `on_thread_exit`
    runs in it at the end. When a tool call was still under way as the attempt was left behind, its
    counts are unknown and the outcome says so.
    """
    try:
        choice = choose_model(order.model)
    except ModelUnusable as problem:
        return WorkerOutcome(
            failure=FailureKind.PROVIDER_ERROR,
            error=str(problem),
            side_effects=executor.side_effects(),
            model=problem.model,
        )
    report = LoopReport()
    tool_thread = ToolThread(on_thread_exit)
    loop_thread = _start_loop(order, choice, tools, executor, tool_thread, report)
    ending = _watch(report, control)
    tool_thread.close()
    report.cancel()
    deadline = time.monotonic() + order.stop_grace_s
    loop_thread.join(order.stop_grace_s)
    tools_ended = tool_thread.join(max(0.0, deadline - time.monotonic()))
    if report.record_fault is not None:
        raise report.record_fault
    return _outcome(ending, report, choice, executor, tools_ended)


def _start_loop(
    order: AgentOrder,
    choice: ModelChoice,
    tools: Sequence[Tool],
    executor: ToolExecutor,
    tool_thread: ToolThread,
    report: LoopReport,
) -> threading.Thread:
    def work() -> None:
        try:
            from swarmui.adapters.models.loop import drive  # seconds to import

            drive(order, choice, tools, executor, tool_thread, report)
        except BaseException as error:  # noqa: BLE001 - a thread has nobody above it
            report.fail(FailureKind.TOOL_ERROR, f"the agent loop broke: {type(error).__name__}")

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(work,), name="attempt-loop", daemon=True)
    thread.start()
    return thread


def _watch(report: LoopReport, control: Control) -> _Ending:
    """Waits for the loop's end or for a reason to stop, whichever comes first."""
    told = ""
    try:
        while not report.ended.wait(POLL_S):
            if report.note != told:
                told = report.note
                control.progress(told)
            if (reason := _reason_to_stop(control)) is not None:
                return _stopped(reason)
        if report.failure is not None and (reason := _reason_to_stop(control)) is not None:
            return _stopped(reason)
    except Exception as error:  # noqa: BLE001 - without control nothing may go on
        return _Ending(
            failure=FailureKind.TOOL_ERROR,
            error=f"the attempt lost its control: {type(error).__name__}",
        )
    return _Ending(report.deliverable, report.failure, report.error)


def _reason_to_stop(control: Control) -> StopReason | None:
    if (reason := control.stop_reason()) is not None:
        return reason
    return StopReason.TIMEOUT if control.remaining_s() <= 0 else None


def _stopped(reason: StopReason) -> _Ending:
    failure, words = STOPPED[reason]
    return _Ending(failure=failure, error=words)


def _storable(deliverable: Deliverable | None) -> Deliverable:
    if deliverable is None:
        return Deliverable()
    notes = None if deliverable.notes is None else db_text(deliverable.notes, NOTES_CHARS)
    return Deliverable(output=db_json(deliverable.output), notes=notes)


def _outcome(
    ending: _Ending,
    report: LoopReport,
    choice: ModelChoice,
    executor: ToolExecutor,
    tools_ended: bool,
) -> WorkerOutcome:
    unavailable = list(report.usage_gaps())
    if not tools_ended:
        unavailable.append("sideEffects: a tool call was still under way when it was left behind")
    return WorkerOutcome(
        failure=ending.failure,
        error=ending.error,
        deliverable=_storable(ending.deliverable),
        side_effects=executor.side_effects() if tools_ended else None,
        unavailable=tuple(unavailable),
        tokens_used=report.tokens_used,
        cost_micro_usd=report.cost_micro_usd,
        stop_reason=report.stop_reason,
        model=choice.label,
        family=report.family or choice.family,
    )
