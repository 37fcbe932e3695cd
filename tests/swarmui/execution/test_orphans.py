"""What becomes of work whose owner is gone, and of wake-ups that never came."""

import json
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from swarmui import dispatch
from swarmui.execution import rooms
from swarmui.execution.keeper import LeaseKeeper
from swarmui.execution.sweep import tick
from swarmui.models import Attempt, LedgerEvent, Node, Outbox
from swarmui.selectors.documents import node_document
from swarmui.selectors.ledger import check_run
from swarmui.services import attempts, leases, reconcile
from swarmui.services.trajectory import LeaseLost, Recorder
from verifier.boundary.trajectory import EntryKind, TrajectoryEntry
from verifier.lifecycle import StopReason
from verifier.limits import MAX_STARTS
from verifier.outcome import Deliverable, FailureKind, WorkerOutcome
from verifier.receipt import ToolCounters

WALL = 3_600


@pytest.fixture
def run(launch, broker, tmp_path):
    body = {
        "format": 1,
        "family": "test",
        "scripts": [{"name": "any", "turns": [{"final": "x"}]}],
    }
    (tmp_path / "model.yaml").write_text(json.dumps(body))
    return launch(model="recorded:model.yaml", branches=[{"role": "a", "task_brief": "b"}])


def the_node(run):
    return Node.objects.get(run=run, depth=1)


def claim(run, owner="someone"):
    attempt = Attempt.objects.get(node__run=run, state="queued")
    return leases.claim_work(attempt.pk, owner, WALL)


def expire(attempt):
    Attempt.objects.filter(pk=attempt.pk).update(lease_until=Now() - timedelta(seconds=1))


def entry(kind, tool, payload=None):
    return TrajectoryEntry(kind=kind, call_id="call-1", tool=tool, payload=payload or {})


def ended_well():
    return WorkerOutcome(
        deliverable=Deliverable(output="done"), side_effects=ToolCounters().snapshot()
    )


def test_a_claim_is_won_once(run):
    attempt = Attempt.objects.get(node__run=run)
    assert leases.claim_work(attempt.pk, "one", WALL) is not None
    assert leases.claim_work(attempt.pk, "two", WALL) is None
    assert the_node(run).status == "running"


def test_a_living_lease_is_never_reaped(run):
    mine = claim(run)
    assert leases.heartbeat(mine, "at work")
    assert reconcile.reap() == 0
    assert the_node(run).status == "running"


def test_an_orphan_that_only_read_is_begun_again(run):
    mine = claim(run)
    record = Recorder(mine)
    record(entry(EntryKind.PROPOSAL, "filesystem__read_file"))
    record(entry(EntryKind.RESULT, "filesystem__read_file", {"kind": "result"}))
    expire(mine.attempt)
    assert reconcile.reap() == 1
    first, second = the_node(run).attempts.order_by("number")
    assert (first.outcome, second.state, the_node(run).status) == ("lost", "queued", "queued")
    assert first.receipt.body["sideEffects"]["byName"] == {"filesystem__read_file": 1}
    assert first.receipt.body["tokens"]["used"] is None
    assert reconcile.reap() == 0  # twice is once
    assert check_run(run.pk).faults == ()


@pytest.mark.parametrize("tool", ["filesystem__write_file", "shell__run", "program"])
def test_an_orphan_that_may_have_changed_something_is_not(run, tool):
    mine = claim(run)
    Recorder(mine)(entry(EntryKind.PROPOSAL, tool))  # proposed, its answer never recorded
    expire(mine.attempt)
    reconcile.reap()
    node = the_node(run)
    assert node.status == "cancelled"
    assert "may have had effects" in node.reason
    assert LedgerEvent.objects.filter(subject_id=node.pk, event="reconcile").count() == 1
    assert check_run(run.pk).faults == ()


