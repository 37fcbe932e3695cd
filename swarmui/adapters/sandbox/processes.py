"""Ending the whole tree of a program that runs without a sandbox.

Best effort, as there is no border around it: its group, its descendants, the descendants seen
while it ran that have since been given to another parent, and whoever can still write into its
output. A program that hides on purpose needs the sandbox.
"""

import contextlib
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

_PROC = Path("/proc")
_LOOK_EVERY_S = 0.5  # a daemon has to live this long under its parent to be remembered
_KILL_ROUNDS = 20  # what forks while it is being killed is found in the next round


class Tree:
    """A program's descendants, remembered by process id and start time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._leader = process.pid
        streams = (process.stdout, process.stderr)
        self._pipes = {_pipe_name(stream.fileno()) for stream in streams if stream is not None}
        self._seen: dict[int, str] = {}
        self._next_look = 0.0

    def look(self) -> None:
        """Remember who descends from the leader now; cheap enough to be called often."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _LOOK_EVERY_S
        self._remember()

    def kill(self, *, writers_too: bool = False) -> None:
        """End the leader's group and everybody remembered, until nobody is left; on request also
        whoever can write into its output, for which every process is looked at."""
        for _ in range(_KILL_ROUNDS):
            self._remember()
            if writers_too:
                self._seen |= _writers_into(self._pipes)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, signal.SIGKILL)
            alive = [pid for pid, started in self._seen.items() if _started(pid) == started]
            for pid in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not alive:
                return
            time.sleep(0.01)

    def _remember(self) -> None:
        waiting = [self._leader, *self._seen]
        visited = set(waiting)
        while waiting:
            for child in _children(waiting.pop()):
                if child in visited:
                    continue
                visited.add(child)
                waiting.append(child)
                started = _started(child)
                if started is not None:
                    self._seen[child] = started


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in _tasks(pid):
        with contextlib.suppress(OSError):
            text = (_PROC / str(pid) / "task" / task / "children").read_text(encoding="ascii")
            found.extend(int(child) for child in text.split())
    return found


def _pipe_name(fd: int) -> str:
    return f"pipe:[{os.fstat(fd).st_ino}]"


def _writers_into(pipes: set[str]) -> dict[int, str]:
    """Processes that hold the writing end of one of the pipes, with their start times.

    The service itself holds the reading ends only, and so does what it forks.
    """
    found: dict[int, str] = {}
    for process in _PROC.glob("[0-9]*"):
        pid = int(process.name)
        if pid != os.getpid() and _holds_writing_end(process / "fd", pipes):
            started = _started(pid)
            if started is not None:
                found[pid] = started
    return found


def _holds_writing_end(folder: Path, pipes: set[str]) -> bool:
    try:
        for fd in folder.iterdir():
            if str(fd.readlink()) in pipes and fd.lstat().st_mode & stat.S_IWUSR:
                return True
    except OSError:  # not ours to look at, or gone
        return False
    return False


def _tasks(pid: int) -> list[str]:
    try:
        return os.listdir(_PROC / str(pid) / "task")  # noqa: PTH208 - names only
    except OSError:
        return []


def _started(pid: int) -> str | None:
    """When a living process started, in the kernel's own count; None for one that is over."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = text[text.rindex(")") + 2 :].split()
    return None if state in "ZX" else fields[18]
