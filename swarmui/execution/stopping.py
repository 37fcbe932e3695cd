"""A worker that is told to end: what runs in it may finish for a moment, then it stops and gives
its leases back. Source: reliability R10.

Celery tells only the parent of its pool of processes. A page of memory that parent and children
share, made when this module is loaded and so before the pool forks, tells the children.
"""

import mmap
import signal
import struct
import time
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT)
#: Within Celery's own 10 s, after which it kills: an attempt must also come to its end.
GRACE_S = 6.0

_moment = mmap.mmap(-1, 8)  # the monotonic clock is one for all processes of a machine


def begin(grace_s: float = GRACE_S) -> None:
    """This worker is going down: no work is begun any more, and what runs has `grace_s`."""
    if not is_under_way():
        _set(time.monotonic() + grace_s)


def is_under_way() -> bool:
    """Whether nothing new may be begun."""
    return _get() > 0


def is_time_up() -> bool:
    """Whether what still runs has to stop and give its lease back."""
    return 0 < _get() <= time.monotonic()


def forget() -> None:
    """As before `begin`; for the next worker in the same process."""
    _set(0.0)


def listen(**_: Any) -> None:
    """Begin at the first signal that ends a worker, before Celery's own handling of it: for a
    soft shutdown its own notice comes only when the waiting is over."""
    for number in SIGNALS:
        before = signal.getsignal(number)
        if callable(before):
            signal.signal(number, _begin_then(before))


def _begin_then(before: Any) -> Any:
    def handle(number: int, frame: FrameType | None) -> None:
        begin()
        before(number, frame)

    return handle


def _get() -> float:
    ends: float = struct.unpack_from("d", _moment)[0]
    return ends


def _set(ends: float) -> None:
    struct.pack_into("d", _moment, 0, ends)
