"""The entries a node appends at each boundary it crosses. Receipts are counted beside them.

Source: seed 001 §1, domain §1.
"""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, JsonValue


class EntryKind(StrEnum):
    """What happened at the boundary."""

    PROPOSAL = "proposal"  # the worker asked for an action
    DECISION = "decision"  # the policy or a person allowed or refused it
    EXECUTION = "execution"  # the action began
    DENIAL = "denial"  # it was refused, and did not happen
    RESULT = "result"  # what came of it
    FEEDBACK = "feedback"  # what the worker was told about its own work


class TrajectoryEntry(BaseModel):
    """One step. `call_id` joins the entries of one tool call; `payload` is bounded JSON that any
    database can hold."""

    model_config = ConfigDict(frozen=True)

    kind: EntryKind
    call_id: str | None = None
    tool: str | None = None
    payload: dict[str, JsonValue] = {}
