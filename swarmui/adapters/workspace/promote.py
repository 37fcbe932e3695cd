"""Carrying one attempt's changes into the run's base, file by file, never over another's change.

Workers of one run start from the same base and end in any order. A file that somebody else
changed meanwhile stays as it is and is reported as a conflict: which of the two is right is a
person's question.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from swarmui.adapters.paths import (
    FOLDER,
    PathRefused,
    make_folders,
    parts_of,
    safe_open,
    write_all,
)
from swarmui.adapters.workspace.inventory import Inventory, Mark, changed_paths, mark_of
from swarmui.adapters.workspace.locks import lock_of, locked
from swarmui.adapters.workspace.remove import remove_tree
from swarmui.adapters.workspace.walk import shown

_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class Promotion:
    """`applied` are in the base now, `conflicts` are not; paths as text that can be stored.
    `problem` says why nothing was carried over at all."""

    applied: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    problem: str | None = None


def promote(attempt_root: Path, before: Inventory, after: Inventory, base: Path) -> Promotion:
    """Bring the changes from `before` to `after`, made in `attempt_root`, into `base`.

    Under the base's lock; done again after a crash it ends the same. Where attempt and base are
    one folder there is nothing to carry.
    """
    if attempt_root.samefile(base):
        return Promotion()
    if not (before.complete and after.complete):
        return Promotion(problem="the workspace was too large to compare: nothing is carried over")
    changed = changed_paths(before, after)
    if not changed:
        return Promotion()
    with locked(lock_of(base)), _Carrier(attempt_root, base) as carrier:
        # What goes makes room first: a folder may have become a file of the same name.
        gone_first = sorted(changed, key=lambda path: (path in after.files, path))
        done = {
            path: carrier.carry(path, before.files.get(path), after.files.get(path))
            for path in gone_first
        }
    return Promotion(
        applied=tuple(shown(path) for path in changed if done[path]),
        conflicts=tuple(shown(path) for path in changed if not done[path]),
    )


class _Carrier:
    def __init__(self, attempt_root: Path, base: Path) -> None:
        self._stage_path = base.with_name(base.name + ".stage")
        remove_tree(self._stage_path)
        self._stage_path.mkdir(mode=0o700)
        self._attempt = os.open(attempt_root, FOLDER | os.O_CLOEXEC)
        self._base = os.open(base, FOLDER | os.O_CLOEXEC)
        self._stage = os.open(self._stage_path, FOLDER | os.O_CLOEXEC)

    def __enter__(self) -> "_Carrier":
        return self

    def __exit__(self, *_: object) -> None:
        for handle in (self._attempt, self._base, self._stage):
            os.close(handle)
        remove_tree(self._stage_path)

    def carry(self, path: str, before: Mark | None, after: Mark | None) -> bool:
        """Whether the base now holds `after` at `path`."""
        try:
            parts = parts_of(path)
            with self._folder(self._base, parts) as parent:
                now = mark_of(parent, parts[-1]) if parent is not None else None
            if now == after:
                return True
            if now != before:
                return False
            if after is None:
                return self._remove(parts)
            return self._write(parts, after)
        except (OSError, PathRefused):
            return False

    @contextlib.contextmanager
    def _folder(self, root: int, parts: tuple[str, ...]) -> Iterator[int | None]:
        try:
            parent = safe_open(root, "/".join(parts[:-1]) or ".", FOLDER)
        except (FileNotFoundError, NotADirectoryError):
            yield None
            return
        try:
            yield parent
        finally:
            os.close(parent)

    def _remove(self, parts: tuple[str, ...]) -> bool:
        with self._folder(self._base, parts) as parent:
            if parent is not None:
                os.unlink(parts[-1], dir_fd=parent)
        for depth in range(len(parts) - 1, 0, -1):  # folders emptied by it go as well
            with self._folder(self._base, parts[:depth]) as parent:
                try:
                    os.rmdir(parts[depth - 1], dir_fd=parent)
                except OSError:
                    break
        return True

    def _write(self, parts: tuple[str, ...], after: Mark) -> bool:
        with self._folder(self._attempt, parts) as source:
            if source is None:
                return False
            with contextlib.suppress(FileNotFoundError):
                os.unlink("new", dir_fd=self._stage)
            _copy_entry(source, parts[-1], self._stage)
        if mark_of(self._stage, "new") != after:
            return False  # it is no longer what was looked at
        with make_folders(self._base, parts[:-1]) as parent:
            os.rename("new", parts[-1], src_dir_fd=self._stage, dst_dir_fd=parent)
        return True


def _copy_entry(source: int, name: str, stage: int) -> None:
    found = os.stat(name, dir_fd=source, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        os.symlink(os.readlink(name, dir_fd=source), "new", dir_fd=stage)
        return
    read = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=source)
    try:
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        write = os.open("new", new, 0o600, dir_fd=stage)
        try:
            while chunk := os.read(read, _CHUNK):
                write_all(write, chunk)
            os.fchmod(write, (stat.S_IMODE(os.fstat(read).st_mode) & 0o777) | 0o600)
        finally:
            os.close(write)
    finally:
        os.close(read)
