"""Where a run's files are: its workspace, and one private copy per attempt."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from swarmui.adapters import workspace
from swarmui.adapters.workspace import Inventory, Promotion, WorkspaceDir
from swarmui.models import Attempt, Run

IN_PLACE = "in_place"  # all branches share one folder: who touched what cannot be told


def run_dir(run: Run) -> Path:
    """The folder that holds everything of one run."""
    return Path(settings.SWARMUI_HOME) / "runs" / str(run.pk)


def base_of(run: Run) -> Path:
    """The run's workspace, prepared on first use."""
    source = Path(run.workspace_source) if run.workspace_source else None
    return workspace.prepare_base(run_dir(run), source, run.workspace_mode)


def prepare(attempt: Attempt) -> WorkspaceDir:
    """An attempt's own workspace, filled, with its inventory kept for the comparison after.

    A later attempt of a node starts from what the one before it left: a contract retry mends.
    """
    run = attempt.node.run
    base = base_of(run)
    earlier = _earlier(attempt)
    start_from = base if earlier is None else place_of(earlier)
    root = workspace.prepare_attempt(run_dir(run), _name(attempt), start_from, run.workspace_mode)
    if run.workspace_mode == IN_PLACE:
        return WorkspaceDir(root)
    start = _as_json(workspace.inventory(root))
    origin = start if earlier is None else _kept(earlier)["origin"]
    _keep(attempt, {"start": start, "origin": origin})
    return WorkspaceDir(root)


def place_of(attempt: Attempt) -> Path:
    """The folder an attempt works in, whether it exists yet or not."""
    run = attempt.node.run
    if run.workspace_mode == IN_PLACE:
        return base_of(run)
    return run_dir(run) / "attempts" / _name(attempt)


def _name(attempt: Attempt) -> str:
    return f"{attempt.node_id}-{attempt.number}"  # an attempt is claimed once


def _earlier(attempt: Attempt) -> Attempt | None:
    """The attempt of the same node whose files this one goes on from."""
    if attempt.number == 1:
        return None
    earlier = (
        attempt.node.attempts.select_related("node__run")
        .filter(number__lt=attempt.number)
        .order_by("-number")
        .first()
    )
    if earlier is None or not place_of(earlier).is_dir():
        return None
    return earlier if _inventory_file(earlier).is_file() else None


def _inventory_file(attempt: Attempt) -> Path:
    folder = run_dir(attempt.node.run) / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{attempt.pk}.json"


def _keep(attempt: Attempt, inventories: dict[str, Any]) -> None:
    """Complete or not there at all: the next attempt reads what a killed one left."""
    path = _inventory_file(attempt)
    new = path.with_suffix(".new")  # an attempt is claimed once, so nobody else writes it
    new.write_text(json.dumps(inventories))
    new.replace(path)


def _kept(attempt: Attempt) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(_inventory_file(attempt).read_text())
    return kept


def touched(attempt: Attempt) -> tuple[str, ...] | None:
    """Files that differ from the attempt's own beginning; None when that cannot be told."""
    if attempt.node.run.workspace_mode == IN_PLACE:
        return None
    before = _from_json(_kept(attempt)["start"])
    return workspace.files_touched(before, workspace.inventory(place_of(attempt)))


def promote(attempt: Attempt) -> Promotion:
    """Carries what an accepted node changed, over all its attempts, into the run's workspace."""
    root = place_of(attempt)
    if attempt.node.run.workspace_mode == IN_PLACE or not root.is_dir():
        return Promotion()
    origin = _from_json(_kept(attempt)["origin"])
    return workspace.promote(root, origin, workspace.inventory(root), base_of(attempt.node.run))


def _as_json(inventory: Inventory) -> dict[str, Any]:
    return {"files": dict(inventory.files), "complete": inventory.complete}


def _from_json(kept: dict[str, Any]) -> Inventory:
    files = {path: (size, digest) for path, (size, digest) in kept["files"].items()}
    return Inventory(files, kept["complete"])
