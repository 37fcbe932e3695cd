"""Git with nothing of the repository or of the machine's configuration able to start a program."""

import os
import subprocess
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
    "HOME": os.devnull,
    "LC_ALL": "C",
}


class GitFailed(Exception):
    """Git could not do it; the message is the last line it wrote."""


def git(folder: Path, *arguments: str) -> str:
    """Run one git command in `folder`; its standard output. Raises `GitFailed`."""
    environment = _ENVIRONMENT | {"PATH": os.environ.get("PATH", os.defpath)}
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
