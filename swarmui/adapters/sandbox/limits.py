"""What one sandboxed command may use, each figure with its reason. Source: reliability S8, S11."""

import math
import os
import platform
import resource
from pathlib import Path

MIB = 1024 * 1024

OUTPUT_BYTES = 8 * MIB  # both streams together; a program that writes more is stopped
DATA_BYTES = 2048 * MIB  # private memory of one process; counts what can be written, so that the
# gigabytes a JavaScript engine merely reserves do not break it
ADDRESS_BYTES = 16_384 * MIB  # behind it, for shared mappings, which the former does not count
FILE_BYTES = 64 * MIB  # one file; a filled disk stops everybody
TMP_BYTES = 64 * MIB  # /tmp and /dev/shm live in memory
OPEN_FILES = 1_024  # the usual default, which programs are written to live with
PROCESSES = 64  # threads count; a fork bomb ends here
PROCESSES_PER_CPU = 4  # linters start a thread per core: a large machine needs more than 64
CPU_GRACE_S = 2  # the wall clock is what ends a command; this is for a supervisor that froze

MAX_ARGUMENTS = 64
MAX_ARGV_BYTES = 8_192
KERNEL_COUNTS_PER_SANDBOX = (5, 14)  # before it a user's processes are counted machine-wide


def resource_limits(timeout_s: float, shares_uid_with: int = 0) -> dict[str, int]:
    """Limits by the names of `prlimit`, none above what the service itself may use.

    `shares_uid_with`: processes outside the sandbox that the kernel counts as this one's.
    """
    cpus = os.cpu_count() or 1
    wanted = {
        "as": (ADDRESS_BYTES, resource.RLIMIT_AS),
        "core": (0, resource.RLIMIT_CORE),
        "cpu": (math.ceil(timeout_s) * cpus + CPU_GRACE_S, resource.RLIMIT_CPU),
        "data": (DATA_BYTES, resource.RLIMIT_DATA),
        "fsize": (FILE_BYTES, resource.RLIMIT_FSIZE),
        "nofile": (OPEN_FILES, resource.RLIMIT_NOFILE),
        "nproc": (
            max(PROCESSES, PROCESSES_PER_CPU * cpus) + shares_uid_with,
            resource.RLIMIT_NPROC,
        ),
    }
    return {name: _within(value, which) for name, (value, which) in wanted.items()}


def _within(value: int, which: int) -> int:
    hard = resource.getrlimit(which)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def processes_counted_against(uid: int) -> int:
    """How many of a user's threads an old kernel counts towards a sandbox of that user."""
    version = tuple(int(part) for part in platform.release().split(".")[:2] if part.isdigit())
    if version >= KERNEL_COUNTS_PER_SANDBOX:
        return 0
    return sum(_threads(process) for process in _processes_of(uid))


def _processes_of(uid: int) -> list[Path]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == uid:
                found.append(process)
        except OSError:
            continue
    return found


def _threads(process: Path) -> int:
    try:
        return sum(1 for _ in (process / "task").iterdir())
    except OSError:
        return 0


def problem_with(argv: list[str]) -> str | None:
    """Why an argument list is not run at all, or None."""
    if not argv or not argv[0]:
        return "a program name was expected, the argument list is empty"
    if len(argv) > MAX_ARGUMENTS:
        return f"{len(argv):,} arguments, at most {MAX_ARGUMENTS} are taken"
    if any("\0" in argument for argument in argv):
        return "an argument holds a NUL character"
    try:
        size = sum(len(os.fsencode(argument)) for argument in argv)
    except UnicodeEncodeError:
        return "an argument is not valid text"
    if size > MAX_ARGV_BYTES:
        return f"{size:,} bytes of arguments, at most {MAX_ARGV_BYTES:,} are taken"
    return None
