"""Plays a recording: pydantic-ai's FunctionModel, driven by one script.

Loaded only by the loop: this module imports the model library.
"""

import asyncio
from collections.abc import Iterator, Sequence

from pydantic_ai.exceptions import ModelHTTPError, ModelQuotaExceededError, ModelUnavailableError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from swarmui.adapters.models.instructions import DELIVER
from swarmui.adapters.models.recorded import RecordedError, Script, Turn


class RecordedCrash(Exception):
    """The script says that the worker crashed here."""


def playback_model(script: Script, label: str, delay_scale: float) -> FunctionModel:
    """A model that gives `script`'s turns one after the other. Which turn is next is read from
    the conversation, so nothing is kept between requests."""

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = sum(isinstance(message, ModelResponse) for message in messages)
        if done >= len(script.turns):
            raise RecordedError(
                f"the script {script.name!r} has {len(script.turns)} turns; one more was asked for"
            )
        turn = script.turns[done]
        _check_needs(script, done, messages)
        await asyncio.sleep(turn.delay_ms / 1000 * delay_scale)
        if turn.fail is not None:
            raise _failure(turn, label)
        return ModelResponse(
            parts=list(_parts(turn, done)),
            usage=_usage(turn),
            finish_reason="stop" if turn.is_last else "tool_call",
        )

    return FunctionModel(answer, model_name=label)


def _check_needs(script: Script, index: int, messages: Sequence[ModelMessage]) -> None:
    answers = list(_tool_answers(messages))
    for text in script.turns[index].needs:
        if not any(text in answer for answer in answers):
            raise RecordedError(
                f"the script {script.name!r} no longer fits: turn {index + 1} rests on {text!r}, "
                "which no tool has answered"
            )


def _tool_answers(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    yield part.model_response_str()


def _parts(turn: Turn, index: int) -> Iterator[ModelResponsePart]:
    if turn.say is not None:
        yield TextPart(turn.say)
    for position, call in enumerate(turn.calls or ()):
        yield ToolCallPart(call.tool, dict(call.args), tool_call_id=f"t{index + 1}c{position + 1}")
    if isinstance(turn.final, str):
        yield TextPart(turn.final)
    elif turn.final is not None:
        yield ToolCallPart(DELIVER, turn.final.model_dump(), tool_call_id=f"t{index + 1}")


def _usage(turn: Turn) -> RequestUsage:
    if turn.tokens is None:
        return RequestUsage(unmeasured_requests=1)
    return RequestUsage(input_tokens=turn.tokens.input, output_tokens=turn.tokens.output)


def _failure(turn: Turn, label: str) -> Exception:
    words = turn.say or "as recorded"
    if turn.fail == "crash":
        return RecordedCrash(words)
    category, status = (
        (ModelQuotaExceededError, 402) if turn.fail == "quota" else (ModelUnavailableError, 503)
    )
    return ModelHTTPError.for_category(
        category, status_code=status, model_name=label, body={"message": words}
    )
