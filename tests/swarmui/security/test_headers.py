"""What the browser is told with every answer: where things may come from and go to."""

import re
from typing import Any

import pytest
from django.test import Client, override_settings

from swarmui.models import Role
from tests.swarmui.api.callers import person

pytestmark = pytest.mark.django_db

PATHS = [
    "/sign-in/",
    "/runs/",
    "/healthz",
    "/nothing",
    "/api/v1/openapi.json",
    "/api/v1/nothing",
    "/api/v1/runs",
    "/api/elsewhere",  # no operation's and no page's
]


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(person(Role.VIEWER))
    return client


def _policy(answer: Any) -> dict[str, list[str]]:
    parts = [part.split() for part in answer["Content-Security-Policy"].split(";")]
    return {name: sources for name, *sources in parts}


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_whole_policy(browser: Client, path: str) -> None:
    answer = browser.get(path)
    policy = _policy(answer)
    assert policy["default-src"] == ["'none'"]
    assert policy["frame-ancestors"] == ["'none'"]
    assert policy["base-uri"] == ["'none'"]
    assert policy["form-action"] == ["'self'"]
    assert policy["img-src"] == ["'self'", "data:"]
    assert policy["connect-src"] == ["'self'", "ws://testserver"]
    for kind in ("script-src", "style-src"):
        assert policy[kind][0] == "'self'"
        assert all(re.fullmatch(r"'nonce-[\w+/=]{24}'", source) for source in policy[kind][1:])
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in answer["Permissions-Policy"]


def test_the_nonce_is_new_with_every_page_and_is_the_one_on_the_page(browser: Client) -> None:
    nonces = set()
    for _ in range(3):
        answer = browser.get("/runs/")
        (nonce,) = re.findall(r"script-src [^;]*'nonce-([^']+)'", answer["Content-Security-Policy"])
        assert f'nonce="{nonce}"' in answer.content.decode()
        nonces.add(nonce)
    assert len(nonces) == 3


def test_over_https_the_socket_is_wss(browser: Client) -> None:
    assert "wss://testserver" in _policy(browser.get("/healthz", secure=True))["connect-src"]


def test_an_inline_script_or_style_on_a_page_carries_the_nonce(browser: Client) -> None:
    for path in ("/sign-in/", "/runs/", "/runs/new/"):
        page = browser.get(path).content.decode()
        inline = re.findall(r"<(?:script|style)(?![^>]*\ssrc=)[^>]*>", page)
        assert all("nonce=" in tag or "application/json" in tag for tag in inline), inline
        assert not re.search(r'\son\w+="', page)
        assert not re.search(r'\sstyle="', page)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_an_answer_that_is_made_a_problem_keeps_its_headers(browser: Client) -> None:
    answer = browser.put("/api/v1/runs")
    assert answer.status_code == 405
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["Content-Length"] == str(len(answer.content))
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Allow"]
    assert _policy(answer)["default-src"] == ["'none'"]


def test_a_host_that_is_not_ours_is_refused() -> None:
    for path in ("/sign-in/", "/api/v1/runs"):
        answer = Client().get(path, headers={"Host": "evil.example"})
        assert answer.status_code == 400
        assert "evil.example" not in answer.get("Content-Security-Policy", "")
    assert answer["Content-Type"] == "application/problem+json"


def test_health_is_answered_without_the_database(django_assert_num_queries: Any) -> None:
    client = Client()
    client.cookies["swarmui_session"] = "of a session"
    with django_assert_num_queries(0):
        assert client.get("/healthz").json() == {"alive": True}


def test_an_htmx_request_of_an_ended_session_goes_to_the_sign_in_page_as_a_whole() -> None:
    answer = Client().get(
        "/runs/",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/?status=ok"},
    )
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/sign-in/?next=/runs/%3Fstatus%3Dok"


def test_an_anonymous_person_is_sent_to_sign_in_and_back() -> None:
    answer = Client().get("/runs/?status=ok")
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=/runs/%3Fstatus%3Dok"


@override_settings(SESSION_COOKIE_SECURE=True, SECURE_HSTS_SECONDS=60)
def test_behind_https_cookies_and_strict_transport_are_on(browser: Client) -> None:
    answer = browser.get("/healthz", secure=True)
    assert answer["Strict-Transport-Security"] == "max-age=60"
