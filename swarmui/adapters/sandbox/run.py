"""The door every program a worker names goes through. No string is ever handed to a shell."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from swarmui.adapters.sandbox.limits import OUTPUT_BYTES, problem_with
from swarmui.adapters.sandbox.on_host import run_on_host
from swarmui.adapters.sandbox.probe import probe
from swarmui.adapters.sandbox.profile import Profile
from swarmui.adapters.sandbox.result import CommandResult, Isolation
from swarmui.adapters.sandbox.shut_in import run_shut_in
from verifier.ports import Control

_NOTHING: Mapping[str, str] = {}


def run_argv(
    argv: Sequence[str],
    *,
    workdir: Path,
    stdin: bytes = b"",
    timeout_s: float,
    env: Mapping[str, str] = _NOTHING,
    isolation: Isolation = Isolation.SANDBOX,
    control: Control | None = None,
    output_cap: int = OUTPUT_BYTES,
) -> CommandResult:
    """Run a program and wait for its end; never raises for what the program is or does.

    Where the sandbox does not hold, a command meant for it does not run. `env` is added to the
    few names every command has.
    """
    isolated = isolation is Isolation.SANDBOX
    problem = problem_with(list(argv))
    if problem is not None:
        return CommandResult.refused(f"not started: {problem}", isolated=isolated)
    if not workdir.is_dir():
        return CommandResult.refused("not started: its workspace is gone", isolated=isolated)
    stopped = control.stop_reason() if control is not None else None
    if stopped is not None or timeout_s <= 0:
        return CommandResult.too_late(stopped, isolated=isolated)
    if not isolated:
        return run_on_host(
            argv,
            workdir=workdir,
            stdin=stdin,
            timeout_s=timeout_s,
            env=env,
            control=control,
            cap=output_cap,
        )
    found = probe()
    if not found.usable:
        return CommandResult.refused(f"no sandbox on this machine: {found.reason}", isolated=True)
    return run_shut_in(
        Profile(found.profile),
        argv,
        workdir=workdir,
        stdin=stdin,
        timeout_s=timeout_s,
        env=env,
        control=control,
        cap=output_cap,
    )
