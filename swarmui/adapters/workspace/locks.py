"""Locks between processes on one machine: held by the kernel, gone with their holder."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock file `path` (made if missing) while the block runs; waits for it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def lock_of(folder: Path) -> Path:
    """The lock file that guards a folder: beside it, so that it survives the folder."""
    return folder.with_name(folder.name + ".lock")
