"""One server per home folder: an exclusive lock that the kernel drops when its holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_NAME = "server.lock"


class HomeInUse(Exception):
    """Another server already works on this home folder."""

    def __init__(self, home: Path, holder: str) -> None:
        super().__init__(f"{home} is in use by {holder}: stop that server, or choose another home")


@contextmanager
def hold_home(home: Path) -> Iterator[None]:
    """Hold ``home`` for this process; raises `HomeInUse` when a living process holds it."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HomeInUse(home, _holder(descriptor)) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def server_of(home: Path) -> str | None:
    """Which server works on ``home``, as text for people; None when none does."""
    try:
        descriptor = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(descriptor)
    finally:
        os.close(descriptor)
    return None


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 100, 0).decode("utf-8", "replace") or "another process"
