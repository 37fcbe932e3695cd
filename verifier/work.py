"""What a node has to do, as it is stored with it: the branch's part of the spec, resolved."""

from pydantic import BaseModel, ConfigDict

from verifier.budget import wall_clock_s
from verifier.lifecycle import WorkerKind
from verifier.limits import TOKEN_CAP
from verifier.spec import (
    BranchSpec,
    CommandWorker,
    ExpectedOutput,
    ModelRef,
    ModelWorker,
    RunSpec,
    ScorerSpec,
)

RESERVE_PERCENT = 10  # of a run's tokens, kept back for what follows the branches


class NodeWork(BaseModel):
    """`tokens` is the most one attempt may use, `wall_clock_s` the longest it may run."""

    model_config = ConfigDict(frozen=True)

    worker: ModelWorker | CommandWorker
    model: ModelRef | None = None
    backup_model: ModelRef | None = None
    tools: tuple[str, ...] = ()
    scorers: tuple[ScorerSpec, ...] = ()
    expected_output: ExpectedOutput = ExpectedOutput()
    tokens: int
    wall_clock_s: int
    contract_retries: int
    attended: bool = True

    @property
    def worker_kind(self) -> WorkerKind:
        return WorkerKind(self.worker.kind)


def root_work(spec: RunSpec) -> NodeWork:
    """The work of a root that does everything itself."""
    return NodeWork(
        worker=ModelWorker(kind="model"),
        model=spec.model,
        backup_model=spec.backup_models.get(""),
        tools=("filesystem", "shell"),
        tokens=_tokens(0, spec.limits.tokens if spec.limits else None, spec, 1),
        wall_clock_s=wall_clock_s(0, spec.limits.wall_clock_s if spec.limits else None),
        contract_retries=spec.contract_retries,
        attended=spec.attended,
    )


def branch_work(spec: RunSpec, branch: BranchSpec) -> NodeWork:
    """The work of one branch: its own wishes before the run's, both within the level's caps."""
    limits = [limits for limits in (branch.limits, spec.limits) if limits is not None]
    wished_tokens = next((own.tokens for own in limits if own.tokens is not None), None)
    wished_clock = next((own.wall_clock_s for own in limits if own.wall_clock_s is not None), None)
    worker = branch.worker
    return NodeWork(
        worker=worker,
        model=(worker.model or spec.model) if isinstance(worker, ModelWorker) else None,
        backup_model=spec.backup_models.get(branch.topic),
        tools=branch.tools,
        scorers=branch.scorers,
        expected_output=branch.expected_output,
        tokens=_tokens(1, wished_tokens, spec, len(spec.branches)),
        wall_clock_s=wall_clock_s(1, wished_clock),
        contract_retries=spec.contract_retries,
        attended=spec.attended,
    )


def _tokens(depth: int, wished: int | None, spec: RunSpec, sharers: int) -> int:
    own = wished if wished is not None else TOKEN_CAP[depth]
    run_cap = spec.budget.tokens
    if run_cap is None:
        return own
    share = run_cap * (100 - RESERVE_PERCENT) // 100 // max(1, sharers)
    return min(own, share)


def model_name(work: NodeWork, backup: bool = False) -> str:
    """The model an attempt is meant to use, as people read it."""
    model = work.backup_model if backup else work.model
    return "" if model is None else model if isinstance(model, str) else model.name
