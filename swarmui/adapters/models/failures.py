"""How an agent loop's exception becomes a failure of the attempt: one table, first match wins.

Loaded only by the loop: this module imports the model library. Source: domain §2, seed 001
"Status reference".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic_ai import exceptions as ai

from swarmui.adapters.models.names import ModelUnusable
from swarmui.adapters.models.playback import RecordedCrash
from swarmui.adapters.models.recorded import RecordedError
from verifier.framing import one_line
from verifier.outcome import FailureKind

MAX_DETAIL_CHARS = 800
MAX_READ_CHARS = 20_000
SHORTEST_KEY = 6
REDACTED = "[key removed]"

# The shapes of keys, for those that reach a message without being one of ours.
_KEY_SHAPES = re.compile(
    r"(?:sk|rk|pk)-[A-Za-z0-9_*.-]{6,}|AIza[A-Za-z0-9_-]{10,}|(?i:bearer)\s+[A-Za-z0-9_.~+/=-]{6,}"
)


@dataclass(frozen=True)
class Row:
    """One line of the table: what was raised, what it means, in which words."""

    raised: type[BaseException]
    failure: FailureKind
    words: str


TABLE: tuple[Row, ...] = (
    # Waiting does not help: the backup model is tried at once.
    Row(
        ai.ModelQuotaExceededError,
        FailureKind.QUOTA_EXHAUSTED,
        "the provider says that the quota or credit is used up",
    ),
    # Transient by nature.
    Row(ai.ModelRateLimitError, FailureKind.PROVIDER_ERROR, "the provider limits the rate"),
    Row(ai.ModelUnavailableError, FailureKind.PROVIDER_ERROR, "the provider is not available"),
    Row(ai.ModelServerError, FailureKind.PROVIDER_ERROR, "the provider failed"),
    Row(ai.ModelTimeoutError, FailureKind.PROVIDER_ERROR, "the provider did not answer in time"),
    Row(ai.ModelRequestTimeout, FailureKind.PROVIDER_ERROR, "the provider did not answer in time"),
    Row(ai.ModelConnectionError, FailureKind.PROVIDER_ERROR, "the provider could not be reached"),
    # A cap of tokens, whoever set it.
    Row(ai.UsageLimitExceeded, FailureKind.BUDGET, "a cap of this attempt is reached"),
    Row(
        ai.ModelContextWindowExceededError,
        FailureKind.BUDGET,
        "the conversation is longer than the model can read",
    ),
    Row(ai.OutputTokenLimitExceeded, FailureKind.BUDGET, "the model's answer was cut off"),
    # A refusal, not a fault: asking again is no remedy.
    Row(ai.ContentFilterError, FailureKind.DENIED, "the provider's content filter refused"),
    # The same request would fail again here, but another model may take it.
    Row(ai.ModelAuthenticationError, FailureKind.PROVIDER_ERROR, "the provider refused the key"),
    Row(ai.ModelNotFoundError, FailureKind.PROVIDER_ERROR, "the provider knows no such model"),
    Row(
        ai.ModelRequestRejectedError,
        FailureKind.PROVIDER_ERROR,
        "the provider rejected the request",
    ),
    Row(ai.ModelAPIError, FailureKind.PROVIDER_ERROR, "the provider's answer is unusable"),
    Row(ModelUnusable, FailureKind.PROVIDER_ERROR, "the model cannot be used"),
    # The worker itself.
    Row(RecordedCrash, FailureKind.TOOL_ERROR, "the recorded worker crashed"),
    Row(RecordedError, FailureKind.TOOL_ERROR, "the recorded model"),
    Row(
        ai.UnexpectedModelBehavior,
        FailureKind.TOOL_ERROR,
        "the model did not keep to the protocol",
    ),
)
ANYTHING_ELSE = Row(BaseException, FailureKind.TOOL_ERROR, "the worker crashed")


def classify(error: BaseException, secrets: Iterable[str] = ()) -> tuple[FailureKind, str]:
    """The failure and a bounded, keyless sentence for people."""
    row = next((row for row in TABLE if isinstance(error, row.raised)), ANYTHING_ELSE)
    detail = one_line(scrubbed(_detail(error)[:MAX_READ_CHARS], secrets), MAX_DETAIL_CHARS)
    if row is ANYTHING_ELSE:
        detail = f"{type(error).__name__}: {detail}" if detail else type(error).__name__
    return row.failure, f"{row.words}: {detail}" if detail else row.words


def is_unbilled(error: BaseException) -> bool:
    """Whether the request that raised `error` surely used no tokens: it was refused with a status,
    it never left, or no provider was asked. Anything else leaves its tokens unknown."""
    if isinstance(error, ai.ModelConnectionError):
        return error.phase in {"connect", "pool"}
    return isinstance(error, (ai.ModelHTTPError, RecordedCrash, RecordedError, ModelUnusable))


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """`text` without the keys in use and without what looks like one."""
    for secret in secrets:
        if len(secret) >= SHORTEST_KEY:
            text = text.replace(secret, REDACTED)
    return _KEY_SHAPES.sub(REDACTED, text)


def _detail(error: BaseException) -> str:
    if isinstance(error, ai.UsageLimitExceeded):
        return str(error).partition(". Consider raising")[0]
    if isinstance(error, ai.ModelHTTPError):
        return f"HTTP {error.status_code} from {error.model_name}: {_said(error.body)}"
    return str(error)


def _said(body: object) -> str:
    """The provider's own sentence, where its body has one."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        return str(message if message is not None else body)
    return "no explanation" if body is None else str(body)
