"""The agent loop with recorded models: real loop, real executor, real threads."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from swarmui.adapters.models.agent import run_agent
from swarmui.adapters.models.tool_thread import ToolThread, ToolThreadClosed
from tests.fakes_models import Boundary, FakeControl, key, order, recording
from tests.swarmui.models_gateway.small_tools import READ, WRITE, call
from verifier.limits import NOTES_CHARS
from verifier.outcome import Deliverable, FailureKind

# Said by the library; the outcome says it too, where it is looked for.
pytestmark = pytest.mark.filterwarnings("ignore:Some responses omitted usage information")


def test_an_attempt_calls_its_tools_and_delivers(tmp_path: Path) -> None:
    model = recording(
        tmp_path,
        [
            {
                "say": "I look first.",
                "calls": [call("a.txt"), call("b.txt")],
                "tokens": {"input": 100, "output": 10},
            },
            {
                "calls": [
                    {
                        "tool": "filesystem__write_file",
                        "args": {"path": "c.txt", "content": "three"},
                    }
                ],
                "tokens": {"input": 150, "output": 20},
            },
            {
                "needs": ["the text of a.txt", "5 characters written"],
                "final": {"output": {"title": "T", "n": [1, None]}, "notes": "as asked"},
                "tokens": {"input": 200, "output": 30},
            },
        ],
    )
    boundary = Boundary([READ, WRITE])
    outcome = run_agent(order(model, tmp_path), boundary.tools, boundary.executor, FakeControl())

    assert outcome.failure is None, outcome.error
    assert outcome.deliverable == Deliverable(
        output={"title": "T", "n": [1, None]}, notes="as asked"
    )
    assert outcome.side_effects is not None
    assert outcome.side_effects.byName == {"filesystem__read_file": 2, "filesystem__write_file": 1}
    assert boundary.proposed() == [
        ("filesystem__read_file", {"path": "a.txt"}),
        ("filesystem__read_file", {"path": "b.txt"}),
        ("filesystem__write_file", {"path": "c.txt", "content": "three"}),
    ]
    assert (outcome.tokens_used, outcome.unavailable) == (510, ())
    assert (outcome.model, outcome.family) == (model, "rehearsal")
    assert outcome.stop_reason == "stop"
    assert outcome.cost_micro_usd is None  # no price is known for a recording


def test_a_plain_text_is_a_deliverable_too(tmp_path: Path) -> None:
    boundary = Boundary()
    model = recording(tmp_path, [{"final": "forty-two"}])
    outcome = run_agent(order(model, tmp_path), (), boundary.executor, FakeControl())
    assert outcome.deliverable == Deliverable(output="forty-two", notes=None)


def test_tokens_that_were_not_reported_are_unknown_and_not_zero(tmp_path: Path) -> None:
    boundary = Boundary([READ])
    turns = [{"calls": [call("a")], "tokens": {"input": 5, "output": 5}}, {"final": "x"}]
    model = recording(tmp_path, turns)
    outcome = run_agent(order(model, tmp_path), boundary.tools, boundary.executor, FakeControl())
    assert outcome.tokens_used is None
    assert outcome.unavailable == (
        "tokens: no usage known for 1 of 2 requests, the others used 10",
    )


def test_hostile_text_is_stored_bounded_and_without_what_no_database_holds(tmp_path: Path) -> None:
    boundary = Boundary()
    final = {"output": ["a\0b" * 100_000], "notes": "n\0" * 50_000}
    model = recording(tmp_path, [{"final": final}])
    outcome = run_agent(order(model, tmp_path), (), boundary.executor, FakeControl())
    assert isinstance(outcome.deliverable.output, list)
    (text,) = outcome.deliverable.output
    assert isinstance(text, str)
    assert "\0" not in text
    assert text.startswith("a␀b")
    notes = outcome.deliverable.notes or ""
    assert notes.startswith("n␀")
    assert len(notes) == NOTES_CHARS
    assert notes.endswith("[truncated, 100,000 chars]")


@pytest.mark.parametrize(
    ("path", "errors", "denials"), [("gone", 1, 0), ("broken", 1, 0), ("locked", 0, 1)]
)
def test_what_a_tool_refuses_reaches_the_model_and_the_work_goes_on(
    path: str, errors: int, denials: int, tmp_path: Path
) -> None:
    boundary = Boundary([READ])
    # more failures in a row than the library's own budget of retries
    calls = [{"calls": [call(path)]} for _ in range(8)]
    model = recording(tmp_path, [*calls, {"final": "gave up"}])
    outcome = run_agent(order(model, tmp_path), boundary.tools, boundary.executor, FakeControl())
    assert outcome.deliverable.output == "gave up", outcome.error
    assert outcome.side_effects is not None
    assert outcome.side_effects.toolErrors == 8 * errors
    assert outcome.side_effects.permissionDenials == 8 * denials


def test_a_call_with_wrong_arguments_is_recorded_and_goes_back_to_the_model(tmp_path: Path) -> None:
    boundary = Boundary([READ])
    bad = {"tool": "filesystem__read_file", "args": {"file": 1}}
    model = recording(tmp_path, [{"calls": [bad]}, {"needs": ["path"], "final": "x"}])
    outcome = run_agent(order(model, tmp_path), boundary.tools, boundary.executor, FakeControl())
    assert outcome.failure is None, outcome.error
    assert boundary.proposed() == [("filesystem__read_file", {"file": 1})]
    assert outcome.side_effects is not None
    assert outcome.side_effects.toolErrors == 1


def test_a_tool_that_does_not_exist_leaves_a_trace(tmp_path: Path) -> None:
    boundary = Boundary([READ])
    call = {"tool": "shell__run", "args": {"argv": ["true"]}}
    model = recording(tmp_path, [{"calls": [call]}, {"final": "x"}])
    outcome = run_agent(order(model, tmp_path), boundary.tools, boundary.executor, FakeControl())
    assert outcome.failure is None, outcome.error
    assert boundary.proposed() == [("shell__run", {"argv": ["true"]})]
    assert outcome.side_effects is not None
    assert (outcome.side_effects.toolCalls, outcome.side_effects.toolErrors) == (0, 1)


@pytest.mark.parametrize(
    ("turns", "failure", "words"),
    [
        ([{"fail": "crash", "say": "out of memory"}], "tool_error", "crashed: out of memory"),
        ([{"fail": "provider_error"}], "provider_error", "not available: HTTP 503"),
        ([{"fail": "quota"}], "quota_exhausted", "used up: HTTP 402"),
        (
            [{"calls": [call("a")], "tokens": {"input": 80_000, "output": 1}}, {"final": "x"}],
            "budget",
            "total_tokens_limit of 80000",
        ),
        (
            [{"needs": ["never said"], "final": "x"}],
            "tool_error",
            "no longer fits: turn 1 rests on",
        ),
    ],
)
def test_a_failure_is_named_and_keeps_the_receipt(
    turns: list[dict[str, Any]], failure: str, words: str, tmp_path: Path
) -> None:
    boundary = Boundary([READ])
    first = {"calls": [call("first")], "tokens": {"input": 1, "output": 1}}
    model = recording(tmp_path, [first, *turns] if failure != "tool_error" else turns)
    outcome = run_agent(order(model, tmp_path), boundary.tools, boundary.executor, FakeControl())
    assert outcome.failure == failure
    assert words in (outcome.error or "")
    assert outcome.side_effects is not None
    assert outcome.deliverable == Deliverable()


def test_tokens_used_before_a_crash_are_still_known(tmp_path: Path) -> None:
    boundary = Boundary([READ])
    turns = [{"calls": [call("a")], "tokens": {"input": 90, "output": 9}}, {"fail": "crash"}]
    outcome = run_agent(
        order(recording(tmp_path, turns), tmp_path),
        boundary.tools,
        boundary.executor,
        FakeControl(),
    )
    assert (outcome.failure, outcome.tokens_used) == (FailureKind.TOOL_ERROR, 99)


def test_an_attempt_that_would_go_on_for_ever_ends_at_its_cap_of_turns(tmp_path: Path) -> None:
    boundary = Boundary([READ])
    turns = [{"calls": [call("a")]} for _ in range(10)]
    model = recording(tmp_path, [*turns, {"final": "x"}])
    outcome = run_agent(
        order(model, tmp_path, request_cap=4), boundary.tools, boundary.executor, FakeControl()
    )
    assert outcome.failure is FailureKind.BUDGET
    assert "request_limit of 4" in (outcome.error or "")
    assert outcome.side_effects is not None
    assert outcome.side_effects.toolCalls == 4


def test_no_script_no_file_no_provider_are_clear_failures(tmp_path: Path) -> None:
    boundary = Boundary()
    model = recording(tmp_path, [{"final": "x"}])
    (tmp_path / "model.yaml").write_text(
        (tmp_path / "model.yaml")
        .read_text()
        .replace("name: only", "name: only\n  when: {branch: 3}")
    )
    for name, words in [
        (model, "no recorded script fits branch 0"),
        ("recorded:none.yaml", "there is no such recording"),
        ("nonsense", "unknown model 'nonsense'"),
    ]:
        outcome = run_agent(order(name, tmp_path), (), boundary.executor, FakeControl())
        assert outcome.failure is not None
        assert words in (outcome.error or "")
        assert outcome.model == name


def test_the_second_attempt_and_the_replacement_have_their_own_scripts(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(
        "format: 1\nfamily: rehearsal\nscripts:\n"
        "- {name: a, when: {replacement: 1}, turns: [{final: replaced}]}\n"
        "- {name: b, when: {attempt: 2}, turns: [{final: second}]}\n"
        "- {name: c, turns: [{final: first}]}\n"
    )
    said = [
        run_agent(
            order("recorded:m.yaml", tmp_path, key=one), (), Boundary().executor, FakeControl()
        ).deliverable.output
        for one in (key(), key(attempt=2), key(replacement=1))
    ]
    assert said == ["first", "second", "replaced"]


def test_pauses_are_scaled(tmp_path: Path) -> None:
    model = recording(tmp_path, [{"final": "x", "delay_ms": 2_000}])
    run_agent(order(model, tmp_path), (), Boundary().executor, FakeControl())  # loads the library
    began = time.monotonic()
    run_agent(order(model, tmp_path, delay_scale=0.1), (), Boundary().executor, FakeControl())
    assert 0.2 <= time.monotonic() - began < 2.0


def test_progress_is_told_while_the_attempt_lives(tmp_path: Path) -> None:
    control = FakeControl()
    boundary = Boundary([READ])
    turns = [{"calls": [call("a")], "delay_ms": 300}, {"final": "x", "delay_ms": 300}]
    run_agent(
        order(recording(tmp_path, turns), tmp_path, delay_scale=1.0),
        boundary.tools,
        boundary.executor,
        control,
    )
    assert "waiting for the model, turn 1" in control.notes
    assert "waiting for the model, turn 2" in control.notes


def test_a_closed_tool_thread_starts_nothing() -> None:
    thread = ToolThread(lambda: None)
    assert thread.submit(threading.get_ident).result(5) == thread.ident
    thread.close()
    with pytest.raises(ToolThreadClosed):
        thread.submit(threading.get_ident)
    assert thread.join(5)


def test_eight_attempts_at_once_do_not_mix(tmp_path: Path) -> None:
    outcomes: dict[int, Any] = {}

    def attempt(number: int) -> None:
        boundary = Boundary([READ])
        turns = [
            {"calls": [call(f"{number}.txt")], "tokens": {"input": number, "output": 0}},
            {"needs": [f"the text of {number}.txt"], "final": f"{number}", "delay_ms": 50},
        ]
        model = recording(tmp_path, turns, f"{number}.yaml")
        outcomes[number] = run_agent(
            order(model, tmp_path, delay_scale=1.0),
            boundary.tools,
            boundary.executor,
            FakeControl(),
        )

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {n: outcome.deliverable.output for n, outcome in outcomes.items()} == {
        n: str(n) for n in range(8)
    }
