"""Runs from launch to end, in one process: what each branch becomes, and what is recorded."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from swarmui.models import Attempt, Delegation, LedgerEvent, Node, Outbox
from swarmui.selectors.documents import node_document, run_document
from swarmui.selectors.ledger import check_run
from swarmui.selectors.tree import folded, row_of_folded, rows_after, skeleton

PRINT = ["python3", "-c", "print('done')"]
CAT = ["python3", "-c", "import sys; sys.stdout.write(sys.stdin.read())"]
FAIL = ["python3", "-c", "import sys; sys.stderr.write('no luck'); sys.exit(3)"]


def program(argv, **extra):
    worker = {"kind": "command", "argv": argv}
    return {"role": "tool", "task_brief": "Say it", "worker": worker, **extra}


def model(name, turns, **when):
    return {"name": name, "when": when, "turns": turns}


@pytest.fixture
def recorded(tmp_path):
    """Writes a recorded model and gives its name."""

    def write(*scripts):
        body = {"format": 1, "family": "test", "scripts": list(scripts)}
        (tmp_path / "model.yaml").write_text(json.dumps(body))
        return "recorded:model.yaml"

    return write


def branches_of(run):
    return list(Node.objects.filter(run=run, depth=1).order_by("spawn_seq"))


def test_a_clean_program_ends_ok_and_the_run_with_it(launch, broker):
    run = launch(branches=[program(CAT)])
    broker.serve_all()
    [node] = branches_of(run)
    document = run_document(run.pk)
    assert (node.status, document["status"]) == ("ok", "ok")
    attempt = document["nodes"][1]["attempts"][0]
    assert attempt["output"] == "Say it"  # the brief, exactly as it was given
    assert attempt["receipt"]["sideEffects"] is None
    assert attempt["receipt"]["unavailable"] == ["sideEffects: a program exposes no tool counters"]
    assert attempt["isolated"] is True
    assert attempt["scorers"] is None  # nothing was checked, and it does not say passed
    assert document["not_verified"] is True
    assert document["budget"]["tokens"]["spent"] is None  # unknown: it may be an agent itself
    assert document["budget"]["tokens"]["unmetered_attempts"] == 1
    assert node.marks == ["evidence_unknown"]
    assert check_run(run.pk).faults == ()
    assert not Outbox.objects.exists()


def test_a_failing_program_is_replaced_once_and_the_run_is_not_ok(launch, broker):
    run = launch(branches=[program(FAIL), program(PRINT)])
    broker.serve_all()
    first, second, replacement = branches_of(run)
    assert [n.status for n in (first, second, replacement)] == ["tool_error", "ok", "tool_error"]
    assert replacement.retry_of_id == first.pk
    assert replacement.branch == first.branch == 0
    assert "exit 3" in first.reason
    assert "no luck" in first.reason
    root = Node.objects.get(run=run, parent=None)
    assert root.status == "tool_error"
    assert root.reason == "1 of 2 branches did not end well"
    assert check_run(run.pk).faults == ()


def test_a_missed_contract_is_mended_by_the_second_attempt(launch, broker, recorded):
    name = recorded(
        model("first", [{"final": {"output": {"title": "x"}}}], attempt=1),
        model("second", [
            {"calls": [{"tool": "filesystem__write_file",
                        "args": {"path": "notes.md", "content": "hello"}}]},
            {"final": {"output": {"title": "x", "body": "y"}}},
        ], attempt=2),
    )  # fmt: skip
    branch = {
        "role": "writing",
        "task_brief": "Write notes",
        "scorers": [
            {"kind": "json", "requiredKeys": ["title", "body"]},
            {"kind": "file_exists", "path": "notes.md"},
        ],
    }
    run = launch(model=name, branches=[branch])
    broker.serve_all()
    [node] = branches_of(run)
    assert (node.status, node.chosen_attempt, node.chosen_because) == ("ok", 2, "retry_passed")
    document = node_document(node.pk)
    one, two = document["attempts"]
    assert one["outcome"] == one["receipt"]["status"] == "contract_failed"
    assert [f["scorer"] for f in one["scorers"]["failures"]] == ["json", "file_exists"]
    assert one["brief"] == "Write notes"
    assert two["brief"].endswith("Write notes")
    assert "attempt 2 of 2" in two["brief"]
    assert "body" in two["brief"]
    assert two["receipt"]["sideEffects"]["filesChanged"] == 1
    assert two["receipt"]["filesTouched"] == 1
    assert [event["event"] for event in document["events"]] == [
        "spawn", "start", "retry", "start", "result"
    ]  # fmt: skip
    assert document["status_seq"] == document["events"][-1]["seq"]
    assert check_run(run.pk).faults == ()


def test_a_contract_missed_twice_stays_missed(launch, broker, recorded):
    name = recorded(model("same", [{"final": "not json"}]))
    scorers = [{"kind": "json"}, {"kind": "contains", "value": "x"}]
    branch = {"role": "writing", "task_brief": "Write", "scorers": scorers}
    run = launch(model=name, branches=[branch])
    broker.serve_all()
    [node] = branches_of(run)
    assert (node.status, node.chosen_because) == ("contract_failed", "retry_no_worse")
    assert node.attempts.count() == 2
    assert "1 of 1 contract retries used" in node.reason


def test_a_claim_of_work_not_done_carries_the_mark(launch, broker, recorded):
    name = recorded(
        model("talker", [
            {"calls": [{"tool": "filesystem__list_dir", "args": {"path": "."}}]},
            {"final": "I wrote the documentation to docs/usage.md."},
        ])
    )  # fmt: skip
    run = launch(model=name, branches=[{"role": "writing", "task_brief": "Write"}])
    broker.serve_all()
    [node] = branches_of(run)
    assert (node.status, node.marks) == ("ok", ["receipt_mismatch"])
    assert "docs/usage.md" in node_document(node.pk)["attempts"][0]["mismatch"]


def test_a_crash_is_retried_on_a_new_node_that_works(launch, broker, recorded):
    name = recorded(
        model("crash", [{"fail": "crash"}], replacement=0),
        model("works", [{"final": "fine"}], replacement=1),
    )
    run = launch(model=name, branches=[{"role": "code", "task_brief": "Fix"}])
    broker.serve_all()
    first, second = branches_of(run)
    assert (first.status, second.status, second.retry_of_id) == ("tool_error", "ok", first.pk)
    assert run_document(run.pk)["status"] == "ok"  # the replacement speaks for the branch
    assert check_run(run.pk).faults == ()


@pytest.mark.parametrize(
    ("fail", "attempts", "status"),
    [("provider_error", 2, "provider_error"), ("quota", 1, "provider_error")],
)
def test_provider_faults_follow_the_table(launch, broker, recorded, fail, attempts, status):
    name = recorded(model("down", [{"fail": fail}]))
    run = launch(model=name, branches=[{"role": "code", "task_brief": "Fix"}])
    broker.serve_all()
    [node] = branches_of(run)
    assert (node.status, node.attempts.count()) == (status, attempts)


def test_the_backup_model_of_the_topic_is_tried_once(launch, broker, recorded, tmp_path):
    name = recorded(model("down", [{"fail": "quota"}]))
    backup = {"format": 1, "family": "other",
              "scripts": [{"name": "up", "turns": [{"final": "fine"}]}]}  # fmt: skip
    (tmp_path / "backup.yaml").write_text(json.dumps(backup))
    run = launch(
        model=name,
        backup_models={"fix": "recorded:backup.yaml"},
        branches=[{"role": "code", "topic": "fix", "task_brief": "Fix"}],
    )
    broker.serve_all()
    [node] = branches_of(run)
    assert node.status == "ok"
    assert [a.family for a in node.attempts.order_by("number")] == ["test", "other"]


def test_without_branches_the_root_works_alone(launch, broker, recorded):
    run = launch(model=recorded(model("solo", [{"final": "all done"}])))
    broker.serve_all()
    document = run_document(run.pk)
    assert document["status"] == "ok"
    assert document["nodes"][0]["attempts"][0]["output"] == "all done"


def test_a_run_that_cannot_afford_its_work_ends_as_budget(launch, broker, recorded):
    name = recorded(model("any", [{"final": "x"}]))
    run = launch(model=name, budget={"tokens": 4_100},
                 branches=[{"role": "a", "task_brief": "b"}] * 2)  # fmt: skip
    broker.serve_all()
    assert {node.status for node in branches_of(run)} == {"budget"}
    run.refresh_from_db()
    assert (run.tokens_reserved, run.tokens_spent) == (0, 0)
    assert check_run(run.pk).faults == ()


def test_what_is_spent_is_settled_and_nothing_stays_reserved(launch, broker, recorded):
    name = recorded(model("any", [{"tokens": {"input": 500, "output": 12}, "final": "x"}]))
    run = launch(model=name, budget={"tokens": 100_000},
                 branches=[{"role": "a", "task_brief": "b"}] * 2)  # fmt: skip
    broker.serve_all()
    run.refresh_from_db()
    assert (run.tokens_reserved, run.tokens_spent) == (0, 1_024)
    assert sum(node.tokens for node in branches_of(run)) == 1_024


def test_a_worker_that_never_ends_is_ended_at_its_wall_clock(launch, broker):
    sleep = program(["python3", "-c", "import time; time.sleep(600)"], limits={"wall_clock_s": 1})
    run = launch(branches=[sleep])
    broker.serve_all()
    [node] = branches_of(run)
    assert node.status == "timeout"
    assert check_run(run.pk).faults == ()


def test_accepted_files_reach_the_runs_workspace_and_a_clash_is_marked(
    launch, broker, recorded, tmp_path
):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("old")

    def write(path, text, branch):
        call = {"tool": "filesystem__write_file", "args": {"path": path, "content": text}}
        return model(f"w{branch}", [{"calls": [call]}, {"final": "x"}], branch=branch)

    name = recorded(write("a.txt", "one", 0), write("a.txt", "two", 1), write("b.txt", "b", 2))
    run = launch(
        model=name,
        workspace={"path": "source"},
        branches=[{"role": "w", "task_brief": "b"}] * 3,
    )
    # all begin before any is accepted
    for _ in range(3):
        broker.serve_one()
    broker.serve_all()
    one, two, three = branches_of(run)
    assert [n.marks for n in (one, two, three)] == [[], ["workspace_conflict"], []]
    [base] = (tmp_path / "home" / "runs" / str(run.pk)).glob("base")
    assert {p.name: p.read_text() for p in base.iterdir()} == {"a.txt": "one", "b.txt": "b"}
    assert (source / "a.txt").read_text() == "old"


def test_rows_applied_to_a_snapshot_give_the_next_snapshot(launch, broker, recorded):
    name = recorded(
        model("first", [{"final": "no"}], branch=0, attempt=1),
        model("second", [{"final": "yes"}], branch=0, attempt=2),
        model("crash", [{"fail": "crash"}], branch=1),
    )
    scorers = [{"kind": "contains", "value": "yes"}]
    run = launch(
        model=name,
        branches=[
            {"role": "a", "task_brief": "b", "scorers": scorers},
            {"role": "a", "task_brief": "b"},
            program(PRINT),
        ],
    )
    page, cursor = {row[0]: row for row in skeleton(run.pk)["rows"]}, skeleton(run.pk)["seq"]
    while broker.queue:
        broker.serve_one()
        news = rows_after(run.pk, cursor)
        page.update({row[0]: row for row in news["rows"]})
        cursor = news["seq"]
        assert list(page.values()) == skeleton(run.pk)["rows"]
        assert [row_of_folded(n) for n in folded(run.pk).nodes.values()] == list(page.values())


def test_every_wake_up_may_come_twice_or_late(launch, broker, recorded):
    name = recorded(model("any", [{"final": "x"}]))
    run = launch(model=name, branches=[{"role": "a", "task_brief": "b"}, program(PRINT)])
    served = []
    while broker.queue:
        wake = broker.queue.popleft()
        served.append(wake)
        for _ in range(3):
            broker.queue.append(wake)
            broker.queue.rotate(1)
            broker.serve_one()
    for wake in served:
        broker.queue.append(wake)
        broker.serve_all()
    assert Attempt.objects.filter(node__run=run).count() == 2
    assert LedgerEvent.objects.filter(run=run, event="start").count() == 3
    assert Delegation.objects.get(run=run).state == "closed"
    assert check_run(run.pk).faults == ()


def test_a_program_is_held_to_the_shape_it_was_asked_for(launch, broker):
    shape = {"shape": "json", "schema": {"required": ["title"]}}
    run = launch(branches=[program(PRINT, expected_output=shape)], contract_retries=0)
    broker.serve_all()
    [node] = branches_of(run)
    assert node.status == "contract_failed"


def test_a_program_that_had_to_change_files_is_judged_by_what_is_on_disk(launch, broker):
    write = ["python3", "-c", "open('made.txt', 'w').write('x')"]
    shape = {"shape": "code-diff"}
    run = launch(
        branches=[program(write, expected_output=shape), program(PRINT, expected_output=shape)],
        contract_retries=0,
    )
    broker.serve_all()
    assert [node.status for node in branches_of(run)] == ["ok", "contract_failed"]


def test_a_second_attempt_gets_what_the_first_one_left(launch, broker, recorded):
    name = recorded(
        model("first", [{"tokens": {"input": 900, "output": 100}, "final": "no"}], attempt=1),
        model("second", [{"tokens": {"input": 1, "output": 1}, "final": "yes"}], attempt=2),
    )
    branch = {
        "role": "a",
        "task_brief": "b",
        "scorers": [{"kind": "contains", "value": "yes"}],
        "limits": {"tokens": 10_000, "wall_clock_s": 100},
    }
    run = launch(model=name, branches=[branch])
    broker.serve_one()
    started = timezone.now() - timedelta(seconds=50)  # as if the first had taken that long
    Node.objects.filter(run=run, depth=1).update(started_at=started)
    broker.serve_one()  # its gates
    broker.serve_one()  # the second attempt
    [node] = branches_of(run)
    first, second = node.attempts.order_by("number")
    assert (first.token_cap, second.token_cap) == (10_000, 9_000)
    assert second.hard_deadline - started <= timedelta(seconds=101)


def test_a_small_budget_leaves_room_for_the_retry_it_has_paid_for(launch, broker, recorded):
    """The first attempt's own reservation is not counted against its retry."""
    name = recorded(
        model("first", [{"tokens": {"input": 10, "output": 1}, "final": "no"}], attempt=1),
        model("second", [{"final": "yes"}], attempt=2),
    )
    scorers = [{"kind": "contains", "value": "yes"}]
    run = launch(
        model=name,
        budget={"tokens": 8_000},
        branches=[{"role": "a", "task_brief": "b", "scorers": scorers}],
    )
    broker.serve_all()
    assert [node.status for node in branches_of(run)] == ["ok"]
