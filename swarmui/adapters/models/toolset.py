"""Our tools as pydantic-ai sees them: our schemas, our executor, our thread.

Loaded only by the loop: this module imports the model library.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool

from swarmui.adapters.models.instructions import DELIVER
from swarmui.adapters.models.progress import LoopReport
from swarmui.adapters.models.tool_thread import ToolThread
from verifier.boundary.executor import Observation, ToolExecutor
from verifier.boundary.tool_adapter import MAX_ARGUMENT_BYTES, Tool
from verifier.parsing import ParseProblem, parse_untrusted

TOOL_RETRIES = 5


class _AsProposed:
    """Lets every argument through: the executor judges them, so that a call with broken arguments
    is recorded like any other."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> Any:
        """The arguments as JSON, or as the text they are."""
        text = input if isinstance(input, str) else bytes(input)
        parsed = parse_untrusted(text, max_bytes=MAX_ARGUMENT_BYTES)
        return input if isinstance(parsed, ParseProblem) else parsed.value

    def validate_python(self, input: Any, **_: Any) -> Any:
        """The arguments as they are."""
        return input


class Hands:
    """Carries a proposed call to the executor, in the attempt's tool thread."""

    def __init__(self, executor: ToolExecutor, thread: ToolThread, report: LoopReport) -> None:
        self._executor = executor
        self._thread = thread
        self._report = report

    async def call(self, name: str, arguments: object) -> Observation:
        """Makes the call; a cancelled wait leaves a call under way to its end."""
        self._report.note = f"using {name[:120]}"
        return await asyncio.wrap_future(self._thread.submit(lambda: self._call(name, arguments)))

    def _call(self, name: str, arguments: object) -> Observation:
        try:
            return self._executor.call(name, arguments)
        except Exception as fault:
            self._report.record_fault = fault  # tools never raise here: only the recorder does
            raise


class BoundaryToolset(AbstractToolset[None]):
    """The attempt's tools. What the executor reports as failed reaches the model as failed."""

    def __init__(self, tools: Sequence[Tool], hands: Hands) -> None:
        self._tools = tools
        self._hands = hands

    @property
    def id(self) -> str:
        return "boundary"

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        return {tool.name: self._entry(tool) for tool in self._tools}

    async def call_tool(
        self, name: str, tool_args: Any, ctx: RunContext[None], tool: ToolsetTool[None]
    ) -> str:
        observation = await self._hands.call(name, tool_args)
        if observation.kind != "result":
            raise ToolFailed(observation.content)
        return observation.content

    def _entry(self, tool: Tool) -> ToolsetTool[None]:
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.schema,
            sequential=True,
        )
        return ToolsetTool(
            toolset=self,
            tool_def=definition,
            max_retries=TOOL_RETRIES,
            args_validator=_AsProposed(),
        )


@dataclass
class Witness(AbstractCapability[None]):
    """Sees every answer of the model: notes that the attempt is alive, and takes calls of tools
    that do not exist to the executor, which refuses and records them. (The library answers them
    itself, so without this they would leave no trace.)"""

    known: frozenset[str]
    hands: Hands
    report: LoopReport

    async def before_model_request(
        self, ctx: RunContext[None], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        self.report.note = f"waiting for the model, turn {ctx.run_step}"
        self.report.is_waiting = True
        return request_context

    async def after_model_request(
        self,
        ctx: RunContext[None],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        self.report.is_waiting = False
        self.report.stop_reason = response.finish_reason
        for part in response.parts:
            if isinstance(part, ToolCallPart) and part.tool_name not in self.known | {DELIVER}:
                await self.hands.call(part.tool_name, part.args)
        return response