def test_a_worker_that_dies_each_time_is_lost_after_three_starts(run):
    for number in range(MAX_STARTS):
        mine = claim(run, f"owner {number}")
        assert mine is not None
        expire(mine.attempt)
        reconcile.reap()
    node = the_node(run)
    assert (node.status, node.attempts.count()) == ("lost", MAX_STARTS)
    assert LedgerEvent.objects.filter(subject_id=node.pk, event="start").count() == MAX_STARTS
    assert check_run(run.pk).faults == ()


def test_whoever_lost_the_lease_writes_nothing_more(run):
    mine = claim(run)
    expire(mine.attempt)
    reconcile.reap()
    before = LedgerEvent.objects.count()
    assert not leases.heartbeat(mine)
    assert not attempts.record_return(mine, ended_well(), None)
    failed = WorkerOutcome(failure=FailureKind.TOOL_ERROR, error="late")
    assert not attempts.record_failure(mine, failed, None)
    with pytest.raises(LeaseLost):
        Recorder(mine)(entry(EntryKind.PROPOSAL, "filesystem__read_file"))
    assert LedgerEvent.objects.count() == before
    assert Attempt.objects.get(pk=mine.attempt.pk).output is None


def test_an_expired_lease_refuses_even_before_the_reaper_came(run):
    mine = claim(run)
    expire(mine.attempt)
    assert not leases.heartbeat(mine)
    assert not attempts.record_return(mine, ended_well(), None)


def test_one_that_beats_for_ever_is_ended_at_its_hard_deadline(run):
    mine = claim(run)
    assert leases.heartbeat(mine)
    Attempt.objects.filter(pk=mine.attempt.pk).update(
        hard_deadline=Now() - reconcile.DEADLINE_GRACE - timedelta(seconds=1)
    )
    reconcile.reap()
    node = the_node(run)
    assert (node.status, node.attempts.count()) == ("timeout", 1)
    assert not leases.heartbeat(mine)


def test_gates_that_were_cut_off_are_run_again_and_end_as_broken(run):
    mine = claim(run)
    assert attempts.record_return(mine, ended_well(), None)
    for _ in range(MAX_STARTS):
        gates = leases.claim_gates(mine.attempt.pk, "gates")
        assert gates is not None
        expire(gates.attempt)
        reconcile.reap()
    node = the_node(run)
    assert node.status == "contract_failed"
    failure = node_document(node.pk)["attempts"][0]["scorers"]["results"][0]
    assert (failure["broke"], failure["retryable"]) == (True, False)


def test_a_lease_given_back_is_settled_at_the_next_look(run):
    mine = claim(run)
    with LeaseKeeper(mine) as control:
        control.stop(StopReason.LEASE_LOST)
        assert control.stop_reason() is StopReason.LEASE_LOST
    reconcile.reap()
    assert the_node(run).attempts.count() == 2


def test_a_lone_process_need_not_wait_for_the_leases_of_the_dead(run):
    mine = claim(run)
    Attempt.objects.filter(pk=mine.attempt.pk).update(owner=leases.INVENTED)
    assert leases.release_all() == 0  # what was invented is nobody's work
    Attempt.objects.filter(pk=mine.attempt.pk).update(owner="someone")
    assert leases.release_all() == 1
    assert reconcile.reap() == 1
    assert the_node(run).attempts.count() == 2


def overdue():
    Outbox.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def test_a_worker_that_is_told_to_stop_has_not_died(run):
    for _ in range(MAX_STARTS + 1):
        mine = claim(run)
        leases.release(mine)
        reconcile.reap()
    node = the_node(run)
    assert (node.status, node.reason) == ("queued", "its worker was told to stop")
    assert check_run(run.pk).faults == ()


def test_a_lost_wake_up_costs_only_time(run, broker):
    broker.queue.clear()
    tick()
    assert not broker.queue  # not due yet: its first wake-up may still be on its way
    overdue()
    tick()
    assert [name for name, _ in broker.queue] == ["execute_attempt"]
    tick()
    assert len(broker.queue) == 1  # it was just sent


def test_wake_ups_for_one_promise_come_ever_more_rarely(run, broker):
    waits = []
    for _ in range(5):
        overdue()
        tick()
        waits.append(round((Outbox.objects.get().due_at - timezone.now()).total_seconds()))
    assert waits == [8, 16, 30, 30, 30]


