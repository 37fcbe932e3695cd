"""Starting a run: what is stored, what is refused with its place named, and what comes twice."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings

from swarmui.models import LedgerEvent, Node, Outbox, Role, Run

from .callers import SPEC, Caller, with_token

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202egnp.exe\u2066\x07 &amp; {{ 7*7 }}"


def _spec(**changes: Any) -> dict[str, Any]:
    return {**SPEC, **changes}


def _branch(**changes: Any) -> dict[str, Any]:
    return {"branches": [{**SPEC["branches"][0], **changes}]}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """The one folder workspaces may be in, with a workspace `notes` in it and one beside it."""
    (tmp_path / "inside" / "notes").mkdir(parents=True)
    (tmp_path / "inside" / "file.txt").write_text("x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside")
    with override_settings(WORKSPACE_ROOTS=(tmp_path / "inside",), BASE_DIR=tmp_path / "inside"):
        yield tmp_path / "inside"


def test_a_run_is_made_and_named(operator: Caller) -> None:
    answer = operator.post("/runs", SPEC)
    assert answer.status_code == 201
    body = answer.json()
    assert answer["Location"] == f"/api/v1/runs/{body['id']}"
    assert operator.client.get(answer["Location"], headers=operator.headers).status_code == 200
    run = Run.objects.get()
    assert (str(run.pk), run.goal, body["goal"]) == (body["id"], SPEC["goal"], SPEC["goal"])
    assert run.origin.startswith("token:")
    assert body["not_verified"] is True
    assert body["gate"] is None
    assert Outbox.objects.count() == len(SPEC["branches"])


def test_the_answer_is_the_run_at_the_event_it_names(operator: Caller) -> None:
    body = operator.post("/runs", SPEC).json()
    assert body["seq"] == LedgerEvent.objects.count()
    now = operator.get(f"/runs/{body['id']}").json()
    assert {name: now[name] for name in body} == body


def test_a_run_without_branches_is_answered_likewise(operator: Caller) -> None:
    spec = {"goal": "Think", "model": "openai:gpt-5"}
    body = operator.post("/runs", spec).json()
    now = operator.get(f"/runs/{body['id']}").json()
    assert {name: now[name] for name in body} == body
    assert (body["status"], body["seq"]) == ("queued", 1)


# --- What does not fit is refused, with its place ------------------------------------------------

REFUSED: list[tuple[dict[str, Any] | Any, str]] = [
    ({}, "goal"),
    (_spec(goal=""), "goal"),
    (_spec(goal=None), "goal"),
    (_spec(goal=7), "goal"),
    (_spec(goal=["x"]), "goal"),
    (_spec(goal="x" * 20_001), "goal"),
    (_spec(surprise=1), "surprise"),
    (_spec(branches=[]), "branches"),
    (_spec(branches=SPEC["branches"][:1] * 9), "branches"),
    (_spec(branches={}), "branches"),
    (_spec(branches="all"), "branches"),
    (_spec(branches=[7]), "branches[0]"),
    (_spec(**_branch(surprise=1)), "branches[0].surprise"),
    (_spec(**_branch(task_brief="x" * 20_001)), "branches[0].task_brief"),
    (_spec(**_branch(task_brief=7)), "branches[0].task_brief"),
    (_spec(**_branch(role="r" * 81)), "branches[0].role"),
    (_spec(**_branch(tools=["telepathy"])), "branches[0].tools[0]"),
    (_spec(**_branch(scorers=[{"kind": "vibes"}])), "branches[0].scorers[0]"),
    (_spec(**_branch(worker={"kind": "model"})), "branches[0].worker"),  # no model anywhere
    (_spec(**_branch(worker={"kind": "command", "argv": []})), "branches[0].worker"),
    (_spec(**_branch(worker={"kind": "command", "argv": ["a\0b"]})), "branches[0].worker"),
    (_spec(**_branch(worker={"kind": "oracle"})), "branches[0].worker"),
    (_spec(contract_retries=True), "contract_retries"),  # a truth value is no number
    (_spec(contract_retries=4), "contract_retries"),
    (_spec(contract_retries="1"), "contract_retries"),
    (_spec(attended="yes"), "attended"),
    (_spec(budget={"usd": -1}), "budget.usd"),
    (_spec(budget={"tokens": 1.5}), "budget.tokens"),
    (_spec(verifier={"enabled": True}), "verifier"),  # cannot be had yet: said, not ignored
    (_spec(workspace={"path": "missing"}), "workspace.path"),
    (_spec(workspace={"path": "file.txt"}), "workspace.path"),
    (_spec(workspace={"path": "../outside"}), "workspace.path"),
    (_spec(workspace={"path": "link"}), "workspace.path"),
    (_spec(workspace={"path": "/etc"}), "workspace.path"),
    (_spec(workspace={"path": "notes\0"}), "workspace.path"),
    (_spec(workspace={"path": ""}), "workspace.path"),
    (_spec(workspace={"path": "notes", "mode": "teleport"}), "workspace.mode"),
    (_spec(workspace={"path": "notes", "mode": "worktree"}), "workspace.path"),  # no repository
    (_spec(workspace="notes"), "workspace"),
    (_spec(workspace={}), "workspace.path"),
    (_spec(model="recorded:missing.yaml"), "model"),
    (_spec(model="recorded:/etc/passwd"), "model"),
    (_spec(model="recorded:../../etc/passwd"), "model"),
    (_spec(model=7), "model"),
    ([], ""),
    ("run", ""),
    (7, ""),
    (None, ""),
]


@pytest.mark.parametrize(("body", "path"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_place(
    operator: Caller, root: Path, body: Any, path: str
) -> None:
    answer = operator.post("/runs", body)
    assert answer.status_code == 422, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    errors = answer.json()["errors"]
    assert any(error["path"].startswith(path) and error["message"] for error in errors), errors
    assert str(root.parent / "outside") not in answer.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize("number", [1, 8])
def test_one_to_eight_branches_are_taken(operator: Caller, number: int) -> None:
    assert operator.post("/runs", _spec(branches=SPEC["branches"][:1] * number)).status_code == 201
    assert Node.objects.filter(depth=1).count() == number


def test_a_workspace_inside_is_taken(operator: Caller, root: Path) -> None:
    assert operator.post("/runs", _spec(workspace={"path": "notes"})).status_code == 201
    assert Run.objects.get().workspace_source == str(root / "notes")


def test_several_faults_are_named_at_once(operator: Caller) -> None:
    errors = operator.post("/runs", _spec(goal=7, **_branch(role=7, surprise=1))).json()["errors"]
    assert {error["path"] for error in errors} >= {
        "goal", "branches[0].role", "branches[0].surprise"
    }  # fmt: skip


def test_the_number_of_faults_named_is_bounded(operator: Caller) -> None:
    answer = operator.post("/runs", _spec(**{f"key{number}": 1 for number in range(5_000)}))
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) <= 50
    assert len(answer.content) < 100_000


# --- Hostile text is stored inert, or refused ----------------------------------------------------


@pytest.mark.parametrize("where", ["goal", "task_brief", "argv"])
def test_hostile_text_is_stored_and_given_back_as_it_came(operator: Caller, where: str) -> None:
    spec = {
        "goal": _spec(goal=HOSTILE),
        "task_brief": _spec(**_branch(task_brief=HOSTILE)),
        "argv": _spec(**_branch(worker={"kind": "command", "argv": ["echo", HOSTILE]})),
    }[where]
    answer = operator.post("/runs", spec)
    assert answer.status_code == 201, answer.content
    assert b"<script>" not in answer.content or answer["Content-Type"] == "application/json"
    stored = Run.objects.get().spec
    assert "<script>alert(1)</script>" in json.dumps(stored)
    document = operator.get(f"/runs/{answer.json()['id']}?include=nodes")
    assert document["Content-Type"] == "application/json"
    assert document["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "text",
    [
        b'"a\\u0000b"',  # NUL
        b'"a\\ud800b"',  # half a character
        b'"a\\udc00\\ud800b"',  # two halves, the wrong way round
    ],
)
@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (_spec(goal="MARK"), "goal"),
        (_spec(**_branch(task_brief="MARK")), "branches[0].task_brief"),
        (_spec(**_branch(worker={"kind": "command", "argv": ["echo", "MARK"]})),
         "branches[0].worker.argv[1]"),
        (_spec(MARK=1), "a"),
    ],
)  # fmt: skip
def test_what_no_database_holds_is_refused_with_its_place(
    operator: Caller, text: bytes, spec: dict[str, Any], path: str
) -> None:
    answer = operator.post("/runs", json.dumps(spec).encode().replace(b'"MARK"', text))
    assert answer.status_code == 422, answer.content
    (error,) = answer.json()["errors"]
    assert error["path"].startswith(path)
    assert error["message"].startswith("contains")
    assert not Run.objects.exists()


@pytest.mark.parametrize("field", ["role", "topic", "subtopic"])
@pytest.mark.parametrize("text", ["a\nb", "a\x1b[31mb", "a\u202eb", "a\tb"])
def test_names_are_one_line_and_never_break_the_answer(
    operator: Caller, field: str, text: str
) -> None:
    assert operator.post("/runs", _spec(**_branch(**{field: text}))).status_code in (201, 422)


# --- Bodies that are no JSON ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b" ", 422),
        (b"{", 400),
        (b"goal: a yaml file", 400),
        (b"{'goal': 'x'}", 400),
        (b'{"goal": "x"} trailing', 400),
        (b'{"goal": NaN}', 422),
        (b'{"goal": Infinity}', 422),
        (b'{"goal": "x", "goal": "y"}', 422),  # which one was meant?
        (b'{"goal": "\xff\xfe"}', 422),
        (b"\xff\xfe\x00", 422),
        (b'{"goal": "x\x00y"}', 400),  # not escaped: not JSON at all
        (b"[" * 100_000, 422),
        (b'{"a":' * 5_000, 422),
        (b'{"goal": ' + b"9" * 10_000 + b"}", 422),
        (b"[" * 60 + b'"\\ud800",' * 100_000, 400),
    ],
)
def test_what_is_no_json_or_cannot_be_held_is_refused(
    operator: Caller, body: bytes, status: int
) -> None:
    answer = operator.post("/runs", body)
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert len(answer.content) < 5_000
    assert not Run.objects.exists()


@pytest.mark.timeout(20)
def test_the_place_of_a_bad_text_is_found_without_a_blow_up(operator: Caller) -> None:
    wide = b'{"' + b"k" * 1_000 + b'":' + b"[" * 50 + b"0," * 490_000 + b'"\\ud800"' + b"]" * 50
    answer = operator.post("/runs", wide + b"}")
    assert answer.status_code == 422
    assert len(answer.content) < 5_000


@pytest.mark.parametrize("size", [1_000_001, 3_000_000])
def test_a_body_over_a_megabyte_is_a_413(operator: Caller, size: int) -> None:
    body = b'{"goal": "' + b"x" * size + b'"}'
    answer = operator.post("/runs", body)
    assert answer.status_code == 413
    assert answer["Content-Type"] == "application/problem+json"


def test_who_may_not_start_learns_nothing_about_the_body(viewer: Caller) -> None:
    assert viewer.post("/runs", b"{", content_type="text/plain").status_code == 403


# --- The same request twice ----------------------------------------------------------------------


def test_the_same_key_and_body_give_the_same_run_and_the_same_bytes(operator: Caller) -> None:
    first = operator.post("/runs", SPEC, Idempotency_Key="k1")
    run = Run.objects.get()
    Node.objects.filter(run=run, parent=None).update(reason="much happened since")
    Run.objects.filter(pk=run.pk).update(seq=99, tokens_spent=5, tokens_reserved=7)
    again = operator.post("/runs", SPEC, Idempotency_Key="k1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert again["Location"] == first["Location"]
    assert Run.objects.count() == 1


def test_spaces_and_the_order_of_keys_make_no_other_body(operator: Caller) -> None:
    operator.post("/runs", SPEC, Idempotency_Key="k1")
    turned = json.dumps(dict(reversed(SPEC.items())), indent=3).encode()
    assert operator.post("/runs", turned, Idempotency_Key="k1").status_code == 200


def test_the_same_key_with_another_body_is_a_409(operator: Caller) -> None:
    operator.post("/runs", SPEC, Idempotency_Key="k1")
    answer = operator.post("/runs", _spec(goal="Another"), Idempotency_Key="k1")
    assert answer.status_code == 409
    assert Run.objects.count() == 1


def test_keys_of_two_callers_are_two_keys(operator: Caller) -> None:
    other = with_token(Role.ADMIN)
    ids = {
        caller.post("/runs", SPEC, Idempotency_Key="k1").json()["id"]
        for caller in (operator, other)
    }
    assert len(ids) == 2


def test_without_a_key_twice_is_two_runs(operator: Caller) -> None:
    assert len({operator.post("/runs", SPEC).json()["id"] for _ in range(2)}) == 2


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "a b", "ä", "a\x7f"])
def test_a_key_that_is_none_is_refused(operator: Caller, key: str) -> None:
    assert operator.post("/runs", SPEC, Idempotency_Key=key).status_code == 400


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_eight_at_once_with_one_key_give_one_run() -> None:
    caller = with_token(Role.OPERATOR)
    answers: list[Any] = []
    barrier = threading.Barrier(8)

    def start() -> None:
        own = Caller(headers=caller.headers)
        try:
            barrier.wait()
            answers.append(own.post("/runs", SPEC, Idempotency_Key="together"))
        finally:
            connection.close()

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 7}
    assert len({answer.content for answer in answers}) == 1
    assert Run.objects.count() == 1
    assert Node.objects.filter(parent=None).count() == 1
