"""A person outside: signs in as a browser does, and follows a run over its socket."""

from __future__ import annotations

import asyncio
import json
import re
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, build_opener

import websockets

from tests.support.http import _NoRedirects, request
from tests.support.installation import Installation

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Person:
    """Signed in by a one-time link; ``cookie`` is the header a browser would send."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.cookie = sign_in(installation)

    def tree(self, run_id: str) -> dict[str, Any]:
        """A fresh snapshot, as the page fetches it."""
        url = f"{self.installation.base_url}/api/v1/runs/{run_id}/tree"
        answer = request("GET", url, headers={"Cookie": self.cookie})
        assert answer.status == 200, answer.text
        skeleton: dict[str, Any] = answer.json()
        return skeleton

    def socket(self, run_id: str, after: int = 0) -> Any:
        base_url = self.installation.base_url
        return websockets.connect(
            f"{base_url.replace('http', 'ws', 1)}/ws/runs/{run_id}/?after={after}",
            additional_headers={"Cookie": self.cookie, "Origin": base_url},
            max_size=None,
        )


class Follower:
    """What a page makes of the frames: rows by id, and the seq they are true for."""

    def __init__(self, person: Person, run_id: str, after: int = 0) -> None:
        self.person, self.run_id, self.seq = person, run_id, after
        self.rows: dict[str, list[Any]] = {}
        self.statuses: dict[str, list[str]] = {}  # every status a row was seen with, in order
        self.frames: list[dict[str, Any]] = []

    async def to_the_end(self, timeout: float) -> None:
        """Follow until the run is terminal and everything has been heard."""
        async with asyncio.timeout(timeout), self.person.socket(self.run_id, self.seq) as socket:
            async for text in socket:
                if self.hear(json.loads(text)):
                    return

    def hear(self, frame: dict[str, Any]) -> bool:
        """Apply one frame; True when it was the last."""
        self.frames.append(frame)
        assert frame["type"] in {"rows", "progress"}, frame
        if frame["type"] == "rows":
            assert frame["from"] == self.seq, f"a gap: from {frame['from']}, had {self.seq}"
            assert frame["to"] > frame["from"]
            self.seq = frame["to"]
            for row in frame["rows"]:
                self.rows[row[0]] = row
                seen = self.statuses.setdefault(row[0], [])
                if not seen or seen[-1] != row[8]:
                    seen.append(row[8])
            return False
        return bool(frame["terminal"]) and frame["seq"] == self.seq


def sign_in(installation: Installation) -> str:
    """Open the link's page, press its button, and keep the cookies."""
    url = installation.base_url + installation.sign_in_link()
    page = request("GET", url)
    assert page.status == 200, page.text
    token = TOKEN.search(page.text)
    assert token is not None, "the page of the link holds no form"
    pressed = Request(
        url,
        data=urlencode({"csrfmiddlewaretoken": token[1]}).encode(),
        headers={"Cookie": cookies(page.headers.get_all("Set-Cookie")), "Referer": url},
    )
    try:
        answer = build_opener(_NoRedirects).open(pressed, timeout=15)
    except OSError as redirect:  # urllib calls an unfollowed redirect an error
        answer = redirect  # type: ignore[assignment]
    assert answer.status == 302, answer.read().decode()
    return cookies(answer.headers.get_all("Set-Cookie"))


def cookies(set_cookie: list[str] | None) -> str:
    jar: SimpleCookie = SimpleCookie()
    for header in set_cookie or []:
        jar.load(header)
    return "; ".join(f"{name}={morsel.value}" for name, morsel in jar.items())
