"""Walking a tree that a worker may have built to exhaust or mislead whoever walks it.

Folders are opened relative to their parent's handle and never through a link, so nothing outside
is visited, whatever is renamed meanwhile. Depth and number of entries are bounded, and the walk
says when it left something out.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 64  # folders in folders; each level holds one descriptor while it is walked
MAX_ENTRIES = 200_000  # of anything; about one second of walking
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Found:
    """An entry. `parent` is a handle on its folder, open until the walk goes on."""

    relative: str
    name: str
    parent: int
    stat: os.stat_result

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.stat.st_mode)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.stat.st_mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.stat.st_mode)


class Walk:
    """Every entry beneath a folder handle, parents before children, names in order.

    Entries called `.git` are left out at any depth: what is in them belongs to the person's
    repository and is neither handed to workers nor taken from them. After the walk `left_out`
    says why it is not the whole tree, or is None.
    """

    def __init__(
        self, root: int, *, max_entries: int = MAX_ENTRIES, max_depth: int = MAX_DEPTH
    ) -> None:
        self._root = root
        self._max_entries = max_entries
        self._max_depth = max_depth
        self._seen = 0
        self.left_out: str | None = None

    def __iter__(self) -> Iterator[Found]:
        stack = [self._open(".", self._root, "")]
        try:
            while stack:
                folder = stack[-1]
                found = None if folder is None else folder.next_entry()
                if folder is None or found is None:
                    stack.pop()
                    if folder is not None:
                        os.close(folder.handle)
                    continue
                yield found
                if found.is_folder:
                    self._descend(stack, found)
        finally:
            for folder in stack:
                if folder is not None:
                    os.close(folder.handle)

    def _descend(self, stack: "list[_Folder | None]", found: Found) -> None:
        if len(stack) > self._max_depth:
            self.left_out = f"folders nest deeper than {self._max_depth} levels"
        else:
            stack.append(self._open(found.name, found.parent, found.relative + "/"))

    def _open(self, name: str, parent: int, prefix: str) -> "_Folder | None":
        try:
            handle = os.open(name, _OPEN_FOLDER, dir_fd=parent)
        except OSError as error:  # gone, swapped for a link, or closed to us
            self.left_out = f"{prefix or '.'}: {error.strerror}"
            return None
        return _Folder(handle, prefix, self._names(handle))

    def _names(self, handle: int) -> list[str]:
        names: list[str] = []
        with os.scandir(handle) as entries:
            for entry in entries:
                if entry.name == ".git":
                    continue
                if self._seen >= self._max_entries:
                    self.left_out = f"more than {self._max_entries:,} entries"
                    break
                self._seen += 1
                names.append(entry.name)
        return sorted(names, reverse=True)


class _Folder:
    def __init__(self, handle: int, prefix: str, names: list[str]) -> None:
        self.handle = handle
        self._prefix = prefix
        self._names = names

    def next_entry(self) -> Found | None:
        while self._names:
            name = self._names.pop()
            try:
                found = os.stat(name, dir_fd=self.handle, follow_symlinks=False)
            except OSError:
                continue  # gone since it was listed
            return Found(self._prefix + name, name, self.handle, found)
        return None


def shown(name: str) -> str:
    """A file name as text that can be stored and shown: bytes that are no UTF-8 as `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
