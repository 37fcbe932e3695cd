"""Writing through a moment without the database: a restart, a failover, a lock that took too long.

What an attempt has done in an hour must not be lost because its connection was ended meanwhile.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from psycopg_pool import PoolTimeout

logger = logging.getLogger(__name__)

AWAY = (OperationalError, InterfaceError)
PAUSE_S = 0.2
LONGEST_PAUSE_S = 2.0

T = TypeVar("T")
ENDED = ("08", "57P")  # SQLSTATEs of a connection that is no more; without one it broke by itself


def write_through(write: Callable[[], T], patience_s: float | None = None) -> T:
    """Calls `write`, a whole transaction, until the database takes it; raises its last error after
    `patience_s` seconds, by default a lease: whoever was away longer has lost the right to write.

    A commit may have come through although its answer did not: `write` must bear being done twice.
    """
    if connection.in_atomic_block:
        return write()  # part of a larger transaction, which fails as a whole
    ends = time.monotonic() + (settings.LEASE_S if patience_s is None else patience_s)
    pause = PAUSE_S
    while True:
        try:
            return write()
        except AWAY as error:
            connection.close()
            if time.monotonic() + pause >= ends:
                raise
            logger.warning("the database did not take a write; again in %.1f s: %s", pause, error)
        threading.Event().wait(pause)
        pause = min(LONGEST_PAUSE_S, pause * 2)


def renew_connections(fault: BaseException) -> None:
    """After a request that failed with `fault`: when the database has ended that connection, it
    has ended the pool's others as well, and all are replaced before anybody is handed one.

    The pool's own check at every hand-over would pause for seconds at each dead one.
    """
    pool = getattr(connection, "pool", None)  # SQLite has none
    if pool is not None and _is_of_a_dead_connection(fault):
        pool.drain()


def _is_of_a_dead_connection(fault: BaseException) -> bool:
    cause = fault.__cause__
    if isinstance(cause, PoolTimeout):
        return False  # too much to do is no reason to connect anew
    sqlstate = getattr(cause, "sqlstate", None)
    return sqlstate is None or sqlstate.startswith(ENDED)
