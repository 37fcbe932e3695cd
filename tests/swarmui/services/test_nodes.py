"""The one door through which a node's status changes."""

import pytest
from django.db import IntegrityError, transaction

from swarmui.models import LedgerEvent, Node
from swarmui.selectors.ledger import check_run
from swarmui.services.nodes import Change, Place, spawn_node, transition_node
from verifier.errors import IllegalMove
from verifier.ledger import NodeEvent
from verifier.lifecycle import NodeKind, NodeStatus

from .test_ledger_order import in_thread, make_run

pytestmark = pytest.mark.django_db(transaction=True)


def make_node(run, parent=None):
    place = Place(
        kind=NodeKind.AGENT if parent else NodeKind.ROOT,
        depth=1 if parent else 0,
        role="writing",
        task_brief="Write it down",
        work={},
        parent=parent,
        branch=0 if parent else None,
    )
    with transaction.atomic():
        return spawn_node(run, place, "test")


def move(node, after, event=NodeEvent.START, change=Change()):
    with transaction.atomic():
        return transition_node(node, after, event, "test", change)


def test_a_move_writes_row_and_event_together():
    node = make_node(make_run())
    event = move(node, NodeStatus.RUNNING)
    stored = Node.objects.get(pk=node.pk)
    assert (stored.status, stored.changed_seq, stored.started_at) == ("running", 2, event.at)
    assert (event.event, event.payload["status"]) == ("start", "running")
    assert check_run(node.run_id).faults == ()


def test_a_failed_transaction_leaves_neither():
    node = make_node(make_run())
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        transition_node(node, NodeStatus.RUNNING, NodeEvent.START, "test")
        raise ZeroDivisionError
    assert Node.objects.get(pk=node.pk).status == NodeStatus.QUEUED
    assert LedgerEvent.objects.filter(subject_id=node.pk).count() == 1


def test_who_comes_second_writes_nothing():
    node = make_node(make_run())
    late = Node.objects.get(pk=node.pk)
    assert move(node, NodeStatus.RUNNING) is not None
    assert move(late, NodeStatus.CANCELLED, NodeEvent.CANCEL) is None
    assert LedgerEvent.objects.filter(subject_id=node.pk).count() == 2


def test_a_move_the_table_does_not_have_is_a_mistake_of_the_caller():
    node = make_node(make_run())
    move(node, NodeStatus.OK, NodeEvent.RESULT)
    with pytest.raises(IllegalMove, match="ok → running"):
        move(node, NodeStatus.RUNNING)


def test_eight_that_end_a_node_at_once_end_it_once():
    run = make_run()
    node = make_node(run)
    ends = [NodeStatus.OK, NodeStatus.CANCELLED, NodeStatus.LOST, NodeStatus.TIMEOUT] * 2
    won = []

    def end(status):
        def work():
            copy = Node.objects.get(pk=node.pk)
            if copy.status != NodeStatus.QUEUED:
                return
            if move(copy, status, NodeEvent.RESULT):
                won.append(status)

        return work

    for thread in [in_thread(end(status)) for status in ends]:
        thread.join()
    assert len(won) == 1
    assert Node.objects.get(pk=node.pk).status == won[0]
    assert check_run(run.pk).faults == ()


def test_hostile_words_in_a_reason_are_stored_bounded_and_inert():
    node = make_node(make_run())
    text = "\x00 \ud800 \x1b[31m <script>" + "x" * 10_000
    move(node, NodeStatus.TOOL_ERROR, NodeEvent.RESULT, Change(reason=text))
    reason = Node.objects.get(pk=node.pk).reason
    assert len(reason) <= 600
    assert "\x00" not in reason
    assert "\x1b" not in reason
    assert "<script>" in reason  # text is text: the page escapes it
    assert check_run(node.run_id).faults == ()


def test_the_database_knows_the_words_and_the_shape_of_an_end():
    node = make_node(make_run())
    for columns in ({"status": "dancing"}, {"status": "ok"}, {"kind": "robot"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Node.objects.filter(pk=node.pk).update(**columns)


def test_a_run_has_one_root():
    run = make_run()
    make_node(run)
    with pytest.raises(IntegrityError):
        make_node(run)


def test_check_run_names_a_row_that_was_changed_behind_the_ledger():
    run = make_run()
    node = make_node(run)
    move(node, NodeStatus.RUNNING, change=Change(attempt=1))
    Node.objects.filter(pk=node.pk).update(tokens=99)
    assert any("tokens is 99 in the rows" in fault for fault in check_run(run.pk).faults)
