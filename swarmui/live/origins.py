"""Which pages may open a socket: those of exactly this site, scheme and port included.

A browser lets any page open a socket to any host and sends the cookies along; the origin header
is the only thing that tells them apart. Comparing host names alone, as the stock validator does,
lets in another service on another port of the same machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.conf import settings
from django.http.request import validate_host

from swarmui.live.asgi_types import Application, Receive, Scope, Send

DEFAULT_PORTS = {"http": 80, "https": 443}

_ORIGIN = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:(?P<port>\d{1,5}))?",
    re.IGNORECASE,
)


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int


def parse_origin(text: str) -> Origin | None:
    """``https://host[:port]`` and nothing more; None for every other text, ``null`` included."""
    match = _ORIGIN.fullmatch(text)
    if match is None:
        return None
    scheme = match["scheme"].lower()
    port = int(match["port"]) if match["port"] else DEFAULT_PORTS[scheme]
    return Origin(scheme, match["host"].lower(), port) if 0 < port < 65_536 else None


def is_allowed(
    origin: str | None,
    *,
    host: str,
    secure: bool,
    trusted_origins: Iterable[str],
    allowed_hosts: Iterable[str],
) -> bool:
    """Whether a page of ``origin`` may open a socket that was asked of ``host``.

    Its origin is the site's own, as this request names it, on a host this install answers for
    (else a rebound name would pass), or one of the full origins an operator listed.
    """
    theirs = parse_origin(origin) if origin is not None else None
    if theirs is None:
        return False
    if any(theirs == parse_origin(listed) for listed in trusted_origins):
        return True
    ours = parse_origin(f"{'https' if secure else 'http'}://{host}")
    return ours is not None and theirs == ours and validate_host(ours.host, list(allowed_hosts))


class SameOriginOnly:
    """ASGI middleware that refuses (403, before the socket opens) every other origin."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _single_headers(scope)
        allowed = is_allowed(
            headers.get(b"origin"),
            host=headers.get(b"host") or "",
            secure=_is_secure(scope, headers),
            trusted_origins=settings.TRUSTED_ORIGINS,
            allowed_hosts=settings.ALLOWED_HOSTS,
        )
        if allowed:
            await self._application(scope, receive, send)
        else:
            await refuse(scope, receive, send)


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Decline a socket before it opens."""
    await receive()
    await send({"type": "websocket.close"})


def _single_headers(scope: Scope) -> dict[bytes, str | None]:
    """Headers by name; one that came twice is None, for nobody can say which one counts."""
    found: dict[bytes, str | None] = {}
    for name, value in scope["headers"]:
        found[name] = None if name in found else value.decode("latin-1")
    return found


def _is_secure(scope: Scope, headers: Mapping[bytes, str | None]) -> bool:
    """TLS here, or at a proxy the settings trust to say so."""
    if scope.get("scheme") == "wss":
        return True
    trusted = settings.SECURE_PROXY_SSL_HEADER
    if trusted is None:
        return False
    name, value = trusted
    return headers.get(name.removeprefix("HTTP_").replace("_", "-").lower().encode()) == value
