"""A worker's folder as the tools and the gates see it: every path hostile, every answer bounded.

Nothing here follows a link, leaves the folder, waits for a FIFO or looks into `.git`.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swarmui.adapters import paths
from swarmui.adapters.paths import OutsideWorkspace, PathRefused
from verifier.ports import PathFact

Kind = Literal["file", "dir", "link", "other"]


@dataclass(frozen=True)
class Entry:
    """One name in a folder; `size` in bytes, for files."""

    name: str
    kind: Kind
    size: int | None


class WorkspaceDir:
    """The folder at `root`. Methods raise `PathRefused` for a path they will not look at, and
    `OSError` as the file system does; `fact` raises neither."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def fact(self, path: str) -> PathFact:
        """What is at `path`. A refused path, or one that cannot be looked at, says why."""
        try:
            with self.handle() as root:
                fd = paths.safe_open(root, _allowed(path), paths.HANDLE)
                try:
                    found = os.fstat(fd)
                finally:
                    os.close(fd)
        except PathRefused as refusal:
            return PathFact(exists=False, refusal=str(refusal))
        except OSError as error:
            absent = error.errno in (errno.ENOENT, errno.ENOTDIR)
            return PathFact(exists=False, refusal=None if absent else error.strerror)
        if stat.S_ISREG(found.st_mode):
            return PathFact(exists=True, kind="file", size=found.st_size)
        return PathFact(exists=True, kind="dir" if stat.S_ISDIR(found.st_mode) else "other")

    @contextlib.contextmanager
    def handle(self) -> Iterator[int]:
        """A handle on the folder itself."""
        root = os.open(self.root, paths.FOLDER | os.O_CLOEXEC)
        try:
            yield root
        finally:
            os.close(root)

    @contextlib.contextmanager
    def open_read(self, path: str) -> Iterator[int]:
        """A descriptor to read a plain file with."""
        with self.handle() as root:
            fd = paths.open_regular(root, _allowed(path), os.O_RDONLY)
        try:
            yield fd
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def open_write(self, path: str, *, append: bool = False) -> Iterator[int]:
        """A descriptor to write a plain file with, emptied first unless `append`; the file and
        its folders are made if missing."""
        flags = os.O_WRONLY | (os.O_APPEND if append else 0)
        with self.handle() as root:
            fd = paths.open_or_create(root, _allowed(path), flags)
        try:
            if not append:
                os.ftruncate(fd, 0)
            yield fd
        finally:
            os.close(fd)

    def make_folder(self, path: str) -> bool:
        """Make a folder and its parents; False when it was there already."""
        parts = paths.parts_of(_allowed(path))
        existed = self.fact(path).kind == "dir"
        with self.handle() as root, paths.make_folders(root, parts):
            return not existed

    @contextlib.contextmanager
    def open_folder(self, path: str) -> Iterator[int]:
        """A descriptor to list a folder with."""
        with self.handle() as root:
            fd = paths.safe_open(root, _allowed(path), paths.LISTING)
        try:
            yield fd
        finally:
            os.close(fd)

    def entries(self, path: str, limit: int) -> tuple[list[Entry], bool]:
        """At most `limit` entries of a folder in order of name, and whether that is all."""
        found: list[Entry] = []
        with self.open_folder(path) as folder, os.scandir(folder) as listing:
            for entry in listing:
                if entry.name.casefold() == ".git":
                    continue
                if len(found) == limit:
                    return sorted(found, key=lambda item: item.name), False
                found.append(_entry(entry))
        return sorted(found, key=lambda item: item.name), True


def _allowed(path: str) -> str:
    """`path` unless it leads into `.git`, whose hooks and configuration start programs and hold
    credentials. Any spelling: some file systems ignore case."""
    if any(part.casefold() == ".git" for part in path.split("/")):
        raise OutsideWorkspace(".git belongs to the repository's owner")
    return path


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return Entry(entry.name, "other", None)
    if stat.S_ISREG(found.st_mode):
        return Entry(entry.name, "file", found.st_size)
    if stat.S_ISDIR(found.st_mode):
        return Entry(entry.name, "dir", None)
    return Entry(entry.name, "link" if stat.S_ISLNK(found.st_mode) else "other", None)
