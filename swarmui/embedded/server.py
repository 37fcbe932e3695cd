"""The web server of the one-process install: uvicorn on the main thread's loop."""

from __future__ import annotations

import asyncio
import errno
import importlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable

from channels.layers import get_channel_layer

from swarmui.embedded.worker import in_process_worker
from swarmui.live.layers import LoopBoundLayer
from swarmui.live.server import Server, server_config

logger = logging.getLogger(__name__)

LAST_RESORT_S = 10.0  # after this the process ends whatever still hangs


class CannotListen(Exception):
    """The address to serve on cannot be had."""


def open_listener(host: str, port: int) -> socket.socket:
    """A listening socket, before anything else is begun; port 0 takes any free one.

    Raises `CannotListen`: in use, not allowed, or no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        hint = "choose another port" if error.errno == errno.EADDRINUSE else "choose another host"
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise CannotListen(f"cannot listen on {host}, port {port}: {reason}; {hint}") from None


def serve(listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until a signal says stop. Returns when everything that could be ended has ended.

    Whatever hangs after that must not keep the process: end it with ``leave_now``.
    """
    with in_process_worker(finds_old_work=True):
        asyncio.run(_serve(listener, on_ready))


def leave_now(code: int = 0) -> None:
    """End the process without waiting for threads: one may be in a tool that never returns."""
    logging.shutdown()
    os._exit(code)


async def _serve(listener: socket.socket, on_ready: Callable[[], None]) -> None:
    from swarmui.asgi import application

    layer = get_channel_layer()
    if isinstance(layer, LoopBoundLayer):
        layer.bind(asyncio.get_running_loop())
    server = Server(server_config(application))
    stop_on_signals(lambda: _stop(server))
    announcing = asyncio.create_task(_announce(server, on_ready))
    await server.serve(sockets=[listener])
    await announcing


async def _announce(server: Server, on_ready: Callable[[], None]) -> None:
    while not (server.started or server.should_exit):  # noqa: ASYNC110  (uvicorn has no event)
        await asyncio.sleep(0.02)
    if server.started:
        on_ready()
        threading.Thread(target=_load_models, name="load-models", daemon=True).start()


def _load_models() -> None:
    """The model libraries take seconds to import: loaded now, the first attempt need not wait."""
    importlib.import_module("swarmui.adapters.models.loop")


def _stop(server: Server) -> None:
    """The first signal stops in good order, the second one at once."""
    if server.should_exit:
        leave_now(130)
    server.should_exit = True
    last_resort = threading.Timer(LAST_RESORT_S, leave_now, args=(1,))
    last_resort.daemon = True
    last_resort.start()


def stop_on_signals(stop: Callable[[], None]) -> None:
    """Ctrl-C, a service manager's SIGTERM, and the closing of the terminal all stop the server."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` asks for
            loop.add_signal_handler(number, stop)
