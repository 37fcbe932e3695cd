"""Running commands in tests."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from swarmui.adapters.sandbox import CommandResult, probe, run_argv
from tests.support.finding import unavailable

Run = Callable[..., CommandResult]


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """A worker's folder, below one that only its owner may enter."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    folder = closed / "workspace"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def run(workdir: Path) -> Run:
    """Run a command in the sandbox, in `workdir`."""
    found = probe()
    if not found.usable:
        unavailable("the sandbox", found.reason)

    def run_there(*argv: str, timeout_s: float = 20, **options: object) -> CommandResult:
        return run_argv(argv, workdir=workdir, timeout_s=timeout_s, **options)  # type: ignore[arg-type]

    return run_there


class Marked:
    """Processes that carry a number nobody else uses as their argument."""

    def __init__(self) -> None:
        self.seconds = f"{3_000 + secrets.randbelow(90_000)}.{secrets.randbelow(10**6):06}"

    def alive(self) -> list[int]:
        wanted = f"sleep\0{self.seconds}\0".encode()
        return [
            int(process.name)
            for process in Path("/proc").glob("[0-9]*")
            if _command_line(process) == wanted
        ]


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def marked() -> Marked:
    return Marked()


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counted, not used
