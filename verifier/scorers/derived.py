"""The gates nobody has to ask for: what the expected output demands, and the tool outage.

Source: seed 001 §2 ("derived checks"), domain §4.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from verifier.scorers.files_changed import FilesChanged
from verifier.scorers.json_document import MAX_KEY_CHARS, MAX_REQUIRED_KEYS, JsonDocument
from verifier.scorers.scorer import Scorer
from verifier.scorers.tool_outage import ToolOutage


class ExpectedOutput(BaseModel):
    """What shape a branch has to give back. `schema` is a JSON Schema; its `required` is a gate."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    shape: Literal["text", "json", "code-diff"] = "text"
    json_schema: dict[str, JsonValue] | None = Field(default=None, alias="schema")

    @field_validator("json_schema")
    @classmethod
    def _check_required(cls, schema: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        required = (schema or {}).get("required", [])
        if not isinstance(required, list) or not all(map(_is_key, required)):
            raise ValueError(f"expected `required` to list keys of 1 to {MAX_KEY_CHARS} characters")
        if len(required) > MAX_REQUIRED_KEYS:
            raise ValueError(
                f"expected at most {MAX_REQUIRED_KEYS} required keys, got {len(required)}"
            )
        return schema

    @property
    def required_keys(self) -> tuple[str, ...]:
        """The keys the schema lists as required; empty when it lists none."""
        required = (self.json_schema or {}).get("required")
        if not isinstance(required, list):
            return ()
        return tuple(key for key in required if isinstance(key, str))


def _is_key(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= MAX_KEY_CHARS


def derived_scorers(
    expected_output: ExpectedOutput | None, specs: Sequence[Scorer]
) -> tuple[Scorer, ...]:
    """The gates to run after `specs`, without those an explicit one already covers."""
    return (*_shape_gates(expected_output or ExpectedOutput(), specs), ToolOutage())


def _shape_gates(expected: ExpectedOutput, specs: Sequence[Scorer]) -> tuple[Scorer, ...]:
    if expected.shape == "code-diff":
        return (FilesChanged(),)
    if expected.shape != "json" or expected.json_schema is None:
        return ()
    keys = expected.required_keys
    explicit = [spec for spec in specs if isinstance(spec, JsonDocument)]
    if any(set(keys) <= set(spec.required_keys) for spec in explicit):
        return ()
    return (JsonDocument(requiredKeys=keys),)
