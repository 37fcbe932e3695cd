"""The rules by which tests find what they need, and what is said when it cannot be got."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

T = TypeVar("T")

ALLOW_MISSING = os.environ.get("ALLOW_MISSING") == "1"

#: One line per thing that could not be got; shown at the end of the run.
missing: dict[str, str] = {}


class Missing(Exception):
    """What could not be got, and what was tried."""


def unavailable(name: str, reason: str) -> NoReturn:
    """Ends the test that needs `name`, in one line, and remembers it for the end of the run."""
    missing[name] = reason
    line = f"{name} could not be got: {reason}"
    if ALLOW_MISSING:
        pytest.skip(line)
    pytest.fail(f"{line} (ALLOW_MISSING=1 skips the tests that need it)", pytrace=False)


def got(name: str, find: Callable[[], T]) -> T:
    """What `find` finds; or the test that needs `name` fails (is skipped with ALLOW_MISSING=1)."""
    try:
        return find()
    except Missing as error:
        reason = str(error)
    unavailable(name, reason)


def scratch_root() -> Path:
    """A short folder of this user's for server data: socket paths hold about 100 bytes."""
    root = Path(tempfile.gettempdir()) / f"swarmui-test-{os.getuid()}"
    root.mkdir(mode=0o755, exist_ok=True)
    return root


def scratch_folder(kind: str) -> Path:
    """A new folder of this run; folders of the same kind whose run has died are removed."""
    for folder in scratch_root().glob(f"{kind}-*"):
        found = re.fullmatch(rf"{kind}-(\d+)-.*", folder.name)
        if found and not is_alive(int(found[1])):
            shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{kind}-{os.getpid()}-", dir=scratch_root()))


def is_alive(pid: int) -> bool:
    """Whether a process with this id exists on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def one_line(error: BaseException) -> str:
    """An error's first line, for messages of one line."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
