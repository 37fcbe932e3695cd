"""Every call is recorded before it acts and counted after, whatever it does."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from verifier.boundary.executor import Observation, ToolExecutor
from verifier.boundary.tool_adapter import ToolDenied, ToolFailure, tool
from verifier.boundary.trajectory import EntryKind, TrajectoryEntry
from verifier.limits import OBSERVATION_CHARS
from verifier.receipt import ToolCounters

LONGEST_NAME = 120  # what a stored entry holds


class SteppingClock:
    """Each look is 7 ms after the last."""

    def __init__(self) -> None:
        self._now = 0

    def monotonic_ms(self) -> int:
        self._now += 7
        return self._now


def _write(path: str) -> JsonValue:
    """Write."""
    return {"path": path}


def _read(path: str) -> JsonValue:
    """Read."""
    if path == "missing":
        raise ToolFailure("missing: no such file")
    if path == "../x":
        raise ToolDenied("../x: outside the workspace")
    if path == "bug":
        raise KeyError("\ud800")
    return path


class Bench:
    """An executor with everything around it in view."""

    def __init__(self) -> None:
        self.entries: list[TrajectoryEntry] = []
        self.counters = ToolCounters()
        self.executor = ToolExecutor(
            [tool("filesystem__write_file")(_write), tool("filesystem__read_file")(_read)],
            self.entries.append,
            self.counters,
            SteppingClock(),
        )

    def read(self, path: object) -> Observation:
        return self.executor.call("filesystem__read_file", {"path": path})


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_call_is_proposed_run_and_told(bench: Bench) -> None:
    seen = bench.read("a")
    assert (seen.call_id, seen.tool, seen.kind, seen.content) == (
        "call-1",
        "filesystem__read_file",
        "result",
        "a",
    )
    assert seen.duration_ms == 7
    assert [(entry.kind, entry.call_id) for entry in bench.entries] == [
        (EntryKind.PROPOSAL, "call-1"),
        (EntryKind.RESULT, "call-1"),
    ]
    assert bench.entries[0].payload == {"arguments": {"path": "a"}}


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "content"),
    [
        ("filesystem__read_file", {"path": "missing"}, "error", "missing: no such file"),
        ("filesystem__read_file", {"path": "bug"}, "error", "the tool broke: KeyError"),
        ("filesystem__read_file", {"path": "../x"}, "denied", "outside the workspace"),
        ("filesystem__read_file", {"path": True}, "invalid", "invalid arguments: path"),
        ("filesystem__read_file", {}, "invalid", "invalid arguments: path"),
        ("filesystem__read_file", "{", "invalid", "not JSON"),
        ("nosuch", {}, "invalid", "unknown tool; there are: filesystem__write_file, "),
        ("", None, "invalid", "unknown tool"),
    ],
)
def test_what_goes_wrong_is_an_observation(
    bench: Bench, name: str, arguments: object, kind: str, content: str
) -> None:
    seen = bench.executor.call(name, arguments)
    assert seen.kind == kind
    assert content in seen.content
    counted = bench.counters.snapshot()
    assert counted.toolCalls == 0
    assert (counted.toolErrors, counted.permissionDenials) == (
        (0, 1) if kind == "denied" else (1, 0)
    )
    denied = EntryKind.DENIAL if kind == "denied" else EntryKind.RESULT
    assert [entry.kind for entry in bench.entries] == [EntryKind.PROPOSAL, denied]


def test_a_proposal_is_stored_before_the_tool_runs() -> None:
    order: list[str] = []

    def act() -> JsonValue:
        order.append("acted")
        return None

    executor = ToolExecutor(
        [tool("act")(act)],
        lambda entry: order.append(entry.kind.value),
        ToolCounters(),
        SteppingClock(),
    )
    executor.call("act", {})
    assert order == ["proposal", "acted", "result"]


class Lost(Exception):
    """The lease went to somebody else."""


def test_a_tool_never_runs_whose_proposal_could_not_be_stored() -> None:
    acted: list[bool] = []

    def act() -> JsonValue:
        acted.append(True)
        return None

    def refuse(entry: TrajectoryEntry) -> None:
        raise Lost

    counters = ToolCounters()
    executor = ToolExecutor([tool("act")(act)], refuse, counters, SteppingClock())
    with pytest.raises(Lost):
        executor.call("act", {})
    assert acted == []
    assert counters.snapshot().toolCalls == 0


@pytest.mark.parametrize(
    ("text", "truncated"),
    [
        ("x" * OBSERVATION_CHARS, False),
        ("x" * (OBSERVATION_CHARS + 1), True),
        ("\ud800" * (OBSERVATION_CHARS // 4), True),  # too long once it is spelt out
        ("x" * 5_000_000, True),
    ],
)
def test_an_observation_is_bounded_and_says_so(bench: Bench, text: str, truncated: bool) -> None:
    seen = bench.read(text)
    assert seen.truncated is truncated
    assert len(seen.content) <= OBSERVATION_CHARS
    assert ("… [truncated" in seen.content) is truncated
    assert bench.entries[1].payload["truncated"] is truncated


def test_hostile_text_is_recorded_as_what_a_database_can_hold(bench: Bench) -> None:
    bench.read("a\0b\ud800")
    bench.executor.call("filesystem__write_file", {"path": "x" * 5_000_000, "n": float("nan")})
    bench.executor.call("\x1b[31m" * 1_000, b"\xff\x00")
    for entry in bench.entries:
        text = entry.model_dump_json()
        assert "\\u0000" not in text
        assert "NaN" not in text
        assert len(text) < 2 * OBSERVATION_CHARS
        assert entry.tool is not None
        assert "\x1b" not in entry.tool


def test_two_tools_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="same name"):
        ToolExecutor([tool("a")(_read), tool("a")(_write)], print, ToolCounters(), SteppingClock())


_CALLS = st.lists(
    st.tuples(
        st.sampled_from(["filesystem__write_file", "filesystem__read_file", "nosuch", "\0"]),
        st.sampled_from(
            [{"path": "a"}, {"path": "missing"}, {"path": "../x"}, {"path": "bug"}, {}, "{", None]
        ),
    ),
    max_size=30,
)


@given(_CALLS)
def test_counters_and_trajectory_never_differ(calls: list[tuple[str, Any]]) -> None:
    bench = Bench()
    for name, arguments in calls:
        bench.executor.call(name, arguments)
    counted = bench.counters.snapshot()
    ended = [entry for entry in bench.entries if entry.kind is not EntryKind.PROPOSAL]
    results = Counter(entry.tool for entry in ended if entry.payload["kind"] == "result")
    assert counted.byName == dict(results)
    assert counted.toolErrors == sum(
        entry.payload["kind"] in ("error", "invalid") for entry in ended
    )
    assert counted.permissionDenials == sum(entry.kind is EntryKind.DENIAL for entry in ended)
    assert counted.filesChanged == results["filesystem__write_file"]
    assert len(bench.entries) == 2 * len(calls)


@pytest.mark.parametrize("name", ["t" * 121, "t" * 100_000, "\0" * 200, "🎈" * 130])
def test_a_name_longer_than_any_tools_is_recorded_and_bounded(name: str) -> None:
    bench = Bench()
    assert bench.executor.call(name, {}).kind == "invalid"
    assert [0 < len(entry.tool or "") <= LONGEST_NAME for entry in bench.entries] == [True, True]
