"""What every scorer is: a validated spec that looks at a deliverable and says what it found."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, JsonValue

from verifier.outcome import Deliverable
from verifier.ports import Clock, Workspace
from verifier.receipt import SideEffects
from verifier.verdicts import ScorerOutcome

# What a result says that rests on counters nobody kept.
EVIDENCE_UNKNOWN = "passed, evidence unknown"


@dataclass(frozen=True)
class ScoringContext:
    """What a gate may look at. `side_effects` None: the worker exposes no counters;
    `files_touched` None: the workspace was not measured."""

    deliverable: Deliverable
    side_effects: SideEffects | None
    workspace: Workspace
    clock: Clock
    files_touched: int | None = None


@dataclass(frozen=True)
class Finding:
    """What one scorer saw. `retryable`: whether the worker has the power to mend it."""

    outcome: ScorerOutcome
    observed: str | None = None
    reason: str | None = None
    retryable: bool = False


def passed(observed: str | None = None) -> Finding:
    """The property is there."""
    return Finding(ScorerOutcome.PASSED, observed)


def failed(reason: str, observed: str | None = None, *, retryable: bool = True) -> Finding:
    """The property is missing: `reason` says what was expected and what was seen."""
    return Finding(ScorerOutcome.FAILED, observed, reason, retryable)


def not_evaluated(reason: str) -> Finding:
    """The scorer had nothing to look at; neither a pass nor a failure."""
    return Finding(ScorerOutcome.NOT_EVALUATED, None, reason)


class Scorer(BaseModel, ABC):
    """Base of all kinds. Options bear the names of the published table (seed 001 §2)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    kind: str

    @abstractmethod
    def score(self, context: ScoringContext) -> Finding:
        """Look, and say what was found. May raise: the runner counts that as failed."""

    def document(self) -> dict[str, JsonValue]:
        """The spec as JSON, as it was written."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
