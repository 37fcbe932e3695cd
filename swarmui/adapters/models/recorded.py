"""Recorded models: a YAML file with a model's turns, played through the real agent loop.

Only what the model *said* is written down. The tools are called for real, on real files; the
receipt counts them; a turn may demand that the tools found something (`needs`), so that no written
answer outlives the facts it speaks of.
"""

from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

MAX_DELAY_MS = 60_000


class RecordedError(Exception):
    """A recording that cannot be read, or that does not fit what is asked of it."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TokenCounts(_Strict):
    """What one turn is said to have used."""

    input: int = Field(ge=0, le=10_000_000)
    output: int = Field(ge=0, le=10_000_000)


class RecordedCall(_Strict):
    """One tool call; the arguments are judged by the tool, like any model's."""

    tool: str = Field(min_length=1, max_length=120)
    args: dict[str, JsonValue] = {}


class FinalDeliverable(_Strict):
    """A final answer given through the `deliver` tool."""

    output: JsonValue
    notes: str | None = None


class Turn(_Strict):
    """One answer of the model: tool calls, the final answer, or a failure.

    `needs`: texts that must occur in what the tools have answered so far. Without `tokens` the
    turn reports no usage, and the attempt's tokens are unknown.
    """

    say: str | None = None
    needs: tuple[str, ...] = Field(default=(), max_length=20, strict=False)
    delay_ms: int = Field(default=0, ge=0, le=MAX_DELAY_MS)
    tokens: TokenCounts | None = None
    calls: tuple[RecordedCall, ...] | None = Field(
        default=None, min_length=1, max_length=20, strict=False
    )
    final: str | FinalDeliverable | None = None
    fail: Literal["crash", "provider_error", "quota"] | None = None

    @model_validator(mode="after")
    def _does_one_thing(self) -> "Turn":
        if sum(part is not None for part in (self.calls, self.final, self.fail)) != 1:
            raise ValueError("expected exactly one of calls, final and fail")
        if self.say is not None and isinstance(self.final, str):
            raise ValueError("a final text says everything itself: leave out say")
        return self

    @property
    def is_last(self) -> bool:
        """Whether the loop cannot go on after this turn."""
        return self.calls is None


class ScriptMatch(_Strict):
    """When a script is played: everything given must be equal; what is left out fits anything."""

    branch: int | None = Field(default=None, ge=0, le=7)
    role: str | None = None
    topic: str | None = None
    attempt: int | None = Field(default=None, ge=1)
    replacement: int | None = Field(default=None, ge=0)

    def fits(self, key: "Key") -> bool:
        """Whether this is the script for `key`."""
        wanted = self.model_dump(exclude_none=True)
        return all(getattr(key, name) == value for name, value in wanted.items())


class Script(_Strict):
    """One attempt, as it was recorded."""

    name: str = Field(min_length=1, max_length=120)
    when: ScriptMatch = ScriptMatch()
    turns: tuple[Turn, ...] = Field(min_length=1, max_length=100, strict=False)

    @model_validator(mode="after")
    def _ends_once(self) -> "Script":
        last = len(self.turns) - 1
        for index, turn in enumerate(self.turns):
            if turn.is_last and index != last:
                raise ValueError(f"turns[{index}] ends the script: nothing may follow it")
        if not self.turns[last].is_last:
            raise ValueError("expected the last turn to be final or fail")
        return self


class Recording(_Strict):
    """A whole file. Scripts are tried in their order; the first that fits is played."""

    format: Annotated[int, Field(ge=1, le=1)]
    family: Annotated[str, Field(min_length=1, max_length=60)]
    scripts: tuple[Script, ...] = Field(min_length=1, max_length=100, strict=False)

    @model_validator(mode="after")
    def _every_script_can_be_reached(self) -> "Recording":
        seen: dict[str, str] = {}
        for script in self.scripts:
            condition = script.when.model_dump_json()
            if condition in seen:
                raise ValueError(
                    f"script {script.name!r} is never played: {seen[condition]!r} fits the same"
                )
            seen[condition] = script.name
        return self

    def script_for(self, key: "Key") -> Script:
        """The script for one attempt; raises `RecordedError` when none was recorded."""
        for script in self.scripts:
            if script.when.fits(key):
                return script
        raise RecordedError(f"no recorded script fits {describe(key)}")


class Key(Protocol):
    """What a script is chosen by (`ScriptKey` of the front door)."""

    @property
    def branch(self) -> int | None: ...
    @property
    def role(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def attempt(self) -> int: ...
    @property
    def replacement(self) -> int: ...


def describe(key: Key) -> str:
    """The key in words, for messages."""
    return (
        f"branch {key.branch}, role {key.role!r}, topic {key.topic!r}, "
        f"attempt {key.attempt}, replacement {key.replacement}"
    )
