"""The agent loop with recorded models: real loop, real executor, real threads."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarmui.adapters.models.agent import run_agent
from swarmui.adapters.models.tool_thread import ToolThread, ToolThreadClosed
from tests.fakes_models import Boundary, FakeControl, key, order, recording
from tests.waiting import wait_until
from verifier.boundary.tool_adapter import Tool, ToolDenied, ToolFailure, tool
from verifier.lifecycle import StopReason
from verifier.limits import NOTES_CHARS
from verifier.outcome import Deliverable, FailureKind

# Said by the library; the outcome says it too, where it is looked for.
pytestmark = pytest.mark.filterwarnings("ignore:Some responses omitted usage information")


def _read(path: str) -> str:
    """Read a file."""
    if path == "locked":
        raise ToolDenied("not yours")
    if path == "gone":
        raise ToolFailure("no such file")
    if path == "broken":
        raise ZeroDivisionError("inside")
    return f"the text of {path}"


def _write(path: str, content: str) -> str:
    """Write a file."""
    return f"{len(content)} characters written to {path}"


READ: Tool = tool("filesystem__read_file")(_read)
WRITE: Tool = tool("filesystem__write_file")(_write)


def _call(path: str, name: str = "filesystem__read_file") -> dict[str, Any]:
    return {"tool": name, "args": {"path": path}}


def _noting_threads(threads: list[int], before: Callable[[], None] = lambda: None) -> Tool:
    @tool("filesystem__read_file")
    def read(path: str) -> str:
        """Read a file."""
        threads.append(threading.get_ident())
        before()
        return path

    return read


def test_an_attempt_calls_its_tools_and_delivers(tmp_path: Path) -> None:
    model = recording(
        tmp_path,
        [
            {
                "say": "I look first.",
                "calls": [_call("a.txt"), _call("b.txt")],
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
    turns = [{"calls": [_call("a")], "tokens": {"input": 5, "output": 5}}, {"final": "x"}]
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
    calls = [{"calls": [_call(path)]} for _ in range(8)]
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


def test_all_tools_run_in_one_thread_that_is_neither_the_callers_nor_the_loops(
    tmp_path: Path,
) -> None:
    threads: list[int] = []
    left: list[int] = []
    names: list[str] = []
    control = FakeControl()

    def look_around() -> None:
        names.append(threading.current_thread().name)
        wait_until(lambda: bool(control.threads))

    boundary = Boundary([_noting_threads(threads, look_around)])
    model = recording(
        tmp_path, [{"calls": [_call("a"), _call("b")]}, {"calls": [_call("c")]}, {"final": "x"}]
    )
    run_agent(
        order(model, tmp_path),
        boundary.tools,
        boundary.executor,
        control,
        on_thread_exit=lambda: left.append(threading.get_ident()),
    )
    assert len(threads) == 3
    assert len(set(threads)) == 1
    assert left == [threads[0]]  # its connection is closed where it was opened
    assert threads[0] != threading.get_ident()
    assert set(names) == {"attempt-tools"}
    assert control.threads == {threading.get_ident()}  # control may ask the database


def test_the_exit_hook_runs_once_even_when_it_fails(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("the connection is gone")

    model = recording(tmp_path, [{"final": "x"}])
    boundary = Boundary()
    outcome = run_agent(order(model, tmp_path), (), boundary.executor, FakeControl(), fail)
    assert outcome.failure is None


@pytest.mark.parametrize(
    ("reason", "failure"),
    [
        (StopReason.CANCELLED, FailureKind.CANCELLED),
        (StopReason.LEASE_LOST, FailureKind.LEASE_LOST),
        (StopReason.TIMEOUT, FailureKind.TIMEOUT),
    ],
)
def test_a_running_attempt_stops_when_it_is_told_to(
    reason: StopReason, failure: FailureKind, tmp_path: Path
) -> None:
    control = FakeControl()

    @tool("filesystem__read_file")
    def read(path: str) -> str:
        """Read a file."""
        control.reason = reason
        return path

    turns = [{"calls": [_call("a")]}, {"final": "too late", "delay_ms": 60_000}]
    boundary = Boundary([read])
    began = time.monotonic()
    outcome = run_agent(
        order(recording(tmp_path, turns), tmp_path, delay_scale=1.0),
        boundary.tools,
        boundary.executor,
        control,
    )
    assert time.monotonic() - began < 20
    assert outcome.failure is failure
    assert outcome.deliverable == Deliverable()
    assert outcome.side_effects is not None  # a stopped attempt keeps its receipt
    assert outcome.side_effects.byName == {"filesystem__read_file": 1}
    assert outcome.tokens_used is None  # one request was never answered


def test_the_deadline_ends_an_attempt_even_if_nobody_says_so(tmp_path: Path) -> None:
    boundary = Boundary()
    model = recording(tmp_path, [{"final": "x", "delay_ms": 60_000}])
    outcome = run_agent(
        order(model, tmp_path, delay_scale=1.0), (), boundary.executor, FakeControl(seconds=0.2)
    )
    assert outcome.failure is FailureKind.TIMEOUT


def test_a_tool_that_does_not_end_is_left_behind_and_its_counts_are_unknown(tmp_path: Path) -> None:
    control, entered, release = FakeControl(), threading.Event(), threading.Event()
    left = threading.Event()

    def hang() -> None:
        entered.set()
        control.reason = StopReason.CANCELLED
        release.wait(30)

    threads: list[int] = []
    boundary = Boundary([_noting_threads(threads, hang)])
    model = recording(tmp_path, [{"calls": [_call("a"), _call("b")]}, {"final": "x"}])
    outcome = run_agent(
        order(model, tmp_path, stop_grace_s=0.2),
        boundary.tools,
        boundary.executor,
        control,
        left.set,
    )
    assert entered.is_set()
    assert outcome.failure is FailureKind.CANCELLED
    assert outcome.side_effects is None
    assert any(reason.startswith("sideEffects: ") for reason in outcome.unavailable)
    release.set()
    wait_until(left.is_set)
    assert len(threads) == 1  # the second call was never begun


def test_a_control_that_breaks_ends_the_attempt(tmp_path: Path) -> None:
    class Broken(FakeControl):
        def stop_reason(self) -> StopReason | None:
            raise ConnectionError("the database is gone")

    boundary = Boundary()
    model = recording(tmp_path, [{"final": "x", "delay_ms": 60_000}])
    outcome = run_agent(order(model, tmp_path, delay_scale=1.0), (), boundary.executor, Broken())
    assert outcome.failure is FailureKind.TOOL_ERROR
    assert outcome.error == "the attempt lost its control: ConnectionError"


def test_a_record_that_cannot_be_kept_is_the_callers_to_judge(tmp_path: Path) -> None:
    boundary = Boundary([READ])

    def refuse(_: object) -> None:
        raise PermissionError("another worker has the lease")

    boundary.executor._record = refuse
    left = threading.Event()
    model = recording(tmp_path, [{"calls": [_call("a")]}, {"final": "x"}])
    with pytest.raises(PermissionError, match="another worker has the lease"):
        run_agent(
            order(model, tmp_path), boundary.tools, boundary.executor, FakeControl(), left.set
        )
    assert left.is_set()


@pytest.mark.parametrize(
    ("turns", "failure", "words"),
    [
        ([{"fail": "crash", "say": "out of memory"}], "tool_error", "crashed: out of memory"),
        ([{"fail": "provider_error"}], "provider_error", "not available: HTTP 503"),
        ([{"fail": "quota"}], "quota_exhausted", "used up: HTTP 402"),
        (
            [{"calls": [_call("a")], "tokens": {"input": 80_000, "output": 1}}, {"final": "x"}],
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
    first = {"calls": [_call("first")], "tokens": {"input": 1, "output": 1}}
    model = recording(tmp_path, [first, *turns] if failure != "tool_error" else turns)
    outcome = run_agent(order(model, tmp_path), boundary.tools, boundary.executor, FakeControl())
    assert outcome.failure == failure
    assert words in (outcome.error or "")
    assert outcome.side_effects is not None
    assert outcome.deliverable == Deliverable()


def test_tokens_used_before_a_crash_are_still_known(tmp_path: Path) -> None:
    boundary = Boundary([READ])
    turns = [{"calls": [_call("a")], "tokens": {"input": 90, "output": 9}}, {"fail": "crash"}]
    outcome = run_agent(
        order(recording(tmp_path, turns), tmp_path),
        boundary.tools,
        boundary.executor,
        FakeControl(),
    )
    assert (outcome.failure, outcome.tokens_used) == (FailureKind.TOOL_ERROR, 99)


def test_an_attempt_that_would_go_on_for_ever_ends_at_its_cap_of_turns(tmp_path: Path) -> None:
    boundary = Boundary([READ])
    turns = [{"calls": [_call("a")]} for _ in range(10)]
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
    turns = [{"calls": [_call("a")], "delay_ms": 300}, {"final": "x", "delay_ms": 300}]
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
            {"calls": [_call(f"{number}.txt")], "tokens": {"input": number, "output": 0}},
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
