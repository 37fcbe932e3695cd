"""A private copy of a tree: the same files and links, sharing nothing with the original."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from swarmui.adapters.paths import write_all
from swarmui.adapters.workspace.errors import WorkspaceError
from swarmui.adapters.workspace.walk import Found, Walk, shown

MAX_FILES = 20_000  # eight branches with a retry each copy this sixteen times
MAX_BYTES = 512 * 1024 * 1024
_CHUNK = 1024 * 1024
_PERMISSIONS = 0o777  # no set-user-id or sticky bit travels


@dataclass(frozen=True)
class CopyLimits:
    """What one copy may hold."""

    files: int = MAX_FILES
    size: int = MAX_BYTES


def copy_tree(source: Path, target: Path, limits: CopyLimits | None = None) -> None:
    """Copy everything of `source` into the existing, empty folder `target`.

    Left out: `.git` (at any depth), FIFOs, sockets and devices. Links stay links, wherever they
    point; a file with several names becomes several files. Caches and other by-products come
    along: what a folder holds is what its owner handed over. Raises `WorkspaceError` when it is
    too much or changes too wildly to be read.
    """
    copier = _Copier(limits or CopyLimits())
    handle = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        walk = Walk(handle)
        for found in walk:
            copier.take(found, target)
    finally:
        os.close(handle)
    if walk.left_out:
        raise WorkspaceError(f"workspace {source} cannot be copied whole: {walk.left_out}")
    copier.close_folders(target)


class _Copier:
    def __init__(self, limits: CopyLimits) -> None:
        self.limits = limits
        self._files = 0
        self._bytes = 0
        self._modes: list[tuple[str, int]] = []

    def take(self, found: Found, target: Path) -> None:
        place = target / found.relative
        if found.is_folder:
            place.mkdir(mode=0o700)
            self._modes.append((found.relative, stat.S_IMODE(found.stat.st_mode)))
        elif found.is_link:
            self._count(0)
            place.symlink_to(os.readlink(found.name, dir_fd=found.parent))
        elif found.is_file:
            self._count(found.stat.st_size)
            self._copy_file(found, place)

    def close_folders(self, target: Path) -> None:
        """Give the folders their own permissions, now that nothing is put into them any more."""
        for relative, mode in reversed(self._modes):
            (target / relative).chmod((mode & _PERMISSIONS) | 0o700)

    def _count(self, size: int) -> None:
        self._files += 1
        self._bytes += size
        if self._files > self.limits.files:
            raise WorkspaceError(
                f"the workspace has more than {self.limits.files:,} files: name a smaller folder, "
                "or use mode worktree, which takes only what git tracks"
            )
        if self._bytes > self.limits.size:
            raise WorkspaceError(
                f"the workspace holds more than {self.limits.size // (1024 * 1024):,} MiB: "
                "name a smaller folder, or use mode worktree, which takes only what git tracks"
            )

    def _copy_file(self, found: Found, place: Path) -> None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            read = os.open(found.name, flags, dir_fd=found.parent)
        except FileNotFoundError:
            return  # gone since it was listed: then it is not part of the copy
        except OSError as error:
            raise WorkspaceError(
                f"workspace file {shown(found.relative)} cannot be read: {error.strerror}"
            ) from None
        try:
            now = os.fstat(read)
            if stat.S_ISREG(now.st_mode):
                self._copy_content(read, place, now)
        finally:
            os.close(read)

    def _copy_content(self, read: int, place: Path, now: os.stat_result) -> None:
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        write = os.open(place, new, 0o600)
        try:
            left = now.st_size  # a file that grows while it is read ends where it was
            while left > 0 and (chunk := os.read(read, min(_CHUNK, left))):
                write_all(write, chunk)
                left -= len(chunk)
            os.fchmod(write, (stat.S_IMODE(now.st_mode) & _PERMISSIONS) | 0o600)
            os.utime(write, ns=(now.st_atime_ns, now.st_mtime_ns))
        finally:
            os.close(write)
