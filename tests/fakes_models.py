"""Fakes for model workers: a control, a clock, a recorder, and a server that speaks the OpenAI
chat wire format over the loopback interface."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from swarmui.adapters.models.agent import AgentOrder, ScriptKey
from verifier.boundary.executor import ToolExecutor
from verifier.boundary.tool_adapter import Tool
from verifier.boundary.trajectory import TrajectoryEntry
from verifier.lifecycle import StopReason
from verifier.receipt import ToolCounters

Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class FakeControl:
    """Stops when told to, or when its deadline has passed."""

    def __init__(self, seconds: float = 60.0) -> None:
        self.reason: StopReason | None = None
        self.notes: list[str] = []
        self.threads: set[int] = set()
        self._until = time.monotonic() + seconds

    def stop_reason(self) -> StopReason | None:
        self.threads.add(threading.get_ident())
        return self.reason

    def progress(self, note: str) -> None:
        self.notes.append(note)

    def remaining_s(self) -> float:
        return max(0.0, self._until - time.monotonic())


class FakeClock:
    """Counts its readings."""

    def __init__(self) -> None:
        self.now = 0

    def monotonic_ms(self) -> int:
        self.now += 1
        return self.now


class Boundary:
    """A real executor whose record is a list."""

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self.tools = tuple(tools)
        self.entries: list[TrajectoryEntry] = []
        self.executor = ToolExecutor(self.tools, self.entries.append, ToolCounters(), FakeClock())

    def proposed(self) -> list[tuple[str | None, Any]]:
        return [(e.tool, e.payload["arguments"]) for e in self.entries if e.kind == "proposal"]


def key(
    branch: int | None = 0,
    role: str = "writing",
    topic: str = "docs",
    attempt: int = 1,
    replacement: int = 0,
) -> ScriptKey:
    return ScriptKey(branch, role, topic, attempt, replacement)


def order(model: Any, root: Path, **changes: Any) -> AgentOrder:
    """An order with small limits and no waiting."""
    fields: dict[str, Any] = {
        "brief": "Say what is in a.txt.",
        "role": "writing",
        "expected_shape": "text",
        "token_cap": 80_000,
        "key": key(),
        "delay_scale": 0.0,
        "request_retries": 0,
        "stop_grace_s": 5.0,
    }
    return AgentOrder(model=model, recorded_root=root, **(fields | changes))


def recording(root: Path, turns: Sequence[Any], name: str = "model.yaml") -> str:
    """Writes a one-script recording; returns the model's name."""
    document = {
        "format": 1,
        "family": "rehearsal",
        "scripts": [{"name": "only", "turns": list(turns)}],
    }
    (root / name).write_text(yaml.safe_dump(document), encoding="utf-8")
    return f"recorded:{name}"


class ChatServer:
    """Gives the scripted answers in their order, and keeps the requests."""

    def __init__(self, port: int, answers: Sequence[Answer]) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()


@contextmanager
def chat_server(*answers: Answer) -> Iterator[ChatServer]:
    """A server on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.requests.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.answers.pop(0)(self, body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = ChatServer(http.server_port, answers)
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join(5)


def reply(status: int, body: Any, content_type: str = "application/json") -> Answer:
    """An answer with a JSON body, or with text as it is."""

    def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        raw = (body if isinstance(body, str) else json.dumps(body)).encode()
        handler.send_response(status)
        handler.send_header("content-type", content_type)
        handler.send_header("content-length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)

    return answer


def events(*data: dict[str, Any]) -> Answer:
    """An answer as a stream of server-sent events, each named by its type."""
    lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in data]
    return reply(200, "".join(lines), "text/event-stream")


def completion(
    text: str | None = None,
    call: tuple[str, str] | None = None,
    usage: tuple[int, int] | None = (100, 20),
    finish: str | None = None,
) -> Answer:
    """A chat completion: text, or one tool call with its arguments as JSON text."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if call is not None:
        function = {"name": call[0], "arguments": call[1]}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    body: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback-1",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": finish or ("tool_calls" if call else "stop"),
            }
        ],
    }
    if usage is not None:
        body["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
    return reply(200, body)


def silence(released: Callable[[], threading.Event]) -> Answer:
    """Takes the request and says nothing until the test is over."""

    def answer(_handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        released().wait(30)

    return answer
