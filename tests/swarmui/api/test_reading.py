"""Reading runs: pages that do not move, cursors that miss nothing, bounds on every parameter."""

import time
from typing import Any
from uuid import UUID

import orjson
import pytest
from django.utils import timezone

from swarmui.api.schemas import EventPage, NodeDetail, Rows, RunDocument, RunPage
from swarmui.models import Node, Run
from swarmui.selectors.tree import COLUMNS
from swarmui.services.runs import Order, start_run
from verifier.lifecycle import NodeKind, NodeStatus
from verifier.spec import parse_run_spec

from .callers import SPEC, Caller

pytestmark = pytest.mark.django_db

TOO_LARGE = 2**63


def _start(goal: str) -> Run:
    return start_run(Order(spec=parse_run_spec({**SPEC, "goal": goal}), origin="test")).run


def test_the_real_answers_have_the_documented_shapes(viewer: Caller, run: Run) -> None:
    node = Node.objects.filter(run=run, depth=1).first()
    assert node is not None
    RunPage.model_validate(viewer.get("/runs").json())
    RunDocument.model_validate(viewer.get(f"/runs/{run.pk}").json())
    full = RunDocument.model_validate(viewer.get(f"/runs/{run.pk}?include=nodes").json())
    assert isinstance(full.nodes, list)
    assert len(full.nodes) == 3
    Rows.model_validate(viewer.get(f"/runs/{run.pk}/tree").json())
    Rows.model_validate(viewer.get(f"/runs/{run.pk}/rows").json())
    EventPage.model_validate(viewer.get(f"/runs/{run.pk}/events").json())
    NodeDetail.model_validate(viewer.get(f"/nodes/{node.pk}").json())


def test_pages_hold_every_run_once_also_when_one_is_started_meanwhile(viewer: Caller) -> None:
    started = [str(_start(f"goal {number}").pk) for number in range(7)]
    seen: list[str] = []
    after = ""
    while True:
        page = viewer.get(f"/runs?limit=3{after}").json()
        seen += [one["id"] for one in page["runs"]]
        _start("started between two pages")
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == started[::-1]


def test_filters_narrow_the_list(viewer: Caller) -> None:
    wanted = _start("Write 100% of the RELEASE notes")
    _start("Something else")
    for query, expected in {
        "q=release": [str(wanted.pk)],
        "q=100%25": [str(wanted.pk)],
        "q=1__%25": [],  # a search text is no pattern
        "q=": 2,
        "status=running": 2,
        "status=waiting": 0,
        "status=ok": [],
        "status=running&q=release": [str(wanted.pk)],
    }.items():
        found = [one["id"] for one in viewer.get(f"/runs?{query}").json()["runs"]]
        assert found == expected or len(found) == expected, query


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/runs?status=great", "status"),
        ("/runs?status=", "status"),
        ("/runs?limit=0", "limit"),
        ("/runs?limit=201", "limit"),
        ("/runs?limit=ten", "limit"),
        ("/runs?after=7", "after"),
        ("/runs?q=" + "x" * 201, "q"),
        ("/runs?q=a%00b", "q"),
        ("/runs?verdict=PASS", "verdict"),  # nothing has a verdict while nothing is verified
        ("/runs?gate=WARN", "gate"),
        ("/runs?page=2", "page"),
        ("/runs/{run}?include=everything", "include"),
        ("/runs/{run}?expand=nodes", "expand"),
        ("/runs/{run}/tree?at=0", "at"),
        ("/runs/{run}/tree?at=-1", "at"),
        ("/runs/{run}/tree?at=1.5", "at"),
        (f"/runs/{{run}}/tree?at={TOO_LARGE}", "at"),
        ("/runs/{run}/rows?after=-1", "after"),
        ("/runs/{run}/rows?after=now", "after"),
        (f"/runs/{{run}}/rows?after={TOO_LARGE}", "after"),
        ("/runs/{run}/rows?after=" + "9" * 5_000, "after"),
        (f"/runs/{{run}}/events?after={TOO_LARGE}", "after"),
        ("/runs/{run}/events?limit=0", "limit"),
        ("/runs/{run}/events?limit=201", "limit"),
        ("/nodes/{node}?full=1", "full"),
        ("/runs?%3Cscript%3E=1", "<script>"),
    ],
)
def test_a_parameter_that_does_not_fit_is_named(
    viewer: Caller, run: Run, path: str, parameter: str
) -> None:
    node = Node.objects.filter(run=run).first()
    assert node is not None
    answer = viewer.get(path.replace("{run}", str(run.pk)).replace("{node}", str(node.pk)))
    assert answer.status_code == 422, answer.content
    assert [error["path"] for error in answer.json()["errors"]] == [parameter]


