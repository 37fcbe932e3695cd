"""Whether commands can be shut in on this machine: found out by doing it."""

import functools
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from swarmui.adapters.sandbox.profile import MissingProgram, Profile, bubblewrap, needed, profiles
from swarmui.adapters.sandbox.result import CommandResult
from swarmui.adapters.sandbox.shut_in import run_shut_in

_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class SandboxProbe:
    """`profile` is the one that held, empty when none did; `reason` says why, for people."""

    usable: bool
    profile: str
    reason: str


@functools.cache
def probe() -> SandboxProbe:
    """Run a program in each profile until one holds; the answer stays for the process."""
    if sys.platform != "linux":
        return SandboxProbe(False, "", "the sandbox (bubblewrap) exists on Linux only")
    try:
        bubblewrap(), needed("prlimit"), needed("setpriv")
    except MissingProgram as missing:
        return SandboxProbe(False, "", str(missing))
    reasons = []
    for profile in profiles():
        why_not = _try(profile)
        if why_not is None:
            return SandboxProbe(True, profile.value, "")
        reasons.append(f"{profile.value}: {why_not}")
    return SandboxProbe(False, "", "; ".join(reasons))


def _try(profile: Profile) -> str | None:
    """Why a profile does not hold, or None. It has to write into the workspace too."""
    with tempfile.TemporaryDirectory(prefix="sandbox-probe-") as folder:
        result = run_shut_in(
            profile,
            ["touch", "written"],
            workdir=Path(folder),
            stdin=b"",
            timeout_s=_TIMEOUT_S,
            env={},
            control=None,
            cap=65_536,
        )
        wrote = Path(folder, "written").is_file()
    return None if result.exit_code == 0 and wrote else _reason(result)


def _reason(result: CommandResult) -> str:
    if result.not_started is not None:
        return result.not_started
    said = result.stderr.decode("utf-8", "replace").strip()
    return said[:500] or f"exit {result.exit_code}, timed out: {result.timed_out}"
