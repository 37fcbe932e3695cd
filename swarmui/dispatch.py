"""The one door through which work is started: by task name and id, after commit.

The promise is a row of the outbox in the caller's transaction; publishing it after commit is only
the fast path. What a dying process never published, the sweep finds and publishes.
"""

import logging
import uuid
from functools import partial
from typing import Literal

from django.db import transaction

from swarmui.celery import app
from swarmui.models import Outbox

logger = logging.getLogger(__name__)

TaskName = Literal["execute_attempt", "score_attempt", "close_delegation"]
TASK_NAMES: tuple[TaskName, ...] = ("execute_attempt", "score_attempt", "close_delegation")


def dispatch(name: TaskName, argument: uuid.UUID) -> None:
    """Promises to run the task `name` with this id once the surrounding transaction commits."""
    Outbox.objects.bulk_create([Outbox(task=name, argument=argument)], ignore_conflicts=True)
    transaction.on_commit(partial(publish, name, argument), robust=True)


def publish(name: str, argument: uuid.UUID) -> bool:
    """Hands one promise to the broker. False, and the row stays, when the broker is away."""
    if not poke(name, argument):
        return False
    Outbox.objects.filter(task=name, argument=argument).delete()
    return True


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
