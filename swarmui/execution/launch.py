"""Starts a run: checks what the spec names in the world before anything is paid for."""

from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User

from swarmui.adapters.models.recorded import RecordedError
from swarmui.adapters.models.recording_file import load_recording
from swarmui.adapters.workspace import WorkspaceError, resolve_source
from swarmui.services.runs import Launch, Order, start_run, started_before
from verifier.spec import ModelRef, ModelWorker, RunSpec, SpecError, SpecProblem

RECORDED = "recorded:"


def launch_run(
    spec: RunSpec,
    *,
    origin: str,
    owner: User | None = None,
    roots: Sequence[Path] | None,
    cwd: Path,
    idempotency_key: str | None = None,
    body_hash: str = "",
) -> Launch:
    """Checks and starts a run. `roots`: where workspaces may be (None: anywhere, for a person at
    the machine); relative paths start at `cwd`. Raises `SpecError` with a path per problem,
    `services.runs.KeyReused` for an idempotency key with another body."""
    earlier = started_before(origin, idempotency_key, body_hash)
    if earlier is not None:
        return earlier
    problems: list[SpecProblem] = []
    source = _workspace(spec, roots, cwd, problems)
    _recorded_models(spec, cwd, problems)
    if problems:
        raise SpecError(tuple(problems))
    return start_run(
        Order(
            spec=spec,
            origin=origin,
            owner=owner,
            workspace_source=source,
            base_dir=cwd,
            idempotency_key=idempotency_key,
            body_hash=body_hash,
        )
    )


def _workspace(
    spec: RunSpec, roots: Sequence[Path] | None, cwd: Path, problems: list[SpecProblem]
) -> Path | None:
    if spec.workspace is None:
        return None
    try:
        source = resolve_source(spec.workspace.path, spec.workspace.mode, roots, cwd)
        _apart_from_home(source, spec.workspace.mode)
    except WorkspaceError as error:
        problems.append(SpecProblem(path="workspace.path", message=str(error)))
        return None
    return source


def _apart_from_home(source: Path, mode: str) -> None:
    """No worker is handed this installation's own state: its database, its key, other runs."""
    home = Path(settings.SWARMUI_HOME)
    if source.is_relative_to(home) or (mode != "worktree" and home.is_relative_to(source)):
        raise WorkspaceError(
            "the folder holds this installation's own state; name another one, or use mode "
            "worktree, which takes only what is committed"
        )


def _recorded_models(spec: RunSpec, cwd: Path, problems: list[SpecProblem]) -> None:
    for path, model in _models_of(spec):
        if isinstance(model, str) and model.startswith(RECORDED):
            try:
                load_recording(model.removeprefix(RECORDED), cwd)
            except RecordedError as error:
                problems.append(SpecProblem(path=path, message=str(error)))


def _models_of(spec: RunSpec) -> list[tuple[str, ModelRef]]:
    named: list[tuple[str, ModelRef | None]] = [("model", spec.model)]
    named += [(f"backup_models.{topic}", model) for topic, model in spec.backup_models.items()]
    named += [
        (f"branches[{index}].worker.model", branch.worker.model)
        for index, branch in enumerate(spec.branches)
        if isinstance(branch.worker, ModelWorker)
    ]
    return [(path, model) for path, model in named if model is not None]
