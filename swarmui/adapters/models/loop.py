"""The agent loop itself, on pydantic-ai: one conversation until the final answer.

Importing this module takes seconds; only an attempt's own thread does.
"""

import asyncio
import os
import warnings
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Annotated

import pydantic_ai
from pydantic import Field, JsonValue
from pydantic_ai import Agent, ToolOutput, UsageLimits
from pydantic_ai.exceptions import (
    ContentFilterError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UsageLimitUnavailableWarning,
)
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage

from swarmui.adapters.models.failures import classify, is_unbilled
from swarmui.adapters.models.gateway import open_model
from swarmui.adapters.models.instructions import DELIVER, instructions_for
from swarmui.adapters.models.names import RECORDED, ModelChoice, ModelUnusable, find_key
from swarmui.adapters.models.playback import playback_model
from swarmui.adapters.models.progress import LoopReport
from swarmui.adapters.models.recording_file import load_recording
from swarmui.adapters.models.tool_thread import ToolThread
from swarmui.adapters.models.toolset import TOOL_RETRIES, BoundaryToolset, Hands, Witness
from verifier.boundary.executor import ToolExecutor
from verifier.boundary.tool_adapter import Tool
from verifier.outcome import Deliverable

if TYPE_CHECKING:
    from swarmui.adapters.models.agent import AgentOrder

OUTPUT_RETRIES = 2
MICRO = Decimal(1_000_000)

# Nothing but the run itself is printed to a terminal that watches one.
pydantic_ai.BANNER_ENABLED = False

# Unknown usage is reported on the attempt itself (`LoopReport.unmeasured`).
warnings.filterwarnings("ignore", category=UsageLimitUnavailableWarning)

# Ends of a text that is not whole, though the library takes it for the answer.
CUT_SHORT: dict[str | None, type[UnexpectedModelBehavior]] = {
    "length": OutputTokenLimitExceeded,
    "content_filter": ContentFilterError,
}


def drive(
    order: "AgentOrder",
    choice: ModelChoice,
    tools: Sequence[Tool],
    executor: ToolExecutor,
    tool_thread: ToolThread,
    report: LoopReport,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Runs the conversation in this thread and reports how it ended; does not raise."""
    usage = RunUsage()
    failure: BaseException | None = None
    try:
        model = _model(order, choice, environ, report)
        hands = Hands(executor, tool_thread, report)
        agent = _agent(order, model, tools, hands, report)
        deliverable = asyncio.run(_converse(agent, order, usage, report))
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - each end is a value
        failure = error
    # Counted before the end is told: whoever waits reads both.
    _count(usage, report, failure)
    if failure is None:
        report.succeed(deliverable)
    else:
        report.fail(*classify(failure, _secrets(choice, environ)))


def deliver(
    output: Annotated[JsonValue, Field(description="The deliverable: text or any JSON value.")],
    notes: Annotated[str | None, Field(description="Remarks beside the deliverable.")] = None,
) -> Deliverable:
    """Hand in the final answer and end the work."""
    return Deliverable(output=output, notes=notes)


def _model(
    order: "AgentOrder", choice: ModelChoice, environ: Mapping[str, str], report: LoopReport
) -> Model:
    if choice.provider != RECORDED:
        return open_model(choice, environ, order.request_retries)
    recording = load_recording(choice.name, order.recorded_root)
    report.family = recording.family
    return playback_model(recording.script_for(order.key), choice.label, order.delay_scale)


def _agent(
    order: "AgentOrder",
    model: Model,
    tools: Sequence[Tool],
    hands: Hands,
    report: LoopReport,
) -> Agent[None, str | Deliverable]:
    known = frozenset(tool.name for tool in tools)
    return Agent(
        model,
        deps_type=type(None),
        name="worker",
        output_type=[str, ToolOutput(deliver, name=DELIVER)],
        instructions=instructions_for(order.role, order.expected_shape),
        toolsets=[BoundaryToolset(tools, hands)],
        capabilities=[Witness(known, hands, report)],
        retries={"tools": TOOL_RETRIES, "output": OUTPUT_RETRIES},
    )


async def _converse(
    agent: Agent[None, str | Deliverable], order: "AgentOrder", usage: RunUsage, report: LoopReport
) -> Deliverable:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        try:
            loop.call_soon_threadsafe(task.cancel)
        except RuntimeError:
            return  # the loop has ended by itself

    report.on_cancel(cancel)
    limits = UsageLimits(request_limit=order.request_cap, total_tokens_limit=order.token_cap)
    async with agent:
        result = await agent.run(order.brief, usage_limits=limits, usage=usage)
    output = result.output
    if isinstance(output, Deliverable):
        return output
    if report.stop_reason in CUT_SHORT:
        report.deliverable = Deliverable(output=output)  # kept for the reader, not as a result
        raise CUT_SHORT[report.stop_reason]("the answer so far is kept")
    return Deliverable(output=output)


def _count(usage: RunUsage, report: LoopReport, failure: BaseException | None) -> None:
    """What is known of tokens and cost; a part that is not known makes the sum unknown."""
    unanswered = int(report.is_waiting and failure is not None and not is_unbilled(failure))
    report.unmeasured = usage.unmeasured_requests + unanswered
    report.requests = usage.requests + unanswered
    report.tokens_at_least = usage.total_tokens
    if not report.unmeasured:
        report.tokens_used = usage.total_tokens
        if usage.cost is not None:
            report.cost_micro_usd = int((usage.cost * MICRO).to_integral_value(ROUND_HALF_UP))
    report.is_counted = True


def _secrets(choice: ModelChoice, environ: Mapping[str, str]) -> tuple[str, ...]:
    try:
        key = find_key(choice, environ)
    except ModelUnusable:
        return ()
    return () if key is None else (key,)