@pytest.mark.parametrize(
    "path",
    ["/runs?q=%ED%A0%80", "/runs?q=%FF", "/runs?q='--", "/runs?q=%E2%80%AE", f"/runs?limit={200}"],
)
def test_hostile_search_texts_find_nothing_and_break_nothing(viewer: Caller, path: str) -> None:
    assert viewer.get(path).json() == {"runs": [], "next": None}


def test_the_tree_then_its_rows_is_the_tree(viewer: Caller, run: Run) -> None:
    tree = viewer.get(f"/runs/{run.pk}/tree").json()
    assert tree["columns"] == list(COLUMNS)
    assert len(tree["rows"]) == 1 + len(SPEC["branches"])
    assert viewer.get(f"/runs/{run.pk}/rows?after={tree['seq']}").json()["rows"] == []
    assert viewer.get(f"/runs/{run.pk}/rows?after=0").json() == tree


def test_the_tree_as_it_was_grows_with_its_events(viewer: Caller, run: Run) -> None:
    sizes = [
        len(viewer.get(f"/runs/{run.pk}/tree?at={seq}").json()["rows"])
        for seq in range(1, run.seq + 1)
    ]
    assert sizes[0] == 1
    assert sizes[-1] == 1 + len(SPEC["branches"])
    assert sizes == sorted(sizes)


def test_events_are_read_page_by_page_without_a_gap(viewer: Caller, run: Run) -> None:
    seqs: list[int] = []
    while True:
        after = seqs[-1] if seqs else 0
        page = viewer.get(f"/runs/{run.pk}/events?after={after}&limit=2").json()
        seqs += [event["seq"] for event in page["events"]]
        if seqs[-1] == page["seq"]:
            break
    assert seqs == list(range(1, run.seq + 1))


def test_a_tree_of_ten_thousand_rows_is_answered_in_under_two_seconds(
    viewer: Caller, run: Run
) -> None:
    root = Node.objects.get(run=run, parent=None)
    now = timezone.now()
    Node.objects.bulk_create(
        (
            Node(
                id=UUID(int=2**127 + number), run=run, parent=root, kind=NodeKind.SUBAGENT, depth=2,
                role="leaf", task_brief="", work={}, status=NodeStatus.OK, created_at=now,
                ended_at=now, spawn_seq=100 + number, changed_seq=100 + number,
            )
            for number in range(10_000)
        ),
        batch_size=2_000,
    )  # fmt: skip
    began = time.perf_counter()
    answer = viewer.get(f"/runs/{run.pk}/tree")
    took = time.perf_counter() - began
    assert len(orjson.loads(answer.content)["rows"]) == 10_003
    assert took < 2  # on two busy cores; a model per row takes longer than this


def test_answers_are_kept_by_no_cache(viewer: Caller, run: Run) -> None:
    for path in ("/runs", f"/runs/{run.pk}", "/runs/nothing", f"/runs/{run.pk}/tree"):
        assert viewer.get(path)["Cache-Control"] == "no-store"


def test_what_breaks_inside_is_told_to_the_log_alone(
    viewer: Caller, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr("swarmui.selectors.runs.run_list", broken)
    answer = viewer.get("/runs")
    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert b"secret" not in answer.content
    assert b"Traceback" not in answer.content
    assert "the secret inside" in caplog.text
