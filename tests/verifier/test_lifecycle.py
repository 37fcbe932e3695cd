"""Statuses and their table of moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.lifecycle import (
    FAILED,
    SUCCEEDED,
    TERMINAL,
    TRANSITIONS,
    WORST_FIRST,
    NodeStatus,
    can_move,
    delegation_status,
    run_status,
    worst_of,
)

LIVE = frozenset(NodeStatus) - TERMINAL


def test_every_status_has_its_row_in_the_table_of_moves():
    assert set(TRANSITIONS) == set(NodeStatus)


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_nothing_leaves_a_terminal_status(status):
    assert TRANSITIONS[status] == frozenset()


@pytest.mark.parametrize("before", sorted(LIVE))
@pytest.mark.parametrize("after", sorted(TERMINAL))
def test_any_live_status_can_end_in_any_way(before, after):
    assert can_move(before, after)


@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [
        (NodeStatus.QUEUED, NodeStatus.RUNNING, True),
        (NodeStatus.QUEUED, NodeStatus.WAITING, True),  # a delegation waits from the start
        (NodeStatus.RUNNING, NodeStatus.QUEUED, True),  # another attempt
        (NodeStatus.RUNNING, NodeStatus.WAITING, True),
        (NodeStatus.WAITING, NodeStatus.RUNNING, True),
        (NodeStatus.WAITING, NodeStatus.QUEUED, True),
        (NodeStatus.QUEUED, NodeStatus.QUEUED, False),
        (NodeStatus.RUNNING, NodeStatus.RUNNING, False),
        (NodeStatus.WAITING, NodeStatus.WAITING, False),
    ],
)
def test_moves_between_live_statuses(before, after, allowed):
    assert can_move(before, after) is allowed


def test_every_terminal_status_has_its_place_in_the_order_of_badness():
    assert set(WORST_FIRST) == TERMINAL
    assert len(WORST_FIRST) == len(TERMINAL)


def test_failure_and_success_share_nothing_and_leave_nothing_out():
    assert FAILED | SUCCEEDED == TERMINAL
    assert not FAILED & SUCCEEDED


@given(st.lists(st.sampled_from(sorted(TERMINAL)), max_size=8))
def test_a_delegation_is_ok_only_when_every_branch_ended_well(branches):
    verdict = delegation_status(branches)
    assert (verdict == NodeStatus.OK) == all(branch in SUCCEEDED for branch in branches)


@given(st.lists(st.sampled_from(sorted(TERMINAL)), min_size=1, max_size=8))
def test_the_worst_speaks_whatever_the_order(statuses):
    assert worst_of(statuses) == worst_of(reversed(statuses))
    assert worst_of(statuses) in statuses


def test_nothing_speaks_for_an_empty_group():
    assert worst_of([]) is None


@pytest.mark.parametrize(
    ("root", "others", "status"),
    [
        (NodeStatus.WAITING, [NodeStatus.RUNNING, NodeStatus.OK], NodeStatus.RUNNING),
        (NodeStatus.WAITING, [NodeStatus.QUEUED], NodeStatus.RUNNING),
        (NodeStatus.WAITING, [NodeStatus.WAITING, NodeStatus.OK], NodeStatus.WAITING),
        (NodeStatus.WAITING, [NodeStatus.OK], NodeStatus.WAITING),
        (NodeStatus.RUNNING, [], NodeStatus.RUNNING),
        (NodeStatus.OK, [NodeStatus.TOOL_ERROR], NodeStatus.OK),
        (NodeStatus.TOOL_ERROR, [NodeStatus.OK], NodeStatus.TOOL_ERROR),
    ],
)
def test_a_run_that_waits_waits_for_a_person(root, others, status):
    assert run_status(root, others) is status
