"""Removing a tree that a worker made: closed folders, any depth, links untouched."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from swarmui.adapters.paths import FOLDER

_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: Path) -> None:
    """Remove `path` and all beneath it; nothing to do when it is not there.

    Level by level: subfolders of a subfolder are moved up to the top before it goes, so that a
    tree ten thousand folders deep needs neither recursion nor descriptors. Idempotent: a removal
    cut short is finished by the next one.
    """
    try:
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        path.unlink(missing_ok=True)
        return
    parent = os.open(path.parent, FOLDER | os.O_CLOEXEC)
    try:
        _open_up(parent, path.name)
        top = os.open(path.name, _LISTING, dir_fd=parent)
        try:
            while subfolders := _unlink_files(top):
                for name in subfolders:
                    _dissolve(top, name)
        finally:
            os.close(top)
        os.rmdir(path.name, dir_fd=parent)
    finally:
        os.close(parent)


def _unlink_files(folder: int) -> list[str]:
    """Unlink all but the subfolders of a folder, whose names it returns."""
    subfolders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                subfolders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return subfolders


def _dissolve(top: int, name: str) -> None:
    """Remove the folder `name` of `top`; its subfolders move up into `top`."""
    _open_up(top, name)
    folder = os.open(name, _LISTING, dir_fd=top)
    try:
        for below in _unlink_files(folder):
            _open_up(folder, below)  # a folder that changes its parent has to be writable itself
            os.rename(below, f"up-{secrets.token_hex(8)}", src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _open_up(parent: int, name: str) -> None:
    """Give the owner all rights on a folder; never through a link."""
    with contextlib.suppress(OSError):  # not ours: then the next step says what is wrong
        handle = os.open(name, FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            _itself(handle).chmod(0o700)
        finally:
            os.close(handle)


def _itself(handle: int) -> Path:
    """A path that is the handle's folder, wherever it was moved to."""
    return Path("/proc/self/fd" if hasattr(os, "O_PATH") else "/dev/fd", str(handle))
