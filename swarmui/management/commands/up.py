"""`swarmui up`: the whole product in one process."""

from __future__ import annotations

import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.http.request import validate_host

from swarmui.embedded import HomeInUse, first_page, hold_home, server_of
from swarmui.embedded.server import CannotListen, leave_now, open_listener, serve
from swarmui.management.product_command import ProductCommand, UsageError
from swarmui.services.sign_in import LINK_LIFETIME

LINK_MINUTES = int(LINK_LIFETIME.total_seconds() // 60)
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
ANYWHERE = frozenset({"0.0.0.0", "::"})


class Command(ProductCommand):
    """Serve pages, API and sockets, and do the work, until Ctrl-C."""

    help = "Serve the whole product from this process: pages, API, sockets and workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=port, default=8000, help="port; 0 takes a free one")

    def execute(self, *args: Any, **options: Any) -> str | None:
        """The address and the home's lock come before the database: a server that cannot serve
        leaves nothing behind in a new home."""
        if not settings.EMBEDDED:
            raise UsageError(
                "REDIS_URL is set, so workers are processes of their own: "
                "serve swarmui.asgi:application with uvicorn, or unset it for the embedded server"
            )
        try:
            with (
                listener_for(options["host"], options["port"]) as listener,
                hold_home(settings.SWARMUI_HOME),
            ):
                settings.SWARMUI_HOME.chmod(0o700)
                call_command("migrate", verbosity=0, interactive=False)
                return super().execute(*args, listener=listener, **options)
        except (HomeInUse, CannotListen) as error:
            self.stderr.write(str(error), lambda line: line)
            sys.exit(1)

    def handle(
        self, *args: Any, host: str, port: int, listener: socket.socket, **options: Any
    ) -> None:
        call_command("collectstatic", verbosity=0, interactive=False)
        url = shown_url(host, listener.getsockname()[1])
        link = first_page.sign_in_url(url)
        has_demo = first_page.start_demo_once()
        notes = [first_page.sandbox_warning(), reach_note(host, settings.ALLOWED_HOSTS)]

        def announce() -> None:
            self.say(f"Serving at {url}")
            self.say(f"Sign in, once and within {LINK_MINUTES} minutes: {link}")
            if has_demo:
                self.say("A demo run has started: it is the first row of the first page.")
            for note in notes:
                if note is not None:
                    self.say(note)
            self.say(f"Everything is kept in {settings.SWARMUI_HOME}. Ctrl-C stops it all.")

        serve(listener, announce)
        self.say("Stopped.")
        leave_now()

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def port(text: str) -> int:
    """A TCP port; ValueError tells argparse that it is none."""
    number = int(text)
    if not 0 <= number < 65_536:
        raise ValueError(text)
    return number


def shown_url(host: str, port: int) -> str:
    """The address to open in a browser on this machine."""
    name = "127.0.0.1" if host in ANYWHERE else _as_host(host)
    return f"http://{name}:{port}"


def listener_for(host: str, port: int) -> socket.socket:
    """A listening socket; raises `CannotListen`, or `HomeInUse` when both address and home are
    taken: another port would not help then."""
    try:
        return open_listener(host, port)
    except CannotListen:
        holder = server_of(settings.SWARMUI_HOME)
        if holder is None:
            raise
        raise HomeInUse(settings.SWARMUI_HOME, holder) from None


def reach_note(host: str, allowed: list[str]) -> str | None:
    """What others need to reach the server, where it listens for them: the address is not
    enough, for it answers only to names it knows."""
    if host in LOOPBACK:
        return None
    names = ", ".join(allowed)
    if host not in ANYWHERE and not validate_host(_as_host(host), allowed):
        return (
            f"It answers to none but {names}, and so not to its own address: "
            f"set ALLOWED_HOSTS={_as_host(host)} and start it again."
        )
    if all(name.strip("[]") in LOOPBACK for name in allowed):
        return (
            f"It listens for the network, and answers to {names} alone: for others to reach it, "
            "name this machine as they do, ALLOWED_HOSTS=NAME,127.0.0.1, and start it again."
        )
    return f"Others on the network can reach it, under these names: {names} (ALLOWED_HOSTS)."


def _as_host(address: str) -> str:
    return f"[{address}]" if ":" in address else address
