"""An attempt outlives a moment without its database, and stops by itself after a long one."""

import json
import time

import pytest
from django.db import InterfaceError, OperationalError, transaction

from swarmui.execution import rooms, stopping
from swarmui.execution.keeper import LeaseKeeper
from swarmui.execution.work import execute_attempt
from swarmui.models import Attempt, Node, Outbox, TrajectoryEntry
from swarmui.selectors.ledger import check_run
from swarmui.services import attempts, budgets, leases, outages, trajectory
from swarmui.services.outages import write_through
from swarmui.services.trajectory import Recorder
from tests.waiting import wait_until
from verifier.boundary.trajectory import EntryKind
from verifier.boundary.trajectory import TrajectoryEntry as Entry
from verifier.lifecycle import StopReason
from verifier.outcome import Deliverable, WorkerOutcome
from verifier.receipt import ToolCounters

WALL = 3_600
ENTRY = Entry(kind=EntryKind.PROPOSAL, call_id="call-1", tool="filesystem__read_file", payload={})


@pytest.fixture
def run(launch, tmp_path):
    body = {
        "format": 1,
        "family": "test",
        "scripts": [{"name": "any", "turns": [{"final": "x"}]}],
    }
    (tmp_path / "model.yaml").write_text(json.dumps(body))
    return launch(model="recorded:model.yaml", branches=[{"role": "a", "task_brief": "b"}])


@pytest.fixture
def claim(run):
    return leases.claim_work(Attempt.objects.get(node__run=run).pk, "me", WALL)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(outages, "PAUSE_S", 0.01)


ENDED = OperationalError("terminated")


class Away:
    """Stands before a function and fails the first calls, before or after they have acted."""

    def __init__(self, inner, times=1, error=ENDED, after=False):
        self.inner, self.left, self.error, self.after = inner, times, error, after

    def __call__(self, *args, **kwargs):
        if self.left == 0:
            return self.inner(*args, **kwargs)
        self.left -= 1
        if self.after:
            self.inner(*args, **kwargs)
        raise self.error


def ended_well():
    return WorkerOutcome(
        deliverable=Deliverable(output="done"), side_effects=ToolCounters().snapshot()
    )


@pytest.mark.parametrize("error", [OperationalError("terminated"), InterfaceError("closed")])
def test_a_write_is_tried_again_until_the_database_takes_it(transactional_db, error):
    assert write_through(Away(lambda: "written", times=3, error=error)) == "written"


def test_a_write_that_is_never_taken_fails_with_its_own_error(transactional_db):
    with pytest.raises(OperationalError, match="terminated"):
        write_through(Away(lambda: None, times=1_000), patience_s=0.1)


def test_other_faults_are_not_tried_again(transactional_db):
    failing = Away(lambda: None, times=2, error=ValueError("a bug"))
    with pytest.raises(ValueError, match="a bug"):
        write_through(failing)
    assert failing.left == 1


def test_a_part_of_a_larger_transaction_is_not_tried_again(transactional_db):
    failing = Away(lambda: None, times=2)
    with pytest.raises(OperationalError), transaction.atomic():
        write_through(failing)
    assert failing.left == 1


def test_a_result_is_recorded_although_the_connection_was_ended(run, claim, monkeypatch):
    monkeypatch.setattr(attempts, "held", Away(attempts.held))
    assert attempts.record_return(claim, ended_well(), None)
    assert Attempt.objects.get(pk=claim.attempt.pk).state == "returned"


def test_a_transaction_that_broke_half_way_leaves_nothing_to_the_next_try(run, claim, monkeypatch):
    """The node had been moved in memory when the last statement failed."""
    monkeypatch.setattr(budgets, "settle", Away(budgets.settle))
    failed = WorkerOutcome(failure="timeout", error="too late")
    assert attempts.record_failure(claim, failed, None)
    assert Node.objects.get(run=run, depth=1).status == "timeout"
    assert check_run(run.pk).faults == ()


def test_a_commit_whose_answer_was_lost_is_not_done_twice(run, claim, monkeypatch):
    monkeypatch.setattr(attempts, "_record_return", Away(attempts._record_return, after=True))
    assert not attempts.record_return(claim, ended_well(), None)  # it is over already
    assert Attempt.objects.get(pk=claim.attempt.pk).output == "done"
    assert Outbox.objects.filter(task="score_attempt").count() == 1


