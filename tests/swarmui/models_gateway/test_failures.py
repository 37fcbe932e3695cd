"""The table of failures, row by row."""

import pytest
from pydantic_ai import exceptions as ai

from swarmui.adapters.models.failures import REDACTED, TABLE, classify, is_unbilled, scrubbed
from swarmui.adapters.models.names import ModelUnusable
from swarmui.adapters.models.playback import RecordedCrash
from swarmui.adapters.models.recorded import RecordedError
from verifier.outcome import FailureKind

M = "some-model"


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (ai.ModelQuotaExceededError(M, "x"), FailureKind.QUOTA_EXHAUSTED),
        (ai.ModelRateLimitError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelOverloadedError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelUnavailableError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelServerError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelTimeoutError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelRequestTimeout(M, 3.0), FailureKind.PROVIDER_ERROR),
        (ai.ModelConnectionError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelAuthenticationError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelNotFoundError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelRequestRejectedError(M, "x"), FailureKind.PROVIDER_ERROR),
        (ai.ModelAPIError(M, "x"), FailureKind.PROVIDER_ERROR),
        # a subclass of "rejected", yet a cap
        (ai.ModelContextWindowExceededError(M, "x"), FailureKind.BUDGET),
        (ai.UsageLimitExceeded("x"), FailureKind.BUDGET),
        # subclasses of "unexpected behaviour", yet a cap and a refusal
        (ai.OutputTokenLimitExceeded("x"), FailureKind.BUDGET),
        (ai.IncompleteToolCall("x"), FailureKind.BUDGET),
        (ai.ContentFilterError("x"), FailureKind.DENIED),
        (ai.UnexpectedModelBehavior("x"), FailureKind.TOOL_ERROR),
        (ModelUnusable("x"), FailureKind.PROVIDER_ERROR),
        (RecordedCrash("x"), FailureKind.TOOL_ERROR),
        (RecordedError("x"), FailureKind.TOOL_ERROR),
        (ValueError("x"), FailureKind.TOOL_ERROR),
        (MemoryError(), FailureKind.TOOL_ERROR),
    ],
)
def test_an_exception_has_one_failure(error: BaseException, failure: FailureKind) -> None:
    kind, words = classify(error)
    assert kind is failure
    assert words


def test_no_row_is_hidden_by_one_above_it() -> None:
    for index, row in enumerate(TABLE):
        assert not any(issubclass(row.raised, above.raised) for above in TABLE[:index]), row


def test_a_crash_says_what_crashed() -> None:
    assert classify(KeyError("title"))[1] == "the worker crashed: KeyError: 'title'"
    assert classify(MemoryError())[1] == "the worker crashed: MemoryError"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abc123def456.",
        "AIzaSyA1234567890abcdef",
        "Authorization: Bearer abc.def-ghi",
        "bearer   abcdefgh",
        "rk-live-123456",
        "the key is hunter2-hunter2",
    ],
)
def test_no_key_reaches_a_message(text: str) -> None:
    cleaned = scrubbed(text, ["hunter2-hunter2", "", "a"])
    assert REDACTED in cleaned
    for secret in ("abc123", "A1234567890", "abc.def", "abcdefgh", "123456", "hunter2"):
        assert secret not in cleaned


def test_a_message_is_one_line_and_bounded() -> None:
    words = classify(ai.UnexpectedModelBehavior("a\n\x1b[2J\u202eb" * 10_000))[1]
    assert len(words) < 1_000
    assert not set(words) & {"\n", "\x1b", "\u202e"}


@pytest.mark.parametrize(
    ("error", "unbilled"),
    [
        (ai.ModelHTTPError(500, M), True),
        (ai.ModelConnectionError(M, "x", phase="connect"), True),
        (ai.ModelConnectionError(M, "x", phase="read"), False),  # it may have acted on it
        (ai.ModelConnectionError(M, "x"), False),
        (ai.ModelTimeoutError(M, "x", phase="read"), False),
        (ai.ModelAPIError(M, "no JSON"), False),
        (RecordedCrash("x"), True),
        (ValueError("x"), False),
    ],
)
def test_only_a_request_that_surely_used_nothing_counts_as_nothing(
    error: BaseException, unbilled: bool
) -> None:
    assert is_unbilled(error) is unbilled
