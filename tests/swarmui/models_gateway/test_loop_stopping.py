"""Where a loop's work happens, and how it stops: one tool thread, deadlines, cancellation."""

import threading
import time
from pathlib import Path

import pytest

from swarmui.adapters.models.agent import run_agent
from tests.fakes_models import Boundary, FakeControl, order, recording
from tests.swarmui.models_gateway.small_tools import READ, call, noting_threads
from tests.waiting import wait_until
from verifier.boundary.tool_adapter import tool
from verifier.lifecycle import StopReason
from verifier.outcome import Deliverable, FailureKind

# Said by the library; the outcome says it too, where it is looked for.
pytestmark = pytest.mark.filterwarnings("ignore:Some responses omitted usage information")


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

    boundary = Boundary([noting_threads(threads, look_around)])
    model = recording(
        tmp_path, [{"calls": [call("a"), call("b")]}, {"calls": [call("c")]}, {"final": "x"}]
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

    turns = [{"calls": [call("a")]}, {"final": "too late", "delay_ms": 60_000}]
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
    boundary = Boundary([noting_threads(threads, hang)])
    model = recording(tmp_path, [{"calls": [call("a"), call("b")]}, {"final": "x"}])
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
    model = recording(tmp_path, [{"calls": [call("a")]}, {"final": "x"}])
    with pytest.raises(PermissionError, match="another worker has the lease"):
        run_agent(
            order(model, tmp_path), boundary.tools, boundary.executor, FakeControl(), left.set
        )
    assert left.is_set()
