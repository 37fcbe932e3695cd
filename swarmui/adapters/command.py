"""A program as a worker: the brief on its standard input, its deliverable on standard output.

Source: domain §1 "Workers", seed 001 §1 (a worker without counters has unknown side effects).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swarmui.adapters.sandbox import CommandResult, Isolation, probe, run_argv
from swarmui.adapters.sandbox.limits import MIB, OUTPUT_BYTES
from swarmui.adapters.text import decoded, tail_of
from verifier.framing import db_text
from verifier.lifecycle import StopReason
from verifier.limits import ERROR_CHARS, OUTPUT_CHARS
from verifier.outcome import Deliverable, FailureKind, WorkerOutcome
from verifier.ports import Control
from verifier.spec.models import is_reserved

TAIL_CHARS = 2_000  # of standard error: enough for a stack trace's end
NO_COUNTERS = "sideEffects: a program exposes no tool counters"

_FAILURE_OF = {
    StopReason.CANCELLED: FailureKind.CANCELLED,
    StopReason.LEASE_LOST: FailureKind.LEASE_LOST,
    StopReason.TIMEOUT: FailureKind.TIMEOUT,
}


@dataclass(frozen=True)
class CommandOrder:
    """One attempt of a program. `env_names`: variables of the service's environment it may see.
    `allow_not_isolated`: the admin's setting for machines without a sandbox."""

    argv: Sequence[str]
    isolation: str
    env_names: Sequence[str]
    brief: str
    workdir: Path
    allow_not_isolated: bool = False


def run_command_worker(order: CommandOrder, control: Control) -> WorkerOutcome:
    """Run the program until it ends or has to stop; its outcome, whatever it was."""
    reserved = [name for name in order.env_names if is_reserved(name)]
    if reserved:
        return _refused(f"env: {reserved[0]} belongs to the service and is never handed on")
    isolation = Isolation(order.isolation)
    if isolation is Isolation.SANDBOX and not probe().usable:
        if not order.allow_not_isolated:
            return _refused(f"no sandbox on this machine: {probe().reason}")
        isolation = Isolation.HOST
    timeout_s = control.remaining_s()
    control.progress("program started")
    result = run_argv(
        order.argv,
        workdir=order.workdir,
        stdin=order.brief.encode("utf-8", "backslashreplace"),
        timeout_s=timeout_s,
        env={name: os.environ[name] for name in order.env_names if name in os.environ},
        isolation=isolation,
        control=control,
    )
    failure, error = _failure_of(result, timeout_s)
    return WorkerOutcome(
        failure=failure,
        error=db_text(error, ERROR_CHARS) if error is not None else None,
        deliverable=Deliverable(
            output=decoded(result.stdout, OUTPUT_CHARS),
            notes=tail_of(result.stderr, TAIL_CHARS) if result.stderr else None,
        ),
        unavailable=(NO_COUNTERS,),
        isolated=result.isolated if result.not_started is None else None,
    )


def _failure_of(result: CommandResult, timeout_s: float) -> tuple[FailureKind | None, str | None]:
    if result.not_started is not None:
        return FailureKind.TOOL_ERROR, result.not_started
    if result.stop_reason is not None:
        return _FAILURE_OF[result.stop_reason], f"stopped: {result.stop_reason.value}"
    if result.timed_out:
        return FailureKind.TIMEOUT, f"still running after {timeout_s:,.0f} s, its wall clock"
    if result.truncated:
        return FailureKind.TOOL_ERROR, (
            f"stopped: it wrote more than {OUTPUT_BYTES // MIB} MiB "
            f"({result.bytes_seen:,} bytes seen)"
        )
    if result.exit_code != 0:
        tail = tail_of(result.stderr or result.stdout, TAIL_CHARS).strip()
        return FailureKind.TOOL_ERROR, f"exit {result.exit_code}: {tail or 'no message'}"
    return None, None


def _refused(why: str) -> WorkerOutcome:
    return WorkerOutcome(failure=FailureKind.DENIED, error=why, unavailable=(NO_COUNTERS,))
