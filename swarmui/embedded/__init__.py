"""The one-process install: web server, worker and sweep together, with no broker beside them."""

from swarmui.embedded.lock import HomeInUse, hold_home, server_of
from swarmui.embedded.worker import in_process_worker

__all__ = ["HomeInUse", "hold_home", "in_process_worker", "server_of"]
