"""Programs that a test starts, kills and starts again, each with its own log and process group."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

TAIL_CHARS = 3_000
STOP_S = 15


class Program:
    """One program. `start` after `kill` or `stop` starts it anew; the log is appended to."""

    def __init__(
        self, name: str, argv: Sequence[str], env: Mapping[str, str], cwd: Path, log: Path
    ) -> None:
        self.name = name
        self._argv, self._env, self._cwd, self._log = list(argv), dict(env), cwd, log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self.is_running:
            raise RuntimeError(f"{self.name} runs already")
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._argv,
                env=self._env,
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def signal(self, number: int) -> None:
        """Send a signal to the program itself, not to what it started."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End the program and everything it started, at once (SIGKILL)."""
        if self._process is not None:
            self._signal_group(signal.SIGKILL)
            self._process.wait(timeout=STOP_S)

    def stop(self) -> None:
        """Ask the program to end; kill it when it does not."""
        if self._process is None:
            return
        if self.is_running:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=STOP_S)
        self.kill()

    def restart(self) -> None:
        self.stop()
        self.start()

    def log(self) -> str:
        """All it has printed so far."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def tail(self) -> str:
        return f"--- {self.name} (exit code {self.exit_code}) ---\n{self.log()[-TAIL_CHARS:]}"

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            # The group's id is the leader's process id: `start_new_session`.
            os.killpg(self.pid, number)


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