@pytest.mark.parametrize("after", [False, True], ids=["not committed", "answer lost"])
def test_an_entry_is_recorded_once_whenever_the_connection_ended(run, claim, monkeypatch, after):
    record = Recorder(claim)
    monkeypatch.setattr(record, "_append", Away(record._append, after=after))
    record(ENTRY)
    record(ENTRY)
    entries = TrajectoryEntry.objects.filter(attempt=claim.attempt)
    assert list(entries.order_by("index").values_list("index", flat=True)) == [0, 1]


def test_a_record_whose_lease_went_meanwhile_is_refused(run, claim, monkeypatch):
    monkeypatch.setattr(trajectory, "held", lambda _claim: None)
    with pytest.raises(trajectory.LeaseLost):
        Recorder(claim)(ENTRY)


def test_a_heartbeat_that_fails_once_ends_nothing(claim, settings, monkeypatch):
    settings.LEASE_S = 1.0
    beats = []
    away = Away(lambda *_: beats.append(1) or True)
    monkeypatch.setattr(leases, "heartbeat", away)
    with LeaseKeeper(claim) as control:
        wait_until(lambda: len(beats) >= 3, 5, what="heartbeats after the failed one")
        assert control.stop_reason() is None


def test_without_a_word_from_the_database_an_owner_stops_before_its_lease_ends(
    claim, settings, monkeypatch
):
    settings.LEASE_S = 1.5
    monkeypatch.setattr(leases, "heartbeat", Away(None, times=1_000))
    begun = time.monotonic()
    with LeaseKeeper(claim) as control:
        wait_until(lambda: control.stop_reason() is StopReason.LEASE_LOST, 5)
        assert time.monotonic() - begun < settings.LEASE_S


def test_the_end_of_an_attempt_bears_a_database_that_is_away(claim, monkeypatch):
    monkeypatch.setattr(leases, "release", Away(None, times=1_000))
    with LeaseKeeper(claim) as control:
        control.stop(StopReason.LEASE_LOST)


@pytest.mark.parametrize(
    "note", ["using x\0y", "using \ud800", "using \x1b[31mred", "x" * 5_000, "🎈" * 300]
)
def test_a_heartbeat_carries_whatever_a_model_called_its_tool(claim, note):
    assert leases.heartbeat(claim, note)
    stored = Attempt.objects.get(pk=claim.attempt.pk).heartbeat_note
    assert 0 < len(stored) <= leases.NOTE_CHARS
    assert "\0" not in stored


class TestAWorkerThatIsToldToEnd:
    @pytest.fixture(autouse=True)
    def afterwards(self):
        yield
        stopping.forget()

    def test_lets_its_attempts_finish_for_a_moment_and_then_stops_them(self, claim):
        with LeaseKeeper(claim) as control:
            stopping.begin(60)
            assert control.stop_reason() is None
            stopping.forget()
            stopping.begin(0)
            assert control.stop_reason() is StopReason.LEASE_LOST
        assert not leases.heartbeat(claim), "the lease was kept"

    def test_begins_nothing_new(self, run):
        stopping.begin(60)
        attempt = Attempt.objects.get(node__run=run)
        execute_attempt(attempt.pk)
        attempt.refresh_from_db()
        assert attempt.state == "queued"
        assert Outbox.objects.filter(argument=attempt.pk).exists()

    def test_keeps_the_first_moment_when_it_is_told_again(self):
        stopping.begin(0)
        stopping.begin(60)
        assert stopping.is_time_up()


def test_what_was_in_a_room_when_its_worker_died_does_not_break_the_next(
    run, claim, monkeypatch, tmp_path
):
    """Killed half-way through writing its inventory down: the next attempt begins afresh."""
    path = type(tmp_path)
    whole = path.write_text

    def cut_short(self, text):
        whole(self, text[: len(text) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(path, "write_text", cut_short)
    with pytest.raises(KeyboardInterrupt):
        rooms.prepare(claim.attempt)
    monkeypatch.setattr(path, "write_text", whole)
    Attempt.objects.filter(pk=claim.attempt.pk).update(
        state="ended", outcome="lost", owner="", lease_until=None
    )
    second = leases.queue_attempt(claim.node, claim.attempt, "again", worker_kind="model")
    assert rooms.prepare(second).root.is_dir()
    assert rooms.touched(second) == ()
