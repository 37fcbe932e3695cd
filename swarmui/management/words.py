"""The words of the terminal: the same ones that pages show."""

from verifier.framing import one_line
from verifier.lifecycle import NodeStatus

STATUS_WORDS: dict[str, str] = {
    **{status.value: status.value.replace("_", " ") for status in NodeStatus},
    NodeStatus.CONCURRENCY_LIMIT.value: "fan-out limit",
}
MARK_WORDS = {
    "receipt_mismatch": "receipt disagrees",
    "evidence_unknown": "evidence unknown",
    "not_isolated": "not isolated",
    "workspace_conflict": "workspace conflict",
}
UNKNOWN = "unknown"
CODE_CHARS = 60  # of a code this version does not know


def word(code: str) -> str:
    """A status, or any other code, as a person reads it."""
    return STATUS_WORDS.get(code) or one_line(code.replace("_", " "), CODE_CHARS)


def counted(number: int | None, one: str, many: str | None = None) -> str:
    """`1 file`, `2 files`; of an unknown number `unknown files`."""
    name = one if number == 1 else many or f"{one}s"
    return f"{UNKNOWN if number is None else f'{number:,}'} {name}"
