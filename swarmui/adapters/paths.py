"""The one way to a file whose path somebody else wrote.

Checking a path and opening it afterwards lets a worker swap a folder for a symbolic link in
between (measured: one read in twenty got out). Here the kernel resolves and opens in one step,
beneath a handle on the workspace: `openat2` on Linux, component by component elsewhere. Nothing
is ever resolved to an absolute path first. Source: domain §4 `file_exists`, reliability S5.
"""

import contextlib
import ctypes
import errno
import functools
import os
import stat
import struct
from collections.abc import Iterator

MAX_PATH_BYTES = 1_024  # far below the kernel's 4,096, far above what a project needs
MAX_PARTS = 32  # deeper trees exist only to exhaust whoever walks them

_SYS_OPENAT2 = 437  # the same number on every architecture
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
_RESOLVE = _NO_XDEV | _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
_RENAME_RACES = 8  # EAGAIN: something was renamed while the kernel looked; ask again
_O_PATH = getattr(os, "O_PATH", 0)  # Linux only; elsewhere folders are opened for reading
HANDLE = _O_PATH or (os.O_RDONLY | os.O_NONBLOCK)
FOLDER = HANDLE | os.O_DIRECTORY
LISTING = os.O_RDONLY | os.O_DIRECTORY
_NEVER_WAIT = os.O_NONBLOCK | os.O_NOCTTY  # a FIFO or a terminal must not hold the caller


class PathRefused(Exception):
    """The path is not one a workspace looks at."""


class OutsideWorkspace(PathRefused):
    """The path leads out of the workspace, or might: links are not followed to find out."""

    def __init__(self, why: str) -> None:
        super().__init__(f"outside the workspace: {why}")


class NotRegular(PathRefused):
    """What is there is not a plain file of its own."""


def parts_of(path: str) -> tuple[str, ...]:
    """The names of a relative path; `()` for the folder itself. Raises `PathRefused`."""
    if "\0" in path:
        raise OutsideWorkspace("the path holds a NUL character")
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raise PathRefused("the path is not valid text") from None
    if len(raw) > MAX_PATH_BYTES:
        raise PathRefused(f"the path has {len(raw):,} bytes, at most {MAX_PATH_BYTES:,} are taken")
    if not path:
        raise PathRefused("a path was expected, the text is empty")
    if path.startswith("/"):
        raise OutsideWorkspace("an absolute path; give one relative to the workspace")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise OutsideWorkspace("'..' is not allowed")
    if len(parts) > MAX_PARTS:
        raise PathRefused(f"the path has {len(parts):,} parts, at most {MAX_PARTS} are taken")
    return parts


def safe_open(root: int, path: str, flags: int, mode: int = 0) -> int:
    """A descriptor of `path` beneath the folder handle `root`, whatever happens meanwhile.

    Raises `PathRefused` for a path that is not looked at, `OSError` as `open` does.
    """
    parts = parts_of(path)
    if path.endswith("/"):
        flags |= os.O_DIRECTORY
    flags |= os.O_CLOEXEC
    if not parts:
        return os.open(".", flags, mode, dir_fd=root)
    if has_openat2():
        return _open_in_one_step(root, "/".join(parts), flags, mode)
    return open_by_parts(root, parts, flags, mode)


def open_regular(root: int, path: str, flags: int) -> int:
    """A descriptor of an existing plain file: no folder, FIFO, device, nor one with a second
    name (a hard link may be anybody's file). Never waits."""
    if not _O_PATH:
        fd = safe_open(root, path, flags | _NEVER_WAIT)
        return _checked(fd)
    handle = _checked(safe_open(root, path, _O_PATH))
    try:  # the handle is the file itself: reopening it cannot reach another one
        return os.open(f"/proc/self/fd/{handle}", flags | _NEVER_WAIT | os.O_CLOEXEC)
    finally:
        os.close(handle)


