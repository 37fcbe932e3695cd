"""Receipts: what a node's tool calls did, counted where they were made, never from its words.

Source: seed 001 §1, domain §3. Field names are the published JSON's.
"""

from collections import Counter
from typing import Literal

from pydantic import BaseModel, ConfigDict

from verifier.lifecycle import NodeKind, NodeStatus

FILE_CHANGE_TOOLS = frozenset(
    {
        "filesystem__write_file",
        "filesystem__append_file",
        "filesystem__delete",
        "filesystem__copy",
        "filesystem__move",
        "filesystem__mkdir",
    }
)
COMMAND_TOOLS = frozenset({"shell__run", "shell__run_background"})
NOT_CERTIFIED = ("correctness", "security")


class SideEffects(BaseModel):
    """Counts of one attempt's tool calls. The first three are derived from `byName`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    toolCalls: int = 0  # noqa: N815
    filesChanged: int = 0  # noqa: N815
    commandsRun: int = 0  # noqa: N815
    approvalsRequired: int = 0  # noqa: N815
    approvalsDenied: int = 0  # noqa: N815
    autoApproved: Literal[0] = 0  # noqa: N815
    permissionDenials: int = 0  # noqa: N815
    toolErrors: int = 0  # noqa: N815
    byName: dict[str, int] = {}  # noqa: N815


class ToolCounters:
    """Incremented by the one executor every tool call passes; nothing derived is stored apart."""

    def __init__(self) -> None:
        self._by_name: Counter[str] = Counter()
        self._errors = 0
        self._denials = 0
        self._asked = 0
        self._asked_denied = 0

    def succeeded(self, name: str) -> None:
        self._by_name[name] += 1

    def error(self) -> None:
        self._errors += 1

    def denied(self) -> None:
        self._denials += 1

    def approval_required(self) -> None:
        self._asked += 1

    def approval_denied(self) -> None:
        self._asked_denied += 1

    def snapshot(self) -> SideEffects:
        """The counts so far."""
        by_name = dict(sorted(self._by_name.items()))
        return SideEffects(
            toolCalls=sum(by_name.values()),
            filesChanged=_sum_of(by_name, FILE_CHANGE_TOOLS),
            commandsRun=_sum_of(by_name, COMMAND_TOOLS),
            approvalsRequired=self._asked,
            approvalsDenied=self._asked_denied,
            permissionDenials=self._denials,
            toolErrors=self._errors,
            byName=by_name,
        )


def _sum_of(by_name: dict[str, int], names: frozenset[str]) -> int:
    return sum(count for name, count in by_name.items() if name in names)


class Tokens(BaseModel):
    """`used` is null when the worker reported none."""

    model_config = ConfigDict(frozen=True)

    used: int | None
    cap: int | None


class Receipt(BaseModel):
    """What happened in one attempt, and what of it could not be seen.

    `sideEffects` is null exactly when `unavailable` names it: unknown, not zero. `filesTouched`
    comes from comparing the workspace before and after; null is "not measured".
    """

    model_config = ConfigDict(frozen=True)

    schemaVersion: Literal[1] = 1  # noqa: N815
    nodeId: str  # noqa: N815
    kind: NodeKind
    status: NodeStatus
    sideEffects: SideEffects | None  # noqa: N815
    filesTouched: int | None  # noqa: N815
    tokens: Tokens
    durationMs: int | None  # noqa: N815
    unavailable: tuple[str, ...] = ()
    notCertified: tuple[str, ...] = NOT_CERTIFIED  # noqa: N815

    def with_status(self, status: NodeStatus) -> "Receipt":
        """The same record after a gate changed how the attempt ended."""
        return self.model_copy(update={"status": status})


def shows_no_effect(side_effects: SideEffects | None) -> bool:
    """Whether the counts prove that no file was changed and no command run; unknown proves
    nothing."""
    return (
        side_effects is not None
        and side_effects.filesChanged == 0
        and side_effects.commandsRun == 0
    )
