"""The folders of a run: one base, and a private copy of it for every attempt.

    run_dir/base        what has been agreed on so far (copy and worktree)
    run_dir/attempts/…  where workers work

Every folder appears complete or not at all: it is made under another name and renamed, or carries
a mark written last. What a crash left half-made is removed by the next try.
"""

import re
import subprocess
from pathlib import Path

from swarmui.adapters.workspace.copy import CopyLimits, copy_tree
from swarmui.adapters.workspace.errors import WorkspaceError
from swarmui.adapters.workspace.git import GitFailed, git, without_filters
from swarmui.adapters.workspace.locks import lock_of, locked
from swarmui.adapters.workspace.remove import remove_tree

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_HALF_MADE = ".new-"


def prepare_base(
    run_dir: Path, source: Path | None, mode: str, limits: CopyLimits | None = None
) -> Path:
    """The run's base folder, made on the first call and found by every later one.

    No source: an empty folder. `in_place`: the source itself. `worktree`: the commit the
    repository stands at; changes not committed are not part of it. Raises `WorkspaceError`.
    """
    if mode == "in_place" and source is not None:
        return source
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    base = run_dir / "base"
    with locked(lock_of(base)):
        if mode == "worktree" and source is not None:
            _add_worktree(source, base)
        elif not base.exists():
            _make(base, source, limits)
    return base


def prepare_attempt(
    run_dir: Path, name: str, start_from: Path, mode: str, limits: CopyLimits | None = None
) -> Path:
    """A fresh private copy of `start_from`; what an earlier call under this name left is gone.

    `in_place`: the folder itself, shared by all. Raises `WorkspaceError`, `ValueError` for a name
    that is none.
    """
    if not _NAME.match(name):
        raise ValueError(f"a name of letters, digits, '.', '_' and '-' was expected, not {name!r}")
    if mode == "in_place":
        return start_from
    attempts = run_dir / "attempts"
    attempts.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = attempts / name
    with locked(lock_of(place)), locked(lock_of(start_from), shared=True):
        remove_tree(place)
        _make(place, start_from, limits)
    return place


def _make(place: Path, source: Path | None, limits: CopyLimits | None) -> None:
    """Under the lock of `place`, so whatever else is half-made there is a dead process's."""
    new = place.with_name(_HALF_MADE + place.name)
    remove_tree(new)
    new.mkdir(mode=0o700)
    try:
        if source is not None:
            copy_tree(source, new, limits)
        new.rename(place)
    except BaseException:
        remove_tree(new)
        raise


def _add_worktree(source: Path, base: Path) -> None:
    complete = base.with_name("base.complete")
    if complete.exists() and base.exists():
        return
    remove_tree(base)
    try:
        git(source, "worktree", "prune")
        add = ("worktree", "add", "--detach", "--quiet", "--force", str(base), "HEAD")
        git(source, *add, settings=without_filters(source))
        (base / ".git").unlink()  # from here on plain files: nothing stays behind in the repository
        git(source, "worktree", "prune")
    except (GitFailed, subprocess.TimeoutExpired) as error:
        remove_tree(base)
        raise WorkspaceError(f"no worktree of {source} could be made: {error}") from None
    complete.touch(mode=0o600)