def open_or_create(root: int, path: str, flags: int) -> int:
    """A descriptor of a plain file, made together with its missing parent folders if need be.

    Existing content is kept: the caller truncates or appends on the descriptor.
    """
    parts = parts_of(path)
    if not parts or path.endswith("/"):
        raise NotRegular("not a regular file: the path names a folder")
    for _ in range(_RENAME_RACES):
        try:
            return open_regular(root, path, flags)
        except FileNotFoundError:
            pass
        with make_folders(root, parts[:-1]) as parent, contextlib.suppress(FileExistsError):
            new = flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(parts[-1], new, 0o666, dir_fd=parent)
    raise OSError(errno.EAGAIN, "the file kept appearing and vanishing")


@contextlib.contextmanager
def make_folders(root: int, parts: tuple[str, ...]) -> Iterator[int]:
    """A handle on the folder `parts` beneath `root`, each level made if it is missing."""
    current = os.open(".", FOLDER | os.O_CLOEXEC, dir_fd=root)
    try:
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=current)
            below = safe_open(current, part, FOLDER)
            os.close(current)
            current = below
        yield current
    finally:
        os.close(current)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`; the kernel may take it in pieces."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


@functools.cache
def has_openat2() -> bool:
    """Whether the kernel has it and the container's filter lets it through."""
    if not _O_PATH:
        return False
    root = os.open("/", FOLDER)
    try:
        os.close(_openat2(root, ".", FOLDER | os.O_CLOEXEC, 0))
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(root)


def _open_in_one_step(root: int, relative: str, flags: int, mode: int) -> int:
    for _ in range(_RENAME_RACES):
        try:
            return _openat2(root, relative, flags, mode)
        except BlockingIOError:
            continue
        except OSError as error:
            raise _as_refusal(error) from None
    raise OSError(errno.EAGAIN, "the path kept changing")


def _as_refusal(error: OSError) -> Exception:
    if error.errno == errno.ELOOP:
        return OutsideWorkspace("symbolic links are not followed")
    if error.errno == errno.EXDEV:
        return OutsideWorkspace("another file system is mounted there")
    return error


def _openat2(root: int, relative: str, flags: int, mode: int) -> int:
    how = struct.pack("QQQ", flags, mode if flags & os.O_CREAT else 0, _RESOLVE)
    buffer = ctypes.create_string_buffer(how, len(how))
    fd = _libc().syscall(_SYS_OPENAT2, root, os.fsencode(relative), buffer, len(how))
    if fd < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), relative)
    return int(fd)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def open_by_parts(root: int, parts: tuple[str, ...], flags: int, mode: int = 0) -> int:
    """`safe_open` where the kernel has no `openat2`: every component by itself, no link taken."""
    device = os.fstat(root).st_dev
    current = os.open(".", FOLDER | os.O_CLOEXEC, dir_fd=root)
    try:
        for part in parts[:-1]:
            below = _open_part(current, part, FOLDER | os.O_CLOEXEC, 0, device)
            os.close(current)
            current = below
        return _open_part(current, parts[-1], flags, mode, device)
    finally:
        os.close(current)


def _open_part(parent: int, name: str, flags: int, mode: int, device: int) -> int:
    try:
        fd = os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=parent)
    except OSError as error:
        # A link opened as a folder is ENOTDIR, else ELOOP (EMLINK on some BSDs).
        if error.errno in (errno.ELOOP, errno.EMLINK) or _is_link(parent, name):
            raise OutsideWorkspace("symbolic links are not followed") from None
        raise
    found = os.fstat(fd)
    if stat.S_ISLNK(found.st_mode):  # a bare handle on the link itself
        os.close(fd)
        raise OutsideWorkspace("symbolic links are not followed")
    if found.st_dev != device:
        os.close(fd)
        raise OutsideWorkspace("another file system is mounted there")
    return fd


def _is_link(parent: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _checked(fd: int) -> int:
    """`fd` again when it is a plain file with one name; closed and refused otherwise."""
    found = os.fstat(fd)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return fd
    os.close(fd)
    if stat.S_ISREG(found.st_mode):
        raise NotRegular("not a file of its own: it has a second name (hard link)")
    raise NotRegular("not a regular file")
