"""Feeding a program and reading what it writes, in one thread and in bounded memory.

Both streams are drained as they come, so that neither blocks the other; reading ends at the cap,
the deadline, the order to stop or the program's end, whichever comes first. Source: reliability
S11.
"""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Callable
from typing import IO

from verifier.lifecycle import StopReason
from verifier.ports import Control

_CHUNK = 65_536
_TICK_S = 0.25  # how soon an order to stop is heard; the end of the program is heard at once
_NO_PIDFD_TICK_S = 0.02  # where the program's end has to be asked for
_PROGRESS_EVERY_S = 2.0
_DRAIN_S = 1.0  # everything that could write is dead by then; what is left is in the pipe


class Pump:
    """One program's input and output. After `run`, why it ended is in the public fields."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: bytes,
        *,
        timeout_s: float,
        cap: int,
        control: Control | None,
    ) -> None:
        self._process = process
        self._deadline = time.monotonic() + timeout_s
        self._cap = cap
        self._control = control
        self._next_progress = time.monotonic() + _PROGRESS_EVERY_S
        self._selector = selectors.DefaultSelector()
        self._kept: dict[int, list[bytes]] = {}
        self._room = cap
        self.bytes_seen = 0
        self.truncated = False
        self.timed_out = False
        self.stop_reason: StopReason | None = None
        self._out = self._read_from(process.stdout)
        self._err = self._read_from(process.stderr)
        if process.stdin is not None:
            self._write_to(process.stdin, stdin)
        self._pidfd = _pidfd_of(process.pid)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, lambda: None)

    @property
    def stdout(self) -> bytes:
        return b"".join(self._kept[self._out])

    @property
    def stderr(self) -> bytes:
        return b"".join(self._kept[self._err])

    def watch(self, fd: int, is_done: Callable[[], bool]) -> None:
        """Call `is_done` whenever `fd` can be read, until it says yes."""

        def look() -> None:
            if is_done():
                self._selector.unregister(fd)

        self._selector.register(fd, selectors.EVENT_READ, look)

    def run(self) -> None:
        """Until the program ended or has to be ended; it is not reaped here."""
        while not self._has_to_stop():
            self._turn(self._wait_s())
            if has_exited(self._process):
                return

    def drain(self, seconds: float = _DRAIN_S) -> bool:
        """Read what is left in the pipes once everything that could write is dead; whether that
        was all, or somebody still holds them."""
        self._forget_the_end()
        end = time.monotonic() + seconds
        while self._is_reading() and not self.truncated and time.monotonic() < end:
            self._turn(0.05)
        return not self._is_reading()

    def close(self) -> None:
        self._selector.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _has_to_stop(self) -> bool:
        if self.truncated:
            return True
        if time.monotonic() >= self._deadline:
            self.timed_out = True
            return True
        if self._control is not None:
            self.stop_reason = self._control.stop_reason()
            if time.monotonic() >= self._next_progress:
                self._next_progress = time.monotonic() + _PROGRESS_EVERY_S
                self._control.progress(f"command running, {self.bytes_seen:,} bytes written")
        return self.stop_reason is not None

    def _wait_s(self) -> float:
        tick = _TICK_S if self._pidfd is not None else _NO_PIDFD_TICK_S
        return max(0.0, min(tick, self._deadline - time.monotonic()))

    def _turn(self, wait_s: float) -> None:
        for key, _ in self._selector.select(wait_s):
            key.data()

    def _forget_the_end(self) -> None:
        """From here on the process's end would wake every wait."""
        if self._pidfd is not None:
            self._selector.unregister(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None

    def _is_reading(self) -> bool:
        registered = self._selector.get_map()
        return self._out in registered or self._err in registered

    def _read_from(self, stream: IO[bytes] | None) -> int:
        assert stream is not None  # both are pipes, always
        fd = stream.fileno()
        os.set_blocking(fd, False)
        self._kept[fd] = []
        self._selector.register(fd, selectors.EVENT_READ, lambda: self._read(fd))
        return fd

    def _read(self, fd: int) -> None:
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._selector.unregister(fd)
            return
        self.bytes_seen += len(chunk)
        self._kept[fd].append(chunk[: self._room])
        self._room -= min(len(chunk), self._room)
        self.truncated = self.bytes_seen > self._cap

    def _write_to(self, stream: IO[bytes], data: bytes) -> None:
        fd = stream.fileno()
        os.set_blocking(fd, False)
        waiting = memoryview(data)

        def write() -> None:
            nonlocal waiting
            try:
                waiting = waiting[os.write(fd, waiting[:_CHUNK]) :]
            except BlockingIOError:
                return
            except BrokenPipeError:  # it reads no further: its own affair
                waiting = waiting[:0]
            if not waiting:
                self._selector.unregister(fd)
                stream.close()

        if waiting:
            self._selector.register(fd, selectors.EVENT_WRITE, write)
        else:
            stream.close()


def has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Whether it ended, without reaping it: until then its id and its group cannot be reused."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, options) is not None
    except ChildProcessError:
        return True


def _pidfd_of(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
