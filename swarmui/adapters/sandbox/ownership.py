"""Who a sandboxed command runs as when the service is root, and whose the files are meanwhile.

Root's files cannot be written by the dropped user. They are lent to it while commands run in the
folder and taken back when the last one ended, so that outside a run everything belongs to the
service. A file with a second name is never lent: it may be anybody's.
"""

import contextlib
import fcntl
import functools
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from swarmui.adapters.workspace.walk import Found, Walk

_NOBODY = 65_534
_FIRST, _COUNT = 1_900_000_000, 65_536  # ids that no system hands out to people or services


def uid_for(workdir: Path) -> int:
    """The user id for commands in a folder: one of its own, because the kernel counts processes
    by user and one worker's fork bomb must not stop its siblings."""
    if os.geteuid() != 0:
        return os.geteuid()
    found = workdir.stat()
    if found.st_uid != 0 and not _is_ours(found.st_uid):
        return found.st_uid  # somebody's own folder, used in place: as they would use it
    if not _has_own_ids():
        return _NOBODY
    return _FIRST + (found.st_ino ^ found.st_dev) % _COUNT


@contextlib.contextmanager
def lent(workdir: Path, uid: int) -> Iterator[None]:
    """Lend the folder to `uid` while the block runs. Nothing to do unless the service is root."""
    if os.geteuid() != 0:
        yield
        return
    handle = os.open(workdir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        _hand_over(handle, uid, is_taken=lambda owner: owner == 0 or _is_ours(owner))
        try:
            yield
        finally:
            with contextlib.suppress(BlockingIOError):  # another command still runs here
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _hand_over(handle, 0, is_taken=_is_ours)
    finally:
        os.close(handle)


def _hand_over(root: int, uid: int, *, is_taken: Callable[[int], bool]) -> None:
    if is_taken(os.fstat(root).st_uid):
        os.fchown(root, uid, -1)
    for found in Walk(root):
        if found.stat.st_uid != uid and is_taken(found.stat.st_uid):
            _give(found, uid)


def _give(found: Found, uid: int) -> None:
    """Through a handle: what is handed over is what was looked at."""
    if not (found.is_file or found.is_folder):
        return
    with contextlib.suppress(OSError):
        flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(found.name, flags, dir_fd=found.parent)
        try:
            now = os.fstat(handle)
            if stat.S_ISDIR(now.st_mode) or (stat.S_ISREG(now.st_mode) and now.st_nlink == 1):
                os.chown(f"/proc/self/fd/{handle}", uid, -1)
        finally:
            os.close(handle)


def _is_ours(uid: int) -> bool:
    return _FIRST <= uid < _FIRST + _COUNT if _has_own_ids() else uid == _NOBODY


@functools.cache
def _has_own_ids() -> bool:
    """Whether the ids exist in the container the service may run in."""
    last = _FIRST + _COUNT - 1
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    except OSError:
        return False
    ranges = [[int(word) for word in line.split()] for line in lines]
    return any(first <= _FIRST and last < first + count for first, _, count in ranges)
