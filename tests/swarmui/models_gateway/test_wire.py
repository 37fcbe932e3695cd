"""The gateway against a loopback server that speaks the OpenAI chat format: real HTTP, real client
library, every way a provider can fail."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from swarmui.adapters.models.agent import run_agent
from swarmui.adapters.models.names import host_key_variable
from tests.fakes_models import (
    Answer,
    Boundary,
    ChatServer,
    FakeControl,
    chat_server,
    completion,
    events,
    order,
    reply,
    silence,
)
from tests.waiting import wait_until
from verifier.boundary.executor import ToolExecutor
from verifier.boundary.tool_adapter import Tool, tool
from verifier.lifecycle import StopReason
from verifier.outcome import Deliverable, FailureKind, WorkerOutcome

# Said by the library; the outcome says it too, where it is looked for.
pytestmark = pytest.mark.filterwarnings("ignore:Some responses omitted usage information")

KEY = "a-key-nobody-may-see-0123456789"


@dataclass(frozen=True)
class Named:
    name: str
    base_url: str | None


@tool("filesystem__read_file")
def _read(path: str) -> str:
    """Read a file."""
    return f"the text of {path}"


READ: Tool = _read
READ_ONLY = (READ,)


def _executor() -> ToolExecutor:
    return Boundary(READ_ONLY).executor


def _ask(base_url: str, control: FakeControl | None = None, **changes: Any) -> WorkerOutcome:
    boundary = Boundary([READ])
    return run_agent(
        order(Named("loopback-1", base_url), Path("/nonexistent"), **changes),
        boundary.tools,
        boundary.executor,
        control or FakeControl(),
    )


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A server whose host has a key in the environment, next to a key of another provider."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-this-host")
    with chat_server() as server:
        monkeypatch.setenv(host_key_variable(server.base_url), KEY)
        yield server


def test_a_conversation_with_a_tool_call(keyed: ChatServer) -> None:
    keyed.answers = [
        completion(call=("filesystem__read_file", '{"path": "a.txt"}')),
        completion(text="It says: the text of a.txt", usage=(150, 30)),
    ]
    outcome = _ask(keyed.base_url)
    assert outcome.failure is None, outcome.error
    assert outcome.deliverable.output == "It says: the text of a.txt"
    assert outcome.side_effects is not None
    assert outcome.side_effects.byName == {"filesystem__read_file": 1}
    assert (outcome.tokens_used, outcome.stop_reason) == (300, "stop")
    assert outcome.cost_micro_usd is None  # nobody knows this model's price
    assert outcome.model is not None
    assert outcome.model.startswith("loopback-1 at 127.0.0.1")

    first, second = keyed.requests
    offered = {one["function"]["name"]: one["function"] for one in first["tools"]}
    assert set(offered) == {"filesystem__read_file", "deliver"}
    assert offered["filesystem__read_file"]["parameters"]["required"] == ["path"]
    assert first["messages"][-1] == {"role": "user", "content": "Say what is in a.txt."}
    assert second["messages"][-1]["content"] == "the text of a.txt"
    assert keyed.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_deliverable_through_the_output_tool(keyed: ChatServer) -> None:
    arguments = {"output": {"title": "T", "body": ["a"]}, "notes": "n"}
    keyed.answers = [completion(call=("deliver", json.dumps(arguments)))]
    outcome = _ask(keyed.base_url, expected_shape="json")
    assert outcome.deliverable == Deliverable(**arguments)


def test_usage_that_the_server_does_not_report_is_unknown(keyed: ChatServer) -> None:
    keyed.answers = [completion(text="x", usage=None)]
    outcome = _ask(keyed.base_url)
    assert (outcome.failure, outcome.tokens_used) == (None, None)
    assert outcome.unavailable[0].startswith("tokens: ")


def test_arguments_that_are_no_json_are_recorded_and_answered(keyed: ChatServer) -> None:
    keyed.answers = [
        completion(call=("filesystem__read_file", '{"path": ')),
        completion(text="sorry"),
    ]
    boundary = Boundary([READ])
    outcome = run_agent(
        order(Named("loopback-1", keyed.base_url), Path("/nonexistent")),
        boundary.tools,
        boundary.executor,
        FakeControl(),
    )
    assert outcome.deliverable.output == "sorry"
    assert boundary.proposed() == [("filesystem__read_file", '{"path": ')]


QUOTA = {"error": {"message": "no credit left", "code": "insufficient_quota", "type": "x"}}
ECHO = {"error": {"message": f"bad key {KEY} and sk-abcdef123456", "code": "invalid_api_key"}}


@pytest.mark.parametrize(
    ("answer", "failure", "words"),
    [
        (reply(429, {"error": {"message": "slow down"}}), "provider_error", "limits the rate"),
        (reply(429, QUOTA), "quota_exhausted", "no credit left"),
        (reply(402, {"error": {"message": "pay"}}), "quota_exhausted", "HTTP 402"),
        (reply(500, {"error": {"message": "oops"}}), "provider_error", "HTTP 500"),
        (reply(503, "down for today"), "provider_error", "not available"),
        (reply(529, {}), "provider_error", "not available"),
        (reply(401, ECHO), "provider_error", "refused the key"),
        (reply(404, {"error": {"message": "no model"}}), "provider_error", "no such model"),
        (reply(400, {"error": {"message": "bad"}}), "provider_error", "rejected the request"),
        (
            reply(400, {"error": {"message": "m", "code": "context_length_exceeded"}}),
            "budget",
            "longer than the model can read",
        ),
        (reply(200, '{"choices": [{"mess'), "provider_error", "unusable"),
        (reply(200, ""), "provider_error", "unusable"),
        (reply(200, {"choices": []}), "tool_error", "protocol"),
        (reply(200, {"hello": "world"}), "tool_error", "protocol"),
        (completion(text="", finish="content_filter"), "denied", "content filter"),
        (completion(text="", finish="length"), "budget", "cut off"),
    ],
)
def test_every_way_to_fail_has_its_name(
    answer: Answer, failure: str, words: str, keyed: ChatServer
) -> None:
    keyed.answers = [answer] * 4  # a bad answer may be asked for again within the attempt
    outcome = _ask(keyed.base_url)
    assert (outcome.failure, outcome.deliverable) == (failure, Deliverable())
    assert words in (outcome.error or "")
    assert KEY not in (outcome.error or "")
    assert "sk-abcdef" not in (outcome.error or "")
    assert "\n" not in (outcome.error or "")


@pytest.mark.parametrize(
    ("finish", "failure"),
    [("length", FailureKind.BUDGET), ("content_filter", FailureKind.DENIED)],
)
def test_half_an_answer_is_kept_and_is_no_success(
    finish: str, failure: FailureKind, keyed: ChatServer
) -> None:
    keyed.answers = [completion(text="The first of two", finish=finish)]
    outcome = _ask(keyed.base_url)
    assert (outcome.failure, outcome.stop_reason) == (failure, finish)
    assert outcome.deliverable.output == "The first of two"
    assert outcome.tokens_used == 120


def test_a_huge_error_body_is_bounded(keyed: ChatServer) -> None:
    keyed.answers = [reply(500, {"error": {"message": "<script>\x1b[31m" * 400_000}})]
    outcome = _ask(keyed.base_url)
    assert outcome.failure is FailureKind.PROVIDER_ERROR
    assert outcome.error is not None
    assert len(outcome.error) < 1_000
    assert "\x1b" not in outcome.error


def test_a_connection_refused_is_transient_and_cost_nothing() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    outcome = _ask(f"http://127.0.0.1:{port}/v1")
    assert outcome.failure is FailureKind.PROVIDER_ERROR
    assert "could not be reached" in (outcome.error or "")
    assert outcome.tokens_used == 0


def test_a_transient_failure_is_asked_again_where_the_order_allows_it(keyed: ChatServer) -> None:
    keyed.answers = [reply(500, {}), completion(text="now")]
    assert _ask(keyed.base_url, request_retries=1).deliverable.output == "now"


@pytest.mark.parametrize("reason", [None, StopReason.CANCELLED])
def test_a_request_that_is_never_answered_is_left_behind(
    reason: StopReason | None, keyed: ChatServer
) -> None:
    keyed.answers = [silence(lambda: keyed.released)]
    control = FakeControl(seconds=60.0 if reason else 0.5)
    outcomes: list[WorkerOutcome] = []
    asking = threading.Thread(target=lambda: outcomes.append(_ask(keyed.base_url, control)))
    asking.start()
    if reason:
        wait_until(lambda: bool(keyed.requests))
        control.reason = reason
    asking.join(15)
    (outcome,) = outcomes
    assert outcome.failure == (reason or FailureKind.TIMEOUT)
    if keyed.requests:
        assert outcome.tokens_used is None  # nobody knows what it would have used
        assert "1 of 1 requests" in outcome.unavailable[0]


def test_a_server_that_hangs_up_is_transient(keyed: ChatServer) -> None:
    def hang_up(handler: Any, _: dict[str, Any]) -> None:
        handler.connection.shutdown(socket.SHUT_RDWR)

    keyed.answers = [hang_up]
    outcome = _ask(keyed.base_url)
    assert outcome.failure is FailureKind.PROVIDER_ERROR
    assert outcome.tokens_used is None


def test_the_token_cap_ends_a_conversation(keyed: ChatServer) -> None:
    keyed.answers = [completion(call=("filesystem__read_file", '{"path": "a"}'), usage=(9_000, 1))]
    outcome = _ask(keyed.base_url, token_cap=8_000)
    assert (outcome.failure, outcome.tokens_used) == (FailureKind.BUDGET, 9_001)
    assert "8000" in (outcome.error or "")
    assert "http" not in (outcome.error or "")  # the library's advice is not ours


@pytest.mark.parametrize("model", ["openai:gpt-5", "anthropic:claude-x", "google:gemini-x"])
def test_a_missing_key_is_a_failure_that_names_the_variable(
    model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    outcome = run_agent(order(model, tmp_path), (), Boundary().executor, FakeControl())
    assert outcome.failure is FailureKind.PROVIDER_ERROR
    assert "_API_KEY" in (outcome.error or "")
    assert outcome.tokens_used == 0


OPENAI_RESPONSE = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5",
    "status": "completed",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hello", "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 1_000,
        "output_tokens": 100,
        "total_tokens": 1_100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}
# The library asks Anthropic for a stream, and puts it together.
ANTHROPIC_EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1_000, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "hello"},
    },
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 100},
    },
    {"type": "message_stop"},
]
GOOGLE_CONTENT = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {
        "promptTokenCount": 1_000,
        "candidatesTokenCount": 100,
        "totalTokenCount": 1_100,
    },
    "modelVersion": "gemini-2.5-flash",
}


@pytest.mark.parametrize(
    ("model", "variable", "path", "answer", "header"),
    [
        ("openai:gpt-5", "OPENAI_BASE_URL", "/v1", reply(200, OPENAI_RESPONSE), "authorization"),
        (
            "anthropic:claude-opus-4-6",
            "ANTHROPIC_BASE_URL",
            "",
            events(*ANTHROPIC_EVENTS),
            "authorization",
        ),
        (
            "google:gemini-2.5-flash",
            "GOOGLE_GEMINI_BASE_URL",
            "",
            reply(200, GOOGLE_CONTENT),
            "x-goog-api-key",
        ),
    ],
)
def test_each_provider_is_spoken_to_in_its_own_tongue(
    model: str,
    variable: str,
    path: str,
    answer: Answer,
    header: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    family = model.partition(":")[0]
    with chat_server(answer) as server:
        monkeypatch.setenv(f"{family.upper()}_API_KEY", KEY)
        monkeypatch.setenv(variable, server.base_url.removesuffix("/v1") + path)
        outcome = run_agent(order(model, Path("/")), READ_ONLY, _executor(), FakeControl())
    assert outcome.deliverable.output == "hello", outcome.error
    assert (outcome.tokens_used, outcome.family, outcome.stop_reason) == (1_100, family, "stop")
    assert outcome.cost_micro_usd is not None  # these prices are known
    assert 100 < outcome.cost_micro_usd < 100_000
    assert server.headers[0][header].endswith(KEY)


@pytest.mark.parametrize("model", ["ollama:llama3", "ollama:gpt-oss:20b"])
def test_ollama_needs_no_key(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(completion(text="hello")) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.base_url)
        outcome = run_agent(order(model, Path("/")), (), _executor(), FakeControl())
    assert outcome.deliverable.output == "hello", outcome.error
