"""What the operator named as a workspace: checked before a run is accepted."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from swarmui.adapters.paths import MAX_PATH_BYTES
from swarmui.adapters.workspace.errors import WorkspaceError
from swarmui.adapters.workspace.git import GitFailed, git

WorkspaceMode = Literal["copy", "worktree", "in_place"]


def resolve_source(path: str, mode: str, roots: Sequence[Path] | None, cwd: Path) -> Path:
    """The folder `path` names, seen from `cwd`, with links resolved.

    `roots` are the folders a workspace may lie in; None means anywhere, for the person who
    started the server on their own machine. Raises `WorkspaceError`.
    """
    if "\0" in path or len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        raise WorkspaceError(
            f"workspace path: a path of at most {MAX_PATH_BYTES:,} bytes without NUL was expected"
        )
    try:
        source = (cwd / Path(path).expanduser()).resolve()
    except (OSError, RuntimeError) as error:
        raise WorkspaceError(f"workspace path {path!r} cannot be opened: {error}") from None
    if roots is not None and not any(source.is_relative_to(root.resolve()) for root in roots):
        # Said before anything else about it: what lies elsewhere is not theirs to ask about.
        raise WorkspaceError(f"workspace path {path!r} is outside the folders allowed here")
    if not source.exists():
        raise WorkspaceError(f"workspace path {path!r} does not exist")
    if not source.is_dir():
        raise WorkspaceError(f"workspace path {path!r} is not a folder")
    needed = os.R_OK | os.X_OK | (os.W_OK if mode == "in_place" else 0)
    if not os.access(source, needed):
        raise WorkspaceError(f"workspace path {path!r}: permission denied")
    if mode == "worktree":
        _require_repository(source)
    return source


def _require_repository(source: Path) -> None:
    try:
        top = Path(git(source, "rev-parse", "--show-toplevel").strip()).resolve()
        git(source, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except (GitFailed, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(
            f"mode worktree needs a git repository with a commit: {error}"
        ) from None
    if top != source:
        raise WorkspaceError(
            "mode worktree takes a whole repository, and this is a folder inside one: name the "
            "repository's top, or use mode copy"
        )
