"""Who gets which answer: every caller against every address, as one committed table."""

import uuid
from typing import Any

import pytest
from django.urls import URLPattern, get_resolver

from swarmui.models import Node, Run

from .callers import MAKERS, SPEC, operations

pytestmark = pytest.mark.django_db

NOBODY = uuid.UUID(int=7)

MEMBERS = ["guest", "viewer", "operator", "reviewer", "admin", "viewer token", "operator token",
           "admin token"]  # fmt: skip
STRANGERS = ["anonymous", "revoked token", "expired token"]
STARTERS = ["operator", "admin", "operator token", "admin token"]

READS = dict.fromkeys(MEMBERS, 200) | dict.fromkeys(STRANGERS, 401)
MISSES = dict.fromkeys(MEMBERS, 404) | dict.fromkeys(STRANGERS, 401)
OPEN = dict.fromkeys([*MEMBERS, *STRANGERS], 200)
NOTHING_THERE = dict.fromkeys([*MEMBERS, *STRANGERS], 404)
STARTS = dict.fromkeys(MEMBERS, 403) | dict.fromkeys(STARTERS, 201) | dict.fromkeys(STRANGERS, 401)

EXPECTED: dict[tuple[str, str], dict[str, int]] = {
    ("POST", "/runs"): STARTS,
    ("GET", "/runs"): READS,
    ("GET", "/runs/{run_id}"): READS,
    ("GET", "/runs/{run_id}/tree"): READS,
    ("GET", "/runs/{run_id}/rows"): READS,
    ("GET", "/runs/{run_id}/events"): READS,
    ("GET", "/nodes/{node_id}"): READS,
    ("GET", "/schemas/run-spec.json"): OPEN,
}
BESIDE_THE_OPERATIONS: dict[tuple[str, str], dict[str, int]] = {
    ("GET", "/openapi.json"): OPEN,
    ("GET", "/"): NOTHING_THERE,
    ("GET", "/nothing/here"): NOTHING_THERE,
    ("GET", "/runs/"): NOTHING_THERE,  # no slash is appended, no redirect sent
    ("GET", f"/runs/{NOBODY}"): MISSES,
    ("GET", f"/runs/{NOBODY}/tree"): MISSES,
    ("GET", f"/runs/{NOBODY}/tree?at=1"): MISSES,
    ("GET", f"/runs/{NOBODY}/rows"): MISSES,
    ("GET", f"/runs/{NOBODY}/events"): MISSES,
    ("GET", f"/nodes/{NOBODY}"): MISSES,
    ("GET", "/runs/not-an-id"): NOTHING_THERE,
    ("GET", "/runs/%00"): NOTHING_THERE,
}


@pytest.mark.parametrize("caller", list(MAKERS))
def test_every_caller_gets_the_answer_of_the_table(caller: str, run: Run) -> None:
    asking = MAKERS[caller]()
    node = Node.objects.filter(run=run).first()
    assert node is not None
    answers = {}
    for method, path in [*EXPECTED, *BESIDE_THE_OPERATIONS]:
        address = path.replace("{run_id}", str(run.pk)).replace("{node_id}", str(node.pk))
        answer = asking.post(address, SPEC) if method == "POST" else asking.get(address)
        answers[(method, path)] = answer.status_code
        if answer.status_code >= 400:
            _assert_is_problem(answer)
    table = {**EXPECTED, **BESIDE_THE_OPERATIONS}
    assert answers == {route: codes[caller] for route, codes in table.items()}


def test_the_table_names_every_operation() -> None:
    assert {(method, path) for method, path, _ in operations()} == set(EXPECTED)


def test_a_missing_id_and_a_foreign_shape_of_id_answer_alike(viewer: Any) -> None:
    bodies = {viewer.get(f"/runs/{uuid.uuid4()}").content for _ in range(3)}
    assert len(bodies) == 1


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace", "head"])
@pytest.mark.parametrize("path", ["/runs", "/schemas/run-spec.json"])
def test_a_method_that_is_not_there_is_a_405_of_the_same_shape(
    viewer: Any, method: str, path: str
) -> None:
    answer = getattr(viewer.client, method)(f"/api/v1{path}", headers=viewer.headers)
    assert answer.status_code == 405
    assert "GET" in answer["Allow"]
    if method != "head":
        _assert_is_problem(answer)


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Bearer sd_" + "0" * 72,
        "bearer\tsd_x",
        "Basic YWRtaW46YWRtaW4=",
        "Token sd_x",
        "",
    ],
)
def test_a_wrong_authorization_header_is_not_made_good_by_a_session(header: str) -> None:
    asking = MAKERS["admin"]()
    answer = asking.get("/runs", Authorization=header)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_token_in_the_url_is_refused_even_when_it_would_do_in_the_header(viewer: Any) -> None:
    key = viewer.headers["Authorization"].removeprefix("Bearer ")
    for query in (f"?token={key}", f"?access_token={key}", f"?q={key}"):
        for asking in (viewer, MAKERS["anonymous"]()):
            answer = asking.get(f"/runs{query}")
            assert answer.status_code == 400
            assert key not in answer.content.decode()


def test_pages_ask_an_anonymous_person_to_sign_in_except_the_open_ones(client: Any) -> None:
    open_names = {"sign_in", "sign_in_link", "healthz", "readyz"}
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLPattern) and pattern.name:
            required = getattr(pattern.callback, "login_required", True)
            assert required is (pattern.name not in open_names), pattern.name


def _assert_is_problem(answer: Any) -> None:
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert set(body) == {"type", "title", "status", "detail", "errors"}
    assert body["status"] == answer.status_code
    assert body["detail"]
    assert isinstance(body["errors"], list)
    assert answer.status_code != 401 or answer["WWW-Authenticate"].startswith("Bearer")
