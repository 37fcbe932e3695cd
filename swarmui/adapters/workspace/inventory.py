"""What a workspace holds, by content: taken before and after, it shows every file touched, also
those a shell or an outside program wrote. Source: domain §3.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from swarmui.adapters.workspace.walk import Found, Walk, shown

MAX_HASHED_BYTES = 1024 * 1024 * 1024  # about two seconds of reading
_CHUNK = 1024 * 1024

Mark = tuple[int, str]  # bytes, and a digest of kind, content and the right to execute


@dataclass(frozen=True)
class Inventory:
    """`files` by relative path, as the file system spells it (a path that is no UTF-8 carries
    lone surrogates: show it with `shown`). `complete` is False when something was left out:
    then nothing can be said about what changed."""

    files: Mapping[str, Mark] = field(default_factory=dict)
    complete: bool = True


def inventory(root: Path, max_bytes: int = MAX_HASHED_BYTES) -> Inventory:
    """Files and links beneath `root`, but for `.git`; folders and special files have no
    content and are not listed."""
    files: dict[str, Mark] = {}
    left = max_bytes
    complete = True
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        walk = Walk(handle)
        for found in walk:
            left -= found.stat.st_size if found.is_file else 0
            if left < 0:
                complete = False
                break
            mark = mark_of(found.parent, found.name) if _has_content(found) else None
            if mark is not None:
                files[found.relative] = mark
            elif found.is_file:
                complete = False  # closed to us, or gone
    finally:
        os.close(handle)
    return Inventory(files, complete and walk.left_out is None)


def files_touched(before: Inventory, after: Inventory) -> tuple[str, ...] | None:
    """Paths made, changed or removed, as text that can be stored; None is "not measured"."""
    if not (before.complete and after.complete):
        return None
    return tuple(shown(path) for path in changed_paths(before, after))


def changed_paths(before: Inventory, after: Inventory) -> list[str]:
    """The raw paths whose content differs, in order."""
    return sorted(
        path
        for path in before.files.keys() | after.files.keys()
        if before.files.get(path) != after.files.get(path)
    )


def mark_of(parent: int, name: str) -> Mark | None:
    """The mark of one entry of a folder handle; None when there is no readable file or link."""
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=parent))
            return len(target), "link:" + hashlib.sha256(target).hexdigest()
        if not stat.S_ISREG(found.st_mode):
            return None
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(name, flags, dir_fd=parent)
    except OSError:
        return None
    try:
        return _hash(fd)
    finally:
        os.close(fd)


def _hash(fd: int) -> Mark | None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        return None
    digest = hashlib.sha256()
    size = 0
    while size < found.st_size and (chunk := os.read(fd, min(_CHUNK, found.st_size - size))):
        digest.update(chunk)
        size += len(chunk)
    executable = "+x" if found.st_mode & stat.S_IXUSR else ""
    return size, digest.hexdigest() + executable


def _has_content(found: Found) -> bool:
    return found.is_file or found.is_link
