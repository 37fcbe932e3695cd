"""One command outside the sandbox: an agent's command line that needs network and keys, or the
only way on a machine without a sandbox, where its admin allows that."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from swarmui.adapters.sandbox.processes import Tree
from swarmui.adapters.sandbox.pump import Pump
from swarmui.adapters.sandbox.result import CommandResult
from swarmui.adapters.sandbox.signals import exit_code_of
from verifier.lifecycle import StopReason
from verifier.ports import Control

_LAST_WORDS_S = 0.1  # the pipes of the dead are at their end at once
INHERITED = ("PATH", "HOME", "LANG")  # nothing else of the service's environment


def run_on_host(
    argv: Sequence[str],
    *,
    workdir: Path,
    stdin: bytes,
    timeout_s: float,
    env: Mapping[str, str],
    control: Control | None,
    cap: int,
) -> CommandResult:
    """Run `argv` in `workdir`; its process tree is ended with it."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**inherited, **env},
            cwd=workdir,
            start_new_session=True,
        )
    except OSError as error:
        why = f"not started: {argv[0]}: {error.strerror}"
        return CommandResult.refused(why, isolated=False)
    tree = Tree(process)
    pump = Pump(process, stdin, timeout_s=timeout_s, cap=cap, control=_Watching(tree, control))
    try:
        pump.run()
        tree.kill()
        if not pump.drain(_LAST_WORDS_S):
            tree.kill(writers_too=True)
            pump.drain()
        code = exit_code_of(process.wait())
    finally:
        process.kill()
        process.wait()
        pump.close()
    ended_by_us = pump.truncated or pump.timed_out or pump.stop_reason is not None
    return CommandResult(
        exit_code=None if ended_by_us else code,
        stdout=pump.stdout,
        stderr=pump.stderr,
        bytes_seen=pump.bytes_seen,
        truncated=pump.truncated,
        timed_out=pump.timed_out,
        stop_reason=pump.stop_reason,
        duration_ms=round((time.monotonic() - began) * 1000),
        isolated=False,
    )


class _Watching:
    """A control that remembers the program's descendants whenever it is asked."""

    def __init__(self, tree: Tree, control: Control | None) -> None:
        self._tree = tree
        self._control = control

    def stop_reason(self) -> StopReason | None:
        self._tree.look()
        return self._control.stop_reason() if self._control is not None else None

    def progress(self, note: str) -> None:
        if self._control is not None:
            self._control.progress(note)

    def remaining_s(self) -> float:
        return self._control.remaining_s() if self._control is not None else float("inf")
