"""Plain HTTP requests for tests that talk to a running product from outside."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)


def request(
    method: str,
    url: str,
    *,
    json_body: object = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 15,
) -> Answer:
    """One request; every status is an answer, redirects are not followed."""
    data = None if json_body is None else json.dumps(json_body).encode()
    sent = {"Content-Type": "application/json"} if data is not None else {}
    asked = urllib.request.Request(
        url, data=data, method=method, headers={**sent, **(headers or {})}
    )
    try:
        with _OPENER.open(asked, timeout=timeout) as response:
            return Answer(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read())
