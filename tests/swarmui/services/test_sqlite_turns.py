"""On SQLite the writers of one process stand in line, and always give their turn back."""

import threading

import pytest
from django.db import DatabaseError, connection, transaction

from swarmui.models import Run

from .test_ledger_order import in_thread, make_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def on_sqlite():
    if connection.vendor != "sqlite":
        pytest.skip("this run is on PostgreSQL; the SQLite suite runs these")


def turn_is_free():
    from swarmui.sqlite.base import turns

    return turns.is_free


def test_a_turn_lasts_from_the_beginning_of_a_transaction_to_its_end():
    with transaction.atomic():
        assert not turn_is_free()
        with transaction.atomic():  # a savepoint takes no second one
            make_run()
        assert not turn_is_free()
    assert turn_is_free()


def test_a_failed_transaction_gives_its_turn_back():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        raise ZeroDivisionError
    assert turn_is_free()
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("not sql")
    assert turn_is_free()


def test_a_connection_closed_in_mid_transaction_gives_its_turn_back():
    def work():
        transaction.set_autocommit(False)
        connection.close()

    in_thread(work).join()
    assert turn_is_free()


def test_one_that_has_waited_writes_after_the_one_before():
    run = make_run()
    begun, order = threading.Event(), []

    def first():
        with transaction.atomic():
            begun.set()
            Run.objects.filter(pk=run.pk).update(goal="first")
            order.append("first")

    def second():
        begun.wait(10)
        with transaction.atomic():
            Run.objects.filter(pk=run.pk).update(goal="second")
            order.append("second")

    for thread in [in_thread(first), in_thread(second)]:
        thread.join()
    run.refresh_from_db()
    assert (run.goal, order) == ("second", ["first", "second"])
