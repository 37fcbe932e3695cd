"""Marks: what a reader must see beside a node's status. Deterministic, no model. Domain §3."""

from enum import StrEnum

from verifier.mismatch import receipt_mismatch
from verifier.outcome import Deliverable
from verifier.receipt import SideEffects


class Mark(StrEnum):
    """A visible mark on a node."""

    RECEIPT_MISMATCH = "receipt_mismatch"  # it says it wrote, its receipt says it did not
    EVIDENCE_UNKNOWN = "evidence_unknown"  # its worker exposes no counters
    NOT_ISOLATED = "not_isolated"  # a command of it ran outside the sandbox
    WORKSPACE_CONFLICT = "workspace_conflict"  # a file of it was changed by another branch too


def marks_of(
    deliverable: Deliverable,
    side_effects: SideEffects | None,
    files_touched: int | None,
    isolated: bool | None,
) -> tuple[Mark, ...]:
    """The marks that follow from one attempt's record."""
    marks = []
    if receipt_mismatch(deliverable, side_effects, files_touched):
        marks.append(Mark.RECEIPT_MISMATCH)
    if side_effects is None:
        marks.append(Mark.EVIDENCE_UNKNOWN)
    if isolated is False:
        marks.append(Mark.NOT_ISOLATED)
    return tuple(marks)