def test_a_promise_that_stood_for_weeks_is_still_sent(run, broker):
    """The count of its wake-ups has reached the end of its column."""
    Outbox.objects.update(sent=32_767)
    broker.queue.clear()
    for _ in range(2):
        overdue()
        tick()
    assert len(broker.queue) == 2


def test_a_long_queue_is_not_made_longer(run, broker, monkeypatch):
    overdue()
    before = len(broker.queue)
    monkeypatch.setattr(dispatch, "waiting_messages", lambda: dispatch.BATCH)
    tick()
    assert len(broker.queue) == before


def test_at_start_everything_due_is_woken(run, broker):
    broker.queue.clear()
    tick(at_start=True)
    assert [name for name, _ in broker.queue] == ["execute_attempt"]


def test_a_promise_stands_until_its_work_is_claimed(run, broker):
    attempt = Attempt.objects.get(node__run=run)
    assert Outbox.objects.get().argument == attempt.pk
    claim(run)
    assert not Outbox.objects.exists()


def test_a_promise_for_work_that_is_over_is_forgotten(run, broker):
    attempt = Attempt.objects.get(node__run=run)
    broker.serve_all()
    with transaction.atomic():
        dispatch.dispatch("execute_attempt", attempt.pk)
    broker.serve_all()
    assert not Outbox.objects.exists()


def test_what_the_broker_did_not_take_stays_promised(run, broker):
    broker.queue.clear()
    broker.away = True
    overdue()
    tick()
    assert Outbox.objects.get().sent == 0
    broker.away = False
    tick()
    broker.serve_all()
    assert the_node(run).status == "ok"
    assert not Outbox.objects.exists()


def test_without_a_worker_in_this_process_a_promise_is_due_at_once(launch, broker):
    dispatch.worker_is_here.clear()
    worker = {"kind": "command", "argv": ["python3", "-c", ""]}
    launch(branches=[{"role": "a", "task_brief": "b", "worker": worker}])
    assert Outbox.objects.get().due_at <= timezone.now()


def test_a_delegation_whose_closing_was_forgotten_is_closed(run, broker):
    while broker.queue and broker.queue[0][0] != "close_delegation":
        broker.serve_one()
    broker.queue.clear()
    overdue()
    tick()
    broker.serve_all()
    assert Node.objects.get(run=run, parent=None).status == "ok"


def test_no_clock_but_the_databases_compares_leases(run):
    """The update that claims says `now` in SQL, not as a parameter of this process."""
    attempt = Attempt.objects.get(node__run=run)
    with connection.execute_wrapper(lambda execute, sql, params, many, context: (
        seen.append((sql, params)), execute(sql, params, many, context))[1]):  # fmt: skip
        seen = []
        leases.claim_work(attempt.pk, "me", WALL)
    [claiming] = [s for s, _ in seen if "UPDATE" in s and "lease_until" in s]
    assert "STATEMENT_TIMESTAMP" in claiming or "STRFTIME" in claiming


def test_a_death_between_carrying_the_files_and_the_record_of_it_loses_neither(
    launch, broker, monkeypatch
):
    write = ["python3", "-c", "open('made.txt', 'w').write('x')"]
    worker = {"kind": "command", "argv": write}
    run = launch(branches=[{"role": "a", "task_brief": "b", "worker": worker}])
    broker.serve_one()
    with monkeypatch.context() as patch:
        patch.setattr(attempts, "record_gates", lambda *_: 1 / 0)  # it dies here
        with pytest.raises(ZeroDivisionError):
            broker.serve_one()
    [attempt] = the_node(run).attempts.all()
    expire(attempt)
    tick()
    broker.serve_all()
    assert the_node(run).status == "ok"
    document = node_document(the_node(run).pk)["attempts"][0]
    assert document["scorers"] is None  # nothing was checked, and it does not say passed
    assert (rooms.base_of(run) / "made.txt").read_text() == "x"
    assert check_run(run.pk).faults == ()
