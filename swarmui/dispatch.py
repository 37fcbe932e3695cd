"""The one door through which work is started: by task name and id, after commit.

The promise is a row of the outbox in the caller's transaction; it is taken back in the transaction
that claims the work. The broker only wakes workers: what it loses, delays or doubles is made good
by `send_due`, which wakes them again for every promise that still stands.
"""

import logging
import threading
import uuid
from datetime import timedelta
from functools import partial
from typing import Literal

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from swarmui.celery import app
from swarmui.models import Outbox

logger = logging.getLogger(__name__)

TaskName = Literal["execute_attempt", "score_attempt", "close_delegation"]
TASK_NAMES: tuple[TaskName, ...] = ("execute_attempt", "score_attempt", "close_delegation")


FIRST_AGAIN_S = 4  # the fast path takes milliseconds
LONGEST_AGAIN_S = 30
BATCH = 500
MAX_SENT = 32_767  # the column's largest number; a promise may stand for weeks

worker_is_here = threading.Event()  # set while this process runs the embedded worker


def dispatch(name: TaskName, argument: uuid.UUID) -> None:
    """Promises to run the task `name` with this id once the surrounding transaction commits."""
    due = timezone.now() + timedelta(seconds=_first_again_s())
    row = Outbox(task=name, argument=argument, due_at=due)
    Outbox.objects.bulk_create([row], ignore_conflicts=True)
    transaction.on_commit(partial(poke, name, argument), robust=True)


def _first_again_s() -> int:
    """The queue in memory is heard by this process alone: without a worker in it, the promise is
    due at once, for the sweep of the process that has one."""
    return 0 if settings.EMBEDDED and not worker_is_here.is_set() else FIRST_AGAIN_S


def keep_promise(name: TaskName, argument: uuid.UUID) -> None:
    """The work is claimed, or over: nobody need be woken for it any more. Call it in the
    transaction that claims."""
    Outbox.objects.filter(task=name, argument=argument).delete()


def send_due(everything: bool = False) -> None:
    """Wakes workers for promises that have stood for a while; `everything`: for all of them, as
    after a start, when the queue they were in is gone. A long queue is not made longer."""
    standing = Outbox.objects.all() if everything else Outbox.objects.filter(
        due_at__lte=timezone.now()
    )  # fmt: skip
    rows = list(standing.order_by("due_at")[:BATCH])
    room = BATCH - (waiting_messages() or 0) if rows else 0
    for row in rows[: max(0, room)]:
        if not poke(row.task, row.argument):
            return
        again = min(LONGEST_AGAIN_S, FIRST_AGAIN_S * 2 ** min(row.sent + 1, 8))
        Outbox.objects.filter(pk=row.pk).update(
            sent=min(row.sent + 1, MAX_SENT), due_at=timezone.now() + timedelta(seconds=again)
        )


def poke(name: str, argument: uuid.UUID) -> bool:
    """Wakes a worker; losing or doubling this message changes nothing but the time."""
    try:
        app.send_task(f"swarmui.{name}", args=[str(argument)], retry=False)
    except Exception as error:  # noqa: BLE001  (brokers raise kinds of their own)
        logger.warning("could not publish %s %s: %s", name, argument, error)
        return False
    return True


def waiting_messages() -> int | None:
    """How many wake-ups stand in the broker's queue; None when it cannot be asked."""
    queue = app.conf.task_default_queue
    try:
        with app.connection_for_write() as connection, connection.channel() as channel:
            declared = channel.queue_declare(queue, passive=True)
    except Exception as error:  # noqa: BLE001  (brokers raise kinds of their own)
        logger.debug("could not ask the broker about its queue: %s", error)
        return None
    return int(declared.message_count)
