"""Which pages may open a socket."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from swarmui.live.origins import SameOriginOnly, is_allowed

HOSTS = ["dash.example.com", "127.0.0.1", "[::1]"]


@pytest.mark.parametrize(
    ("origin", "host", "secure", "allowed"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", False, True),
        ("https://dash.example.com", "dash.example.com", True, True),
        ("https://dash.example.com:443", "dash.example.com", True, True),  # the default port, said
        ("http://dash.example.com", "dash.example.com:80", False, True),
        ("http://DASH.example.com", "dash.EXAMPLE.com", False, True),  # host names have no case
        ("http://[::1]:8000", "[::1]:8000", False, True),
        # another port of the same machine is another site, and so is another scheme
        ("http://dash.example.com:8080", "dash.example.com", False, False),
        ("http://dash.example.com", "dash.example.com:8080", False, False),
        ("http://dash.example.com", "dash.example.com", True, False),
        ("https://dash.example.com", "dash.example.com", False, False),
        ("http://127.0.0.1:8001", "127.0.0.1:8000", False, False),
        ("http://localhost:8000", "127.0.0.1:8000", False, False),
        # a sandboxed frame, a missing header, a doubled header
        ("null", "dash.example.com", True, False),
        (None, "dash.example.com", True, False),
        ("", "dash.example.com", True, False),
        # look-alikes: suffix, prefix, user part, path, other schemes, blanks, lists, no host
        ("https://dash.example.com.evil.test", "dash.example.com", True, False),
        ("https://evil-dash.example.com", "dash.example.com", True, False),
        ("https://sub.dash.example.com", "dash.example.com", True, False),
        ("https://dash.example.com@evil.test", "dash.example.com", True, False),
        ("https://evil.test/https://dash.example.com", "dash.example.com", True, False),
        ("https://dash.example.com/", "dash.example.com", True, False),
        ("wss://dash.example.com", "dash.example.com", True, False),
        ("file://", "dash.example.com", True, False),
        (" https://dash.example.com", "dash.example.com", True, False),
        ("https://dash.example.com https://evil.test", "dash.example.com", True, False),
        ("https://dash.example.com:0", "dash.example.com:0", True, False),
        ("https://dash.example.com:99999", "dash.example.com:99999", True, False),
        ("https://dash.example.com\n", "dash.example.com", True, False),
        ("https://dаsh.example.com", "dash.example.com", True, False),  # a Cyrillic letter
        # a name rebound to this machine agrees with its own host header: the host is not ours
        ("http://evil.test:8000", "evil.test:8000", False, False),
        ("http://dash.example.com", "", False, False),
    ],
)
def test_only_this_site_itself_is_let_in(
    origin: str | None, host: str, secure: bool, allowed: bool
) -> None:
    answer = is_allowed(origin, host=host, secure=secure, trusted_origins=(), allowed_hosts=HOSTS)
    assert answer is allowed


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://swarm.example.org", True),
        ("https://swarm.example.org:443", True),
        ("https://swarm.example.org:8443", False),
        ("http://swarm.example.org", False),
        ("https://other.example.org", False),
    ],
)
def test_an_operator_lists_full_origins(origin: str, allowed: bool) -> None:
    """Behind a proxy the host and scheme of the request are not those of the page."""
    answer = is_allowed(
        origin,
        host="web:8000",
        secure=False,
        trusted_origins=("https://swarm.example.org",),
        allowed_hosts=HOSTS,
    )
    assert answer is allowed


def test_allowing_every_host_does_not_allow_every_origin() -> None:
    answer = is_allowed(
        "http://evil.test", host="a.test", secure=False, trusted_origins=(), allowed_hosts=["*"]
    )
    assert answer is False


async def ask(headers: list[tuple[bytes, bytes]], scheme: str = "ws") -> str:
    """The type of the first answer to a socket opened with these headers."""
    answers: list[dict[str, Any]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        answers.append(message)

    scope = {"type": "websocket", "scheme": scheme, "headers": headers}
    await SameOriginOnly(application)(scope, receive, send)
    return str(answers[0]["type"])


@override_settings(ALLOWED_HOSTS=HOSTS, TRUSTED_ORIGINS=())
async def test_a_doubled_origin_header_is_refused() -> None:
    host = (b"host", b"127.0.0.1:8000")
    own = (b"origin", b"http://127.0.0.1:8000")
    assert await ask([host, own]) == "websocket.accept"
    assert await ask([host, own, (b"origin", b"http://evil.test")]) == "websocket.close"
    assert await ask([host, (b"origin", b"http://evil.test"), own]) == "websocket.close"
    assert await ask([host]) == "websocket.close"
    assert await ask([own]) == "websocket.close"


@override_settings(ALLOWED_HOSTS=HOSTS, TRUSTED_ORIGINS=())
async def test_a_proxy_is_believed_about_tls_only_where_the_settings_say_so() -> None:
    headers = [
        (b"host", b"dash.example.com"),
        (b"origin", b"https://dash.example.com"),
        (b"x-forwarded-proto", b"https"),
    ]
    assert await ask(headers) == "websocket.close"
    with override_settings(SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https")):
        assert await ask(headers) == "websocket.accept"
