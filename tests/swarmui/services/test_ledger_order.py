"""A reader that asks "after N" misses nothing, whoever writes at the same time."""

import sys
import threading
import uuid

import pytest
from django.db import close_old_connections, connection, transaction
from django.utils import timezone

from swarmui.models import LedgerEvent, Run
from swarmui.services import ledger
from verifier.ledger import Link, chain_faults

WRITERS, EVENTS_EACH = 8, 250

pytestmark = pytest.mark.django_db(transaction=True)


def make_run():
    return Run.objects.create(
        goal="g", spec={}, origin="test", workspace_mode="copy", created_at=timezone.now()
    )


def in_thread(work):
    def body():
        try:
            work()
        finally:
            close_old_connections()
            connection.close()

    thread = threading.Thread(target=body)
    thread.start()
    return thread


@pytest.fixture
def quick_turns_of_the_interpreter():
    """A reader that never rests would keep the interpreter for 5 ms of each turn, and eight
    writers in the same process would wait for it at every statement."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    yield
    sys.setswitchinterval(before)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("quick_turns_of_the_interpreter")
def test_eight_writers_and_a_tight_reader_lose_nothing_and_keep_the_order():
    run = make_run()
    failures = []
    seen = []
    done = threading.Event()

    def write(writer):
        def work():
            for number in range(EVENTS_EACH):
                try:
                    with transaction.atomic():
                        ledger.append(
                            run.pk,
                            subject="claim",
                            subject_id=uuid.uuid4(),
                            event="open",
                            payload={"writer": writer, "number": number},
                            actor=f"writer {writer}",
                        )
                except Exception as error:  # noqa: BLE001 - counted below
                    failures.append(error)

        return work

    def read():
        while True:
            finished = done.is_set()
            after = seen[-1][0] if seen else 0
            rows = LedgerEvent.objects.filter(run=run, seq__gt=after).order_by("seq")
            seen.extend(rows.values_list("seq", "payload"))
            if finished:
                return

    reader = in_thread(read)
    writers = [in_thread(write(number)) for number in range(WRITERS)]
    for thread in writers:
        thread.join()
    done.set()
    reader.join()

    assert failures == []
    assert [seq for seq, _ in seen] == list(range(1, WRITERS * EVENTS_EACH + 1))
    for writer in range(WRITERS):
        own = [payload["number"] for _, payload in seen if payload["writer"] == writer]
        assert own == list(range(EVENTS_EACH)), f"writer {writer}'s events are out of order"
    run.refresh_from_db()
    rows = LedgerEvent.objects.filter(run=run).order_by("seq")
    assert chain_faults(str(run.pk), (Link(r.fact(), r.prev_hash, r.hash) for r in rows)) == []
    assert (run.seq, run.chain_head) == (rows.last().seq, rows.last().hash)


def test_an_event_outside_a_transaction_is_refused():
    run = make_run()
    with pytest.raises(RuntimeError, match="one transaction"):
        ledger.append(
            run.pk, subject="claim", subject_id=uuid.uuid4(), event="x", payload={}, actor="test"
        )
    assert not LedgerEvent.objects.filter(run=run).exists()


def test_a_rolled_back_event_leaves_no_gap():
    run = make_run()

    def append():
        return ledger.append(
            run.pk, subject="claim", subject_id=uuid.uuid4(), event="x", payload={}, actor="test"
        )

    with transaction.atomic():
        append()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        append()
        raise ZeroDivisionError
    with transaction.atomic():
        assert append().seq == 2
