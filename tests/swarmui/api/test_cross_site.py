"""No other site can make a signed-in browser change anything, and no GET changes anything."""

from typing import Any

import orjson
import pytest
from django.apps import apps
from django.db.models import Model
from ninja.security import APIKeyCookie

from swarmui.models import Node, Role, Run

from .callers import API, SPEC, operations, person, with_session, with_token

pytestmark = pytest.mark.django_db

SAFE = {"GET", "HEAD", "OPTIONS"}
OPERATIONS = list(operations())
CHANGES = [(method, path) for method, path, _ in OPERATIONS if method not in SAFE]

FOREIGN_ORIGINS = [
    "https://evil.example",
    "http://evil.example",
    "null",
    "http://testserver:8080",  # another port is another site
    "https://testserver",  # and so is another scheme
    "http://testserver.evil.example",
    "http://eviltestserver",
    "http://testserver@evil.example",
    "http://[::1]",
    "file://",
    "",
]


def test_every_change_is_authenticated_and_its_cookie_way_checks_the_csrf_token() -> None:
    assert CHANGES
    for method, path, operation in OPERATIONS:
        if method in SAFE:
            continue
        assert operation.auth_callbacks, f"{method} {path} is open"
        assert not operation.csrf_exempt
        for way in operation.auth_callbacks:
            assert not isinstance(way, APIKeyCookie) or way.csrf


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_foreign_origin_is_refused_even_with_the_token(
    method: str, path: str, origin: str
) -> None:
    browser = with_session(person(Role.ADMIN))
    answer = browser.client.generic(
        method,
        API + path,
        orjson.dumps(SPEC),
        content_type="application/json",
        headers={**browser.headers, "Origin": origin},
    )
    assert answer.status_code == 403
    assert answer["Content-Type"] == "application/problem+json"
    assert not Run.objects.exists()


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", ""])
@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_session_without_the_csrf_token_is_refused(
    method: str, path: str, content_type: str
) -> None:
    browser = with_session(person(Role.ADMIN))
    answer = browser.client.generic(
        method, API + path, orjson.dumps(SPEC), content_type=content_type
    )
    assert answer.status_code == 403
    assert not Run.objects.exists()


def test_a_session_with_a_wrong_csrf_token_is_refused() -> None:
    browser = with_session(person(Role.ADMIN))
    assert browser.post("/runs", SPEC, **{"X-CSRFToken": "b" * 32}).status_code == 403


def test_our_own_page_may_start_a_run() -> None:
    browser = with_session(person(Role.OPERATOR))
    assert browser.post("/runs", SPEC, Origin="http://testserver").status_code == 201


def test_a_token_needs_no_csrf_token() -> None:
    assert with_token(Role.OPERATOR).post("/runs", SPEC).status_code == 201


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json", ""],
)
def test_only_declared_json_is_read(operator: Any, content_type: str) -> None:
    answer = operator.post("/runs", SPEC, content_type=content_type)
    assert answer.status_code == 415
    assert answer.json()["title"] == "Unsupported Media Type"
    assert not Run.objects.exists()


def test_json_with_a_charset_is_json(operator: Any) -> None:
    answer = operator.post("/runs", SPEC, content_type="application/json; charset=utf-8")
    assert answer.status_code == 201


@pytest.mark.parametrize("way", ["session", "token"])
def test_no_get_changes_a_row(way: str, run: Run) -> None:
    viewer = with_session(person(Role.VIEWER)) if way == "session" else with_token(Role.VIEWER)
    viewer.get("/runs")  # notes, every few minutes, that the session or token is in use
    node = Node.objects.filter(run=run).first()
    assert node is not None
    before = _all_rows()
    for method, path, _ in OPERATIONS:
        address = path.replace("{run_id}", str(run.pk)).replace("{node_id}", str(node.pk))
        assert method not in SAFE or viewer.get(address).status_code == 200
    for path in ("/openapi.json", "/nothing"):
        viewer.get(path)
    for page in ("/healthz", "/readyz", "/sign-in/", "/runs/", f"/runs/{run.pk}/", "/runs/new/"):
        viewer.client.get(page)
    assert _all_rows() == before


def _all_rows() -> dict[str, list[Any]]:
    return {model._meta.label: _rows(model) for model in apps.get_models()}


def _rows(model: type[Model]) -> list[Any]:
    return sorted(repr(row) for row in model._default_manager.values())
