"""What an attempt's owner writes: its return, its failure, its gates' answers.

Each is one transaction that begins by checking the lease and ends with the ledger, tried again
while the database is away. A write whose lease is gone changes nothing and says so.
"""

import logging
from collections.abc import Sequence
from copy import copy
from functools import partial

from django.db import transaction
from django.utils import timezone

from swarmui.dispatch import dispatch
from swarmui.models import Attempt
from swarmui.services import settlement
from swarmui.services.leases import Claim, held
from swarmui.services.outages import write_through
from verifier.framing import db_json, db_text
from verifier.lifecycle import AttemptState
from verifier.limits import ERROR_CHARS, NOTES_CHARS, OUTPUT_CHARS
from verifier.outcome import WorkerOutcome
from verifier.scorers import GateReport

logger = logging.getLogger(__name__)

FILES_NAMED = 200  # a program may make hundreds of thousands; nobody reads more


def record_return(claim: Claim, outcome: WorkerOutcome, touched: Sequence[str] | None) -> bool:
    """The worker returned: its deliverable is stored and its gates are promised."""
    return write_through(partial(_record_return, claim, outcome, touched))


def _record_return(claim: Claim, outcome: WorkerOutcome, touched: Sequence[str] | None) -> bool:
    with transaction.atomic():
        attempt = _mine(claim, "its result")
        if attempt is None:
            return False
        _store(attempt, outcome, touched)
        attempt.state = AttemptState.RETURNED
        attempt.owner, attempt.lease_until = "", None
        attempt.save()
        settlement.write_receipt(attempt, outcome)
        dispatch("score_attempt", attempt.pk)
    return True


def record_failure(claim: Claim, outcome: WorkerOutcome, touched: Sequence[str] | None) -> bool:
    """The worker did not return: the retry table says what follows."""
    return write_through(partial(_record_failure, claim, outcome, touched))


def _record_failure(claim: Claim, outcome: WorkerOutcome, touched: Sequence[str] | None) -> bool:
    assert outcome.failure is not None
    with transaction.atomic():
        attempt = _mine(claim, "its failure")
        if attempt is None:
            return False
        _store(attempt, outcome, touched)
        settlement.write_receipt(attempt, outcome)
        settlement.settle_failure(attempt, outcome.failure, claim.owner)
    return True


def record_gates(
    claim: Claim,
    report: GateReport,
    conflicts: Sequence[str] = (),
    returned: tuple[WorkerOutcome, Sequence[str] | None] | None = None,
) -> bool:
    """The gates have answered. `returned` stores the deliverable in the same transaction, for an
    attempt that has no gate to wait for; `conflicts` are files that could not be promoted."""
    return write_through(partial(_record_gates, claim, report, conflicts, returned))


def _record_gates(
    claim: Claim,
    report: GateReport,
    conflicts: Sequence[str],
    returned: tuple[WorkerOutcome, Sequence[str] | None] | None,
) -> bool:
    with transaction.atomic():
        attempt = _mine(claim, "its gates' answers")
        if attempt is None:
            return False
        if returned is not None:
            outcome, touched = returned
            _store(attempt, outcome, touched)
            settlement.write_receipt(attempt, outcome)
        settlement.settle_gates(attempt, report, tuple(conflicts), claim.owner)
    return True


def _mine(claim: Claim, what: str) -> Attempt | None:
    attempt = held(claim)
    if attempt is None:
        logger.warning(
            "attempt %s: %s arrived after its lease was lost and is not recorded",
            claim.attempt.pk,
            what,
        )
        return None
    attempt.node = copy(claim.node)  # a try that fails half-way leaves the claim as it was
    return attempt


def _store(attempt: Attempt, outcome: WorkerOutcome, touched: Sequence[str] | None) -> None:
    output = outcome.deliverable.output
    attempt.output = db_text(output, OUTPUT_CHARS) if isinstance(output, str) else db_json(output)
    attempt.notes = db_text(outcome.deliverable.notes or "", NOTES_CHARS)
    attempt.error = db_text(outcome.error or "", ERROR_CHARS)
    attempt.stop_reason = db_text(outcome.stop_reason or "", 80)
    attempt.isolated = outcome.isolated
    if touched is not None:
        attempt.files_touched = len(touched)
        attempt.files_named = [db_text(path, 1_024) for path in touched[:FILES_NAMED]]
    attempt.tokens_used = outcome.tokens_used
    attempt.cost_micro_usd = outcome.cost_micro_usd
    attempt.model = db_text(outcome.model or attempt.model, 300)
    attempt.family = db_text(outcome.family or "", 80)
    attempt.returned_at = timezone.now()
