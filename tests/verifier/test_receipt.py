"""Receipts count what happened and name what could not be seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifier.lifecycle import NodeKind, NodeStatus
from verifier.receipt import (
    COMMAND_TOOLS,
    FILE_CHANGE_TOOLS,
    Receipt,
    SideEffects,
    Tokens,
    ToolCounters,
    shows_no_effect,
)

TOOLS = [*sorted(FILE_CHANGE_TOOLS), *sorted(COMMAND_TOOLS), "filesystem__read_file", "web__get"]


@given(st.lists(st.sampled_from(TOOLS)), st.integers(0, 5), st.integers(0, 5))
def test_derived_counts_cannot_drift_from_the_calls(calls, errors, denials):
    counters = ToolCounters()
    for name in calls:
        counters.succeeded(name)
    for _ in range(errors):
        counters.error()
    for _ in range(denials):
        counters.denied()
    seen = counters.snapshot()
    assert seen.toolCalls == sum(seen.byName.values()) == len(calls)
    assert seen.filesChanged == sum(name in FILE_CHANGE_TOOLS for name in calls)
    assert seen.commandsRun == sum(name in COMMAND_TOOLS for name in calls)
    assert (seen.toolErrors, seen.permissionDenials) == (errors, denials)


def test_approvals_asked_and_denied_are_counted_and_nothing_approves_itself():
    counters = ToolCounters()
    counters.approval_required()
    counters.approval_required()
    counters.approval_denied()
    seen = counters.snapshot()
    assert (seen.approvalsRequired, seen.approvalsDenied, seen.autoApproved) == (2, 1, 0)
    with pytest.raises(ValidationError):
        SideEffects(autoApproved=1)


def test_the_published_shape():
    receipt = Receipt(
        nodeId="n1",
        kind=NodeKind.AGENT,
        status=NodeStatus.OK,
        sideEffects=ToolCounters().snapshot(),
        filesTouched=None,
        tokens=Tokens(used=812, cap=80_000),
        durationMs=4_200,
    )
    body = receipt.model_dump(mode="json")
    assert body["schemaVersion"] == 1
    assert body["notCertified"] == ["correctness", "security"]
    assert body["filesTouched"] is None
    assert body["unavailable"] == []
    assert set(body["sideEffects"]) == {
        "toolCalls",
        "filesChanged",
        "commandsRun",
        "approvalsRequired",
        "approvalsDenied",
        "autoApproved",
        "permissionDenials",
        "toolErrors",
        "byName",
    }


def test_a_gate_that_flips_the_status_flips_it_in_the_receipt_too():
    receipt = Receipt(
        nodeId="n1",
        kind=NodeKind.AGENT,
        status=NodeStatus.OK,
        sideEffects=None,
        filesTouched=1,
        tokens=Tokens(used=None, cap=None),
        durationMs=None,
        unavailable=("sideEffects: a program exposes no tool counters",),
    )
    assert receipt.with_status(NodeStatus.CONTRACT_FAILED).status is NodeStatus.CONTRACT_FAILED


@pytest.mark.parametrize(
    ("effects", "proven_idle"),
    [
        (None, False),  # unknown proves nothing
        (SideEffects(), True),
        (SideEffects(toolCalls=4, toolErrors=2), True),
        (SideEffects(filesChanged=1), False),
        (SideEffects(commandsRun=1), False),
    ],
)
def test_only_known_counts_can_show_that_nothing_was_changed(effects, proven_idle):
    assert shows_no_effect(effects) is proven_idle
