"""Gates on a deliverable: one file per kind, one table, one runner."""

from verifier.scorers.derived import ExpectedOutput, derived_scorers
from verifier.scorers.kinds import DERIVED_KINDS, KINDS, MAX_SCORERS, ScorerSpec, kind_tag
from verifier.scorers.run import GATE_CAP_S, GateReport, ScorerResult, run_scorers
from verifier.scorers.scorer import (
    EVIDENCE_UNKNOWN,
    Finding,
    Scorer,
    ScoringContext,
)
from verifier.verdicts import ScorerOutcome

__all__ = [
    "DERIVED_KINDS",
    "EVIDENCE_UNKNOWN",
    "GATE_CAP_S",
    "KINDS",
    "MAX_SCORERS",
    "ExpectedOutput",
    "Finding",
    "GateReport",
    "Scorer",
    "ScorerOutcome",
    "ScorerResult",
    "ScorerSpec",
    "ScoringContext",
    "derived_scorers",
    "kind_tag",
    "run_scorers",
]
