"""What a worker hands back when its part is over."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, JsonValue

from verifier.receipt import SideEffects


class Deliverable(BaseModel):
    """What the worker gave back."""

    model_config = ConfigDict(frozen=True)

    output: JsonValue = None
    notes: str | None = None


class FailureKind(StrEnum):
    """Why a worker did not return."""

    TOOL_ERROR = "tool_error"
    PROVIDER_ERROR = "provider_error"
    QUOTA_EXHAUSTED = "quota_exhausted"
    BUDGET = "budget"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LEASE_LOST = "lease_lost"
    DENIED = "denied"


class WorkerOutcome(BaseModel):
    """One attempt's result, before any gate looked at it.

    `side_effects` is None when the worker exposes no counters (then `unavailable` says so);
    `tokens_used` and `cost_micro_usd` are None when unknown; `isolated` is None when nothing was
    run that could have been isolated, False when a command ran outside the sandbox.
    """

    model_config = ConfigDict(frozen=True)

    failure: FailureKind | None = None
    error: str | None = None
    deliverable: Deliverable = Deliverable()
    side_effects: SideEffects | None = None
    unavailable: tuple[str, ...] = ()
    tokens_used: int | None = None
    cost_micro_usd: int | None = None
    stop_reason: str | None = None
    model: str | None = None
    family: str | None = None
    isolated: bool | None = None
