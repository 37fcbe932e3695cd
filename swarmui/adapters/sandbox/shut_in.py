"""One command in the sandbox, from start to the last of its processes."""

import contextlib
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from swarmui.adapters.sandbox.limits import processes_counted_against, resource_limits
from swarmui.adapters.sandbox.ownership import lent, uid_for
from swarmui.adapters.sandbox.profile import MissingProgram, Profile, Shell, command_line
from swarmui.adapters.sandbox.pump import Pump
from swarmui.adapters.sandbox.result import CommandResult
from swarmui.adapters.sandbox.signals import exit_code_of
from verifier.ports import Control

_GONE_S = 5.0  # a process tree of a few hundred dies in milliseconds
_INFO_BYTES = 4_096
_CHILD_PID = re.compile(rb'"child-pid": *(\d+)\D')
_FAILED_TO_EXECUTE = (126, 127)
_HELPER_SAID = re.compile(rb"\A(?:setpriv|prlimit): (?:failed to execute )?(.+)\n\Z", re.DOTALL)


def run_shut_in(
    profile: Profile,
    argv: Sequence[str],
    *,
    workdir: Path,
    stdin: bytes,
    timeout_s: float,
    env: Mapping[str, str],
    control: Control | None,
    cap: int,
) -> CommandResult:
    """Run `argv`; when this returns, nothing of it is left running."""
    uid = uid_for(workdir)
    limits = resource_limits(timeout_s, processes_counted_against(uid))
    with lent(workdir, uid), _account(uid) as passwd, _Init() as init:
        shell = Shell(workdir, uid, env, limits, passwd, init.write_end)
        began = time.monotonic()
        try:
            process = subprocess.Popen(
                command_line(profile, shell, argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(passwd, init.write_end),
                env={},
                cwd="/",
                start_new_session=True,
            )
        except (MissingProgram, OSError) as error:
            return CommandResult.refused(f"the sandbox did not start: {error}", isolated=True)
        pump = Pump(process, stdin, timeout_s=timeout_s, cap=cap, control=control)
        try:
            init.listen(pump)
            pump.run()
            init.wait_until_known()  # so that it can be ended whatever becomes of bubblewrap
            process.send_signal(signal.SIGKILL)
            init.wait_until_gone()
            pump.drain()
            code = exit_code_of(process.wait())
            return _result(pump, code, began)
        finally:
            process.kill()
            process.wait()
            pump.close()


class _Init:
    """The sandbox's first process: with it, the kernel ends all others in there."""

    def __init__(self) -> None:
        self._read_end, self.write_end = os.pipe()
        self._pidfd: int | None = None
        self._report = b""

    def __enter__(self) -> "_Init":
        return self

    def __exit__(self, *_: object) -> None:
        self._close_write_end()
        os.close(self._read_end)
        if self._pidfd is not None:
            os.close(self._pidfd)

    def listen(self, pump: Pump) -> None:
        """Learn from bubblewrap who it is."""
        self._close_write_end()
        os.set_blocking(self._read_end, False)
        pump.watch(self._read_end, self._read)

    def wait_until_known(self) -> None:
        """Wait for bubblewrap's report, or its end."""
        while not self._read():
            if not select.select([self._read_end], [], [], _GONE_S)[0]:
                return

    def wait_until_gone(self) -> None:
        """End it, and wait until it and all others are."""
        if self._pidfd is None:  # it never began, or is long gone
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        select.select([self._pidfd], [], [], _GONE_S)

    def _read(self) -> bool:
        """Whether all is known that will be; the report comes in several pieces."""
        if self._pidfd is not None:
            return True
        try:
            piece = os.read(self._read_end, _INFO_BYTES)
        except BlockingIOError:
            return False
        self._report += piece
        named = _CHILD_PID.search(self._report)
        if named is not None:
            with contextlib.suppress(ProcessLookupError):
                self._pidfd = os.pidfd_open(int(named[1]))
            return True
        return not piece

    def _close_write_end(self) -> None:
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1


@contextlib.contextmanager
def _account(uid: int) -> Iterator[int]:
    """An account file that knows the sandbox's user and nobody of this machine."""
    fd = os.memfd_create("passwd", os.MFD_CLOEXEC)
    try:
        os.write(fd, f"worker:x:{uid}:{uid}:worker:/tmp:/usr/sbin/nologin\n".encode())
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def _result(pump: Pump, code: int, began: float) -> CommandResult:
    ended_by_us = pump.truncated or pump.timed_out or pump.stop_reason is not None
    stderr = pump.stderr
    return CommandResult(
        exit_code=None if ended_by_us else code,
        stdout=pump.stdout,
        stderr=stderr,
        bytes_seen=pump.bytes_seen,
        truncated=pump.truncated,
        timed_out=pump.timed_out,
        stop_reason=pump.stop_reason,
        duration_ms=round((time.monotonic() - began) * 1000),
        isolated=True,
        not_started=None if ended_by_us else _why_not_started(code, stderr),
    )


def _why_not_started(code: int, stderr: bytes) -> str | None:
    """The helpers' own words when they could not start the command. A program that imitates
    them only has its own failure reported as "not started"."""
    if code == 1 and stderr.startswith(b"bwrap: "):
        return f"the sandbox did not start: {stderr[7:500].decode('utf-8', 'replace').strip()}"
    said = _HELPER_SAID.match(stderr[:500])
    if code in _FAILED_TO_EXECUTE and said is not None:
        return f"not started: {said[1].decode('utf-8', 'replace')}"
    return None
