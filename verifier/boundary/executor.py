"""The one place every tool call passes: recorded before it acts, counted after.

Counters and trajectory are written side by side here and nowhere else, so they cannot drift.
Source: seed 001 §1, domain §3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from verifier.boundary.tool_adapter import (
    InvalidArguments,
    Tool,
    ToolDenied,
    ToolFailure,
    as_text,
)
from verifier.boundary.trajectory import EntryKind, TrajectoryEntry
from verifier.framing import bounded, db_json, db_text, one_line
from verifier.limits import OBSERVATION_CHARS
from verifier.ports import Clock
from verifier.receipt import SideEffects, ToolCounters

RECORDED_CHARS = OBSERVATION_CHARS  # of a call's arguments: a written file may be far larger
_NAME_CHARS = 120  # a longer one is no tool's, and a record holds no more
_ESCAPE_CHARS = 8  # one unstorable character becomes at most "⟦U+DFFF⟧"


class ObservationKind(StrEnum):
    """How a call ended."""

    RESULT = "result"  # it did what it does; a program's non-zero exit is a result
    ERROR = "error"  # it could not
    INVALID = "invalid"  # no such tool, or the arguments do not fit: nothing happened
    DENIED = "denied"  # refused: nothing happened


@dataclass(frozen=True)
class Observation:
    """What the worker is told of its call. `content` has at most `OBSERVATION_CHARS`
    characters."""

    call_id: str
    tool: str
    kind: ObservationKind
    content: str
    truncated: bool
    duration_ms: int


class ToolExecutor:
    """Runs a worker's calls, one at a time.

    `record` stores an entry durably before it returns; what it raises ends the call, and a tool
    never runs whose proposal could not be stored.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        record: Callable[[TrajectoryEntry], None],
        counters: ToolCounters,
        clock: Clock,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools have the same name")
        self._record = record
        self._counters = counters
        self._clock = clock
        self._calls = 0

    def side_effects(self) -> SideEffects:
        """The counts so far."""
        return self._counters.snapshot()

    def call(self, name: str, arguments: object) -> Observation:
        """Run one call; never raises for what the worker or the tool did."""
        self._calls += 1
        call_id = f"call-{self._calls}"
        shown = one_line(name, _NAME_CHARS)
        self._enter(EntryKind.PROPOSAL, call_id, shown, {"arguments": _recordable(arguments)})
        began = self._clock.monotonic_ms()
        kind, content = self._run(name, arguments)
        duration = max(0, self._clock.monotonic_ms() - began)
        observation = _observation(call_id, shown, kind, content, duration)
        self._conclude(observation)
        return observation

    def _run(self, name: str, arguments: object) -> tuple[ObservationKind, str]:
        tool = self._tools.get(name)
        if tool is None:
            offered = ", ".join(self._tools) or "none"
            return ObservationKind.INVALID, f"unknown tool; there are: {offered}"
        try:
            return ObservationKind.RESULT, as_text(tool.run(arguments))
        except InvalidArguments as error:
            return ObservationKind.INVALID, f"invalid arguments: {error}"
        except ToolDenied as denial:
            return ObservationKind.DENIED, f"denied: {denial}"
        except ToolFailure as failure:
            return ObservationKind.ERROR, str(failure)
        except Exception as error:  # noqa: BLE001 - a tool's fault is the worker's observation
            return ObservationKind.ERROR, f"the tool broke: {type(error).__name__}: {error}"

    def _conclude(self, observation: Observation) -> None:
        denied = observation.kind is ObservationKind.DENIED
        self._enter(
            EntryKind.DENIAL if denied else EntryKind.RESULT,
            observation.call_id,
            observation.tool,
            {
                "kind": observation.kind.value,
                "content": observation.content,
                "truncated": observation.truncated,
                "durationMs": observation.duration_ms,
            },
        )
        if denied:
            self._counters.denied()
        elif observation.kind is ObservationKind.RESULT:
            self._counters.succeeded(observation.tool)
        else:
            self._counters.error()

    def _enter(
        self, kind: EntryKind, call_id: str, tool: str, payload: dict[str, JsonValue]
    ) -> None:
        self._record(TrajectoryEntry(kind=kind, call_id=call_id, tool=tool, payload=payload))


def _observation(
    call_id: str, tool: str, kind: ObservationKind, content: str, duration_ms: int
) -> Observation:
    storable = db_text(content, _ESCAPE_CHARS * len(content))
    return Observation(
        call_id=call_id,
        tool=tool,
        kind=kind,
        content=bounded(storable, OBSERVATION_CHARS),
        truncated=len(storable) > OBSERVATION_CHARS,
        duration_ms=duration_ms,
    )


def _recordable(arguments: object) -> JsonValue:
    if isinstance(arguments, bytes):
        arguments = bounded(arguments.decode("utf-8", "backslashreplace"), RECORDED_CHARS)
    return db_json(arguments, RECORDED_CHARS)
