"""Runs an attempt's scorers and records what they say."""

import time
import uuid

from swarmui.adapters.workspace import WorkspaceDir
from swarmui.execution import rooms
from swarmui.execution.keeper import LeaseKeeper, new_owner
from swarmui.models import Attempt
from swarmui.services import attempts, leases
from swarmui.services.evidence import side_effects_of
from verifier.outcome import Deliverable
from verifier.ports import Clock
from verifier.receipt import SideEffects
from verifier.scorers import GateReport, Scorer, ScoringContext, derived_scorers, run_scorers
from verifier.scorers.tool_outage import ToolOutage
from verifier.work import NodeWork


class SystemClock:
    """The real clock."""

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


SYSTEM_CLOCK: Clock = SystemClock()


NOTHING_TO_CHECK = GateReport(results=())


def are_needed(work: NodeWork, side_effects: SideEffects | None) -> bool:
    """Whether anything can be checked: without counters and without a contract there is nothing
    to look at."""
    asked = [spec for spec in _specs(work) if not isinstance(spec, ToolOutage)]
    return bool(asked) or side_effects is not None


def score_attempt(attempt_id: uuid.UUID) -> None:
    """Runs the gates of a returned attempt. Someone else does: leaves quietly."""
    claim = leases.claim_gates(attempt_id, new_owner())
    if claim is None:
        return
    with LeaseKeeper(claim) as control:
        report = _report(claim.attempt)
        if control.stop_reason() is not None:
            return
        conflicts = rooms.promote(claim.attempt).conflicts if report.passed else ()
        attempts.record_gates(claim, report, conflicts)


def _report(attempt: Attempt) -> GateReport:
    work, side_effects = attempt.node.orders, side_effects_of(attempt)
    if not are_needed(work, side_effects):
        return NOTHING_TO_CHECK
    context = ScoringContext(
        deliverable=Deliverable(output=attempt.output, notes=attempt.notes or None),
        side_effects=side_effects,
        workspace=WorkspaceDir(rooms.place_of(attempt)),
        clock=SYSTEM_CLOCK,
        files_touched=attempt.files_touched,
    )
    return run_scorers(_specs(work), context)


def _specs(work: NodeWork) -> tuple[Scorer, ...]:
    return (*work.scorers, *derived_scorers(work.expected_output, work.scorers))
