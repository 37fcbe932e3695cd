"""Git with nothing of the repository or of the machine's configuration able to start a program."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

TIMEOUT_S = 120  # the checkout of a large repository on a busy disk
_HARDENED = (
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "submodule.recurse=false"),
    *("-c", "core.pager=cat"),
)
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    # Nothing is fetched, also not what a partial clone lacks: a fetch may start programs.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "HOME": os.devnull,
    "LC_ALL": "C",
}


class GitFailed(Exception):
    """Git could not do it; the message is the last line it wrote."""


def without_filters(folder: Path) -> dict[str, str]:
    """Configuration under which a checkout in `folder` starts none of the repository's filter
    programs: files come as they are stored. For `settings` of `git`."""
    try:
        found = git(folder, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    except GitFailed:
        return {}  # there are none
    keys = [key for key in found.split("\0") if key]
    return {key: "false" if key.lower().endswith(".required") else "" for key in keys}


def git(folder: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> str:
    """Run one git command in `folder`; its standard output. `settings` win over the repository's
    own configuration. Raises `GitFailed`."""
    environment = _ENVIRONMENT | {"PATH": os.environ.get("PATH", os.defpath)}
    for number, (key, value) in enumerate((settings or {}).items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    environment["GIT_CONFIG_COUNT"] = str(len(settings or {}))
    try:
        done = subprocess.run(
            ["git", *_HARDENED, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    except FileNotFoundError:
        raise GitFailed("git is not installed") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(said[-1] if said else f"exit {done.returncode}")
    return done.stdout.decode("utf-8", "surrogateescape")
