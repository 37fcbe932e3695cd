"""A real server on the test's database, and a signed-in browser before it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

# Whatever the page's own policy forbids becomes a complaint, and so fails the test.
WATCH_POLICY = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


class Site:
    """uvicorn in a thread, with the product's own sockets, on a free port."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server: Any = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        from swarmui.live.server import Server, server_config

        self._server = Server(server_config(_application()))
        self._thread = threading.Thread(target=self._serve, name="site", daemon=True)
        self._thread.start()
        wait_until(lambda: self._server.started, 20, what="the test's server to start")

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def stop(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        assert self._thread is not None
        self._thread.join(15)
        self._socket.close()


def _application() -> Any:
    from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler

    from swarmui.asgi import application, http_application

    pages = ASGIStaticFilesHandler(http_application)

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        await (pages if scope["type"] == "http" else application)(scope, receive, send)

    return serve


@pytest.fixture
def site(transactional_db: None) -> Iterator[Site]:
    """The product, served."""
    site = Site()
    site.start()
    yield site
    site.stop()


@pytest.fixture
def person(transactional_db: None) -> Any:
    """Who is signed in: an operator named ada."""
    from tests.browser.trees import person_with

    return person_with("operator", "ada")


@pytest.fixture
def page(page: Page, browser_context: BrowserContext, site: Site, person: Any) -> Page:
    """A page of a signed-in operator; relative addresses are the site's."""
    sign_in(browser_context, site, person)
    watch(page, site)
    return page


def watch(page: Page, site: Site) -> None:
    """Dialogs, foreign requests and breaches of the page's policy become complaints."""
    complaints: list[str] = page.complaints  # type: ignore[attr-defined]
    page.add_init_script(WATCH_POLICY)
    page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"),
                                      dialog.dismiss()))  # fmt: skip
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((site.url, "data:", "blob:", site.url.replace("http", "ws")))
            else complaints.append(f"foreign request {request.url}")
        ),
    )


def sign_in(context: BrowserContext, site: Site, person: Any) -> None:
    """The person's session, as a cookie of the browser."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(person)
    context.add_cookies(
        [
            {
                "name": settings.SESSION_COOKIE_NAME,
                "value": client.cookies[settings.SESSION_COOKIE_NAME].value,
                "url": site.url,
            }
        ]
    )
