"""What is tried again, and which attempt stands."""

import itertools

import pytest

from verifier.lifecycle import NodeStatus
from verifier.limits import MAX_STARTS, MIN_SECONDS_FOR_RETRY, MIN_TOKENS_TO_START
from verifier.outcome import FailureKind
from verifier.receipt import COMMAND_TOOLS, FILE_CHANGE_TOOLS, SideEffects
from verifier.retry import (
    PROGRAM,
    STATUS_OF_FAILURE,
    ChosenBecause,
    Contender,
    ContractRetryFacts,
    History,
    RetryAction,
    after_failure,
    choose_among,
    choose_attempt,
    contract_retry_refusal,
    leaves_no_effect,
    orphan_fate,
)

NONE, SAME, BACKUP, NEW = RetryAction
K = FailureKind


@pytest.mark.parametrize(
    ("failure", "history", "action"),
    [
        (K.TOOL_ERROR, History(), NEW),
        (K.TOOL_ERROR, History(replacements=1), NONE),  # once, on a new node
        (K.PROVIDER_ERROR, History(), SAME),
        (K.PROVIDER_ERROR, History(same_model_retries=1), NONE),
        (K.PROVIDER_ERROR, History(same_model_retries=1, backup_differs=True), BACKUP),
        # the backup model is the same one: trying it is the same retry again
        (K.PROVIDER_ERROR, History(same_model_retries=1, backup_differs=False), NONE),
        (K.PROVIDER_ERROR, History(1, backup_used=True, backup_differs=True), NONE),
        (K.QUOTA_EXHAUSTED, History(), NONE),  # the first retry is skipped
        (K.QUOTA_EXHAUSTED, History(backup_differs=True), BACKUP),
        (K.QUOTA_EXHAUSTED, History(backup_used=True, backup_differs=True), NONE),
        (K.BUDGET, History(backup_differs=True), NONE),
        (K.TIMEOUT, History(backup_differs=True), NONE),
        (K.CANCELLED, History(), NONE),
        (K.DENIED, History(), NONE),
    ],
)
def test_the_retry_table(failure, history, action):
    assert after_failure(failure, history) is action


def test_the_retry_table_answers_for_every_failure_and_every_history():
    for failure, same, used, differs, replaced in itertools.product(
        FailureKind, (0, 1, 2), (False, True), (False, True), (0, 1)
    ):
        assert after_failure(failure, History(same, used, differs, replaced)) in RetryAction


def test_every_failure_but_a_lost_lease_has_a_status():
    assert set(STATUS_OF_FAILURE) == set(FailureKind) - {FailureKind.LEASE_LOST}
    assert STATUS_OF_FAILURE[FailureKind.QUOTA_EXHAUSTED] is NodeStatus.PROVIDER_ERROR


GOOD = ContractRetryFacts(
    any_retryable=True,
    retries_used=0,
    retries_allowed=1,
    tokens_left=MIN_TOKENS_TO_START,
    seconds_left=MIN_SECONDS_FOR_RETRY,
    parent_alive=True,
)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, None),
        ({"tokens_left": None}, None),  # no cap
        ({"retries_used": 1}, "1 of 1 contract retries used"),
        ({"retries_allowed": 0}, "0 of 0 contract retries used"),
        ({"any_retryable": False}, "no failure is one that a retry could mend"),
        ({"parent_alive": False}, "the parent has ended"),
        ({"tokens_left": MIN_TOKENS_TO_START - 1}, "tokens left"),
        ({"tokens_left": 0}, "tokens left"),
        ({"seconds_left": MIN_SECONDS_FOR_RETRY - 0.1}, "s left"),
    ],
)
def test_when_a_missed_contract_is_tried_again(change, says):
    facts = ContractRetryFacts(**{**GOOD.__dict__, **change})
    refusal = contract_retry_refusal(facts)
    assert (refusal is None) if says is None else (refusal is not None and says in refusal)


IDLE = SideEffects(toolCalls=3, byName={"filesystem__read_file": 3})
WROTE = SideEffects(toolCalls=1, filesChanged=1, byName={"filesystem__write_file": 1})
RAN = SideEffects(toolCalls=1, commandsRun=1, byName={"shell__run": 1})
UNKNOWN = None


@pytest.mark.parametrize(
    ("earlier_failed", "retry_failed", "retry_effects", "stands", "because"),
    [
        (2, 0, IDLE, 2, ChosenBecause.RETRY_PASSED),
        (1, 3, IDLE, 1, ChosenBecause.EARLIER_FAILED_FEWER),
        (1, 3, WROTE, 2, ChosenBecause.RETRY_TOUCHED_WORKSPACE),  # its work is what is on disk
        (1, 3, RAN, 2, ChosenBecause.RETRY_TOUCHED_WORKSPACE),
        (1, 3, UNKNOWN, 2, ChosenBecause.RETRY_EFFECTS_UNKNOWN),  # not proven idle
        (2, 2, IDLE, 2, ChosenBecause.RETRY_NO_WORSE),
        (3, 1, IDLE, 2, ChosenBecause.RETRY_NO_WORSE),
        (1, None, IDLE, 1, ChosenBecause.RETRY_CRASHED),
        (1, None, WROTE, 2, ChosenBecause.RETRY_TOUCHED_WORKSPACE),
    ],
)
def test_which_of_two_attempts_stands(earlier_failed, retry_failed, retry_effects, stands, because):
    earlier = Contender(1, earlier_failed, IDLE)
    retry = Contender(2, retry_failed, retry_effects)
    assert choose_attempt(earlier, retry) == (stands, because)


@pytest.mark.parametrize(
    ("contenders", "stands", "because"),
    [
        ([Contender(1, 0, IDLE)], 1, ChosenBecause.ONLY_ATTEMPT),
        ([Contender(1, None, IDLE)], 1, ChosenBecause.ONLY_ATTEMPT),
        # a provider failed twice: the last one speaks, there is no result to keep
        ([Contender(1, None, IDLE), Contender(2, None, IDLE)], 2, ChosenBecause.LAST_ATTEMPT),
        ([Contender(1, None, IDLE), Contender(2, 0, IDLE)], 2, ChosenBecause.LAST_ATTEMPT),
        (
            [Contender(1, 1, IDLE), Contender(2, None, IDLE), Contender(3, 2, IDLE)],
            1,
            ChosenBecause.EARLIER_FAILED_FEWER,
        ),
        (
            [Contender(1, 3, IDLE), Contender(2, 2, IDLE), Contender(3, 0, WROTE)],
            3,
            ChosenBecause.RETRY_PASSED,
        ),
    ],
)
def test_which_of_several_attempts_stands(contenders, stands, because):
    assert choose_among(contenders) == (stands, because)


@pytest.mark.parametrize(
    ("starts", "no_effects", "fate"),
    [
        (1, True, "requeue"),
        (MAX_STARTS - 1, True, "requeue"),
        (MAX_STARTS, True, "lost"),
        (1, False, "cancel"),
        (MAX_STARTS, False, "lost"),
    ],
)
def test_what_becomes_of_an_orphan(starts, no_effects, fate):
    assert orphan_fate(starts, no_effects) == fate


@pytest.mark.parametrize("tool", sorted(FILE_CHANGE_TOOLS | COMMAND_TOOLS | {PROGRAM}))
def test_a_proposed_change_or_command_may_have_happened(tool):
    assert not leaves_no_effect(["filesystem__read_file", tool])


def test_reading_leaves_no_effect():
    assert leaves_no_effect([])
    assert leaves_no_effect(["filesystem__read_file", "filesystem__grep", ""])
