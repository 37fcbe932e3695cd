"""What came of running a command."""

from dataclasses import dataclass
from enum import StrEnum

from verifier.lifecycle import StopReason


class Isolation(StrEnum):
    """Where a command runs."""

    SANDBOX = "sandbox"
    HOST = "host"


@dataclass(frozen=True)
class CommandResult:
    """`exit_code` is None when the command was ended or never began; one that died of signal n
    has 128 + n. `stdout` and `stderr` together hold at most the cap; `bytes_seen` is what was
    read of both, `truncated` says that it was stopped for writing more. `not_started` is the
    reason, for people, why nothing ran; `isolated` whether it ran in the sandbox."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    bytes_seen: int
    truncated: bool
    timed_out: bool
    stop_reason: StopReason | None
    duration_ms: int
    isolated: bool
    not_started: str | None = None

    @classmethod
    def refused(cls, reason: str, *, isolated: bool) -> "CommandResult":
        """Nothing ran."""
        return cls(None, b"", b"", 0, False, False, None, 0, isolated, reason)

    @classmethod
    def too_late(cls, stopped: StopReason | None, *, isolated: bool) -> "CommandResult":
        """Nothing ran: the order to stop was there before, or no time was left."""
        return cls(None, b"", b"", 0, False, stopped is None, stopped, 0, isolated)
