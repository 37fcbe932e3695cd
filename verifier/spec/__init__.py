"""The run spec: its parts, how it is read, and what is said of a wrong one."""

from verifier.scorers import ExpectedOutput, ScorerSpec
from verifier.spec.load import load_spec_text
from verifier.spec.models import (
    PROVIDERS,
    BranchSpec,
    BudgetSpec,
    CommandWorker,
    LimitsSpec,
    ModelRef,
    ModelSpec,
    ModelWorker,
    RunSpec,
    Worker,
    WorkspaceMode,
    WorkspaceSpec,
)
from verifier.spec.parse import parse_run_spec, parse_scorers, run_spec_schema
from verifier.spec.problems import SpecError, SpecProblem

__all__ = [
    "PROVIDERS",
    "BranchSpec",
    "BudgetSpec",
    "CommandWorker",
    "ExpectedOutput",
    "LimitsSpec",
    "ModelRef",
    "ModelSpec",
    "ModelWorker",
    "RunSpec",
    "ScorerSpec",
    "SpecError",
    "SpecProblem",
    "Worker",
    "WorkspaceMode",
    "WorkspaceSpec",
    "load_spec_text",
    "parse_run_spec",
    "parse_scorers",
    "run_spec_schema",
]
