"""The database decides what is due; the broker only wakes workers.

Runs every second, in any number of processes at once; doing it twice changes nothing but the
number of wake-ups.
"""

from swarmui.dispatch import send_due
from swarmui.services.reconcile import reap


def tick(at_start: bool = False) -> None:
    """Settles orphans and wakes workers for work that was promised and not yet claimed.

    `at_start`: whatever was promised before is due now; the queue it stood in is gone.
    """
    reap()
    send_due(everything=at_start)
