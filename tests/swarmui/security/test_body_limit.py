"""A body over the cap is refused while it arrives, before Django stores it."""

from typing import Any

import pytest

from swarmui.middleware import limit_body

CAP = 100


async def _ask(
    chunks: list[bytes], headers: list[tuple[bytes, bytes]] | None = None
) -> tuple[list[Any], int]:
    """What was sent back, and how many bytes the application got to see."""
    sent: list[Any] = []
    seen = 0
    messages = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks) - 1}
        for number, chunk in enumerate(chunks)
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal seen
        while True:
            message = await receive()
            seen += len(message["body"])
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": headers or []}
    await limit_body(app, CAP)(scope, receive, send)
    return sent, seen


async def test_a_body_at_the_cap_passes() -> None:
    sent, seen = await _ask([b"x" * 60, b"x" * 40])
    assert (sent[0]["status"], seen) == (200, 100)


async def test_a_longer_body_is_cut_off_while_it_arrives() -> None:
    sent, seen = await _ask([b"x" * 60] * 1_000)
    assert sent[0]["status"] == 413
    assert dict(sent[0]["headers"])[b"content-type"] == b"application/problem+json"
    assert seen == 60


@pytest.mark.parametrize("declared", [b"101", b"999999999999"])
async def test_a_declared_length_over_the_cap_is_refused_unread(declared: bytes) -> None:
    sent, seen = await _ask([b"x"], [(b"content-length", declared)])
    assert (sent[0]["status"], seen) == (413, 0)


@pytest.mark.parametrize("declared", [b"nonsense", b"-1", b""])
async def test_a_declared_length_that_is_none_is_counted_instead(declared: bytes) -> None:
    sent, _ = await _ask([b"x" * 200], [(b"content-length", declared)])
    assert sent[0]["status"] == 413


async def test_sockets_pass_untouched() -> None:
    passed: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append((receive, send))

    async def nothing(*args: Any) -> Any:
        return None

    await limit_body(app, CAP)({"type": "websocket"}, nothing, nothing)
    assert passed == [(nothing, nothing)]
