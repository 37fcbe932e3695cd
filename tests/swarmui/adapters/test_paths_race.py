"""A worker that swaps a folder for a link while it is being read."""

import ctypes
import multiprocessing
import os
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from swarmui.adapters import paths
from swarmui.adapters.paths import PathRefused

TRIES = 20_000
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


def _flip(first: bytes, second: bytes, started: Event, stop: Event) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    started.set()
    while not stop.is_set():
        for _ in range(200):
            libc.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _RENAME_EXCHANGE)


@pytest.fixture
def flipping(tmp_path: Path) -> Iterator[int]:
    """A workspace whose `swap` is a folder inside and a link outside, in turns."""
    root = tmp_path / "root"
    (root / "swap").mkdir(parents=True)
    (root / "swap" / "f").write_text("inside")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "f").write_text("SECRET")
    (root / "other").symlink_to("../out")
    context = multiprocessing.get_context("spawn")
    started, stop = context.Event(), context.Event()
    names = (os.fsencode(root / "swap"), os.fsencode(root / "other"))
    flipper = context.Process(target=_flip, args=(*names, started, stop))
    flipper.start()
    assert started.wait(30)
    handle = os.open(root, os.O_PATH | os.O_DIRECTORY)
    yield handle
    os.close(handle)
    stop.set()
    flipper.join(10)


def _safely(root: int) -> str:
    fd = paths.open_regular(root, "swap/f", os.O_RDONLY)
    with os.fdopen(fd) as file:
        return file.read()


def _by_parts(root: int) -> str:
    fd = paths.open_by_parts(root, ("swap", "f"), os.O_RDONLY | os.O_CLOEXEC)
    with os.fdopen(fd) as file:
        return file.read()


@pytest.mark.parametrize("opens", [_safely, _by_parts])
def test_no_race_is_lost_in_twenty_thousand(flipping: int, opens: Callable[[int], str]) -> None:
    seen = {"inside": 0, "SECRET": 0, "refused": 0}
    for _ in range(TRIES):
        try:
            seen[opens(flipping)] += 1
        except (PathRefused, OSError):
            seen["refused"] += 1
    assert seen["SECRET"] == 0
    assert seen["inside"] > 0, "the race was never run"
    assert seen["refused"] > 0, "the race was never run"
