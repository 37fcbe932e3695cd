"""Hostile paths: what is refused, why, and that nothing outside is ever read."""

import os
import socket
import string
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmui.adapters import paths
from swarmui.adapters.paths import NotRegular, OutsideWorkspace, PathRefused

SECRET = b"outside: must never be read"
MAX_REFUSAL_S = 0.05


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("paths")
    root = top / "root"
    (root / "d" / "e").mkdir(parents=True)
    (root / "d" / "f").write_bytes(b"inside")
    (root / "empty").touch()
    (top / "out").mkdir()
    (top / "out" / "f").write_bytes(SECRET)
    (root / "to_etc").symlink_to("/etc")
    (root / "to_out").symlink_to("../out")
    (root / "to_d").symlink_to("d")
    (root / "to_f").symlink_to("d/f")
    (root / "loop").symlink_to("loop")
    (root / "magic").symlink_to("/proc/self/root")
    (root / "linked").hardlink_to(top / "out" / "f")
    os.mkfifo(root / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(root)  # a socket's path may have 107 bytes only
    try:
        listener.bind("socket")
    finally:
        os.chdir(here)
        listener.close()
    return root


@pytest.fixture(params=["openat2", "by parts"])
def root(request: pytest.FixtureRequest, workspace: Path) -> Iterator[int]:
    """A handle on the workspace, once with the kernel's help and once without."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by parts":
            patch.setattr(paths, "has_openat2", lambda: False)
        elif not paths.has_openat2():
            pytest.skip("this kernel has no openat2")
        handle = os.open(workspace, os.O_PATH | os.O_DIRECTORY)
        yield handle
        os.close(handle)


def read(root: int, path: str) -> bytes:
    fd = paths.open_regular(root, path, os.O_RDONLY)
    try:
        return os.read(fd, 1_000)
    finally:
        os.close(fd)


@pytest.mark.parametrize("path", ["d/f", "d//f", "./d/./f", ".//d/f"])
def test_a_path_inside_is_read(root: int, path: str) -> None:
    assert read(root, path) == b"inside"


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("../out/f", OutsideWorkspace),
        ("d/../../out/f", OutsideWorkspace),
        ("d/../d/f", OutsideWorkspace),  # inside in the end, but '..' means two things with links
        ("..", OutsideWorkspace),
        ("d/..", OutsideWorkspace),
        ("/etc/passwd", OutsideWorkspace),
        ("//etc/passwd", OutsideWorkspace),
        ("to_etc/passwd", OutsideWorkspace),
        ("to_out/f", OutsideWorkspace),
        ("to_d/f", OutsideWorkspace),  # a link inside: not followed to find out where it ends
        ("to_f", OutsideWorkspace),
        ("loop", OutsideWorkspace),
        ("loop/f", OutsideWorkspace),
        ("magic/etc/passwd", OutsideWorkspace),
        ("d/f\0x", OutsideWorkspace),
        ("\0", OutsideWorkspace),
        ("", PathRefused),
        ("d/" + "x/" * 40 + "f", PathRefused),  # 42 parts
        ("d/" + "./" * 600 + "f", PathRefused),  # one file, spelt in 1,203 bytes
        ("é" * 600, PathRefused),  # 600 characters, 1,200 bytes
        ("\ud800", PathRefused),  # a lone surrogate that no file system spells
        (".", NotRegular),
        ("d", NotRegular),
        ("d/", NotRegular),
        ("fifo", NotRegular),
        ("socket", NotRegular),
        ("linked", NotRegular),  # the same file as the one outside
        ("d/f/..", OutsideWorkspace),
    ],
)
def test_a_hostile_path_is_refused_at_once(
    root: int, path: str, refusal: type[PathRefused]
) -> None:
    began = time.monotonic()
    with pytest.raises(refusal):
        read(root, path)
    assert time.monotonic() - began < MAX_REFUSAL_S


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("missing", FileNotFoundError),
        ("d/missing/f", FileNotFoundError),
        ("d/f/g", NotADirectoryError),
        ("d/f/", NotADirectoryError),  # the slash says folder
        ("x" * 300, OSError),  # one name may have 255 bytes
    ],
)
def test_what_is_not_there_is_an_ordinary_error(root: int, path: str, error: type[OSError]) -> None:
    with pytest.raises(error):
        read(root, path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device or a mount")
def test_a_device_is_not_opened(root: int, workspace: Path) -> None:
    device = workspace / "device"
    if not device.exists():
        os.mknod(device, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero
    with pytest.raises(NotRegular):
        read(root, "device")


def test_another_file_system_is_outside(request: pytest.FixtureRequest) -> None:
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    request.addfinalizer(lambda: os.close(root))
    with pytest.raises(OutsideWorkspace, match="another file system"):
        paths.safe_open(root, "proc/version", os.O_RDONLY)
    with pytest.raises(OutsideWorkspace, match="another file system"):
        paths.open_by_parts(root, ("proc", "version"), os.O_RDONLY)


@pytest.mark.parametrize("path", ["to_f", "fifo", "linked", "to_out/new", "../new", "d"])
def test_nothing_is_written_through_a_hostile_path(root: int, workspace: Path, path: str) -> None:
    with pytest.raises((PathRefused, IsADirectoryError)):
        paths.open_or_create(root, path, os.O_WRONLY)
    assert (workspace.parent / "out" / "f").read_bytes() == SECRET
    assert not (workspace.parent / "out" / "new").exists()


def test_a_new_file_is_made_together_with_its_folders(tmp_path: Path) -> None:
    root = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    fd = paths.open_or_create(root, "a/b/c.txt", os.O_WRONLY)
    paths.write_all(fd, b"text")
    os.close(fd)
    os.close(root)
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"text"


def test_folders_are_not_made_through_a_link(root: int, workspace: Path) -> None:
    with pytest.raises(OutsideWorkspace), paths.make_folders(root, ("to_out", "made")):
        pass
    assert not (workspace.parent / "out" / "made").exists()


_NAMES = st.sampled_from(
    ["d", "e", "f", "..", ".", "", "to_etc", "to_out", "to_d", "to_f", "magic", "loop", "linked"]
    + ["fifo", "passwd", "etc", "root", "\0", "proc", "self", "x" * 256]
)
_PATHS = st.one_of(
    st.lists(_NAMES, max_size=8).map("/".join),
    st.text(alphabet=string.printable + "/./\0é\ud800", max_size=60),
)


@given(path=_PATHS)
def test_no_path_ever_reads_anything_but_the_inside(workspace: Path, path: str) -> None:
    root = os.open(workspace, os.O_PATH | os.O_DIRECTORY)
    try:
        content = read(root, path)
    except (PathRefused, OSError):
        return
    finally:
        os.close(root)
    assert content in (b"inside", b"")


def test_no_descriptor_is_left_open(workspace: Path) -> None:
    root = os.open(workspace, os.O_PATH | os.O_DIRECTORY)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in ("d/f", "to_f", "fifo", "linked", "missing", "d"):
        try:
            read(root, path)
        except (PathRefused, OSError):
            continue
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    os.close(root)
