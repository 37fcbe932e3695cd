"""The network between a browser and a server: a cable that a test can cut and mend."""

from __future__ import annotations

import contextlib
import socket
import threading


class Cable:
    """Carries bytes from a port of its own to the server's. Cut, it drops every connection and
    every new one at once, as a laptop that leaves its network does."""

    def __init__(self, server_port: int) -> None:
        self._server = ("127.0.0.1", server_port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._ends: set[socket.socket] = set()
        self._is_cut = False
        threading.Thread(target=self._accept, name="cable", daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            ends, self._ends = self._ends, set()
        for end in ends:
            _close(end)

    def mend(self) -> None:
        with self._lock:
            self._is_cut = False

    def close(self) -> None:
        self.cut()
        _close(self._listener)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                browser, _ = self._listener.accept()
                self._join(browser)

    def _join(self, browser: socket.socket) -> None:
        try:
            server = socket.create_connection(self._server, timeout=5)
        except OSError:
            _close(browser)
            return
        server.settimeout(None)
        with self._lock:
            is_cut = self._is_cut
            if not is_cut:
                self._ends |= {browser, server}
        if is_cut:
            _close(browser)
            _close(server)
            return
        for source, target in ((browser, server), (server, browser)):
            threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for end in (source, target):
            with self._lock:
                self._ends.discard(end)
            _close(end)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
